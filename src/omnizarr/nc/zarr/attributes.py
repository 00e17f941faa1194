r"""Attributes: typed values of netCDF ⇄ JSON.

NCZarr keeps the type of each attribute beside the attributes. Where there is none, as in plain Zarr, the JSON value
tells it: whole numbers are of the first of int, uint, int64 and uint64 that holds them all, other numbers are doubles,
and what netCDF has no counterpart for is the text of its JSON.

Text is always written as a JSON string. Bytes of it that are not UTF-8 become lone surrogates, `\udc80` to `\udcff`,
the way Python spells them in file names; so no byte is lost, in documents that are UTF-8 themselves.
"""

from __future__ import annotations

import struct
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from omnizarr.errors import warn
from omnizarr.format.lenient import text_of
from omnizarr.model.jsonvalue import JSON
from omnizarr.nc.tree import Attr
from omnizarr.nc.types import (
    CHAR,
    DOUBLE,
    INT,
    INT64,
    STRING,
    UBYTE,
    UINT,
    UINT64,
    Atomic,
    Enum,
    Type,
)
from omnizarr.nc.zarr.attribute_types import parse_type, type_text
from omnizarr.nc.zarr.user_attributes import user_json, user_values

FILL: Final = "_FillValue"
_JSON_TYPE: Final = "|J0"
_WHOLE: Final = (INT, UINT, INT64, UINT64)
_FLOAT_WORDS: Final = {"nan", "-nan", "inf", "-inf", "+inf", "infinity", "-infinity", "+infinity"}
_EXACT: Final = 1 << 53


class _NoValueError(Exception):
    """JSON that is no value of the type it should be of."""


def from_json(name: str, value: JSON, type_text: JSON = None) -> Attr:
    """Return the attribute that a JSON value stands for.

    Args:
        name: The attribute's name.
        value: The value; numbers that remember their spelling give it back where the type is text.
        type_text: The type that NCZarr noted, if any. A value that is not of it is taken as if there were none, with a
            warning.

    >>> from_json("n", [1, 2.5]).value, from_json("n", 123, ">S1").value
    (array([1. , 2.5]), b'123')
    """
    if type_text == _JSON_TYPE:
        return Attr.of_text(name, _bytes(value if isinstance(value, str) else text_of(value)))
    if type_text is not None:
        kind = parse_type(type_text)
        if kind is None:
            warn(f"the attribute {name!r} has the type {type_text!r}, which is none of netCDF's; its value tells one")
        else:
            try:
                return typed(name, value, kind)
            except _NoValueError:
                warn(f"the attribute {name!r} is not of the type {kind.name} that is noted for it; its value tells one")
    return untyped(name, value)


def typed(name: str, value: JSON, kind: Atomic) -> Attr:
    """Return an attribute of a known type."""
    if kind == CHAR:
        return Attr.of_text(name, _bytes(value if isinstance(value, str) else text_of(value)))
    items = value if isinstance(value, list) else [value]
    if kind == STRING:
        return Attr.of_values(name, STRING, [one if one is None else _string(one) for one in items])
    return Attr(name, kind, _numbers(items, kind))


def untyped(name: str, value: JSON) -> Attr:
    """Return an attribute of the type that its JSON value tells."""
    if isinstance(value, str):
        return Attr.of_text(name, _bytes(value))
    items = value if isinstance(value, list) else [value]
    kind = INT if isinstance(value, list) and not items else _common(items)
    if kind is None:
        return Attr.of_text(name, _bytes(text_of(value)))
    return typed(name, value, kind)


def fill_attribute(value: JSON, type_text: JSON, kind: Type) -> Attr | None:
    """Return the attribute `_FillValue` of a variable, which is of the variable's own type; `None` if it cannot be."""
    if not isinstance(kind, (Atomic, Enum)):
        return None
    base = kind.base if isinstance(kind, Enum) else kind
    if base in (CHAR, STRING):
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        made = typed(FILL, value, base)
    else:
        items = value if isinstance(value, list) else [value]
        try:
            made = Attr(FILL, base, _numbers(items, base))
        except _NoValueError:
            number = _packed(value)
            if number is None:
                return None
            made = Attr(FILL, base, np.array([number]).astype(base.numpy))
    del type_text
    return made._replace(type=kind)


