"""How an array is cut into chunks: all of one shape, or at places of their own along each dimension.

Chunks of different lengths are kept as runs of equal ones, as documents write them: a few numbers may stand for very
many chunks, and are never spelled out before somebody asks for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from math import gcd
from typing import Final, NamedTuple, TypeAlias

from omnizarr.errors import LimitError, UnsupportedError

Run: TypeAlias = tuple[int, int]
"""Neighbouring chunks of one length: the length, and how many there are."""

Edges: TypeAlias = int | tuple[Run, ...]
"""The chunks of one dimension: one length, repeated as far as the array reaches, or runs that reach its end or more."""

Lengths: TypeAlias = int | tuple[int, ...]
"""The same as users see it: one length for all chunks, or the length of each that holds a part of the array."""

Laid: TypeAlias = int | tuple[Run, ...] | tuple[tuple[int, int, int], ...]
"""Edges as the kernel takes them: runs may have the length as stored beside length and count."""

PADDED_IS_READ: Final = "chunks that are stored longer than what they hold are only read"

MOST_LISTED = 1 << 24
"""More chunks than this along one dimension are not listed one by one."""


class RegularGrid(NamedTuple):
    """Chunks of one shape; the last ones overhang the array and are stored whole.

    >>> RegularGrid((4, 5)).counts((10, 10))
    (3, 2)
    """

    chunk_shape: tuple[int, ...]

    @property
    def edges(self) -> tuple[int, ...]:
        """The length of the chunks of each dimension."""
        return self.chunk_shape

    @property
    def clipped(self) -> bool:
        """Whether the last chunks end where the array does: no."""
        return False

    @property
    def stored(self) -> None:
        """The lengths of chunks as stored, where these differ from what chunks hold: they do not."""
        return

    @property
    def kernel_edges(self) -> tuple[int, ...]:
        """The edges as the kernel takes them."""
        return self.chunk_shape

    @property
    def longest(self) -> tuple[int, ...]:
        """The shape of every chunk."""
        return self.chunk_shape

    def common(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Give a shape of which that of every chunk is a multiple: their own."""
        del shape
        return self.chunk_shape

    def counts(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Say how many chunks lie along each dimension: none where the array or the chunk has no length."""
        return tuple(-(-n // c) if c else 0 for n, c in zip(shape, self.chunk_shape, strict=True))

    def lengths(self, shape: Sequence[int]) -> tuple[Lengths, ...]:
        """Give the lengths of chunks as users see them: one for each dimension."""
        del shape
        return self.chunk_shape

    def fitted(self, shape: Sequence[int], multiples: Sequence[int]) -> RegularGrid:
        """Give the grid for an array that has got another shape: the same, but for lengths of 0, which hold nothing."""
        del shape, multiples
        return RegularGrid(tuple(c or 1 for c in self.chunk_shape)) if 0 in self.chunk_shape else self


class RectilinearGrid(NamedTuple):
    """Chunks whose lengths differ; each is stored at the length that is declared, the overhang of the last included.

    >>> grid = RectilinearGrid((((10, 2), (25, 1)), 7))
    >>> grid.counts((40, 20)), grid.lengths((40, 20)), grid.longest
    ((3, 3), ((10, 10, 25), 7), (25, 7))
    """

    edges: tuple[Edges, ...]

    clipped: bool = False
    """Whether, along dimensions of one length, the last chunk ends where the array does, and is stored so."""

    stored: tuple[Edges, ...] | None = None
    """The lengths of chunks as stored, where some are stored longer than what they hold; such arrays are only read.

    As many as there are chunks in `edges`, and none shorter.
    """

    @property
    def longest(self) -> tuple[int, ...]:
        """A shape that no stored chunk goes beyond."""
        return tuple(
            one if isinstance(one, int) else max((length for length, _ in one), default=0)
            for one in self.stored or self.edges
        )

    @property
    def kernel_edges(self) -> tuple[Laid, ...]:
        """The edges as the kernel takes them, with the lengths as stored where these differ."""
        return self.edges if self.stored is None else tuple(map(laid, self.edges, self.stored))

    def common(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Give a shape of which that of every stored chunk is a multiple.

        >>> RectilinearGrid((((4, 9), (6, 1)), 7)).common((40, 20)), RectilinearGrid((8,), clipped=True).common((20,))
        ((2, 7), (4,))
        """
        found = []
        for one, size in zip(self.stored or self.edges, shape, strict=True):
            if isinstance(one, int):
                found.append(gcd(one, size % one) if self.clipped and one else one)
            else:
                found.append(gcd(*(length for length, _ in one)))
        return tuple(found)

    def counts(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Say how many chunks lie along each dimension and hold a part of the array."""
        return tuple(place(one, size - 1)[0] + 1 if size else 0 for one, size in zip(self.edges, shape, strict=True))

    def lengths(self, shape: Sequence[int]) -> tuple[Lengths, ...]:
        """Give the lengths of chunks as users see them: one for a dimension of equal chunks, else one for each chunk.

        Raises:
            LimitError: There are too many to list.
        """
        counts = self.counts(shape)
        return tuple(
            one if isinstance(one, int) else _listed(one, count) for one, count in zip(self.edges, counts, strict=True)
        )

    def fitted(self, shape: Sequence[int], multiples: Sequence[int]) -> RectilinearGrid:
        """Give the grid for an array that has got another shape.

        What grows past the declared chunks gets one more, up to the new end; what shrinks keeps those it had.

        Args:
            shape: The new shape.
            multiples: What the length of a new chunk must be a multiple of: that of the chunks in a shard, or 1.

        Raises:
            UnsupportedError: Chunks are stored longer than what they hold.

        >>> RectilinearGrid((((10, 2), (25, 1)), 7)).fitted((50, 90), (1, 1)).edges
        (((10, 2), (25, 1), (5, 1)), 7)
        """
        if self.stored is not None:
            raise UnsupportedError(PADDED_IS_READ)
        grown: list[Edges] = []
        for one, size, unit in zip(self.edges, shape, multiples, strict=True):
            missing = 0 if isinstance(one, int) else size - sum(length * count for length, count in one)
            if isinstance(one, int) or missing <= 0:
                grown.append(one or 1 if isinstance(one, int) else one)
            else:
                grown.append(merged((*one, (-(-missing // unit) * unit, 1))))
        return RectilinearGrid(tuple(grown), self.clipped)


Grid: TypeAlias = RegularGrid | RectilinearGrid
"""Every kind of grid that an array may have."""


def runs_of(lengths: Iterable[int]) -> tuple[Run, ...]:
    """Join neighbours of one length.

    >>> runs_of([5, 5, 5, 9, 5])
    ((5, 3), (9, 1), (5, 1))
    """
    return tuple((length, sum(1 for _ in same)) for length, same in groupby(lengths))


def merged(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Join neighbouring runs of one length.

    >>> merged([(5, 3), (5, 1), (9, 1)])
    ((5, 4), (9, 1))
    """
    return tuple((length, sum(count for _, count in same)) for length, same in groupby(runs, key=lambda one: one[0]))


def laid(edges: Edges, stored: Edges) -> Laid:
    """Put the lengths of chunks as stored beside what they hold of the array.

    >>> laid(((4, 2), (2, 1)), ((4, 3),)), laid(5, 5)
    (((4, 2, 4), (2, 1, 4)), 5)
    """
    if isinstance(edges, int) or isinstance(stored, int) or edges == stored:
        return edges
    found: list[tuple[int, int, int]] = []
    rest = [list(run) for run in reversed(stored)]
    for length, run in edges:
        count = run
        while count and rest:
            part = min(count, rest[-1][1])
            found.append((length, part, rest[-1][0]))
            count -= part
            rest[-1][1] -= part
            if not rest[-1][1]:
                rest.pop()
    return tuple(found)


def place(edges: Edges, at: int) -> tuple[int, int, int]:
    """Find the chunk that holds an index: its own index, where it starts, and its length.

    >>> place(((10, 2), (25, 1)), 19), place(7, 20)
    ((1, 10, 10), (2, 14, 7))
    """
    first = start = 0
    for length, count in ((edges, 0),) if isinstance(edges, int) else edges:
        if not count or at < start + length * count:
            inner = (at - start) // length
            return first + inner, start + inner * length, length
        first, start = first + count, start + length * count
    raise IndexError(f"no chunk reaches index {at}")


def may_grow_into(one: Edges, other: Edges) -> bool:
    """Whether the chunks of a dimension can be those of another after the array got another length, or the other way.

    A dimension that grows keeps the chunks that it has, but for a length of 0.

    >>> may_grow_into(((10, 2),), ((10, 3), (5, 1))), may_grow_into(((10, 2), (4, 1)), ((10, 3),)), may_grow_into(0, 7)
    (True, False, True)
    """
    if isinstance(one, int) or isinstance(other, int):
        return one == other or 0 in (one, other)
    for i, ((length, count), (length2, count2)) in enumerate(zip(one, other, strict=False), start=1):
        if length != length2:
            return False
        if count != count2:  # the shorter list ends here
            return i == len(one if count < count2 else other)
    return True


def start_of(edges: Edges, index: int) -> int:
    """Say where the chunk at an index starts; past the last one, where that ends.

    >>> [start_of(((10, 2), (25, 1)), i) for i in range(4)]
    [0, 10, 20, 45]
    """
    if isinstance(edges, int):
        return edges * index
    start = 0
    for length, count in edges:
        start += length * min(count, index)
        index -= min(count, index)
    return start


def _listed(runs: tuple[Run, ...], most: int) -> tuple[int, ...]:
    if most > MOST_LISTED:
        raise LimitError(
            f"{most} chunks of different lengths are too many to list", hint="metadata.grid holds them as runs."
        )
    found: list[int] = []
    for length, count in runs:
        found += [length] * min(count, most - len(found))
    return tuple(found)
