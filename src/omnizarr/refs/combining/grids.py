"""The grid of an array that is made of the chunks of several: even where possible, else with edges of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TypeAlias

from omnizarr.model.array import ArrayMeta
from omnizarr.model.grid import Edges, Grid, RectilinearGrid, RegularGrid

Cut: TypeAlias = tuple[tuple[int, int, int], ...]
"""The chunks along one dimension, in runs: what each holds of the array, how many, and the length as stored."""


def cut_of(grid: Grid, axis: int, size: int) -> Cut:
    """Return the chunks of an array along one dimension.

    >>> cut_of(RegularGrid((4,)), 0, 10)
    ((4, 2, 4), (2, 1, 4))
    """
    edges = grid.kernel_edges[axis]
    if not size:
        return ()
    if isinstance(edges, int):
        whole, rest = divmod(size, edges)
        runs = [(edges, whole, edges)] if whole else []
        return (*runs, (rest, 1, rest if grid.clipped else edges)) if rest else tuple(runs)
    return trimmed(tuple(run if len(run) == 3 else (*run, run[0]) for run in edges), size)


def cuts_of(meta: ArrayMeta) -> tuple[Cut, ...]:
    """Return the chunks of an array along each dimension."""
    return tuple(cut_of(meta.grid, axis, size) for axis, size in enumerate(meta.shape))


def count(cut: Cut) -> int:
    """Return the number of chunks along a dimension."""
    return sum(number for _, number, _ in cut)


def reach(cut: Cut) -> int:
    """Return the length of a dimension."""
    return sum(length * number for length, number, _ in cut)


def joined(cuts: Iterable[Cut]) -> Cut:
    """Let the chunks of several arrays follow each other along one dimension.

    >>> joined([((4, 2, 4), (2, 1, 4)), ((4, 1, 4),)])
    ((4, 2, 4), (2, 1, 4), (4, 1, 4))
    """
    runs = (run for cut in cuts for run in cut)
    grouped = groupby(runs, key=lambda run: (run[0], run[2]))
    return tuple((length, sum(run[1] for run in same), stored) for (length, stored), same in grouped)


def trimmed(cut: Cut, size: int) -> Cut:
    """Keep only the chunks up to a length; the last one then holds less than it stores."""
    found: list[tuple[int, int, int]] = []
    for length, number, stored in cut:
        whole = min(number, size // length)
        if whole:
            found.append((length, whole, stored))
            size -= whole * length
        if size and whole < number:
            found.append((size, 1, stored))
            size = 0
        if not size:
            break
    return tuple(found)


def grid_of_cuts(cuts: Sequence[Cut], usual: Sequence[int]) -> Grid:
    """Return the plainest grid that has such chunks.

    Args:
        cuts: The chunks along each dimension.
        usual: The length of chunks along dimensions that have none.

    >>> grid_of_cuts([((4, 3, 4), (2, 1, 4)), ((5, 1, 8),)], (1, 1))
    RegularGrid(chunk_shape=(4, 8))
    >>> grid_of_cuts([((4, 1, 4), (2, 2, 2))], (1,))
    RectilinearGrid(edges=(((4, 1), (2, 2)),), clipped=False, stored=None)
    >>> grid_of_cuts([((4, 1, 4), (2, 1, 4), (4, 1, 4))], (1,)).stored
    (((4, 3),),)
    """
    even = [_even(cut, length) for cut, length in zip(cuts, usual, strict=True)]
    if None not in even:
        return RegularGrid(tuple(length for length in even if length is not None))
    held: list[Edges] = []
    stored: list[Edges] = []
    for cut, length in zip(cuts, even, strict=True):
        if length is not None:
            held.append(length)
            stored.append(length)
            continue
        full = _merged((kept, number) for _, number, kept in cut)
        # The last chunk may reach past the end of the array, as in every grid.
        inner = all(run[0] == run[2] for run in cut[:-1]) and (cut[-1][0] == cut[-1][2] or cut[-1][1] == 1)
        held.append(full if inner else _merged((part, number) for part, number, _ in cut))
        stored.append(full)
    return RectilinearGrid(tuple(held), stored=None if held == stored else tuple(stored))


def _even(cut: Cut, usual: int) -> int | None:
    if not cut:
        return usual or 1
    length = cut[0][2]
    if any(stored != length for _, _, stored in cut):
        return None
    if any(held != length for held, _, _ in cut[:-1]):
        return None
    return length if cut[-1][0] == length or cut[-1][1] == 1 else None


def _merged(runs: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return tuple((length, sum(n for _, n in same)) for length, same in groupby(runs, key=lambda run: run[0]))
