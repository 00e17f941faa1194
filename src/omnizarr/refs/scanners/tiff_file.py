"""The frame of a TIFF file: its header, its directories, and the values of their tags.

TIFF 6.0, and BigTIFF with offsets of 64 bits: https://www.awaresystems.be/imaging/tiff/bigtiff.html
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from omnizarr.errors import CorruptError, LimitError, UnsupportedError

_TYPES: Final = {
    1: "u1",
    2: "S1",
    3: "u2",
    4: "u4",
    5: "u4",
    6: "i1",
    7: "u1",
    8: "i2",
    9: "i4",
    10: "i4",
    11: "f4",
    12: "f8",
    13: "u4",
    16: "u8",
    17: "i8",
    18: "u8",
}
_SIMPLE: Final = {1: "B", 3: "H", 4: "I"}
"""Types of whole numbers that always fit into an entry."""

_PAIRS: Final = (5, 10)
"""Types of fractions: two numbers each."""

_GUESS: Final = 1 << 10
"""So much is read where a directory begins: most fit, and need no second read."""

_MOST_TAGS: Final = 4096
_MOST_PAGES: Final = 1 << 20


class Tag(NamedTuple):
    """One entry of a directory."""

    type: int
    length: int
    value: bytes
    """The bytes of the entry that hold the value, or the offset of where it is."""


class Directory:
    """The tags of one image."""

    def __init__(self, file: TiffFile, offset: int, tags: dict[int, Tag]) -> None:
        self._file, self._tags = file, tags
        self.offset = offset

    def __contains__(self, tag: int) -> bool:
        return tag in self._tags

    def array(self, tag: int) -> npt.NDArray[Any] | None:
        """Return all values of a tag, `None` if it is not there."""
        found = self._tags.get(tag)
        return None if found is None else self._file.values(found, tag)

    def numbers(self, tag: int) -> list[int] | None:
        """Return the values of a tag of a few whole numbers."""
        found = self.array(tag)
        if found is None:
            return None
        if found.dtype.kind not in "iu":
            raise self._file.corrupt(f"tag {tag} does not hold whole numbers")
        return [int(one) for one in found.tolist()]

    def number(self, tag: int, default: int) -> int:
        """Return the single whole number of a tag."""
        entry = self._tags.get(tag)
        if entry is None:
            return default
        if entry.length == 1 and entry.type in _SIMPLE:
            # Most are so, and a stack of many thousand pages has a dozen for each.
            return int(struct.unpack_from(self._file.order + _SIMPLE[entry.type], entry.value)[0])
        found = self.numbers(tag)
        return found[0] if found else default

    def floats(self, tag: int) -> list[float]:
        """Return the values of a tag as floats; none if it is not there."""
        found = self.array(tag)
        return [] if found is None or found.dtype.kind == "S" else [float(one) for one in found.tolist()]

    def text(self, tag: int) -> str:
        """Return the text of a tag, empty if it is not there."""
        found = self._tags.get(tag)
        if found is None:
            return ""
        data = self._file.raw(found, tag)
        return (
            data.split(b"\0", 1)[0].decode("utf-8", "replace") if found.type == 2 else data.decode("utf-8", "replace")
        )

    def data(self, tag: int) -> bytes:
        """Return the bytes of a tag, none if it is not there."""
        found = self._tags.get(tag)
        return b"" if found is None else self._file.raw(found, tag)


class TiffFile:
    """A TIFF file that is open.

    Args:
        file: The file.
        url: Its name, for messages.

    Raises:
        CorruptError: If it has no header of a TIFF file.
    """

    def __init__(self, file: BinaryIO, url: str) -> None:
        self._file, self._url = file, url
        self.size = file.seek(0, 2)
        head = self.read(0, min(16, self.size))
        self.order = {b"II": "<", b"MM": ">"}.get(head[:2], "")
        self.is_big = len(head) == 16 and head[2:4] in (b"+\0", b"\0+")
        if not self.order or len(head) < 8 or head[2:4] not in (b"*\0", b"\0*", b"+\0", b"\0+"):
            raise self.corrupt("there is no header of a TIFF file")
        if self.is_big and struct.unpack(self.order + "HH", head[4:8]) != (8, 0):
            raise UnsupportedError(f"{url}: a BigTIFF file whose offsets have not 64 bits")
        self._first = struct.unpack(
            self.order + ("Q" if self.is_big else "I"), head[8:16] if self.is_big else head[4:8]
        )[0]
        # Directories may share values, but no file has a reason to name the same bytes again and again.
        self._budget = 4 * self.size + (1 << 20)
        self._seen: set[int] = set()

    def corrupt(self, message: str) -> CorruptError:
        """Return the error of a damaged file."""
        return CorruptError(f"{self._url}: {message}")

    def read(self, offset: int, count: int) -> bytes:
        """Return bytes of the file, all of them.

        Raises:
            CorruptError: If the file ends before.
        """
        if offset + count > self.size:
            raise self.corrupt(f"{count} bytes at {offset} lie past its end at {self.size}")
        self._file.seek(offset)
        return self._file.read(count)

    def raw(self, tag: Tag, number: int) -> bytes:
        """Return the bytes of a tag's value.

        Raises:
            CorruptError: If its type is unknown, or it lies outside the file.
        """
        if tag.type not in _TYPES:
            raise self.corrupt(f"tag {number} has the unknown type {tag.type}")
        size = tag.length * np.dtype(_TYPES[tag.type]).itemsize * (2 if tag.type in _PAIRS else 1)
        if size <= len(tag.value):
            return tag.value[:size]
        self._budget -= size
        if self._budget < 0:
            raise self.corrupt("its tags claim to hold far more than the file does")
        return self.read(struct.unpack(self.order + ("Q" if self.is_big else "I"), tag.value)[0], size)

    def values(self, tag: Tag, number: int) -> npt.NDArray[Any]:
        """Return the values of a tag, in the byte order of the machine."""
        data = self.raw(tag, number)
        dtype = np.dtype(self.order + _TYPES[tag.type])
        found = np.frombuffer(data, dtype).astype(dtype.newbyteorder("="))
        if tag.type in _PAIRS:
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.asarray(found[::2] / found[1::2])
        return found

    def directories(self) -> Iterator[Directory]:
        """Go through the directories of the main chain.

        Raises:
            CorruptError: If the chain runs in a circle or out of the file.
            LimitError: If it is absurdly long.
        """
        offset = self._first
        while offset:
            found, offset = self.directory(offset)
            yield found

    def directory(self, offset: int) -> tuple[Directory, int]:
        """Return the directory at an offset, and where the next is."""
        if offset in self._seen:
            raise self.corrupt("its directories form a circle")
        self._seen.add(offset)
        if len(self._seen) > _MOST_PAGES:
            raise LimitError(f"{self._url} has more than {_MOST_PAGES} images")
        if offset + 8 > self.size:
            raise self.corrupt(f"a directory at {offset} lies past its end at {self.size}")
        head = self.read(offset, min(_GUESS, self.size - offset))
        form, entry, start, place = ("Q", "HHQ8s", 8, 20) if self.is_big else ("H", "HHI4s", 2, 12)
        count = struct.unpack_from(self.order + form, head)[0]
        if not 0 < count <= _MOST_TAGS:
            raise self.corrupt(f"a directory of {count} tags at {offset}")
        end = start + place * count
        link = 8 if self.is_big else 4
        if end + link > len(head):
            head = self.read(offset, end + link)
        tags = {
            number: Tag(kind, n, value)
            for number, kind, n, value in struct.iter_unpack(self.order + entry, head[start:end])
        }
        following = struct.unpack(self.order + ("Q" if self.is_big else "I"), head[end : end + link])[0]
        return Directory(self, offset, tags), following
