"""Boxes that cover two arrays of one shape, so that few chunks are decoded twice and little memory is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import ceil, lcm, prod
from typing import Final, NamedTuple

from omnizarr.model.array import ArrayMeta

REGION_BYTES: Final = 64 << 20
"""Bytes of one region of one array."""

_VLEN_BYTES: Final = 128
"""What a value of variable length is taken for."""


class Region(NamedTuple):
    """A box: where it starts, and its shape."""

    start: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def slices(self) -> tuple[slice, ...]:
        """The box as an index."""
        return tuple(slice(at, at + n) for at, n in zip(self.start, self.shape, strict=True))


def region_shape(a: ArrayMeta, b: ArrayMeta, shape: Sequence[int], budget: int = REGION_BYTES) -> tuple[int, ...]:
    """Choose the shape of regions: whole chunks of both arrays, as many as fit, the last dimension first.

    Where the chunks of the two lie across each other so that no such region fits, it is cut further.
    """
    most = max(1, budget // max(_itemsize(a), _itemsize(b)))
    cells = [_clip(one.cells.longest, shape) for one in (a, b)]
    keys = [_clip(one.grid.longest, shape) for one in (a, b)]
    edges = [max(pair) for pair in zip(*cells, strict=True)]
    while prod(edges) > most and max(edges, default=1) > 1:
        axis = max(range(len(edges)), key=lambda i: edges[i] / min(cells[0][i], cells[1][i]))
        if edges[axis] == 1 or edges[axis] <= min(cells[0][axis], cells[1][axis]):
            axis = edges.index(max(edges))
        edges[axis] = _half(edges[axis], min(cells[0][axis], cells[1][axis]))
    for axis in reversed(range(len(edges))):
        room = most // (prod(edges) // edges[axis])
        for step in (lcm(keys[0][axis], keys[1][axis]), lcm(cells[0][axis], cells[1][axis])):
            if min(step, shape[axis]) <= room:
                edges[axis] = max(1, shape[axis]) if shape[axis] <= room else room // step * step
                break
    return tuple(edges)


def _half(edge: int, unit: int) -> int:
    half = -(-edge // 2)
    return ceil(half / unit) * unit if unit < half else half


def _clip(lengths: Sequence[int], shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(max(1, min(n, size)) for n, size in zip(lengths, shape, strict=True))


def _itemsize(meta: ArrayMeta) -> int:
    return _VLEN_BYTES if meta.dtype.is_vlen else max(1, meta.dtype.itemsize)


def count_regions(shape: Sequence[int], edges: Sequence[int]) -> int:
    """Say how many regions cover a shape."""
    return prod(-(-n // edge) for n, edge in zip(shape, edges, strict=True))


def regions(shape: Sequence[int], edges: Sequence[int]) -> Iterator[Region]:
    """Yield the regions that cover a shape, in C order.

    >>> [region.start for region in regions((4, 3), (3, 3))]
    [(0, 0), (3, 0)]
    """
    for start in product(*(range(0, n, edge) for n, edge in zip(shape, edges, strict=True))):
        yield Region(start, tuple(min(edge, n - at) for at, n, edge in zip(start, shape, edges, strict=True)))
