"""Where differences are: the box around them, the indices along each dimension, the chunks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from omnizarr.model.grid import Grid
from omnizarr.tools.diff.regions import Region
from omnizarr.tools.diff.result import Span

if TYPE_CHECKING:
    import numpy.typing as npt

_MOST_MARKS: Final = 1 << 24
"""Longest dimension, and largest grid of chunks, of which each index is remembered."""

_MOST_SPANS: Final = 8
_MOST_CHUNKS: Final = 8


class Places:
    """Remembers where elements differ, in memory that does not grow with their number."""

    def __init__(self, shape: Sequence[int], grid: Grid) -> None:
        self._ndim = len(shape)
        self._hits = [np.zeros(n, np.bool_) if n <= _MOST_MARKS else None for n in shape]
        self._low = list(shape)
        self._high = [0 for _ in shape]
        counts = grid.counts(shape)
        self._chunks: npt.NDArray[np.bool_] | None = None
        self._edges: list[npt.NDArray[np.int64]] = []
        if prod(counts) <= _MOST_MARKS:
            self._chunks = np.zeros(counts, np.bool_)
            lengths = zip(grid.lengths(shape), counts, strict=True)
            self._edges = [_starts(length, count) for length, count in lengths]

    def add(self, region: Region, mask: npt.NDArray[np.bool_]) -> None:
        """Take note of the elements of a region that differ."""
        for axis in range(self._ndim):
            found = np.flatnonzero(mask.any(axis=tuple(i for i in range(self._ndim) if i != axis)))
            if not len(found):
                return
            start = region.start[axis]
            self._low[axis] = min(self._low[axis], start + int(found[0]))
            self._high[axis] = max(self._high[axis], start + int(found[-1]) + 1)
            hits = self._hits[axis]
            if hits is not None:
                hits[start + found] = True
        if self._chunks is not None:
            self._add_chunks(self._chunks, region, mask)

    def _add_chunks(self, chunks: npt.NDArray[np.bool_], region: Region, mask: npt.NDArray[np.bool_]) -> None:
        reduced, window = mask, []
        for axis, (edges, start, size) in enumerate(zip(self._edges, region.start, region.shape, strict=True)):
            first = int(np.searchsorted(edges, start, "right")) - 1
            last = int(np.searchsorted(edges, start + size, "left"))
            cuts = np.maximum(edges[first:last] - start, 0)
            reduced = np.logical_or.reduceat(reduced, cuts, axis=axis)
            window.append(slice(first, last))
        chunks[tuple(window)] |= reduced

    @property
    def box(self) -> tuple[Span, ...]:
        """The smallest box around all."""
        return tuple(zip(self._low, self._high, strict=True))

    @property
    def spans(self) -> tuple[tuple[Span, ...] | None, ...]:
        """For each dimension, the indices where something differs, unless they are too many."""
        return tuple(None if hits is None else _spans(hits) for hits in self._hits)

    @property
    def chunks(self) -> tuple[tuple[tuple[int, ...], ...], int | None, int | None]:
        """The first chunks with a difference, how many there are, and of how many."""
        if self._chunks is None:
            return (), None, None
        flat = self._chunks.reshape(-1)
        found = np.flatnonzero(flat)
        listed = [np.unravel_index(int(at), self._chunks.shape) for at in found[:_MOST_CHUNKS]]
        return tuple(tuple(int(i) for i in one) for one in listed), len(found), flat.size


def _starts(lengths: int | Sequence[int], count: int) -> npt.NDArray[np.int64]:
    if isinstance(lengths, int):
        return np.arange(count, dtype=np.int64) * lengths
    return np.fromiter(accumulate(lengths[:-1], initial=0), np.int64)


def _spans(hits: npt.NDArray[np.bool_]) -> tuple[Span, ...] | None:
    padded = np.concatenate(([False], hits, [False]))
    ends: Any = np.flatnonzero(padded[1:] != padded[:-1])
    if len(ends) > 2 * _MOST_SPANS:
        return None
    return tuple((int(one), int(other)) for one, other in ends.reshape(-1, 2))
