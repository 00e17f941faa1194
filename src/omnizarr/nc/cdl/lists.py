"""Lists of values: reading them, numbers in bulk."""

from __future__ import annotations

import re
from typing import Final

from omnizarr.native import cdl_numbers
from omnizarr.nc.cdl.constants import Const, constant, unescaped
from omnizarr.nc.cdl.lexer import Lexer
from omnizarr.nc.types import CHAR, STRING, Atomic, Type, Vlen

_DEEPEST: Final = 100
_NUMBERS: Final = ("integer", "real", "word", "special")
_TEXT: Final = re.compile(rb'[ \t\r\n\f]*("[^"\\]*(?:\\.[^"\\]*)*")[ \t\r\n\f]*,', re.DOTALL)
"""A string that something follows."""


def read_list(lexer: Lexer, kind: Type | None = None) -> list[Const]:
    """Read values up to the semicolon or brace behind them.

    Args:
        lexer: Where to read.
        kind: What the values are for; with it, numbers are read in bulk.

    Raises:
        CdlError: If something else is there.
    """
    return _read(lexer, _bulk(kind), 0)


def _bulk(kind: Type | None) -> str | None:
    """Return the NumPy type of numbers that can be read in bulk for a type, if it has any."""
    while isinstance(kind, Vlen):
        kind = kind.base
    return kind.text if isinstance(kind, Atomic) and kind not in (CHAR, STRING) else None


def _read(lexer: Lexer, bulk: str | None, depth: int) -> list[Const]:
    items: list[Const] = []
    if lexer.peek().kind in (";", "}"):
        return items
    lexer.accept(",")  # an empty first value, which ncgen reads over
    while True:
        kind = lexer.peek().kind
        if kind == "string":
            _read_texts(lexer, items)
        elif not (bulk and kind in _NUMBERS and _read_run(lexer, bulk, items)):
            items.append(_read_one(lexer, bulk, depth))
        if not lexer.comma():
            return items


def _read_texts(lexer: Lexer, items: list[Const]) -> None:
    """Read strings up to the last of them."""
    data, here = lexer.text.data, lexer.peek().at
    while (found := _TEXT.match(data, here)) is not None:
        items.append(Const("string", unescaped(found[1][1:-1]), found.start(1)))
        here = found.end()
    lexer.seek(here)
    items.append(constant(lexer) if lexer.peek().kind != "{" else _read_one(lexer, None, 0))


def _read_one(lexer: Lexer, bulk: str | None, depth: int) -> Const:
    token = lexer.peek()
    if token.kind != "{":
        return constant(lexer)
    if depth >= _DEEPEST:
        raise lexer.text.error(token.at, f"more than {_DEEPEST} braces inside each other")
    lexer.take()
    inner = _read(lexer, bulk, depth + 1)
    lexer.expect("}", "',' or '}'")
    return Const("list", inner, token.at)


def _read_run(lexer: Lexer, bulk: str, items: list[Const]) -> bool:
    """Read numbers up to what is none; say whether there were any."""
    token = lexer.peek()
    values, fills, misfit, end = cdl_numbers(lexer.text.data, token.at, bulk)
    if not len(values):
        return False
    if misfit is not None:
        lexer.text.warn(misfit, f"from here on, numbers do not all fit their type ({values.dtype})")
    items.append(Const("run", (values, fills), token.at))
    lexer.seek(end)
    return True


def count(items: list[Const]) -> int:
    """Return the number of values in a list; what is in braces is one."""
    return sum(len(item.value[0]) if item.kind == "run" else 1 for item in items)
