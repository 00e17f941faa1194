"""Arrays that lie in a file at a fixed distance from element to element, big-endian, read and written in regions.

Only the part of a file between the first and the last byte of a region is touched, a few megabytes at a time; where a
region is thin, it is divided until hardly anything in between is read.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from threading import Lock
from typing import Any, BinaryIO, Final, Protocol

import numpy as np

from omnizarr.nc.source import Key, Values, counts

_PIECE: Final = 8 << 20
_SMALL: Final = 64 << 10
_THIN: Final = 8


class Bytes(Protocol):
    """What holds the bytes."""

    def size(self) -> int:
        """How many there are."""
        ...

    def get(self, start: int, count: int) -> bytes:
        """Return a part; shorter if there is no more."""
        ...

    def put(self, start: int, data: Any) -> None:  # noqa: ANN401 - any buffer
        """Store a part."""
        ...


class FileBytes:
    """The bytes of an open file."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = Lock()  # for systems that can only read and write where they stand

    def size(self) -> int:
        """How many there are."""
        return os.fstat(self._descriptor).st_size

    def get(self, start: int, count: int) -> bytes:
        """Return a part; shorter if there is no more."""
        parts: list[bytes] = []
        while count > 0:
            part = self._some(start, count)
            if not part:
                break
            parts.append(part)
            start, count = start + len(part), count - len(part)
        return b"".join(parts) if len(parts) != 1 else parts[0]

    def put(self, start: int, data: Any) -> None:  # noqa: ANN401 - any buffer
        """Store a part."""
        view = memoryview(data).cast("B")
        while len(view):
            done = self._put_some(start, view)
            view, start = view[done:], start + done

    def _some(self, start: int, count: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._descriptor, count, start)
        with self._lock:
            os.lseek(self._descriptor, start, os.SEEK_SET)
            return os.read(self._descriptor, count)

    def _put_some(self, start: int, view: memoryview) -> int:
        if hasattr(os, "pwrite"):
            return os.pwrite(self._descriptor, view, start)
        with self._lock:
            os.lseek(self._descriptor, start, os.SEEK_SET)
            return os.write(self._descriptor, view)


class ObjectBytes:
    """The bytes of an open file object, to be read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = file.seek(0, os.SEEK_END)
        self._lock = Lock()

    def size(self) -> int:
        """How many there are."""
        return self._size

    def get(self, start: int, count: int) -> bytes:
        """Return a part; shorter if there is no more."""
        with self._lock:
            self._file.seek(start)
            return self._file.read(count)

    def put(self, start: int, data: Any) -> None:  # noqa: ANN401 - any buffer
        """Refuse."""
        raise NotImplementedError


class MemoryBytes:
    """Bytes in memory, to read."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def size(self) -> int:
        """How many there are."""
        return len(self._data)

    def get(self, start: int, count: int) -> bytes:
        """Return a part; shorter if there is no more."""
        return self._data[start : start + count]

    def put(self, start: int, data: Any) -> None:  # noqa: ANN401 - any buffer
        """Refuse."""
        raise NotImplementedError


class Strided:
    """An array in a file."""

    def __init__(self, data: Bytes, begin: int, strides: Sequence[int], dtype: np.dtype[Any]) -> None:
        self._data, self._begin, self._strides = data, begin, tuple(strides)
        self._dtype, self._stored = dtype, dtype.newbyteorder(">")

    def read(self, key: Key) -> Values:
        """Return what a key selects.

        Raises:
            EOFError: If the file ends before that.
        """
        values = np.empty(counts(key), self._dtype)
        self._each(key, values, self._read_piece)
        return values

    def write(self, key: Key, values: Values) -> None:
        """Store what a key selects."""
        self._each(key, values, self._write_piece)

    def _each(self, key: Key, values: Values, act: Any) -> None:  # noqa: ANN401 - one of the two below
        if values.size == 0:
            return
        first = [_ends(part) for part in key]
        start = self._begin + sum(low * step for (low, _), step in zip(first, self._strides, strict=True))
        stop = self._begin + sum(high * step for (_, high), step in zip(first, self._strides, strict=True))
        stop += self._dtype.itemsize
        span = stop - start
        axis = next((axis for axis, count in enumerate(values.shape) if count > 1), None)
        if axis is None or span <= _SMALL or (span <= _PIECE and span <= _THIN * values.nbytes):
            act(key, values, start, span, [low for low, _ in first])
            return
        half = values.shape[axis] // 2
        for part, chosen in _halves(key[axis], half):
            inner = [*key[:axis], part, *key[axis + 1 :]]
            self._each(inner, values[(slice(None),) * axis + (chosen,)], act)

    def _read_piece(self, key: Key, values: Values, start: int, span: int, lows: list[int]) -> None:
        data = self._data.get(start, span)
        if len(data) < span:
            raise EOFError(start + len(data))
        values[...] = self._view(data, key, lows)[_local(key, lows)]

    def _write_piece(self, key: Key, values: Values, start: int, span: int, lows: list[int]) -> None:
        if span == values.nbytes and all(isinstance(part, slice) for part in key):
            self._data.put(start, np.ascontiguousarray(values, self._stored))
            return
        old = bytearray(span)
        found = self._data.get(start, span)
        old[: len(found)] = found
        self._view(old, key, lows)[_local(key, lows)] = values
        self._data.put(start, old)

    def _view(self, data: bytes | bytearray, key: Key, lows: list[int]) -> Values:
        extent = tuple(_ends(part)[1] - low + 1 for part, low in zip(key, lows, strict=True))
        return np.ndarray(extent, self._stored, data, 0, self._strides)


def _ends(part: slice | Values) -> tuple[int, int]:
    """Return the least and the greatest index of a part of a key, which selects something."""
    if isinstance(part, slice):
        chosen = range(part.start, part.stop, part.step)
        return chosen[0], chosen[-1]
    return int(part.min()), int(part.max())


def _halves(part: slice | Values, half: int) -> list[tuple[slice | Values, slice]]:
    if isinstance(part, slice):
        middle = part.start + half * part.step
        return [
            (slice(part.start, middle, part.step), slice(0, half)),
            (slice(middle, part.stop, part.step), slice(half, None)),
        ]
    return [(part[:half], slice(0, half)), (part[half:], slice(half, None))]


def _local(key: Key, lows: list[int]) -> Any:  # noqa: ANN401 - an index of NumPy
    parts = [
        slice(part.start - low, part.stop - low, part.step) if isinstance(part, slice) else part - low
        for part, low in zip(key, lows, strict=True)
    ]
    if all(isinstance(part, slice) for part in parts):
        return tuple(parts)
    return np.ix_(*(np.arange(p.start, p.stop, p.step) if isinstance(p, slice) else p for p in parts))
