"""From an index to the key of a source, by the rules of netCDF4: each part selects from its own dimension.

Integers drop their dimension, slices may go backwards, arrays of integers or booleans are one-dimensional.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from omnizarr.errors import SelectionError
from omnizarr.nc.dataset.errors import BoundsError, IndexTypeError, RankError
from omnizarr.nc.source import MOST, Key, Values

Part: TypeAlias = "int | slice | Values"

_ALLOWED: Final = "only integers, slices (`:`), ellipsis (`...`), and 1-d integer or boolean arrays are valid indices"
_BACK: Final = slice(None, None, -1)
_ALL: Final = slice(None)


class Selected(NamedTuple):
    """What an index selects.

    Attributes:
        key: For the source.
        shape: Lengths of what is selected; 1 where an integer is.
        after: What an array of that shape is indexed with to drop dimensions and turn others around; empty if nothing.
    """

    key: Key
    shape: tuple[int, ...]
    after: tuple[int | slice, ...]


def select(index: object, shape: tuple[int, ...]) -> Selected:
    """Return what an index reads.

    >>> select((0, slice(None, None, -2)), (3, 4))
    Selected(key=(slice(0, 1, 1), slice(1, 4, 2)), shape=(1, 2), after=(0, slice(None, None, -1)))

    Raises:
        SelectionError: If the index is out of bounds or not allowed.
    """
    if index is Ellipsis or (isinstance(index, slice) and index == _ALL):
        return Selected(tuple(slice(0, n, 1) for n in shape), shape, ())
    if not shape:
        return _of_scalar(index)
    parts = [
        _bounded(part, n) if isinstance(part, int) else part
        for part, n in zip(_parts(index, shape), shape, strict=True)
    ]
    return _assembled(parts, shape)


def select_to_write(
    index: object, shape: tuple[int, ...], unlimited: Sequence[bool], data_shape: tuple[int, ...]
) -> Selected:
    """Return what an index writes: along unlimited dimensions it may reach further than they do.

    Args:
        index: The index.
        shape: Current lengths.
        unlimited: Which dimensions can grow.
        data_shape: The shape of the values, which says how long an open slice of an unlimited dimension is.

    Raises:
        SelectionError: If the index is out of bounds or not allowed.
    """
    if not shape:
        return _of_scalar(index)
    parts = _parts(index, shape, unlimited)
    if any(unlimited):
        fitted = _fitted(parts, data_shape)
        lengths = tuple(
            _length(part, at, n, fitted, lone=not data_shape and shape[-1] == 0) if unlimited[at] else n
            for at, (part, n) in enumerate(zip(parts, shape, strict=True))
        )
    else:
        lengths = shape
    resolved: list[Part] = []
    for part, n, free in zip(parts, shape, unlimited, strict=True):
        if not isinstance(part, int):
            resolved.append(part)
        elif part >= n and not free:
            raise BoundsError(f"index {part} is out of bounds for a dimension of length {n} that cannot grow")
        elif part >= MOST:
            raise BoundsError(f"index {part} is out of bounds: no dimension can grow beyond a length of 2**63 - 1")
        else:
            resolved.append(part if part >= 0 else _bounded(part, n))
    return _assembled(resolved, lengths)


def _parts(index: object, shape: tuple[int, ...], unlimited: Sequence[bool] = ()) -> list[Part]:
    """Return one part for each dimension: an integer (still negative if it was), a slice, or integers ≥ 0."""
    given = _listed(index)
    dots = sum(one is Ellipsis for one in given)
    if dots > 1:
        raise SelectionError("At most one ellipsis allowed in a slicing expression")
    missing = len(shape) - len(given) + dots
    if missing < 0:
        raise RankError(f"slicing expression exceeds the number of dimensions of the variable, {len(shape)}")
    spread: list[Any] = []
    for one in given:
        spread.extend([_ALL] * missing if one is Ellipsis else [one])
    spread.extend([_ALL] * (len(shape) - len(spread)))
    return [
        _part(one, n, free=bool(unlimited) and unlimited[at])
        for at, (one, n) in enumerate(zip(spread, shape, strict=True))
    ]


def _listed(index: object) -> list[Any]:
    """Return the parts of an index as they were given; a lone sequence of integers is one part."""
    if isinstance(index, tuple):
        return list(index)
    if isinstance(index, list) and any(isinstance(one, (slice, EllipsisType, list, np.ndarray)) for one in index):
        return index
    return [index]


def _part(one: object, n: int, *, free: bool) -> Part:
    if isinstance(one, slice):
        return _checked(one)
    if isinstance(one, (int, np.integer)):
        return int(one)
    if isinstance(one, (str, bytes)):
        try:
            return int(one)
        except ValueError:
            raise SelectionError(_ALLOWED) from None
    array = np.asarray(one)
    if array.ndim > 1:
        raise SelectionError("Index cannot be multidimensional")
    if not array.ndim:
        if array.dtype.kind not in "biuf" or not np.isfinite(array) or int(array) != array:
            raise SelectionError(_ALLOWED)
        return int(array)
    if array.dtype.kind == "b":
        if not free and len(array) != n:
            raise SelectionError(
                f"Boolean array must have the same shape as the data along this dimension: {n}, not {len(array)}"
            )
        return np.flatnonzero(array)
    if array.dtype.kind not in "iu":
        raise SelectionError(_ALLOWED)
    array = np.where(array < 0, array + n, array).astype(np.intp)
    if array.size and (array.min() < 0 or (array.max() >= n and not free)):
        raise SelectionError(f"integer index exceeds dimension size {n}")
    return array


def _checked(one: slice) -> slice:
    try:
        one.indices(1)
    except (TypeError, ValueError) as error:
        hint = "Give integers or nothing, and a step that is not 0."
        raise IndexTypeError(f"{one} is no slice of integers: {error}", hint=hint) from error
    return one


def _bounded(index: int, n: int) -> int:
    if not -n <= index < n:
        raise SelectionError(f"index {index} is out of bounds for a dimension of length {n}")
    return index + n if index < 0 else index


def _of_scalar(index: object) -> Selected:
    """Return what any index of a variable without dimensions selects: its value."""
    (part,) = _parts(index, (1,))
    if isinstance(part, int):
        _bounded(part, 1)
    return Selected((), (), ())


def _fitted(parts: list[Part], data_shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of values with a place for each dimension that an integer drops, if the rest are just enough."""
    if len(data_shape) == len(parts) or len(data_shape) != sum(isinstance(part, slice) for part in parts):
        return data_shape
    lengths = iter(data_shape)
    return tuple(0 if isinstance(part, int) else next(lengths, 0) for part in parts)


