"""Values of every type as CDL writes them, one at a time: in attributes, and where they are no numbers in variables."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite, isnan
from typing import Any, Final, TypeAlias

import numpy as np

from omnizarr.nc.dump.names import escaped
from omnizarr.nc.dump.texts import quoted_member, quoted_string
from omnizarr.nc.types import CHAR, FLOAT, STRING, Atomic, Compound, Enum, Opaque, Type, Vlen

Digits: TypeAlias = tuple[int, int]
Writer: TypeAlias = Callable[[Any], bytes]

SUFFIXES: Final = {
    "byte": "b",
    "ubyte": "UB",
    "short": "s",
    "ushort": "US",
    "uint": "U",
    "int64": "LL",
    "uint64": "ULL",
}
_PLAIN: Final = re.compile(r"-?[0-9.]*")


def attribute_number(kind: Atomic, value: Any, digits: Digits) -> str:  # noqa: ANN401 - a scalar of the type
    """Return a number of an attribute, with the suffix that tells its type.

    >>> from omnizarr.nc.types import DOUBLE, FLOAT, SHORT
    >>> [attribute_number(kind, 1, (7, 15)) for kind in (DOUBLE, FLOAT, SHORT)]
    ['1.', '1.f', '1s']
    """
    if kind.numpy.kind != "f":
        return f"{int(value)}{SUFFIXES.get(kind.name, '')}"
    suffix = "f" if kind == FLOAT else ""
    if not isfinite(value):
        return _special(float(value)) + suffix
    return trimmed(f"%#.{digits[0] if kind == FLOAT else digits[1]}g" % value) + suffix


def trimmed(text: str) -> str:
    """Return a decimal number without zeros at the end of its fraction; the point stays.

    >>> trimmed("1.500000"), trimmed("1.000000e+10"), trimmed("1234567.")
    ('1.5', '1.e+10', '1234567.')
    """
    found = _PLAIN.match(text)
    plain = found[0] if found else ""
    return plain.rstrip("0") + text[len(plain) :] if "." in plain else text


def _special(value: float) -> str:
    return "NaN" if isnan(value) else "-Infinity" if value < 0 else "Infinity"


def writer(kind: Type, digits: Digits) -> Writer:
    """Return what writes one value of a type.

    >>> from omnizarr.nc.types import Field, INT
    >>> point = Compound("point", (Field("x", FLOAT), Field("id", INT, (2,))))
    >>> writer(point, (7, 15))(np.zeros((), point.numpy)[()])
    b'{0, {0, 0}}'
    """
    if isinstance(kind, Atomic):
        return _atomic(kind, digits)
    if isinstance(kind, Enum):
        return _enum(kind)
    if isinstance(kind, Opaque):
        return lambda value: b"0X" + bytes(value).ljust(kind.size, b"\0").hex().upper().encode()
    if isinstance(kind, Vlen):
        return _sequence(kind, digits)
    return _compound(kind, digits)


def _atomic(kind: Atomic, digits: Digits) -> Writer:
    if kind == STRING:
        return quoted_string
    if kind == CHAR:
        return lambda value: quoted_member(bytes(value))
    if kind.numpy.kind != "f":
        return lambda value: b"%d" % value
    form = f"%.{digits[0] if kind == FLOAT else digits[1]}g"
    suffix = "f" if kind == FLOAT else ""

    def write(value: Any) -> bytes:  # noqa: ANN401 - a scalar of the type
        return (form % value if isfinite(value) else _special(float(value)) + suffix).encode()

    return write


def _enum(kind: Enum) -> Writer:
    names = {value: escaped(name).encode("utf-8", "surrogateescape") for name, value in reversed(kind.members)}

    def write(value: Any) -> bytes:  # noqa: ANN401 - an integer
        return names.get(int(value)) or b"%d" % value  # ncdump gives up on a number without a name

    return write


def _sequence(kind: Vlen, digits: Digits) -> Writer:
    if kind.base == CHAR:
        return lambda value: b"{" + (quoted_member(np.asarray(value, "S1").tobytes()) if len(value) else b"") + b"}"
    base = writer(kind.base, digits)
    return lambda value: b"{" + b", ".join(map(base, value)) + b"}"


def _compound(kind: Compound, digits: Digits) -> Writer:
    members: list[tuple[str, Writer]] = []
    for field in kind.fields:
        one = writer(field.type, digits)
        if field.shape and field.type == CHAR:
            one = _text_rows
        elif field.shape:
            one = _elements(one)
        members.append((field.name, one))

    def write(value: Any) -> bytes:  # noqa: ANN401 - an element of a structured array
        return b"{" + b", ".join([one(value[name]) for name, one in members]) + b"}"

    return write


def _elements(one: Writer) -> Writer:
    return lambda value: b"{" + b", ".join(map(one, value.ravel())) + b"}"


def _text_rows(value: Any) -> bytes:  # noqa: ANN401 - an array of characters
    rows = np.ascontiguousarray(value).reshape(-1, value.shape[-1])
    return b"{" + b", ".join(quoted_member(row.tobytes()) for row in rows) + b"}"
