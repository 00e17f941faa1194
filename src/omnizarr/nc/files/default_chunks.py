"""How netcdf-c divides a variable into chunks if nobody says how."""

from __future__ import annotations

from math import prod
from typing import Final

_CHUNK_BYTES: Final = 16 << 20
_RECORD_BYTES: Final = 4096


def default_chunks(shape: tuple[int, ...], unlimited: tuple[bool, ...], itemsize: int) -> tuple[int, ...]:
    """Return lengths of chunks.

    >>> default_chunks((3000, 3000), (False, False), 8), default_chunks((100, 720, 1440), (True, False, False), 4)
    ((1000, 1000), (1, 720, 1440))
    >>> default_chunks((0,), (True,), 8), default_chunks((0, 0), (True, True), 8)
    ((512,), (1448, 1448))
    """
    itemsize = max(itemsize, 1)
    fixed = [size for size, grows in zip(shape, unlimited, strict=True) if not grows]
    if len(shape) == 1 and not fixed:
        return (max(1, _RECORD_BYTES // itemsize),)
    if not fixed:
        return (max(1, int((_CHUNK_BYTES / itemsize) ** (1 / len(shape)))),) * len(shape)
    share = (_CHUNK_BYTES / (max(1, prod(fixed)) * itemsize)) ** (1 / len(fixed))
    chunks: list[int] = []
    for size, grows in zip(shape, unlimited, strict=True):
        length = 1 if grows else max(1, min(size, int(size * share - 0.5) if share < 1 else size))
        if not grows and length < size:  # so that the last one sticks out as little as can be
            number = -(-size // length)
            length -= (number * length - size) // number
        chunks.append(length)
    return tuple(chunks)
