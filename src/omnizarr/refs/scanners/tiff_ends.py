"""Last strips that are shorter than the others, filled up to the same length and encoded again.

Zarr v2 has no words for a shorter last chunk. A few such strips are small, so they go into the set itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from omnizarr.array.index import whole
from omnizarr.array.io import Access
from omnizarr.hierarchy.create import array_meta
from omnizarr.refs.scanners.tiff_codecs import Encoding
from omnizarr.store.memory import MemoryStore


def short_strips(encoding: Encoding, chunk: tuple[int, ...], end: tuple[int, int], strips: list[bytes]) -> list[bytes]:
    """Return last strips, filled up with zeros.

    Args:
        encoding: How strips are encoded.
        chunk: The shape of a whole strip.
        end: Which dimension is shorter in these strips, and its length.
        strips: The strips as they are stored.

    Raises:
        CorruptError: If one does not decode.
    """
    axis, left = end
    shape = (*chunk[:axis], left, *chunk[axis + 1 :])
    # Predictors say the shape that they are for, and this one is another.
    shorter = [{name: value for name, value in one.items() if name != "shape"} for one in encoding.codecs]
    key = ".".join("0" * len(chunk))
    made: list[bytes] = []
    for strip in strips:
        store = MemoryStore()
        store.put(key, strip)
        short = _access(store, shape, encoding.dtype, shorter).read(whole(shape))
        values = np.zeros(chunk, encoding.dtype)
        values[(*(slice(None),) * axis, slice(left))] = short
        _access(store, chunk, encoding.dtype, encoding.codecs).write(whole(chunk), values)
        made.append(bytes(store.get(key) or b""))
    return made


def _access(store: MemoryStore, shape: tuple[int, ...], dtype: np.dtype[Any], codecs: list[dict[str, Any]]) -> Access:
    """Return what reads and writes an array of one chunk, which is the only thing in the store."""
    meta = array_meta({"shape": shape, "chunks": shape, "dtype": dtype, "codecs": codecs, "fill_value": None}, "zarr2")
    return Access(store, "", meta, write_empty=True)
