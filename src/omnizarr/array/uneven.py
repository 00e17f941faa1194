"""Chunks of different lengths as users give them: for some dimension the length of each chunk, in a sequence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index as as_int
from typing import TypeGuard

import numpy as np

from omnizarr.errors import ShapeError
from omnizarr.model.grid import Edges, Grid, RectilinearGrid, RegularGrid, Run, merged

_HINT = "Chunks have whole lengths above 0; [length, count] stands for several of one length."


def is_uneven(given: object) -> bool:
    """Whether chunks are given as a grid, or one by one for some dimension."""
    if isinstance(given, (list, tuple)):
        for one in given:
            if type(one) is not int and _is_list(one):
                return True
    return isinstance(given, (RegularGrid, RectilinearGrid))


def uneven_grid(name: str, given: object, shape: Sequence[int]) -> Grid:
    """Read a grid whose chunks are given one by one, at least for some dimension.

    Chunks that are listed stay so even if all have one length: an array that grows then gets chunks as long as what is
    added, and not more of that length.

    Args:
        name: "chunks" or "shards", for messages.
        given: A grid; or for each dimension a length for all chunks (-1 or None for one chunk), or the length of each.
        shape: The array's shape.

    Raises:
        ShapeError: A length is not a whole number above 0, there are too many or too few, or they end before the array.

    >>> uneven_grid("chunks", [[10, 20, 30], 5], (60, 10))
    RectilinearGrid(edges=(((10, 1), (20, 1), (30, 1)), 5), clipped=False, stored=None)
    """
    items: tuple[object, ...]
    if isinstance(given, (RegularGrid, RectilinearGrid)):
        items = given.edges
    else:
        items = tuple(given) if isinstance(given, Iterable) else (given,)
    if len(items) != len(shape):
        raise ShapeError(f"{name} has lengths for {len(items)} dimensions, the array has {len(shape)}")
    edges = tuple(_edges(name, one, size) for one, size in zip(items, shape, strict=True))
    if isinstance(given, RegularGrid):
        return given
    return RectilinearGrid(edges, isinstance(given, RectilinearGrid) and given.clipped)


def _is_list(value: object) -> TypeGuard[Iterable[object]]:
    return isinstance(value, (list, tuple, range)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _edges(name: str, given: object, size: int) -> Edges:
    if not _is_list(given):
        return max(1, size) if given is None or given == -1 else _length(name, given)
    runs = merged(_run(name, one) for one in given)
    reach = sum(length * count for length, count in runs)
    if reach < size or not runs:
        raise ShapeError(f"the {name} of a dimension of length {size} reach only to {reach}", hint=_HINT)
    return runs


def _run(name: str, given: object) -> Run:
    if not _is_list(given):
        return _length(name, given), 1
    pair = tuple(given)
    if len(pair) != 2:
        raise ShapeError(f"{name} holds {given!r}, which is not a length", hint=_HINT)
    return _length(name, pair[0]), _length(name, pair[1])


def _length(name: str, given: object) -> int:
    try:
        length = as_int(given)  # type: ignore[arg-type]  # what is no number is what the except is for
    except TypeError:
        length = 0
    if length < 1 or isinstance(given, (bool, np.bool_)):
        raise ShapeError(f"{name} holds {given!r}, which is not a length", hint=_HINT)
    return length