def from_user_json(name: str, value: JSON, kind: Type) -> Attr:
    """Return an attribute of a user type.

    Raises:
        MetadataError: If the value is not of it.
    """
    held = value.get("value", []) if isinstance(value, dict) else value
    return Attr(name, kind, user_values(name, held, kind))


def to_json(attr: Attr) -> tuple[JSON, str]:
    """Return an attribute as JSON, and the text of its type.

    The text is for `types` of `_nczarr_attr`, but that of a user type, a full path, for `user_types`.

    >>> to_json(Attr.of_text("a", "123")), to_json(Attr.of_values("b", INT, [5])), to_json(Attr.of_values("c", INT, []))
    (('123', '>S1'), (5, '<i4'), ([], '<i4'))
    """
    kind = attr.type
    if kind == CHAR:
        return _text(attr.value), type_text(kind)
    if not isinstance(kind, Atomic):
        return {"value": user_json(attr.value, kind)}, type_text(kind)
    items: list[JSON]
    if kind == STRING:
        items = list(attr.value)
        longest = max((len(_bytes(one)) for one in items if isinstance(one, str)), default=0)
        # A lone null would not be told from the text "null".
        return (items[0] if len(items) == 1 and items[0] is not None else items), type_text(kind, longest)
    items = [number_json(one) for one in attr.value]
    return (items[0] if len(items) == 1 else items), type_text(kind)


def number_json(value: Any) -> JSON:  # noqa: ANN401 - a NumPy scalar
    """Return a number as JSON: floats with all their digits, what is not finite in quotes."""
    if value.dtype.kind != "f":
        return int(value)
    whole = float(value)
    if not np.isfinite(whole):
        return "NaN" if whole != whole else "Infinity" if whole > 0 else "-Infinity"  # noqa: PLR0124  # only NaN does
    if value.dtype.itemsize == 4:
        short = float(str(value))
        return short if np.float32(short) == value else whole
    return whole


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # surrogates that stand for no byte, which other writers may have left
        return text.encode("utf-8", "surrogatepass")


def _string(value: JSON) -> str:
    return value if isinstance(value, str) else text_of(value)


def _common(items: Sequence[JSON]) -> Atomic | None:
    """Return the type that holds all values without a loss; `None` if there is none."""
    if all(isinstance(one, bool) for one in items):
        return UBYTE
    if all(isinstance(one, str) for one in items):
        return STRING
    if any(isinstance(one, bool) or not isinstance(one, (int, float)) for one in items):
        return None
    whole = [one for one in items if isinstance(one, int)]
    low, high = min(whole, default=0), max(whole, default=0)
    if len(whole) < len(items):
        return DOUBLE if max(-low, high) <= _EXACT else None
    for kind in _WHOLE:
        info = np.iinfo(kind.numpy)
        if info.min <= low and high <= info.max:
            return kind
    return None


def _numbers(items: Sequence[JSON], kind: Atomic) -> np.ndarray[Any, Any]:
    dtype = kind.numpy
    if dtype.kind == "f":
        return np.array([_float(one) for one in items], np.float64).astype(dtype)
    numbers = [_whole(one) for one in items]
    info = np.iinfo(dtype)
    if any(not info.min <= one <= info.max for one in numbers):
        raise _NoValueError
    return np.array(numbers, dtype)


def _float(value: JSON) -> float:
    if isinstance(value, (int, float)):
        try:
            return float(value)
        except OverflowError:
            raise _NoValueError from None
    if isinstance(value, str) and (value.lower() in _FLOAT_WORDS or value[:1] in "+-.0123456789"):
        try:
            return float(value)
        except ValueError:
            raise _NoValueError from None
    raise _NoValueError


def _whole(value: JSON) -> int:
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        try:
            return int(value, 0)
        except ValueError:
            raise _NoValueError from None
    raise _NoValueError


def _packed(value: JSON) -> float | None:
    """Return a float that xarray wrote into Zarr v3: the eight bytes of a double in base64."""
    if not isinstance(value, str) or len(value) != 12:
        return None
    try:
        number: float = struct.unpack("<d", b64decode(value, validate=True))[0]
    except (Base64Error, struct.error, ValueError):
        return None
    return number


def types_of(marks: Mapping[str, JSON] | None, member: str = "types") -> Mapping[str, JSON]:
    """Return the types that `_nczarr_attr` notes, by the name of the attribute."""
    types = marks.get(member) if marks else None
    return types if isinstance(types, dict) else {}
