"""Cutting what lies in one piece into chunks that readers can fetch one by one."""

from __future__ import annotations

from math import prod
from typing import Final

LARGEST: Final = 4 << 20
"""Chunks are cut to no more bytes than this, where that is possible without a remainder."""


def divided(shape: tuple[int, ...], itemsize: int, largest: int = LARGEST) -> tuple[int, ...]:
    """Return a shape of chunks that are contiguous in an array and divide it without a remainder.

    >>> divided((10, 1000, 1000), 8), divided((6,), 1), divided((100, 1 << 19), 8)
    ((1, 500, 1000), (6,), (1, 524288))
    """
    chunk = list(shape)
    for axis, size in enumerate(shape):
        inner = prod(shape[axis + 1 :]) * itemsize
        if size * inner <= largest:
            break
        most = max(largest // inner, 1) if inner else size
        chunk[axis] = max(n for n in _divisors(size) if n <= most)
        if chunk[axis] > 1:
            break
    return tuple(chunk)


def _divisors(n: int) -> list[int]:
    found = [1]
    factor = 2
    while factor * factor <= n:
        powers = [1]
        while n % factor == 0:
            n //= factor
            powers.append(powers[-1] * factor)
        found = [one * power for one in found for power in powers]
        factor += 1
    return found + ([one * n for one in found] if n > 1 else [])
