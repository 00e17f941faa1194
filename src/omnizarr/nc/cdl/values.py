"""From constants to arrays of a type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from omnizarr.nc.cdl.constants import Const, characters, fits, number, string
from omnizarr.nc.cdl.errors import Text
from omnizarr.nc.cdl.lists import count
from omnizarr.nc.source import Values
from omnizarr.nc.types import CHAR, STRING, Atomic, Compound, Enum, Field, Opaque, Type, Vlen, default_fill, zeros

_INTEGERS: Final = ("char", "byte", "short", "int", "int64", "ubyte", "ushort", "uint", "uint64")


def elements(text: Text, items: list[Const], kind: Type, fill: Any = None) -> Values:  # noqa: ANN401 - an element
    """Return constants as a one-dimensional array.

    Args:
        text: Where the constants are, for messages.
        items: The constants.
        kind: The type of the array.
        fill: What `_` stands for; that of the type unless given.

    Raises:
        CdlError: If a constant is nothing of that type.
    """
    fill = filler(kind) if fill is None else fill
    if isinstance(kind, Atomic) and kind not in (CHAR, STRING):
        return _numbers(text, items, kind, fill)
    if isinstance(kind, Compound):
        return _records(text, items, kind, fill)
    array = zeros((count(items),), kind)
    for index, item in enumerate(_single(text, items, kind)):
        array[index] = fill if item.kind == "fill" else element(text, item, kind)
    return array


def element(text: Text, item: Const, kind: Type) -> Any:  # noqa: ANN401 - whatever the type is in memory
    """Return a constant as one element of a type."""
    if isinstance(kind, (Compound, Vlen)):
        return _several(text, item, kind)
    if item.kind == "list":
        raise text.error(item.at, f"a value of type {kind.name} does not stand in braces")
    if isinstance(kind, Enum):
        return _member(text, item, kind)
    if isinstance(kind, Opaque):
        if item.kind != "opaque":
            raise text.error(item.at, f"a value of type {kind.name} is written as 0x and hexadecimal digits")
        return np.void(item.value[: kind.size].ljust(kind.size, b"\0"))
    if kind == CHAR:
        return characters(text, item)[:1]
    return string(text, item) if kind == STRING else number(text, item, kind)


def _several(text: Text, item: Const, kind: Compound | Vlen) -> Any:  # noqa: ANN401 - an array or a record
    """Return what stands in braces as one element."""
    if item.kind != "list":
        raise text.error(item.at, f"a value of type {kind.name} stands in braces")
    if isinstance(kind, Compound):
        return _records(text, [item], kind, None)[0]
    if kind.base == CHAR:
        return single_bytes(b"".join(characters(text, one) for one in item.value))
    return elements(text, item.value, kind.base)


def filler(kind: Type) -> Any:  # noqa: ANN401 - an element
    """Return what ncgen writes where a value is left out: each member of a compound has the fill value of its type."""
    if isinstance(kind, Vlen):
        return elements_of(kind.base, filler(kind.base), 1)
    if isinstance(kind, Compound):
        record = zeros((1,), kind)
        for field in kind.fields:
            put(record[field.name], 0, elements_of(field.type, filler(field.type), _size(field)), field)
        return record[0]
    return default_fill(kind)


def elements_of(kind: Type, value: Any, size: int) -> Values:  # noqa: ANN401 - an element
    """Return an array of one value again and again."""
    array = zeros((size,), kind)
    if array.dtype == object:
        for index in range(size):
            array[index] = value
    else:
        array[...] = value
    return array


def put(column: Values, index: int, values: Values, field: Field) -> None:
    """Set what a record has in a member."""
    if field.shape:
        column[index] = values.reshape(field.shape)
    else:
        column[index] = values[0]


def single_bytes(text: bytes) -> Values:
    """Return text as an array of characters."""
    return np.frombuffer(text, "S1").copy()


def padded(text: Text, items: list[Const], unit: int, fill: bytes) -> bytes:
    """Return characters of a list of texts, each filled up to a multiple of a length.

    Characters in quotes that follow each other are one text. Braces are read over.
    """
    parts: list[bytes] = []
    loose = b""
    for item in _flat(items):
        part = fill if item.kind == "fill" else characters(text, item)
        if item.kind in ("char", "byte"):
            loose += part
            continue
        if loose:
            parts.append(loose)
            loose = b""
        parts.append(part)
    if loose:
        parts.append(loose)
    return b"".join(part.ljust(max(-(-len(part) // unit), 1) * unit, fill) if unit > 1 else part for part in parts)


def _flat(items: list[Const]) -> list[Const]:
    found: list[Const] = []
    for item in items:
        found += _flat(item.value) if item.kind == "list" else [item]
    return found


def _single(text: Text, items: list[Const], kind: Type) -> Iterator[Const]:
    """Go through constants; only fill values may have been read in bulk where sequences stand."""
    for item in items:
        if item.kind != "run":
            yield item
        elif len(item.value[0]) == len(item.value[1]):
            yield from [Const("fill", None, item.at)] * len(item.value[0])
        else:
            raise text.error(item.at, f"a value of type {kind.name} stands in braces")


def _numbers(text: Text, items: list[Const], kind: Atomic, fill: Any) -> Values:  # noqa: ANN401 - a number
    parts: list[Values] = []
    loose: list[Any] = []
    for item in items:
        if item.kind != "run":
            loose.append(fill if item.kind == "fill" else element(text, item, kind))
            continue
        if loose:
            parts.append(np.array(loose, kind.numpy))
            loose = []
        values, fills = item.value
        values[fills] = fill
        parts.append(values)
    if loose or not parts:
        parts.append(np.array(loose, kind.numpy))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _member(text: Text, item: Const, kind: Enum) -> int:
    if item.kind in _INTEGERS:
        if not fits(item.value, kind.base.name):
            raise text.error(item.at, f"{item.value} is out of range for {kind.name}, whose base is {kind.base.name}")
        return int(item.value)
    if item.kind != "name":
        raise text.error(item.at, f"expected a member of {kind.name}")
    known = dict(kind.members)
    for name in (item.value, item.value.removeprefix(f"{kind.name}.")):
        if name in known:
            return known[name]
    raise text.error(item.at, f"{kind.name} has no member {item.value}", f"It has {', '.join(known)}.")


def _records(text: Text, items: list[Const], kind: Compound, fill: Any) -> Values:  # noqa: ANN401 - a record
    """Return records, made member by member."""
    width = len(kind.fields)
    for item in items:
        if item.kind not in ("list", "fill"):
            raise text.error(item.at, f"a value of type {kind.name} stands in braces")
        if item.kind == "list" and len(item.value) > width:
            raise text.error(item.value[width].at, f"{kind.name} has only {width} members")
    array = np.zeros((len(items),), kind.numpy)
    for index, field in enumerate(kind.fields):
        column = [
            item.value[index] if item.kind == "list" and index < len(item.value) else Const("fill", None, item.at)
            for item in items
        ]
        array[field.name] = _column(text, column, field)
    for index, item in enumerate(items):
        if item.kind == "fill":
            array[index] = filler(kind) if fill is None else fill
    return array


def _column(text: Text, column: list[Const], field: Field) -> Values:
    """Return what records have in a member, each given by one constant."""
    if not field.shape:
        return elements(text, column, field.type)
    size = _size(field)
    if field.type != CHAR and all(one.kind == "list" and len(one.value) == size for one in column):
        flat = [one for row in column for one in row.value]
        return elements(text, flat, field.type).reshape(len(column), *field.shape)
    values = elements_of(field.type, filler(field.type), len(column) * size).reshape(len(column), size)
    for index, one in enumerate(column):
        if one.kind != "fill":
            _row(text, one, field, values[index])
    return values.reshape(len(column), *field.shape)


def _row(text: Text, one: Const, field: Field, values: Values) -> None:
    """Set the first elements of a member that is an array."""
    if one.kind != "list":
        raise text.error(one.at, f"values of the member {field.name} stand in braces, since it is an array")
    if field.type == CHAR:
        found = single_bytes(padded(text, one.value, field.shape[-1] if len(field.shape) > 1 else 1, b"\0"))
    else:
        found = elements(text, one.value, field.type)
    if len(found) > len(values):
        text.warn(one.at, f"{len(found)} values for the member {field.name}, which has room for {len(values)}")
    values[: len(found)] = found[: len(values)]


def _size(field: Field) -> int:
    return int(np.prod(field.shape, dtype=np.int64)) if field.shape else 1
