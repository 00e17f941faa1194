"""Reading a selection a block at a time, in the order of its elements, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from omnizarr.hierarchy.array import Array
from omnizarr.model.grid import RegularGrid
from omnizarr.tools.progress import Progress, silent
from omnizarr.tools.values.selecting import Picked

if TYPE_CHECKING:
    import numpy.typing as npt

MOST_BYTES: Final = 32 << 20
"""About how much is held at a time."""

_VLEN_BYTES: Final = 64
"""What a text of any length is taken to hold."""


class Block(NamedTuple):
    """A part of a selection whose elements follow each other: a run along one dimension, all of those behind it."""

    at: tuple[int, ...]
    """Where it begins, in positions of the selection, as many as there are dimensions up to that of the run."""

    values: npt.NDArray[Any]
    """The run, with the dimensions behind it."""


def blocks(
    array: Array, picked: Picked, *, most_bytes: int = MOST_BYTES, progress: Progress = silent
) -> Iterator[Block]:
    """Yield a selection in blocks of about as many bytes at most; one empty position for what has no dimensions."""
    shape = picked.shape
    if 0 in shape:
        return
    if not shape:
        yield Block((), np.asarray(array[_index(picked, (), None)]))
        return
    axis, run = _cut(array, picked, most_bytes)
    total, done, nbytes = prod(shape[:axis]) * -(-shape[axis] // run), 0, 0
    for lead in product(*(range(length) for length in shape[:axis])):
        for start in range(0, shape[axis], run):
            values = np.asarray(array[_index(picked, lead, slice(start, start + run))])
            yield Block((*lead, start), values)
            done, nbytes = done + 1, nbytes + values.nbytes
            progress(done, total, nbytes)


def edges(array: Array, picked: Picked, ends: int) -> npt.NDArray[Any]:
    """Return a selection without the middle of its long dimensions: what NumPy shows of it, and one element more."""
    lists = []
    for axis, chosen in enumerate(picked.ranges):
        long = axis in picked.kept and len(chosen) > 2 * ends + 1
        lists.append([*chosen[: ends + 1], *chosen[-ends:]] if long else list(chosen))
    if not lists:
        return np.asarray(array[...])
    values = np.asarray(array.oindex[tuple(np.asarray(one, np.int64) for one in lists)])
    return values.reshape([len(lists[axis]) for axis in picked.kept])


def _cut(array: Array, picked: Picked, most_bytes: int) -> tuple[int, int]:
    """Return along which dimension of the selection blocks are runs, and how long."""
    shape = picked.shape
    item = max(array.itemsize, _VLEN_BYTES if array.metadata.dtype.is_vlen else 1)
    most = max(1, most_bytes // item)
    axis = 0
    while axis < len(shape) - 1 and prod(shape[axis + 1 :]) > most:
        axis += 1
    run = max(1, most // prod(shape[axis + 1 :]))
    grid, step = array.metadata.grid, abs(picked.ranges[picked.kept[axis]].step)
    chunk = grid.chunk_shape[picked.kept[axis]] if isinstance(grid, RegularGrid) else 1
    if step == 1 and run > chunk > 1:
        run -= run % chunk  # so that few chunks are decoded twice
    return axis, run


def _index(picked: Picked, lead: tuple[int, ...], run: slice | None) -> tuple[int | slice, ...]:
    """Return what to read: single positions of the first dimensions of the selection, a run of the next."""
    index: list[int | slice] = []
    for axis, chosen in enumerate(picked.ranges):
        if axis not in picked.kept:
            index.append(chosen[0])
            continue
        at = picked.kept.index(axis)
        if at < len(lead):
            index.append(chosen[lead[at]])
        else:
            part = chosen[run] if at == len(lead) and run is not None else chosen
            # Down to the first index a range ends at -1, which a slice takes for the last.
            index.append(slice(part.start, None if part.stop < 0 else part.stop, part.step))
    return tuple(index)
