"""Variables whose values are in the set itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import Codec
from omnizarr.model.dtype import DType
from omnizarr.model.fill import Fill
from omnizarr.model.grid import RegularGrid
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.keys import default_keys, v2_keys
from omnizarr.refs.combining.variables import Variable
from omnizarr.refset.model import Chunks

Values: TypeAlias = npt.NDArray[Any]


def embedded(
    values: Values, dims: tuple[str | None, ...], attributes: Mapping[str, JSON], like: ArrayMeta | None, form: str
) -> Variable:
    """Make a variable whose values are in the set itself, in one chunk."""
    if values.dtype.kind in "OT":
        values = values.astype(str)
    little = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<")))
    dtype = DType.of(little.dtype)
    fill = (
        like.fill if like is not None and like.dtype == dtype else Fill(None) if form == "zarr2" else Fill.zero(dtype)
    )
    codec = Codec("bytes", {"endian": "little"} if dtype.has_order else {})
    keys = like.keys if like is not None else v2_keys() if form == "zarr2" else default_keys()
    shape = values.shape
    meta = ArrayMeta(
        shape, dtype, RegularGrid(tuple(n or 1 for n in shape)), keys, fill, (codec,), dims, dict(attributes), form
    )
    data = little.tobytes()
    chunks = Chunks.of_bytes(meta.grid.counts(shape), {0: data} if data else {})
    return Variable(meta, chunks=chunks)
