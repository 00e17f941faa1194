"""Text for terminals: without control characters, and as wide as it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnizarr.late import LateModule

if TYPE_CHECKING:
    import unicodedata
else:
    unicodedata = LateModule("unicodedata")


def printable(text: str) -> str:
    r"""Return text whose control characters are written out, since names and values may come from anywhere.

    >>> printable("a\x1b[31mb\n")
    'a\\x1b[31mb\\n'
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def columns_of(text: str) -> int:
    """Return how many columns of a terminal text takes: two for each wide letter, none for what is put on another.

    >>> columns_of("abc"), columns_of("\u6e29\u5ea6"), columns_of("e\u0301")
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(_columns(char) for char in text)


def padded(text: str, columns: int) -> str:
    """Return text with spaces behind it, so that it takes so many columns."""
    return text + " " * (columns - columns_of(text))


def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
