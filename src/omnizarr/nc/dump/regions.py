"""The parts in which a variable is read to be printed: in the order of its values, a few megabytes each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from math import prod
from typing import Final

AT_ONCE: Final = 4 << 20
_MOST: Final = 6
"""How many times as much may be read where chunks are large."""


def regions(
    part: Sequence[slice], itemsize: int, chunks: Sequence[int] | None = None, budget: int = AT_ONCE
) -> Iterator[tuple[slice, ...]]:
    """Split part of an array into regions whose values, one region after the other, are its values in C order.

    Args:
        part: A slice for each dimension, with start, stop and step.
        itemsize: Bytes of an element.
        chunks: Lengths of chunks: regions end where chunks do, if that makes them not too large.
        budget: About how many bytes a region has.

    >>> list(regions([slice(0, 4, 1), slice(0, 10, 2)], 1, budget=10))
    [(slice(0, 2, 1), slice(0, 10, 2)), (slice(2, 4, 1), slice(0, 10, 2))]
    """
    shape = [len(range(one.start, one.stop, one.step)) for one in part]
    if 0 in shape:
        return
    axis = 0
    while axis < len(shape) and prod(shape[axis + 1 :]) * itemsize > budget:
        axis += 1
    if axis >= len(shape):
        axis = max(0, len(shape) - 1)
    if not shape:
        yield ()
        return
    inner = prod(shape[axis + 1 :]) * itemsize
    outer = [[slice(i, i + 1, 1) for i in range(one.start, one.stop, one.step)] for one in part[:axis]]
    chunk = chunks[axis] if chunks else None
    steps = list(_along(part[axis], max(1, budget // inner), max(1, _MOST * budget // inner), chunk))
    for corner in itertools.product(*outer):
        for step in steps:
            yield (*corner, step, *part[axis + 1 :])


def _along(whole: slice, count: int, most: int, chunk: int | None) -> Iterator[slice]:
    """Cut a slice into pieces of about `count` elements, which end with chunks where one is no longer than `most`."""
    chosen = range(whole.start, whole.stop, whole.step)
    length = 0 if not chunk else -(-chunk // whole.step)
    if chunk and length <= most:
        reach = max(1, count // max(1, length)) * chunk
        at = whole.start
        while at < whole.stop:
            end = min((at // reach + 1) * reach, whole.stop)
            here = range(at, end, whole.step)
            yield slice(at, end, whole.step)
            at = here[-1] + whole.step
        return
    for first in range(0, len(chosen), count):
        piece = chosen[first : first + count]
        yield slice(piece[0], piece[-1] + 1, whole.step)
