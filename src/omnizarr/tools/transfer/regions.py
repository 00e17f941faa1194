"""Cutting an array into regions that are worked on one after the other: integers only.

Regions are made of whole chunks of one grid, so many along each dimension, and are counted in the order of the array.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import lcm, log, prod
from typing import NamedTuple, TypeAlias

from omnizarr.model.grid import Edges, Grid, start_of

Region: TypeAlias = tuple[tuple[int, int], ...]
"""Where a region starts and how long it is, along each dimension."""


class Cut(NamedTuple):
    """An array cut into regions.

    >>> cut = Cut((10, 6), (4, 3), (2, 1))
    >>> cut.counts, cut.total, list(cut.regions(2))
    ((2, 2), 4, [((8, 2), (0, 3)), ((8, 2), (3, 3))])
    """

    shape: tuple[int, ...]
    edges: tuple[Edges, ...]
    """The chunks of the grid that regions are made of."""

    per: tuple[int, ...]
    """How many chunks a region has along each dimension."""

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of regions along each dimension."""
        return tuple(
            -(-_chunks(edges, size) // per) for edges, size, per in zip(self.edges, self.shape, self.per, strict=True)
        )

    @property
    def total(self) -> int:
        """The number of regions."""
        return prod(self.counts)

    @property
    def largest(self) -> tuple[int, ...]:
        """A shape that no region goes beyond."""
        return tuple(
            min(size, _longest(edges) * per) for edges, size, per in zip(self.edges, self.shape, self.per, strict=True)
        )

    def region(self, index: int) -> Region:
        """Give one region by its number."""
        found: list[tuple[int, int]] = []
        for count, edges, size, per in zip(
            reversed(self.counts), reversed(self.edges), reversed(self.shape), reversed(self.per), strict=True
        ):
            index, at = divmod(index, count)
            start = start_of(edges, at * per)
            found.append((start, min(start_of(edges, (at + 1) * per), size) - start))
        return tuple(reversed(found))

    def regions(self, first: int = 0) -> Iterator[Region]:
        """Make the regions from a number on, one when it is asked for."""
        return map(self.region, range(first, self.total))


def _longest(edges: Edges) -> int:
    return edges if isinstance(edges, int) else max((length for length, _ in edges), default=0)


def _chunks(edges: Edges, size: int) -> int:
    if isinstance(edges, int):
        return -(-size // edges) if edges else 0
    count = 0
    for length, many in edges:
        if size <= 0:
            break
        count += min(many, -(-size // length)) if length else many
        size -= length * many
    return count


def overlaps(size: int, one: int, other: int) -> int:
    """Say how many pairs of pieces overlap if a line is cut evenly in two ways.

    >>> overlaps(12, 4, 4), overlaps(12, 4, 3), overlaps(12, 12, 3)
    (3, 6, 4)
    """
    if not size or not one or not other:
        return 0
    return -(-size // one) + -(-size // other) - -(-size // lcm(one, other))


def amplification(shape: Sequence[int], region: Sequence[int], chunks: Sequence[int]) -> float:
    """Say how often the average chunk is needed if an array is worked on in regions of a shape.

    >>> amplification((512, 1024), (512, 256), (1, 1024))
    4.0
    """
    factor = 1.0
    for size, length, chunk in zip(shape, region, chunks, strict=True):
        if size and length and chunk:
            factor *= overlaps(size, length, chunk) / -(-size // chunk)
    return factor


def choose(shape: tuple[int, ...], grid: Grid, chunks: tuple[int, ...], most: int, enough: int) -> Cut | None:
    """Choose regions of whole chunks of a grid so that chunks of another array are needed as rarely as possible.

    Args:
        shape: The shape of both arrays.
        grid: What regions are made of.
        chunks: The shape of the other array's chunks.
        most: The elements that a region may have.
        enough: The elements from which on a larger region is no better by itself.

    Returns:
        The regions, or None if not even one chunk of the grid has so few elements.
    """
    unit = grid.longest
    per = [1] * len(shape)
    counts = grid.counts(shape)

    def length(axis: int, many: int) -> int:
        return min(shape[axis], unit[axis] * many)

    def room(axis: int, elements: int) -> int:
        others = prod(length(other, per[other]) for other in range(len(shape)) if other != axis)
        if others * shape[axis] <= elements:
            return counts[axis]
        return min(elements // max(1, others * unit[axis]), counts[axis])

    if 0 not in shape and prod(length(axis, 1) for axis in range(len(shape))) > most:
        return None
    while True:
        best, found = 0.0, None
        for axis in reversed(range(len(shape))):
            now = overlaps(shape[axis], length(axis, per[axis]), chunks[axis])
            for many in _candidates(per[axis], room(axis, most), counts[axis], unit[axis], chunks[axis]):
                then = overlaps(shape[axis], length(axis, many), chunks[axis])
                growth = log(length(axis, many) / length(axis, per[axis]))
                gain = log(now / then) / growth if growth and now else float(now > then)
                if gain > best + 1e-9:
                    best, found = gain, (axis, many)
        if found is None:
            break
        per[found[0]] = found[1]
    for axis in reversed(range(len(shape))):
        many = room(axis, min(most, enough))
        grown = overlaps(shape[axis], length(axis, many), chunks[axis])
        if many > per[axis] and grown <= overlaps(shape[axis], length(axis, per[axis]), chunks[axis]):
            per[axis] = many
    return Cut(shape, grid.edges, tuple(per))


def _candidates(now: int, most: int, count: int, unit: int, chunk: int) -> list[int]:
    """Numbers of chunks to try: twice as many, up to the other array's chunks, and as many as there is room for."""
    if most <= now:
        return []
    aligned = lcm(unit, chunk) // unit if chunk else 1
    # As many regions as with the most, but of about equal length.
    even = -(-count // -(-count // most))
    tried = {2 * now, (now // aligned + 1) * aligned, most // aligned * aligned, even, most}
    return sorted(many for many in tried if now < many <= most)
