"""What a selection becomes: integers per dimension that the kernel understands, and the shape that NumPy would give.

Three forms cover everything: `Selection` (a range or a list of indices per dimension, taken orthogonally), `Points`
(one coordinate per dimension and element) and `Mask` (a boolean array of the shape of the whole array).
"""

from __future__ import annotations

from operator import index as as_int
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, TypeAlias, cast

import numpy as np

from omnizarr.errors import LimitError, SelectionError

if TYPE_CHECKING:
    import numpy.typing as npt

Ints: TypeAlias = "npt.NDArray[np.int64]"
Axis: TypeAlias = "tuple[int, int, int] | Ints"


class Selection(NamedTuple):
    """An orthogonal selection: the same indices of one dimension for all indices of the others."""

    dims: list[Axis]
    """Per dimension `(start, step, count)` with a step of at least 1, or non-negative indices (int64, contiguous)."""

    counts: tuple[int, ...]
    """Number of indices per dimension: the shape of the array that the kernel fills or reads."""

    shape: tuple[int, ...]
    """The shape that NumPy gives: integers have dropped their axis, `None` has added one."""

    flips: tuple[int, ...] = ()
    """Axes of the kernel's array that run backwards, because their step was negative."""

    order: tuple[int, ...] | None = None
    """Permutation of the result's axes that puts them in the order of the array's; None where they already are."""

    def view(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Show an array of shape `shape` as the kernel wants it: with shape `counts`, in the array's order of axes.

        The result shares memory with `array`, except where an index array of several dimensions meets an `array`
        that is not contiguous: then it is a copy.
        """
        if self.order is not None:
            array = array.transpose(self.order)
        if array.shape != self.counts:
            array = array.reshape(self.counts)
        if self.flips:
            turned = [slice(None)] * len(self.counts)
            for axis in self.flips:
                turned[axis] = slice(None, None, -1)
            array = array[tuple(turned)]
        return array


class Points(NamedTuple):
    """Single elements, each named by one coordinate per dimension."""

    coords: tuple[Ints, ...]
    """Per dimension one non-negative index for each element: 1-d, int64, contiguous, all of one length."""

    shape: tuple[int, ...]
    """The shape of the result, in whose C order the elements are listed."""


class Mask(NamedTuple):
    """The elements where a boolean array of the array's own shape is true, in C order."""

    mask: npt.NDArray[np.bool_]
    """C-contiguous, of the array's shape."""

    shape: tuple[int, ...]
    """`(number of true elements,)`."""

    def points(self) -> Points:
        """The same elements by their coordinates."""
        coords = np.nonzero(self.mask)
        return Points(tuple(np.ascontiguousarray(c, dtype=np.int64) for c in coords), self.shape)


def out_of_bounds(axis: int, index: int, size: int) -> SelectionError:
    """The error for an index beyond its dimension."""
    hint = f"Valid indices are {-size} to {size - 1}." if size else "The axis is empty: only slices select from it."
    return SelectionError(f"index {index} is out of bounds for axis {axis} with size {size}", hint=hint)


def too_many(given: int, shape: tuple[int, ...]) -> SelectionError:
    """The error for more indices than dimensions."""
    plural = "" if len(shape) == 1 else "s"
    return SelectionError(f"{given} indices for an array of shape {shape}, which has {len(shape)} dimension{plural}")


def span(item: slice, size: int, axis: int) -> tuple[int, int, int, bool]:
    """Turn a slice into `(start, step, count, backwards)` with a step of at least 1."""
    try:
        start, stop, step = item.indices(size)
    except (TypeError, ValueError) as error:
        raise SelectionError(f"slice for axis {axis} is not valid: {error}") from None
    if step > 0:
        count = (stop - start + step - 1) // step
        if count <= 0:
            return 0, 1, 0, False
        return start, step if count > 1 else 1, count, False
    count = (start - stop - step - 1) // -step
    if count <= 0:
        return 0, 1, 0, False
    if count == 1:
        return start, 1, 1, False
    return start + (count - 1) * step, -step, count, True


def plain(item: object) -> object:
    """Reduce one index to `int`, `slice`, `None`, `...` or an array of integers or booleans."""
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    if isinstance(item, (bool, np.bool_)):
        raise SelectionError(
            f"the boolean {item!s} is not an index",
            hint="Use None to add an axis, an integer to pick an element, or a boolean array as a mask.",
        )
    if hasattr(item, "__index__"):
        try:
            return as_int(cast("SupportsIndex", item))
        except TypeError:
            pass  # An array of one dimension or more has the method, too.
    elif isinstance(item, (str, bytes, float, complex)):
        raise SelectionError(
            f"{item!r} is not an index", hint="Use integers, slices, ..., None, or arrays of integers or booleans."
        )
    return _array(item)


def _array(item: object) -> npt.NDArray[Any]:
    try:
        array = np.asarray(item)
    except (ValueError, TypeError) as error:
        raise SelectionError(f"an index of type {type(item).__name__} is not a regular array: {error}") from None
    except MemoryError as error:
        shown = repr(item) if isinstance(item, range) else f"an index of type {type(item).__name__}"
        hint = "Use a slice, as in a[start:stop:step], or select less at a time."
        raise LimitError(f"{shown} has more indices than fit into memory", hint=hint) from error
    if array.size == 0 and not isinstance(item, np.ndarray) and array.dtype == np.float64:
        return array.astype(np.int64)  # `[]` has no type of its own.
    if array.dtype.kind not in "iub":
        raise SelectionError(
            f"an index of type {type(item).__name__} holds {array.dtype}, not integers or booleans",
            hint="Use integers, slices, ..., None, or arrays of integers or booleans.",
        )
    if array.ndim == 0:
        raise SelectionError("a boolean without dimensions is not an index", hint="Use None to add an axis.")
    return array


def wrapped(array: npt.NDArray[Any], axis: int, size: int) -> Ints:
    """Check integers against the size of their dimension and count negative ones from its end."""
    if array.size:
        low, high = int(array.min()), int(array.max())
        if high >= size:
            raise out_of_bounds(axis, high, size)
        if low < 0:
            if low < -size:
                raise out_of_bounds(axis, low, size)
            array = array.astype(np.int64)
            array += (array < 0) * np.int64(size)
    return np.asarray(array, dtype=np.int64, order="C")  # ascontiguousarray would add an axis to a scalar.


def check_mask(mask: npt.NDArray[Any], shape: tuple[int, ...], axis: int) -> None:
    """Refuse a boolean array whose shape is not that of the dimensions it stands for."""
    expected = shape[axis : axis + mask.ndim]
    if mask.shape != expected:
        where = f"axis {axis}" if mask.ndim == 1 else f"axes {axis} to {axis + mask.ndim - 1}"
        raise SelectionError(
            f"a boolean mask of shape {mask.shape} does not fit {where} of an array of shape {shape}",
            hint=f"The mask needs the shape {expected}.",
        )
