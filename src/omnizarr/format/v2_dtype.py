"""Element types in v2 documents, and in the settings of numcodecs' codecs: NumPy's array protocol strings.

https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html#data-type-encoding
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, Literal

import numpy as np

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.format.check import product, sizes, unknown_type
from omnizarr.format.document import describe
from omnizarr.model.dtype import MAX_ITEM, DType, field_type
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.small import SMALL
from omnizarr.model.structs import fields_of

OBJECTS: Final = ("|O", "O", "object")
"""How documents spell the type of Python objects."""

_SIZES: Final = {
    "b": ("1",),
    "i": ("1", "2", "4", "8"),
    "u": ("1", "2", "4", "8"),
    "f": ("2", "4", "8", "12", "16"),
    "c": ("8", "16", "24", "32"),
}
# Sizes of long doubles, and of complex numbers of them, which machines do not agree on.
_LONG: Final = {"f": ("12", "16"), "c": ("24", "32")}
_TYPESTR: Final = r"([<>|=]?)([biufcSUVO])([0-9]{0,10})"
_TIME: Final = r"([<>|=]?)([mM])8(?:\[([1-9][0-9]{0,9})?(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as|generic)\])?"
_NAMES: Final = frozenset(
    (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
)
# The only writer of these in v2 is tensorstore, which has no others but float8_e8m0fnu, whose numbers it mistakes.
_TENSORSTORE: Final = frozenset(SMALL) - {
    *("float8_e4m3", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "uint2", "uint4"),
}


def parse_dtype(value: JSON, pointer: str, key: str, objects: DType | None = None) -> DType:
    """Read a type string, or the list of fields of a structure.

    Args:
        value: The string, such as `<f4`, `|S3`, `<M8[ns]`; a name such as `float32` or `bfloat16` is taken too. Or a
            list of a name, a type and perhaps a shape for each field.
        pointer: Where it stands in the document.
        key: The document's key.
        objects: The type of an array of `|O`, which the first filter says.

    Raises:
        MetadataError: It is no type string.
        UnsupportedError: The type is not one that Omnizarr has.
    """
    if isinstance(value, list):
        return _parse_struct(value, pointer, key)
    if not isinstance(value, str):
        raise MetadataError(f"a type string is needed, not {describe(value)}", pointer=pointer, key=key)
    if value in OBJECTS and objects is not None:
        return objects
    try:
        return _parse_string(value)
    except _NotATypeError as error:
        raise MetadataError(f"{value!r} is not a type string: {error}", pointer=pointer, key=key) from None
    except UnsupportedError as error:
        raise UnsupportedError(error.message, pointer=pointer, key=key, hint=error.hint) from None
    except LookupError:
        unknown_type(value, pointer, key)


class _NotATypeError(Exception):
    """A string that no writer could have meant."""


@lru_cache(256)  # few strings recur, and NumPy's own parser is slow
def _parse_string(value: str) -> DType:
    if value in _NAMES:
        return DType.of(np.dtype(value).newbyteorder("<"))
    if value in SMALL:
        return DType.of(value)
    time = re.fullmatch(_TIME, value)
    if time is not None:
        order, kind, scale, unit = time.groups()
        if scale and (unit == "generic" or int(scale) > MAX_ITEM):
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
        if size in _LONG.get(kind, ()) and np.dtype("g").itemsize * (1 + (kind == "c")) != int(size):
            message = f"{value!r} is a long double of another machine: here it has {np.dtype('g').itemsize} bytes"
            raise UnsupportedError(message, hint="Convert the array on a machine of the kind that wrote it.")
    elif kind == "O":
        raise LookupError(value)
    elif not size or not 0 < int(size) * (4 if kind == "U" else 1) <= MAX_ITEM:
        raise _NotATypeError("it has no usable length")
    return DType.of(np.dtype(f"{_explicit(order)}{kind}{size}"))


def _explicit(order: str) -> str:
    # Without a byte order a string leaves it to the machine; all machines that wrote such documents were little-endian.
    return order if order == ">" else "<"


def _parse_struct(items: list[JSON], pointer: str, key: str) -> DType:
    """Read fields one after the other; bytes without a name are what the compiler of the writer left free."""
    names: dict[str, None] = {}
    formats: list[object] = []
    offsets: list[int] = []
    size = 0
    for at, item in enumerate(items):
        place = f"{pointer}/{at}"
        if not isinstance(item, list) or len(item) not in (2, 3):
            message = f"a field is a list of its name, its type and perhaps its shape, not {describe(item)}"
            raise MetadataError(message, pointer=place, key=key)
        name = item[0]
        if not isinstance(name, str):
            what = "a title, which Omnizarr does not have" if isinstance(name, list) else describe(name)
            raise UnsupportedError(f"the name of a field is {what}", pointer=f"{place}/0", key=key)
        inner, shape = _parse_field(name, item, place, key)
        offset, size = size, size + inner.itemsize * product(shape)
        if size > MAX_ITEM:
            raise MetadataError("the structure is too large", pointer=pointer, key=key)
        if not name and inner.family == "raw":
            if len(items) == 1 and not shape:  # not a structure: so the drafts of v3 spelled plain bytes
                return inner
            continue
        name = name or f"f{at}"  # as NumPy calls it
        if name in names:
            raise MetadataError(f"the field {name!r} is there twice", pointer=place, key=key)
        names[name] = None
        formats.append((inner.numpy, shape) if shape else inner.numpy)
        offsets.append(offset)
    if not names:
        raise MetadataError("a structure needs at least one field", pointer=pointer, key=key)
    layout: Any = {"names": [*names], "formats": formats, "offsets": offsets, "itemsize": size}
    return DType(np.dtype(layout), "struct")


def _parse_field(name: str, item: list[JSON], pointer: str, key: str) -> tuple[DType, tuple[int, ...]]:
    if item[1] in ("|O", "O", "object"):
        message = f"the field {name!r} holds Python objects, which were stored as addresses in memory"
        raise UnsupportedError(message, pointer=f"{pointer}/1", key=key)
    inner = parse_dtype(item[1], f"{pointer}/1", key)
    if len(item) == 2:
        return inner, ()
    shape = item[2] if isinstance(item[2], list) else [item[2]]
    return inner, sizes(shape, f"{pointer}/2", key, least=1)


def render_dtype(dtype: DType, order: Literal["", "little", "big"]) -> JSON:
    """Write a type in a given byte order: a string, or the list of fields of a structure.

    Raises:
        UnsupportedError: v2 has no such type.
    """
    family = dtype.family
    if dtype.vlen:
        return "|O"
    if family == "struct":
        return _render_struct(dtype.numpy)
    if family == "pair" or (family == "small" and dtype.name not in _TENSORSTORE):
        raise UnsupportedError(f"Zarr v2 has no data type {dtype.name!r}", pointer="/dtype", hint="Zarr v3 has it.")
    if family == "small":
        if order == "big":
            raise UnsupportedError(f"Zarr v2 has {dtype.name} little-endian only", pointer="/dtype")
        return dtype.name
    return dtype.with_byteorder(order).numpy.str if order else dtype.numpy.str


def _render_struct(dtype: np.dtype[Any]) -> JSON:
    made: list[JSON] = []
    end = 0
    for field in fields_of(dtype):
        if field.offset > end:
            made.append(["", f"|V{field.offset - end}"])
        inner = field_type(field.numpy)
        made.append([field.name, render_dtype(inner, ""), *([list(field.shape)] if field.shape else [])])
        end = field.offset + field.nbytes
    if end < dtype.itemsize:
        made.append(["", f"|V{dtype.itemsize - end}"])
    return made
