"""The part of a stored array that values are written into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from omnizarr.errors import SelectionError, ShapeError
from omnizarr.hierarchy.array import Array


class Region(NamedTuple):
    """A range of each dimension, as start, step and count."""

    axes: tuple[range, ...]

    @property
    def starts(self) -> tuple[int, ...]:
        """The first index of each dimension."""
        return tuple(axis.start for axis in self.axes)

    @property
    def is_plain(self) -> bool:
        """Whether all steps are one."""
        return all(axis.step == 1 for axis in self.axes)

    @property
    def selection(self) -> tuple[slice, ...]:
        """The same as slices."""
        return tuple(map(_as_slice, self.axes))

    @property
    def key(self) -> str:
        """What tells it from others."""
        return str(self.axes)

    def within(self, slices: tuple[slice, ...]) -> tuple[slice, ...]:
        """Return where a part of the values goes."""
        return tuple(_as_slice(axis[part]) for axis, part in zip(self.axes, slices, strict=True))


def _as_slice(axis: range) -> slice:
    if not axis:
        return slice(0, 0)
    stop = axis[-1] + (1 if axis.step > 0 else -1)
    return slice(axis.start, None if stop < 0 else stop, axis.step)


def region_of(array: Array, wanted: Any, shape: tuple[int, ...]) -> Region:  # noqa: ANN401 - as users give it
    """Find the region that a user names.

    Args:
        array: The array.
        wanted: `None` for all of it, a slice, one for each dimension, or a mapping of dimensions to slices.
        shape: The shape of the values.

    Raises:
        SelectionError: It is not made of slices, or names other dimensions.
        ShapeError: It does not have the shape of the values.
    """
    slices = [slice(None)] * array.ndim
    if isinstance(wanted, Mapping):
        names = array.dims or (None,) * array.ndim
        for key, value in wanted.items():
            if key not in names and key not in range(array.ndim):
                raise SelectionError(f"there is no dimension {key!r}", path=array.name, hint=f"There are: {names}.")
            slices[key if isinstance(key, int) else names.index(key)] = value
    elif wanted is not None:
        given = wanted if isinstance(wanted, (tuple, list)) else (wanted,)
        if Ellipsis in given:
            at = given.index(Ellipsis)
            given = (*given[:at], *[slice(None)] * (array.ndim - len(given) + 1), *given[at + 1 :])
        if len(given) > array.ndim:
            raise SelectionError(f"a region of {len(given)} slices for {array.ndim} dimensions", path=array.name)
        slices[: len(given)] = given
    if not all(isinstance(one, slice) for one in slices):
        raise SelectionError(f"a region is made of slices, not {wanted!r}", path=array.name)
    axes = tuple(range(size)[one] for size, one in zip(array.shape, slices, strict=True))
    found = tuple(map(len, axes))
    if found != shape:
        raise ShapeError(f"the region has shape {found}, the values {shape}", path=array.name)
    return Region(axes)
