"""Columns of FITS tables whose arrays differ in length: rows say where in the heap behind the table they are.

https://fits.gsfc.nasa.gov/fits_standard.html, §7.3.5.
"""

from __future__ import annotations

from typing import Any, BinaryIO, Final

import numpy as np

from omnizarr.codec.framing import join
from omnizarr.errors import CorruptError, LimitError, UnsupportedError
from omnizarr.refs.scanners.fits_header import Unit
from omnizarr.refs.scanners.fits_table import NUMBERS, Column

_OTHERS: Final = ("A", "L", "X")
"""What arrays hold that are no numbers: text, truths, bits."""

_MOST: Final = 1 << 24
"""Most bytes of the rows of a table, and of the arrays of a column, that are read."""


def refusal(unit: Unit, columns: list[Column]) -> UnsupportedError | None:
    """Say what keeps the arrays of columns from being taken into the set, if anything does."""
    many, width = unit.shape()
    strange = [one.name for one in columns if one.inner not in NUMBERS and one.inner not in _OTHERS]
    size = max(many * width, unit.size - many * width)
    if not strange and size <= _MOST:
        return None
    reason = f"are no numbers: {', '.join(strange)}" if strange else f"take {size} bytes, too many for the set"
    return UnsupportedError(
        f"the columns {', '.join(one.name for one in columns)} of unit {unit.number} have arrays of different lengths, "
        f"which references cannot describe, and they {reason}",
        hint='Skip the table, or pass on_error="drop": then they are the places of the arrays.',
    )


class Heap:
    """What lies behind a table.

    Args:
        unit: The table.
        file: The file that it is in.
    """

    def __init__(self, unit: Unit, file: BinaryIO) -> None:
        self._unit = unit
        self._many, self._width = unit.shape()
        file.seek(unit.start)
        self._data = file.read(unit.size)
        self._start = unit.number_of("THEAP", self._many * self._width)
        if len(self._data) < unit.size or not self._many * self._width <= self._start <= unit.size:
            raise CorruptError(f"unit {unit.number} ends before its heap does")

    def values(self, column: Column) -> tuple[bytes, dict[str, Any]]:
        """Return the arrays of a column as one chunk, and what an array of them is.

        Raises:
            CorruptError: If some are not in the heap.
            LimitError: If they are too large together.
            UnsupportedError: If truths are left open, for which there is no type.
        """
        rows = np.frombuffer(self._data, "u1", self._many * self._width).reshape(self._many, self._width)
        own = np.ascontiguousarray(rows[:, column.offset : column.offset + 2 * column.dtype.itemsize])
        places = own.view(column.dtype).reshape(self._many, 2).astype("i8")
        inner = column.inner
        stored = np.dtype("S1" if inner == "A" else "u1" if inner in _OTHERS else NUMBERS[inner])
        wanted = np.dtype(bool) if inner in "LX" else stored.newbyteorder("<")
        items: list[bytes] = []
        total = 0
        for row, (count, offset) in enumerate(places.tolist()):
            start, many = self._start + offset, -(-count // 8) if inner == "X" else count
            if count < 0 or offset < 0 or start + many * stored.itemsize > len(self._data):
                raise CorruptError(f"the array of row {row} of the column {column.name} lies outside the heap")
            total += count * wanted.itemsize
            if total > _MOST:  # rows may share what is in the heap
                raise LimitError(f"the arrays of the column {column.name} take more than {_MOST} bytes")
            found = np.frombuffer(self._data, stored, many, start)
            if inner == "A":
                items.append(_text(found.tobytes()))
            else:
                items.append((_truths(found, count, column) if inner in "LX" else found.astype(wanted)).tobytes())
        codec = {"id": "vlen-utf8"} if inner == "A" else {"id": "vlen-array", "dtype": wanted.str}
        return join(items), {"dtype": str if inner == "A" else object, "codecs": [codec], "fill_value": None}


def _truths(found: np.ndarray[Any, np.dtype[Any]], count: int, column: Column) -> np.ndarray[Any, np.dtype[np.bool]]:
    """Return bits, the first of a byte first, or the letters T and F, as truths."""
    if column.inner == "X":
        return np.unpackbits(found, count=count).astype(bool)
    if not np.isin(found, (ord("T"), ord("F"))).all():
        raise UnsupportedError(f"the arrays of the column {column.name} leave open whether some values are true")
    return np.asarray(found == ord("T"), bool)


def _text(data: bytes) -> bytes:
    return data.partition(b"\0")[0].decode("ascii", "replace").encode()
