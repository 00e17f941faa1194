"""The headers of a FITS file: cards of 80 characters, and where the data that they describe are.

https://fits.gsfc.nasa.gov/fits_standard.html, §3 and §4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Any, BinaryIO, Final

from omnizarr.errors import CorruptError, UnsupportedError

BLOCK: Final = 2880
_CARD: Final = 80
_MOST_BLOCKS: Final = 1 << 14
_BITS: Final = (8, 16, 32, 64, -32, -64)
_TEXT: Final = re.compile(r"\s*'((?:[^']|'')*)'")
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([EDed][+-]?\d+)?")
_WORDS: Final = ("COMMENT", "HISTORY", "")


@dataclass(slots=True)
class Unit:
    """A header and data unit."""

    number: int
    cards: dict[str, Any]
    start: int
    """Where the data begin."""
    notes: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def number_of(self, name: str, default: int | None = None) -> int:
        """Return the whole number of a card.

        Raises:
            CorruptError: If it is not there, or something else.
        """
        value = self.cards.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise CorruptError(f"the card {name} of unit {self.number} is {value!r}, and no whole number")
        return value

    def real_of(self, name: str, default: float) -> float | int:
        """Return the number of a card."""
        value = self.cards.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise CorruptError(f"the card {name} of unit {self.number} is {value!r}, and no number")
        return value

    @property
    def kind(self) -> str:
        """IMAGE, BINTABLE, TABLE or another."""
        return "IMAGE" if self.number == 0 else str(self.cards.get("XTENSION", "")).strip()

    def shape(self, prefix: str = "") -> tuple[int, ...]:
        """Return the lengths of the axes, the slowest first."""
        ndim = self.number_of(f"{prefix}NAXIS")
        if not 0 <= ndim <= 999:
            raise CorruptError(f"unit {self.number} has {ndim} axes")
        sizes = tuple(self.number_of(f"{prefix}NAXIS{i}") for i in range(ndim, 0, -1))
        if any(n < 0 for n in sizes):
            raise CorruptError(f"unit {self.number} has axes of the lengths {sizes}")
        return sizes

    @property
    def size(self) -> int:
        """Bytes of the data, without what fills the last block."""
        shape = self.shape()
        if self.cards.get("GROUPS") is True and shape and shape[-1] == 0:
            raise UnsupportedError(f"unit {self.number} has random groups, which are not supported")
        bits = self.number_of("BITPIX")
        if bits not in _BITS:
            raise CorruptError(f"unit {self.number} has values of {bits} bits")
        many, extra = self.number_of("GCOUNT", 1), self.number_of("PCOUNT", 0)
        if many < 0 or extra < 0:
            raise CorruptError(f"unit {self.number} has {many} groups of {extra} parameters")
        return abs(bits) // 8 * many * (extra + (prod(shape) if shape else 0))


def units(file: BinaryIO, url: str) -> Iterator[Unit]:
    """Go through the units of a file.

    Raises:
        CorruptError: If the file is damaged or cut off.
        UnsupportedError: If a unit is of a kind that has no size.
    """
    size = file.seek(0, 2)
    at = number = 0
    while at < size:
        if number and not _is_header(file, at):
            return  # what follows the last unit is of no meaning
        try:
            unit = _header(file, at, number)
            length = unit.size
        except (CorruptError, UnsupportedError) as error:
            raise type(error)(f"{url}: {error.message}", hint=error.hint) from None
        if unit.start + length > size:
            raise CorruptError(f"{url} is cut off: unit {number} ends at {unit.start + length}, the file at {size}")
        yield unit
        at = unit.start + -(-length // BLOCK) * BLOCK
        number += 1


def _is_header(file: BinaryIO, at: int) -> bool:
    file.seek(at)
    return file.read(9) == b"XTENSION="


def _header(file: BinaryIO, at: int, number: int) -> Unit:
    file.seek(at)
    unit = Unit(number, {}, 0)
    last = ""
    for block in range(_MOST_BLOCKS):
        data = file.read(BLOCK)
        if len(data) < BLOCK:
            raise CorruptError(f"the header of unit {number} is cut off")
        text = data.decode("latin-1")
        if block == 0 and number == 0 and not text.startswith("SIMPLE  ="):
            raise CorruptError("there is no header of a FITS file")
        for start in range(0, BLOCK, _CARD):
            card = text[start : start + _CARD]
            if card[:8].rstrip() == "END":
                unit.start = at + (block + 1) * BLOCK
                return unit
            last = _take(unit, card, last)
    raise CorruptError(f"the header of unit {number} has no end")


def _take(unit: Unit, card: str, last: str) -> str:
    """Add a card to those of a unit; return the name to which a text may go on."""
    name = card[:8].rstrip()
    if name == "CONTINUE" and last:
        found = _TEXT.match(card[8:])
        so_far = unit.cards.get(last)
        if found and isinstance(so_far, str) and so_far.endswith("&"):
            unit.cards[last] = so_far[:-1] + found[1].replace("''", "'").rstrip()
        return last
    if name == "HIERARCH" and "=" in card:
        name, _, rest = card[8:].partition("=")
        name = name.strip()
    elif card[8:10] == "= ":
        rest = card[10:]
    else:
        if name in _WORDS and card[8:].strip():
            unit.notes.setdefault(name or "COMMENT", []).append(card[8:].rstrip())
        return ""
    if name:
        unit.cards[name] = _value(rest)
    return name


def _value(text: str) -> Any:  # noqa: ANN401 - whatever JSON has
    """Return the value of a card: a text, a truth value, a number, a pair of them, or `None`."""
    found = _TEXT.match(text)
    if found:
        return found[1].replace("''", "'").rstrip()
    text = text.partition("/")[0].strip()
    if text in ("T", "F"):
        return text == "T"
    if text.startswith("(") and text.endswith(")"):
        return [_value(part) for part in text[1:-1].split(",")[:2]]
    if not _NUMBER.fullmatch(text):
        return text or None
    try:
        return int(text)
    except ValueError:
        return float(text.upper().replace("D", "E"))
