"""What netcdf-c means by `.zarray` documents of its own, where that is not what they say.

netcdf-c marks its arrays: up to 4.9.2 by `_NCZARR_ARRAY` or `_nczarr_array` in `.zarray`, since 4.9.3 by the latter in
`.zattrs`. Of marked arrays this was measured:

- Up to 4.9.0 `<U1` is text of one byte for each letter, not four.
- Up to 4.9.2 a big-endian type is a label: the bytes are the machine's, which is to say little-endian.
- The shuffle filter of `elementsize` 0 means elements of the array's type, and of 8 bytes (a pointer) for strings.
  Plain Zarr of netcdf-c (`mode=zarr`) has that too and bears no mark; it is told by the order of its fields, which
  nobody else has. From other writers, 0 moves nothing, as in numcodecs.
- The szip filter has lines that depend on the length of the array, where in HDF5 they depend on that of a chunk.
- The fill value of a string is the text itself, not base64.
- The fill value of a double that was never set is cut to six digits, so no longer the one that everybody compares with.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from omnizarr.model.jsonvalue import JSON

Writer: TypeAlias = Literal["", "old", "new"]
"""Who wrote an array: netcdf-c up to 4.9.2, since 4.9.3, or anybody else."""

FILL_DOUBLE: Final = 9.969209968386869e36
"""What netCDF fills floats and doubles with."""

_CUT_FILL_DOUBLE: Final = 9.96921e36
_MARKS: Final = ("_nczarr_array", "_NCZARR_ARRAY", "_nczarr_array_", "_NCZARR_ARRAY_")
_MEMBERS: Final = ("dimension_references", "dimrefs", "storage")
# Patterns are compiled where a value first needs them, since that takes a while.
_STRING: Final = r"[<>|=]?S([0-9]{1,9})"
_NUMBER: Final = r"[<>|=]?([iuf])([0-9]{1,2})"
_POINTER: Final = 8
_ORDER: Final = ("zarr_format", "shape", "dtype", "chunks", "fill_value", "order")


def writer_of(zarray: Mapping[str, JSON], zattrs: Mapping[str, JSON]) -> Writer:
    """Say by its marks who wrote an array."""
    if any(_is_mark(zattrs.get(name)) for name in _MARKS):
        return "new"
    return "old" if any(_is_mark(zarray.get(name)) for name in _MARKS) else ""


def _is_mark(value: JSON) -> bool:
    return isinstance(value, dict) and any(name in value for name in _MEMBERS)


def as_meant(zarray: dict[str, JSON], zattrs: Mapping[str, JSON], writer: Writer) -> dict[str, JSON]:
    """Return the document of an array in the words of Zarr; the one given is left as it is."""
    dtype = zarray.get("dtype")
    if not writer:
        return _with_sizes(zarray) if tuple(zarray)[: len(_ORDER)] == _ORDER else zarray
    doc = dict(zarray)
    if writer == "old" and isinstance(dtype, str):
        if dtype in ("<U1", ">U1", "|U1"):
            doc["dtype"] = dtype = "|S1"
        elif dtype.startswith(">") and re.fullmatch(_NUMBER, dtype):
            doc["dtype"] = dtype = "<" + dtype[1:]
    if not isinstance(dtype, str):
        return doc
    text, number = re.fullmatch(_STRING, dtype), re.fullmatch(_NUMBER, dtype)
    if text is not None:
        doc["fill_value"] = _text_fill(doc.get("fill_value"), int(text[1]), zattrs.get("_FillValue"))
    elif number is not None:
        doc["fill_value"] = _number_fill(doc.get("fill_value"), number[1], dtype)
    size = _POINTER if text is not None else int(number[2]) if number is not None else 0
    if size:
        filters, shape = doc.get("filters"), doc.get("shape")
        last = shape[-1] if isinstance(shape, list) and shape else 0
        doc["compressor"] = _with_size(doc.get("compressor"), size, last)
        if isinstance(filters, list):
            doc["filters"] = [_with_size(one, size, last) for one in filters]
    for field in ("filters", "compressor", "fill_value"):
        if field not in zarray and doc.get(field) is None:
            doc.pop(field, None)  # so that whoever reads it says that it is missing
    return doc


def _with_sizes(zarray: dict[str, JSON]) -> dict[str, JSON]:
    """Fill in sizes of elements that shuffle filters lack, in an array of numbers without a mark."""
    dtype, filters = zarray.get("dtype"), zarray.get("filters")
    number = re.fullmatch(_NUMBER, dtype) if isinstance(dtype, str) else None
    if number is None or not isinstance(filters, list):
        return zarray
    size = int(number[2])
    return {
        **zarray,
        "filters": [
            {**one, "elementsize": size} if isinstance(one, dict) and _lacks_size(one) else one for one in filters
        ],
    }


def _lacks_size(codec: dict[str, JSON]) -> bool:
    return codec.get("id") == "shuffle" and codec.get("elementsize", 0) == 0


def _with_size(codec: JSON, size: int, last: JSON) -> JSON:
    if isinstance(codec, dict) and _lacks_size(codec):
        return {**codec, "elementsize": size}
    if isinstance(codec, dict) and codec.get("id") == "szip" and "pixels-per-scanline" not in codec:
        return {**codec, "pixels-per-scanline": last}
    return codec


def _text_fill(value: JSON, size: int, attribute: JSON) -> JSON:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str):
        return value
    literal = value.encode("utf-8", "surrogateescape")
    if len(literal) > size:  # so it can only be base64, as other writers have it
        return value
    if isinstance(attribute, str) and attribute != value and _decoded(value) == attribute.encode("utf-8", "replace"):
        return value
    return binascii.b2a_base64(literal, newline=False).decode("ascii")


def _decoded(value: str) -> bytes | None:
    try:
        return binascii.a2b_base64(value, strict_mode=True).rstrip(b"\0")
    except ValueError:
        return None


def _number_fill(value: JSON, kind: str, dtype: str) -> JSON:
    inner = value[0] if isinstance(value, list) and len(value) == 1 else value
    if inner == _CUT_FILL_DOUBLE and dtype.endswith("f8"):
        return FILL_DOUBLE
    if not isinstance(inner, str):
        return inner
    try:  # as netcdf-c 4.9.0 took them
        return int(inner, 0) if kind in "iu" else float(inner)
    except ValueError:
        return inner
