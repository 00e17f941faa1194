"""How the documents of NCZarr spell the type of an attribute.

Most write it as NumPy does, the oldest as the number of the C library (`"4"`); text was `<U1`, then `>S1`.
"""

from __future__ import annotations

import re
from typing import Final

from omnizarr.model.jsonvalue import JSON
from omnizarr.nc.types import (
    BY_CODE,
    BY_NAME,
    CHAR,
    DOUBLE,
    FLOAT,
    STRING,
    UBYTE,
    Atomic,
    Type,
    of_numpy,
    type_path,
)

DEFAULT_MAXSTRLEN: Final = 128
"""How long netcdf-c takes strings to be at most, unless an attribute says otherwise."""

_DTYPE: Final = re.compile(r"([<>|=]?)([biufSUO])([0-9]{0,9})")
_ODD: Final = {"b1": UBYTE, "f2": FLOAT, "f16": DOUBLE}


def parse_type(text: JSON) -> Atomic | None:
    """Return the type that a text stands for; `None` if it is of no netCDF type, such as `|J0`, which is any JSON.

    >>> [parse_type(text).name for text in (">S1", "<U1", "|S1", "|S128", "<i4", "4", ">f8")]
    ['char', 'char', 'string', 'string', 'int', 'int', 'double']
    """
    if isinstance(text, int) and not isinstance(text, bool):
        return BY_CODE.get(text)
    if not isinstance(text, str):
        return None
    if text.isascii() and text.isdigit():
        return BY_CODE.get(int(text)) if len(text) < 3 else None
    found = _DTYPE.fullmatch(text)
    if found is None:
        return BY_NAME.get(text)
    order, kind, size = found.groups()
    if kind in "SU":
        # One letter is text, but for `|S1`: that is a string of one letter.
        return CHAR if size == "1" and (kind == "U" or order == ">") else STRING
    return STRING if kind == "O" else _NUMBERS.get(kind + size)


def _numbers() -> dict[str, Atomic]:
    found = {one.text: one for one in BY_NAME.values() if of_numpy(one.numpy) is one}
    return {**found, **_ODD}


_NUMBERS: Final = _numbers()


def type_text(one: Type, longest: int = 0) -> str:
    """Return how a type is spelled: as NumPy does, text as `>S1`, strings as `|Sn`; user types by their full path.

    Args:
        one: The type.
        longest: Of strings, the bytes of the longest.
    """
    if not isinstance(one, Atomic):
        return type_path(one)
    if one == CHAR:
        return ">S1"
    if one == STRING:
        return f"|S{max(longest, DEFAULT_MAXSTRLEN)}"
    return f"|{one.text}" if one.numpy.itemsize == 1 else f"<{one.text}"
