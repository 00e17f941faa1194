"""The elements of an array as JSON, each in the form that a fill value has in Zarr v3's documents."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from omnizarr.format.fill_json import render_v3
from omnizarr.hierarchy.array import Array
from omnizarr.model.dtype import DType, field_type
from omnizarr.model.fill import Fill
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.structs import fields_of

if TYPE_CHECKING:
    import numpy.typing as npt

_ROWS_BYTES: Final = 16 << 20
_BLOCK: Final = 1 << 16


def elements_as_json(array: Array) -> Iterator[str]:
    """Yield the text of all elements in C order, many at a time, each on a line of its own.

    >>> import omnizarr as oz
    >>> a = oz.create_array({}, shape=(2, 2), dtype="f4", fill_value=float("nan"))
    >>> a[0] = [1, 2.5]
    >>> "".join(elements_as_json(a)).split()
    ['1.0', '2.5', '"NaN"', '"NaN"']
    """
    dtype = array.metadata.dtype
    for rows in _rows(array):
        flat = np.ascontiguousarray(rows).reshape(-1)
        for start in range(0, flat.size, _BLOCK):
            texts = _texts(flat[start : start + _BLOCK], dtype)
            yield "\n".join(texts) + "\n"


def _rows(array: Array) -> Iterator[npt.NDArray[Any]]:
    """Read an array in pieces along its first dimension."""
    if not array.ndim:
        yield array[...]
        return
    row = max(1, prod(array.shape[1:]) * max(1, array.itemsize))
    step = max(1, _ROWS_BYTES // row)
    edge = array.metadata.grid.longest[0]
    step = step // edge * edge if edge and step > edge else step
    for start in range(0, array.shape[0], step):
        yield array[start : start + step]


def _texts(values: npt.NDArray[Any], dtype: DType) -> Iterator[str]:
    if dtype.family in ("int", "uint"):
        return map(str, values.tolist())
    if dtype.family == "bool":
        return ("true" if value else "false" for value in values.tolist())
    return (json.dumps(value, ensure_ascii=False) for value in _rendered(values, dtype))


def _rendered(values: npt.NDArray[Any], dtype: DType) -> Iterator[JSON]:
    if dtype.vlen:
        return (render_v3(Fill.of(value, dtype), dtype) for value in values)
    size = dtype.itemsize
    bits = values.tobytes()
    pieces = (bits[at : at + size] for at in range(0, len(bits), size))
    if _has_arrays(dtype.numpy):
        # Zarr v3 has no word for a field that is an array; bytes say it all.
        return (b64encode(piece).decode("ascii") for piece in pieces)
    return (render_v3(Fill(piece), dtype) for piece in pieces)


def _has_arrays(dtype: np.dtype[Any]) -> bool:
    return any(
        field.shape or (field_type(field.numpy).family == "struct" and _has_arrays(field.numpy))
        for field in fields_of(dtype)
    )
