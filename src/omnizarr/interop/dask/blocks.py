"""How a Dask array is cut, in terms of what is stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np

from omnizarr.errors import ShapeError
from omnizarr.interop.dask.library import dask_module
from omnizarr.model.array import ArrayMeta
from omnizarr.model.grid import Grid

Blocks: TypeAlias = tuple[tuple[int, ...], ...]

_VARIABLE = np.dtype("S64")
"""What a value of variable length is taken to need where sizes in bytes are asked for."""


def units_of(meta: ArrayMeta) -> Blocks:
    """Return the lengths of all that is stored under one key, inside the array: shards, or else chunks."""
    return tuple(_within(one, size) for one, size in zip(meta.grid.lengths(meta.shape), meta.shape, strict=True))


def _within(lengths: int | Sequence[int], size: int) -> tuple[int, ...]:
    if size == 0:
        return (0,)
    if isinstance(lengths, int):
        whole, rest = divmod(size, max(1, lengths))
        return (lengths,) * whole + ((rest,) if rest else ())
    cut: list[int] = []
    left = size
    for length in lengths:
        if left <= 0:
            break
        if length:
            cut.append(min(length, left))
            left -= length
    return tuple(cut)


def blocks_of(meta: ArrayMeta, wanted: Any) -> Blocks:  # noqa: ANN401 - whatever Dask takes, and names of dimensions
    """Return how to cut an array.

    Args:
        meta: The array.
        wanted: `None` for one block for each stored unit; else as for Dask: a length, one for each dimension, the
            lengths of all blocks, "auto" or a size such as "64MiB" for multiples of units, -1 for all; also a mapping
            of some dimensions, by name or number, to one of these.

    Raises:
        ShapeError: It does not fit the array.
    """
    units = units_of(meta)
    if wanted is None:
        return units
    if isinstance(wanted, Mapping):
        wanted = _by_name(meta, wanted, units)
    dtype = _VARIABLE if meta.dtype.vlen or meta.dtype.numpy.hasobject else meta.dtype.numpy
    core = dask_module("dask.array.core")
    try:
        found: Blocks = core.normalize_chunks(wanted, meta.shape, dtype=dtype, previous_chunks=units)
    except (ValueError, TypeError, ZeroDivisionError) as error:
        raise ShapeError(f"chunks={wanted!r} do not fit an array of shape {meta.shape}: {error}") from error
    return found


def _by_name(meta: ArrayMeta, wanted: Mapping[Any, Any], units: Blocks) -> tuple[Any, ...]:
    names = meta.dims or (None,) * meta.ndim
    unknown = [key for key in wanted if key not in names and key not in range(-meta.ndim, meta.ndim)]
    if unknown:
        known = ", ".join(repr(name) for name in names if name is not None) or "none"
        raise ShapeError(f"there is no dimension {unknown[0]!r}", hint=f"The array's dimensions are: {known}.")
    cut: list[Any] = list(units)
    for key, value in wanted.items():
        axis = key if isinstance(key, int) else names.index(key)
        cut[axis] = units[axis] if value is None else value
    return tuple(cut)


def is_aligned(blocks: Blocks, starts: Sequence[int], grid: Grid, shape: Sequence[int]) -> bool:
    """Whether no two blocks share what is stored under one key.

    Args:
        blocks: How the values are cut.
        starts: Where they begin in the array.
        grid: How the array is cut.
        shape: The array's shape.
    """
    lengths = (_within(one, size) for one, size in zip(grid.lengths(shape), shape, strict=True))
    for cut, start, unit in zip(blocks, starts, lengths, strict=True):
        edges = set(accumulate(unit))
        # The ends of what is written may lie anywhere: nothing else of this call writes there.
        if any(edge not in edges for edge in _inner(cut, start)):
            return False
    return True


def _inner(cut: Sequence[int], start: int) -> Iterator[int]:
    return (start + edge for edge in accumulate(cut[:-1]))


def even(cut: Sequence[int]) -> int:
    """Return one chunk length for blocks that may differ: their own where all but the last agree, else the longest."""
    return max(1, max(cut, default=1))