def _length(part: Part, at: int, n: int, data_shape: tuple[int, ...], *, lone: bool) -> int:
    """Return how long an unlimited dimension counts as while a slice of it is taken."""
    if not isinstance(part, slice):
        return n
    if part.stop is not None:
        return _reachable(max(n, operator.index(part.stop)))
    if data_shape:
        if at >= len(data_shape):
            raise SelectionError("shape of data does not conform to slice")
        return _reachable(data_shape[at] + (operator.index(part.start) if part.start is not None else 0))
    return 1 if lone else n  # one value for a dimension that has nothing yet


def _reachable(length: int) -> int:
    if length > MOST:
        raise BoundsError(f"index {length - 1} is out of bounds: no dimension can grow beyond a length of 2**63 - 1")
    return length


def _assembled(parts: Sequence[Part], lengths: tuple[int, ...]) -> Selected:
    key: list[slice | Values] = []
    shape: list[int] = []
    after: list[int | slice] = []
    plain = True
    for part, n in zip(parts, lengths, strict=True):
        if isinstance(part, int):
            key.append(slice(part, part + 1, 1))
            shape.append(1)
            after.append(0)
            plain = False
        elif isinstance(part, slice):
            chosen = range(*part.indices(n))
            back = chosen.step < 0
            plain = plain and not back
            if len(chosen) > 1:
                first, last = (chosen[-1], chosen[0]) if back else (chosen.start, chosen.stop - 1)
                key.append(slice(first, last + 1, abs(chosen.step)))
            else:  # of one, the step is never taken, and may be of any size
                key.append(slice(chosen.start, chosen.start + 1, 1) if chosen else slice(0, 0, 1))
            shape.append(len(chosen))
            after.append(_BACK if back else _ALL)
        else:
            key.append(part)
            shape.append(len(part))
            after.append(_ALL)
    return Selected(tuple(key), tuple(shape), () if plain else tuple(after))
