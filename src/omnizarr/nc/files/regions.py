"""From a key to reads of whole regions: strides, lists of indices, and parts that were never written."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from omnizarr.nc.source import Key, Values, check_bounds, counts, filled
from omnizarr.nc.tree import Var

Block: TypeAlias = Callable[[tuple[int, ...], tuple[int, ...], tuple[int, ...]], Values]
"""Reads a region: start, count and step along each dimension."""

_GAP = 16
"""Indices that are this close to each other are read together."""


def read_region(var: Var, key: Key, stored: tuple[int, ...], read: Block) -> Values:
    """Return what a key selects.

    Args:
        var: The variable.
        key: What to read.
        stored: How much of the variable is there, which is less than its shape where other variables have grown.
        read: Reads a region of what is there.

    Raises:
        SelectionError: If the key reaches beyond the variable.
    """
    check_bounds(var, key)
    listed = next((axis for axis, part in enumerate(key) if not isinstance(part, slice)), None)
    if listed is not None:
        return _listed(var, key, listed, stored, read)
    slices = [part for part in key if isinstance(part, slice)]
    want = counts(key)
    have = tuple(len(range(p.start, min(p.stop, n), p.step)) for p, n in zip(slices, stored, strict=True))
    found = read(tuple(p.start for p in slices), have, tuple(p.step for p in slices)) if 0 not in have else None
    if found is not None and have == want:
        return found
    values = filled(var, want)
    if found is not None:
        values[tuple(slice(0, n) for n in have)] = found
    return values


def _listed(var: Var, key: Key, axis: int, stored: tuple[int, ...], read: Block) -> Values:
    """Read in runs of indices along one dimension, then put them in the order that was asked for."""
    indices, order = np.unique(np.asarray(key[axis]), return_inverse=True)
    cuts = np.flatnonzero(np.diff(indices) > _GAP) + 1
    parts: list[Values] = []
    for run in np.split(indices, cuts) if indices.size else [indices]:
        first, last = (int(run[0]), int(run[-1]) + 1) if run.size else (0, 0)
        inner = [*key[:axis], slice(first, last, 1), *key[axis + 1 :]]
        block = read_region(var, inner, stored, read)
        parts.append(np.take(block, run - first, axis=axis))
    whole = np.concatenate(parts, axis=axis) if len(parts) > 1 else parts[0]
    return np.take(whole, order.reshape(-1), axis=axis)
