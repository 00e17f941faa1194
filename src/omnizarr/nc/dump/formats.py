"""The attribute `C_format`: how a variable wants its numbers printed."""

from __future__ import annotations

import re
from math import isfinite
from typing import Any, Final

from omnizarr.nc.dump.constants import Writer, writer
from omnizarr.nc.dump.options import DOUBLE_DIGITS, FLOAT_DIGITS
from omnizarr.nc.tree import Var
from omnizarr.nc.types import CHAR, Atomic, Type

_LONGEST: Final = 100
_LENGTHS: Final = re.compile(r"(%[-+ #0]*\d*(?:\.\d*)?)(?:hh|h|ll|l|L|q|j|z|t)(?=[a-zA-Z])")


def c_format(var: Var) -> str:
    """Return the format that a variable asks for, or nothing."""
    attr = var.attrs.get("C_format")
    if attr is None or attr.type != CHAR or not 0 < len(attr.value) < _LONGEST:
        return ""
    text: bytes = attr.value.split(b"\0")[0]
    return text.decode("utf-8", "surrogateescape")


def formatted(form: str, kind: Type) -> Writer:
    """Return what writes values by a format of C's; one that makes no sense for the type is passed over.

    >>> from omnizarr.nc.types import FLOAT
    >>> formatted("%.2lf", FLOAT)(1.5), formatted("%s%s", FLOAT)(1.5)
    (b'1.50', b'1.5')
    """
    plain = writer(kind, (FLOAT_DIGITS, DOUBLE_DIGITS))
    form = _LENGTHS.sub(r"\1", form)
    is_float = isinstance(kind, Atomic) and kind.numpy.kind == "f"
    try:
        _ = form % (1.5 if is_float else 1)
    except (TypeError, ValueError):
        return plain

    def write(value: Any) -> bytes:  # noqa: ANN401 - a number or a character
        if is_float and not isfinite(value):
            return plain(value)
        number = ord(bytes(value) or b"\0") if kind == CHAR else value
        return (form % number).encode("utf-8", "surrogateescape")

    return write
