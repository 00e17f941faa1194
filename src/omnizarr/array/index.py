"""Selections in NumPy's words, turned into integers per dimension; pure functions, no array data is touched.

`basic` serves `a[...]`, `orthogonal` serves `a.oindex`, `points` serves `a.vindex`, `blocks` serves `a.blocks`.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from omnizarr.array.fancy import fancy
from omnizarr.array.selection import (
    Axis,
    Ints,
    Mask,
    Points,
    Selection,
    check_mask,
    out_of_bounds,
    plain,
    span,
    too_many,
    wrapped,
)
from omnizarr.errors import SelectionError
from omnizarr.model.grid import Grid, start_of

__all__ = ["Mask", "Points", "Selection", "basic", "blocks", "mask", "orthogonal", "points", "whole"]

# A NamedTuple's own constructor takes keywords and costs three times as much.
_new = tuple.__new__


def whole(shape: tuple[int, ...]) -> Selection:
    """Select everything, as `a[...]` does."""
    return _new(Selection, ([(0, 1, size) for size in shape], shape, shape, (), None))


def basic(selection: object, shape: tuple[int, ...]) -> Selection | Points | Mask:
    """Select as NumPy's `a[selection]` does, index arrays and masks included.

    Args:
        selection: What stands between the brackets.
        shape: The array's shape.

    Returns:
        A `Selection` wherever the indices of each dimension are independent of the others; a `Mask` for a boolean array
        of the array's own shape; else `Points`.

    Raises:
        SelectionError: The selection is out of bounds or not an index.

    >>> basic((2, slice(None, None, -2)), (4, 5)).dims
    [(2, 1, 1), (0, 2, 3)]
    """
    if type(selection) is tuple:
        return _basic(selection, shape)
    if selection is Ellipsis:
        return whole(shape)
    return _basic(tuple(selection) if isinstance(selection, tuple) else (selection,), shape)


def _basic(items: tuple[Any, ...], shape: tuple[int, ...]) -> Selection | Points | Mask:
    # One pass over the exact types that nearly every index is made of; the first item of another type leaves it.
    ndim = len(shape)
    if len(items) > ndim:
        _check_rank(items, shape)
    dims: list[Axis] = []
    counts: list[int] = []
    kept: list[int] = []
    flips: tuple[int, ...] = ()
    axis = 0
    for item in items:
        kind = type(item)
        if kind is int:
            size = shape[axis]
            start = item + size if item < 0 else item
            if not 0 <= start < size:
                raise out_of_bounds(axis, item, size)
            dims.append((start, 1, 1))
            counts.append(1)
        elif kind is slice:
            start, step, count, backwards = span(item, shape[axis], axis)
            dims.append((start, step, count))
            counts.append(count)
            kept.append(count)
            if backwards:
                flips += (axis,)
        elif item is None:
            kept.append(1)
            continue
        elif item is Ellipsis:
            spare = shape[axis : axis + _spare(items, ndim)]
            dims += [(0, 1, size) for size in spare]
            counts += spare
            kept += spare
            axis += len(spare)
            continue
        else:
            return _general(items, shape)
        axis += 1
    if axis < ndim:
        spare = shape[axis:]
        dims += [(0, 1, size) for size in spare]
        counts += spare
        kept += spare
    return _new(Selection, (dims, tuple(counts), tuple(kept), flips, None))


def _spare(selection: tuple[object, ...], ndim: int) -> int:
    """Number of dimensions that the one ellipsis stands for."""
    ellipses = 0
    for item in selection:
        if item is Ellipsis:
            ellipses += 1
        elif item is not None:
            ndim -= item.ndim if isinstance(item, np.ndarray) and item.dtype.kind == "b" and item.ndim else 1
    if ellipses > 1:
        raise SelectionError("an index can hold only one ellipsis (...)")
    return max(0, ndim)


def _check_rank(selection: tuple[object, ...], shape: tuple[int, ...]) -> None:
    given = sum(item is not None and item is not Ellipsis for item in selection)
    if given > len(shape):
        raise too_many(given, shape)


def _general(selection: tuple[object, ...], shape: tuple[int, ...]) -> Selection | Points | Mask:
    items = tuple(plain(item) for item in selection)
    arrays = [item for item in items if isinstance(item, np.ndarray)]
    if not arrays:
        return _basic(items, shape)
    alone = len(arrays) == 1 and arrays[0].ndim == 1 and not any(isinstance(item, int) for item in items)
    if alone and (len(shape) > 1 or arrays[0].dtype.kind != "b"):
        return orthogonal(items, shape)  # The same by NumPy's rules, and found in half the time.
    return fancy(items, shape)


def orthogonal(selection: object, shape: tuple[int, ...]) -> Selection:
    """Select along each dimension on its own, as `a.oindex[selection]` does.

    Integers and slices mean what they mean to NumPy; a 1-d array of integers or booleans picks from its dimension
    alone, whatever stands in the others. Indices may repeat, come in any order, and be none at all.

    Raises:
        SelectionError: The selection is out of bounds or not an index.

    >>> orthogonal(([3, 0], slice(0, 2)), (4, 5)).shape
    (2, 2)
    """
    items = [plain(item) for item in (selection if isinstance(selection, tuple) else (selection,))]
    arrays = [(i, item) for i, item in enumerate(items) if isinstance(item, np.ndarray)]
    for i, array in arrays:
        if array.ndim != 1:
            raise SelectionError(
                f"index {i} is an array of {array.ndim} dimensions; oindex takes one dimension per array",
                hint="Use a[mask] for a mask of the whole shape, .vindex for points.",
            )
        items[i] = slice(None)
    found = cast("Selection", basic(tuple(items), shape))  # as there are no arrays left
    if not arrays:
        return found
    dims, counts, kept = list(found.dims), list(found.counts), list(found.shape)
    for i, array in arrays:
        axis, place = _positions(items, i, len(shape))
        chosen = _one_axis(array, shape, axis)
        dims[axis] = chosen
        counts[axis] = kept[place] = chosen.size
    return Selection(dims, tuple(counts), tuple(kept), found.flips)


def _positions(items: list[object], i: int, ndim: int) -> tuple[int, int]:
    """The axis of the array, and that of the result, that belong to item `i` of an index without arrays."""
    axis = place = 0
    for item in items[:i]:
        if item is Ellipsis:
            spare = _spare(tuple(items), ndim)
            axis += spare
            place += spare
        elif item is None:
            place += 1
        else:
            axis += 1
            place += isinstance(item, slice)
    return axis, place


def _one_axis(array: Ints, shape: tuple[int, ...], axis: int) -> Ints:
    if array.dtype.kind != "b":
        return wrapped(array, axis, shape[axis])
    check_mask(array, shape, axis)
    return np.flatnonzero(array).astype(np.int64, copy=False)


def points(selection: object, shape: tuple[int, ...]) -> Points | Mask:
    """Select single elements by one array of coordinates per dimension, as `a.vindex[i, j]` does.

    The arrays are broadcast together, and the result has the shape that this gives. A boolean array of the array's own
    shape selects where it is true.

    Raises:
        SelectionError: A dimension has no coordinates, a coordinate is out of bounds, or the shapes do not fit.

    >>> points(([0, 1], [[2], [3]]), (4, 5)).shape
    (2, 2)
    """
    items = [plain(item) for item in (selection if isinstance(selection, tuple) else (selection,))]
    if len(items) == 1 and isinstance(items[0], np.ndarray) and items[0].dtype.kind == "b":
        return mask(items[0], shape)
    for item in items:
        if not isinstance(item, (int, np.ndarray)) or (isinstance(item, np.ndarray) and item.dtype.kind == "b"):
            raise SelectionError(
                "vindex takes an integer array for each dimension, or one mask of the whole shape",
                hint="Slices mix with arrays in a[...] by NumPy's rules, and in .oindex dimension by dimension.",
            )
    if len(items) != len(shape):
        raise SelectionError(
            f"vindex got coordinates for {len(items)} of the {len(shape)} dimensions of an array of shape {shape}",
            hint="Give one integer or integer array for each dimension.",
        )
    arrays = [wrapped(np.asarray(item), axis, shape[axis]) for axis, item in enumerate(items)]
    if len({array.shape for array in arrays}) == 1:
        return Points(tuple(array.reshape(-1) for array in arrays), arrays[0].shape)
    try:
        together = np.broadcast_arrays(*arrays)
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise SelectionError(
            f"coordinates of shapes {shapes} do not broadcast together",
            hint="Use .oindex to select along each dimension on its own.",
        ) from None
    coords = tuple(np.ascontiguousarray(array).reshape(-1) for array in together)
    return Points(coords, together[0].shape if together else ())


def mask(selected: object, shape: tuple[int, ...]) -> Mask:
    """Select where a boolean array of the array's own shape is true.

    Raises:
        SelectionError: Not booleans, or not of that shape.
    """
    array = np.asarray(selected)
    if array.dtype.kind != "b":
        raise SelectionError(f"a mask holds booleans, not {array.dtype}")
    if array.shape != shape:
        raise SelectionError(f"a mask of shape {array.shape} does not fit an array of shape {shape}")
    return Mask(np.ascontiguousarray(array), (int(np.count_nonzero(array)),))


def blocks(selection: object, shape: tuple[int, ...], cells: Grid) -> Selection:
    """Select whole chunks by their place in the grid, as `a.blocks[0, 1:3]` does.

    An integer picks one block and keeps its axis; a slice picks neighbouring blocks. The last block of a dimension ends
    where the array does.

    Raises:
        SelectionError: There is no such block, or the index is not an integer, a slice of step 1, or `...`.

    >>> from omnizarr.model.grid import RegularGrid
    >>> blocks((1, slice(None)), (10, 6), RegularGrid((4, 3))).dims
    [(4, 1, 4), (0, 1, 6)]
    """
    grid = cells.counts(shape)
    items = tuple(plain(item) for item in (selection if isinstance(selection, tuple) else (selection,)))
    for item in items:
        if item is None or isinstance(item, np.ndarray) or (isinstance(item, slice) and item.step not in (None, 1)):
            raise SelectionError("blocks takes integers, slices of step 1 and ..., one for each dimension of the grid")
    try:
        found = basic(items, grid)
    except SelectionError as error:
        raise SelectionError(f"no such block in a grid of {grid}: {error.message}", hint=error.hint) from None
    dims: list[Axis] = []
    for dim, size, edges in zip(found[0], shape, cells.edges, strict=True):
        first, _, number = dim
        start = start_of(edges, first)
        dims.append((start, 1, min(size, start_of(edges, first + number)) - start) if number else (0, 1, 0))
    counts = tuple(count for _, _, count in dims)
    return Selection(dims, counts, counts)
