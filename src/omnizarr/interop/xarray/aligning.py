"""Dask's chunks against what is stored under one key.

Tasks may write parts of the same chunk or shard: threads wait for each other, so do processes that share a file
system, and object stores that put on condition let nobody overwrite what he has not seen. Elsewhere one task's values
could be lost, so that is refused.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from xarray import Variable

from omnizarr.errors import UnsupportedError
from omnizarr.hierarchy.array import Array
from omnizarr.model.grid import Lengths
from omnizarr.store.protocol import place_name
from omnizarr.store.reach import Reach, reach_of


def is_aligned(var: Variable, array: Array, place: tuple[slice, ...]) -> bool:
    """Whether no two tasks write to what is stored under one key."""
    return _shared_axis(var, array, place) is None


def _shared_axis(var: Variable, array: Array, place: tuple[slice, ...]) -> int | None:
    for axis, cuts in enumerate(_cuts(var, place)):
        edges = _edges(_stored(array)[axis], (place[axis].start or 0) + var.shape[axis])
        if any(cut not in edges for cut in cuts):
            return axis
    return None


def check_aligned(var: Variable, array: Array, place: tuple[slice, ...], name: str) -> None:
    """Refuse tasks that share a chunk where that could lose values.

    Raises:
        UnsupportedError: If so.
    """
    if reach_of(array.store) is not Reach.WHOLE_KEYS:
        return
    axis = _shared_axis(var, array, place)
    if axis is not None:
        raise UnsupportedError(
            f"Dask chunks of variable {name!r} would overlap in stored chunks along axis {axis}, and this store"
            " cannot keep tasks from overwriting each other's values",
            path=place_name(array.store, array.path),
            hint="Pass align_chunks=True, or chunk the dataset as it is stored.",
        )


def aligned(var: Variable, array: Array, place: tuple[slice, ...]) -> Variable:
    """Return a variable in chunks of which no two share what is stored under one key."""
    sizes: dict[Any, tuple[int, ...]] = {}
    for axis, (dim, cuts) in enumerate(zip(var.dims, _cuts(var, place), strict=True)):
        start = place[axis].start or 0
        edges = sorted(_edges(_stored(array)[axis], start + var.shape[axis]))
        # A task ends at the first edge that is not before the end of Dask's own.
        ends = sorted({edges[bisect_left(edges, cut)] for cut in cuts} | {start + var.shape[axis]})
        sizes[dim] = tuple(after - before for before, after in zip([start, *ends[:-1]], ends, strict=True))
    return var.chunk(sizes)


def _stored(array: Array) -> tuple[Lengths, ...]:
    return array.shards or array.chunks


def _cuts(var: Variable, place: tuple[slice, ...]) -> list[list[int]]:
    """Return where one of Dask's chunks ends and the next begins, as indices of the array."""
    found: list[list[int]] = []
    for part, lengths in zip(place, var.chunks or (), strict=True):
        at, cuts = part.start or 0, []
        for length in lengths[:-1]:
            at += length
            cuts.append(at)
        found.append(cuts)
    return found


def _edges(length: Lengths, end: int) -> set[int]:
    """Return where stored chunks begin, up to an index, and that."""
    if isinstance(length, int):
        return {*range(0, end + length, length), end}
    edges, at = {0, end}, 0
    for one in length:
        at += one
        edges.add(at)
    return edges
