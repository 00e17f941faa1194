"""Element types in v2 documents, and in the settings of numcodecs' codecs: NumPy's array protocol strings.

https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html#data-type-encoding
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

import numpy as np

from omnizarr.errors import MetadataError
from omnizarr.format.check import unknown_type
from omnizarr.format.document import describe
from omnizarr.model.dtype import DType
from omnizarr.model.jsonvalue import JSON

OBJECTS: Final = ("|O", "O", "object")
"""How documents spell the type of Python objects."""

_SIZES: Final = {
    "b": ("1",),
    "i": ("1", "2", "4", "8"),
    "u": ("1", "2", "4", "8"),
    "f": ("2", "4", "8"),
    "c": ("8", "16"),
}
_TYPESTR: Final = r"([<>|=]?)([biufcSUVO])([0-9]{0,10})"
_TIME: Final = r"([<>|=]?)([mM])8(?:\[([1-9][0-9]{0,9})?(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as|generic)\])?"
_MAX_ITEM: Final = 2**31 - 1
_NAMES: Final = frozenset(
    (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
)


def parse_dtype(value: JSON, pointer: str, key: str, objects: DType | None = None) -> DType:
    """Read a type string.

    Args:
        value: The string, such as `<f4`, `|S3`, `<M8[ns]`; a NumPy name such as `float32` is taken too.
        pointer: Where it stands in the document.
        key: The document's key.
        objects: The type of an array of `|O`, which the first filter says.

    Raises:
        MetadataError: It is no type string.
        UnsupportedError: The type is not one that Omnizarr has.
    """
    if isinstance(value, list):
        unknown_type("structured", pointer, key)
    if not isinstance(value, str):
        raise MetadataError(f"a type string is needed, not {describe(value)}", pointer=pointer, key=key)
    if value in OBJECTS and objects is not None:
        return objects
    try:
        return _parse_string(value)
    except _NotATypeError as error:
        raise MetadataError(f"{value!r} is not a type string: {error}", pointer=pointer, key=key) from None
    except LookupError:
        unknown_type(value, pointer, key)


class _NotATypeError(Exception):
    """A string that no writer could have meant."""


@lru_cache(256)  # few strings recur, and NumPy's own parser is slow
def _parse_string(value: str) -> DType:
    if value in _NAMES:
        return DType.of(np.dtype(value).newbyteorder("<"))
    time = re.fullmatch(_TIME, value)
    if time is not None:
        order, kind, scale, unit = time.groups()
        if scale and (unit == "generic" or int(scale) > _MAX_ITEM):
            raise _NotATypeError("the unit is impossible")
        suffix = f"[{scale or ''}{unit}]" if unit not in (None, "generic") else ""
        return DType.of(np.dtype(f"{_explicit(order)}{kind}8{suffix}"))
    parts = re.fullmatch(_TYPESTR, value)
    if parts is None:
        raise LookupError(value)
    order, kind, size = parts.groups()
    if kind in _SIZES:
        if size not in _SIZES[kind]:
            raise LookupError(value)
    elif kind == "O":
        raise LookupError(value)
    elif not size or not 0 < int(size) * (4 if kind == "U" else 1) <= _MAX_ITEM:
        raise _NotATypeError("it has no usable length")
    return DType.of(np.dtype(f"{_explicit(order)}{kind}{size}"))


def _explicit(order: str) -> str:
    # Without a byte order a string leaves it to the machine; all machines that wrote such documents were little-endian.
    return order if order == ">" else "<"


def render_dtype(dtype: DType, order: Literal["", "little", "big"]) -> str:
    """Write a type string in a given byte order."""
    if dtype.vlen:
        return "|O"
    return dtype.with_byteorder(order).numpy.str if order else dtype.numpy.str
