"""The tables of FITS files as arrays of structures: binary ones by the types of their columns, others as text.

https://fits.gsfc.nasa.gov/fits_standard.html, §7.
"""

from __future__ import annotations

import re
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from omnizarr.errors import CorruptError
from omnizarr.refs.scanners.fits_header import Unit

_FORM: Final = re.compile(r"\s*(\d*)([LXBIJKAEDCMPQ])(.*)")
_ASCII: Final = re.compile(r"\s*[AIFED](\d+)")
_DIMS: Final = re.compile(r"\(\s*\d+(\s*,\s*\d+)*\s*\)")
NUMBERS: Final = {"B": "u1", "I": ">i2", "J": ">i4", "K": ">i8", "E": ">f4", "D": ">f8", "C": ">c8", "M": ">c16"}
_NOTES: Final = {
    "TUNIT": "units",
    "TSCAL": "scale_factor",
    "TZERO": "add_offset",
    "TNULL": "_FillValue",
    "TDISP": "display",
    "TFORM": "format",
    "TCOMM": "comment",
    "TUCD": "ucd",
}


class Column(NamedTuple):
    """A column of a binary table."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    form: str
    """The letter of its type."""
    offset: int
    """Where it is in a row."""
    inner: str = ""
    """Where rows only say where its arrays are, the letter of what these hold."""

    @property
    def varies(self) -> bool:
        """Whether its arrays differ in length."""
        return bool(self.inner) and self.shape != (0,)


def columns(unit: Unit) -> list[Column]:
    """Return the columns of a binary table.

    Raises:
        CorruptError: If they are malformed, or do not fit a row.
    """
    made: list[Column] = []
    at = 0
    for i in range(1, _fields(unit) + 1):
        found = _FORM.match(str(unit.cards.get(f"TFORM{i}", "")))
        if found is None:
            raise CorruptError(f"column {i} of unit {unit.number} has the format {unit.cards.get(f'TFORM{i}')!r}")
        many, form = int(found[1] or 1), found[2]
        dtype, shape = _type(form, many, unit.cards.get(f"TDIM{i}"))
        made.append(Column(_name(unit, i, made), dtype, shape, form, at, found[3].strip()[:1] if form in "PQ" else ""))
        at += dtype.itemsize * prod(shape)
    if at > unit.shape()[-1]:
        raise CorruptError(f"the columns of unit {unit.number} have {at} bytes, its rows {unit.shape()[-1]}")
    return made


def _fields(unit: Unit) -> int:
    count = unit.number_of("TFIELDS")
    if not 0 <= count <= 999:
        raise CorruptError(f"unit {unit.number} has {count} columns")
    return count


def _name(unit: Unit, i: int, before: list[Column] | list[str]) -> str:
    name = str(unit.cards.get(f"TTYPE{i}") or f"col{i}").strip().replace("/", "_") or f"col{i}"
    taken = [one if isinstance(one, str) else one.name for one in before]
    return name if name not in taken else f"{name}_{i}"


def _type(form: str, many: int, dims: object) -> tuple[np.dtype[Any], tuple[int, ...]]:
    shape: tuple[int, ...] = (many,) if many != 1 else ()
    if isinstance(dims, str) and _DIMS.fullmatch(dims.strip()):
        told = tuple(int(n) for n in reversed(dims.strip()[1:-1].split(",")))
        if prod(told) == many:
            shape = told
    if form == "A":
        width = shape[-1] if len(shape) > 1 else many
        return np.dtype(f"S{width}") if width else np.dtype("V0"), shape[:-1] if len(shape) > 1 else ()
    if form in "PQ":
        return np.dtype(">i4" if form == "P" else ">i8"), (2,) if many else (0,)
    if form == "X":
        return np.dtype("u1"), (-(-many // 8),)
    if form == "L":
        return np.dtype("S1"), shape
    return np.dtype(NUMBERS[form]), shape


def binary_type(unit: Unit, found: list[Column]) -> np.dtype[Any]:
    """Return the type of a row of a binary table; where arrays differ in length, their count and place."""
    fields = [(one.name, one.dtype, one.shape, one.offset) for one in found if one.dtype.itemsize and prod(one.shape)]
    return _packed(fields, unit.shape()[-1])


def _packed(fields: list[tuple[str, np.dtype[Any], tuple[int, ...], int]], width: int) -> np.dtype[Any]:
    """Return a type with a field for every byte, what is unused included."""
    made: list[Any] = []
    at = 0
    for name, dtype, shape, offset in fields:
        if offset < at:
            raise CorruptError(f"the column {name} overlaps the one before it")
        if offset > at:
            made.append((f"_unused{at}", f"V{offset - at}"))
        made.append((name, dtype, shape) if shape else (name, dtype))
        at = offset + dtype.itemsize * prod(shape)
    if at < width:
        made.append((f"_unused{at}", f"V{width - at}"))
    return np.dtype(made)


def text_type(unit: Unit) -> np.dtype[Any]:
    """Return the type of a row of an ASCII table: all columns are text, as they stand there."""
    fields: list[tuple[str, np.dtype[Any], tuple[int, ...], int]] = []
    for i in range(1, _fields(unit) + 1):
        found = _ASCII.match(str(unit.cards.get(f"TFORM{i}", "")))
        start = unit.number_of(f"TBCOL{i}") - 1
        if found is None or start < 0 or start + int(found[1]) > unit.shape()[-1]:
            raise CorruptError(f"column {i} of unit {unit.number} has the format {unit.cards.get(f'TFORM{i}')!r}")
        fields.append((_name(unit, i, [one[0] for one in fields]), np.dtype(f"S{found[1]}"), (), start))
    return _packed(sorted(fields, key=lambda one: one[3]), unit.shape()[-1])


def notes(unit: Unit) -> dict[str, Any]:
    """Return what the header says of each column, but its name."""
    made: dict[str, Any] = {}
    for i in range(1, _fields(unit) + 1):
        said = {word: unit.cards[f"{card}{i}"] for card, word in _NOTES.items() if f"{card}{i}" in unit.cards}
        made[str(unit.cards.get(f"TTYPE{i}") or f"col{i}").strip()] = said
    return made
