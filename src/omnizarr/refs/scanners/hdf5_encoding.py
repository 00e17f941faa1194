"""Encoding of single chunks with codecs as Zarr v2 spells them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from omnizarr.format.document import dump
from omnizarr.format.v2_dtype import render_dtype
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.opening import Place, open_node
from omnizarr.model.dtype import DType
from omnizarr.model.jsonvalue import JSON
from omnizarr.refs.scanners.hdf5_filters import CodecJSON


def encoded(values: np.ndarray[Any, Any], codecs: Sequence[CodecJSON]) -> bytes:
    """Return the bytes that stand for a chunk.

    Raises:
        CodecError: If a codec is there for reading only.
    """
    dtype = DType.of(values.dtype)
    lengths: list[JSON] = list(values.shape)
    document: dict[str, JSON] = {
        "zarr_format": 2,
        "shape": lengths,
        "chunks": lengths,
        "dtype": render_dtype(dtype, dtype.byteorder),
        "fill_value": None,
        "order": "C",
        "filters": list(codecs) or None,
        "compressor": None,
    }
    store = {".zarray": dump(document)}
    array = open_node(Place(store, "r+", write_empty=True), "r+", None, None)
    if isinstance(array, Array):  # as the document says
        array[...] = values
    return _only_chunk(store)


def _only_chunk(store: Mapping[str, bytes]) -> bytes:
    return bytes(next(data for key, data in store.items() if key != ".zarray"))
