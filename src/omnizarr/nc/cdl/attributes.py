"""Attributes in CDL: their types, and their values."""

from __future__ import annotations

from typing import Final

from omnizarr.nc.cdl.constants import Const, characters
from omnizarr.nc.cdl.errors import Text
from omnizarr.nc.cdl.values import elements
from omnizarr.nc.tree import Attr
from omnizarr.nc.types import BY_NAME, BYTE, CHAR, DOUBLE, FLOAT, UINT64, Atomic, Type

_ORDER: Final = ("byte", "ubyte", "short", "ushort", "int", "uint", "int64", "uint64")
"""Types of integers; of two of the same size, the one that comes later in a list is taken."""


def attribute(text: Text, name: str, at: int, kind: Type | None, items: list[Const]) -> Attr:
    """Return an attribute.

    Args:
        text: Where it stands, for messages.
        name: What it is called.
        at: The place of its name.
        kind: Its type, or `None` if its values tell.
        items: The values.

    Raises:
        CdlError: If the values do not fit the type, or tell none.
    """
    for item in items:
        _no_fill(text, item)
    if kind is None:
        kind = _told(text, name, at, items)
    if kind == CHAR:
        return Attr(name, CHAR, b"".join(characters(text, item) for item in items))
    return Attr(name, kind, elements(text, items, kind))


def _no_fill(text: Text, item: Const) -> None:
    if item.kind == "fill":
        raise text.error(item.at, "an attribute has no fill value, so '_' means nothing in it")
    if item.kind == "list":
        for one in item.value:
            _no_fill(text, one)


def _told(text: Text, name: str, at: int, items: list[Const]) -> Atomic:
    """Return the type that the values of an attribute have together."""
    kinds = [item.kind for item in items]
    if not kinds or all(kind == "string" for kind in kinds):
        return CHAR
    if all(kind == "char" for kind in kinds):
        return BYTE
    if any(kind not in (*_ORDER, "char", "float", "double") for kind in kinds):
        raise text.error(
            at,
            f"the values of {name} do not tell its type",
            f"The type goes first: 'string :{name} = …' or 'string variable:{name} = …'.",
        )
    for one in (DOUBLE, FLOAT):
        if one.name in kinds:
            return one
    if any(item.value >= 1 << 63 for item in items):
        return UINT64
    found = "byte"
    for kind in kinds:
        kind = "byte" if kind == "char" else kind  # noqa: PLW2901 - a character is a byte among numbers
        if _ORDER.index(kind) // 2 >= _ORDER.index(found) // 2:
            found = kind
    return BY_NAME[found]
