"""The messages of a GRIB file: where they are, and their headers without the data.

https://codes.wmo.int/common/edition/2 : sections of a message begin with their length and number.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

from omnizarr.errors import CorruptError

_STEP: Final = 1 << 16
_MOST_HEADER: Final = 1 << 24
_END: Final = b"7777"
_NO_BITMAP: Final = struct.pack(">IBB", 6, 6, 255)
_NO_DATA: Final = struct.pack(">IB", 5, 7)
_BITMAP: Final = 6
_DATA: Final = 7


class Message(NamedTuple):
    """A message of a file."""

    offset: int
    length: int
    head: bytes
    """The message, of edition 2 without its data."""
    fields: int
    """How many fields it holds."""


def messages(file: BinaryIO, url: str) -> Iterator[Message]:
    """Go through the messages of a file.

    Raises:
        CorruptError: If the file is damaged or cut off.
    """
    size = file.seek(0, 2)
    at = 0
    while True:
        found = _next(file, at, size)
        if found is None:
            return
        message = _message(file, found, size, url)
        yield message
        at = message.offset + message.length


def _next(file: BinaryIO, at: int, size: int) -> int | None:
    """Return where the next message begins: files may hold other lines between them."""
    while at < size:
        file.seek(at)
        data = file.read(_STEP)
        found = data.find(b"GRIB")
        if found >= 0:
            return at + found
        if len(data) < _STEP:
            return None
        at += len(data) - 3
    return None


def _message(file: BinaryIO, at: int, size: int, url: str) -> Message:
    file.seek(at)
    head = file.read(16)
    if len(head) < 16:
        raise CorruptError(f"{url} is cut off within the message at {at}")
    edition = head[7]
    if edition == 1:
        length = int.from_bytes(head[4:7], "big")
    elif edition == 2:
        length = int.from_bytes(head[8:16], "big")
    else:
        raise CorruptError(f"{url}: the message at {at} is of edition {edition}, and not 1 or 2")
    if length < 20 or at + length > size:
        raise CorruptError(f"{url} is cut off: the message at {at} has {length} bytes, and the file ends at {size}")
    file.seek(at + length - 4)
    if file.read(4) != _END:
        raise CorruptError(f"{url}: the message at {at} does not end as its length says")
    if edition == 1:
        file.seek(at)
        return Message(at, length, file.read(length), 1)
    return _without_data(file, at, length, head, url)


def _without_data(file: BinaryIO, at: int, length: int, head: bytes, url: str) -> Message:
    """Read the sections of a message but for data and bitmap, and put them together to a message of no data."""
    parts: list[bytes] = []
    place, end, fields, taken = at + 16, at + length - 4, 0, 0
    while place < end:
        file.seek(place)
        start = file.read(5)
        count, number = struct.unpack(">IB", start) if len(start) == 5 else (0, 0)
        if count < 5 or place + count > end or not 1 <= number <= _DATA:
            raise CorruptError(f"{url}: the message at {at} has a section {number} of {count} bytes")
        if number == _DATA:
            fields += 1
            parts.append(_NO_DATA)
        elif number == _BITMAP:
            parts.append(_NO_BITMAP)
        else:
            taken += count
            if taken > _MOST_HEADER:
                raise CorruptError(f"{url}: the headers of the message at {at} have more than {_MOST_HEADER} bytes")
            parts.append(start + file.read(count - 5))
        if fields > 1:
            break
        place += count
    if not fields:
        raise CorruptError(f"{url}: the message at {at} holds no data")
    body = b"".join(parts) + _END
    return Message(at, length, head[:8] + struct.pack(">Q", 16 + len(body)) + body, fields)
