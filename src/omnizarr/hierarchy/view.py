"""A view of an array: what was selected, not yet read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod
from operator import index as as_int
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from omnizarr.array.selection import out_of_bounds
from omnizarr.errors import SelectionError
from omnizarr.hierarchy.methods import Methods
from omnizarr.hierarchy.number import Number

if TYPE_CHECKING:
    import numpy.typing as npt


class Readable(Protocol):
    """An array, as far as views need to know it."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy type of the elements."""
        ...

    @property
    def dims(self) -> tuple[str | None, ...] | None:
        """Names of the dimensions."""
        ...

    @property
    def name(self) -> str:
        """Path of the array with a slash in front."""
        ...

    @property
    def chunks(self) -> tuple[Any, ...]:
        """Shape of the chunks."""
        ...

    @property
    def oindex(self) -> Any:  # noqa: ANN401 - brackets
        """Orthogonal indexing."""
        ...

    @property
    def vindex(self) -> Any:  # noqa: ANN401 - brackets
        """Indexing of points."""
        ...

    def __getitem__(self, selection: Any, /) -> Any: ...  # noqa: ANN401 - whatever NumPy takes and gives


class _Axis(NamedTuple):
    """One axis of a view: one of the array's, or a new one."""

    source: int | None
    """Which axis of the array; `None` for a new one."""

    length: int


class View(NDArrayOperatorsMixin, Methods, Number):
    """A part of an array that is read when its values are asked for, by one call of the kernel.

    Made by `Array.lazy`. Integers, slices with steps of either sign, `...` and `None` give another view, as do
    `transpose` and `T`; index arrays and masks read at once. `np.asarray(view)` and `view.read()` read; so does every
    function of NumPy.

    >>> import omnizarr as oz
    >>> a = oz.create_array({}, data=np.arange(12).reshape(3, 4), dims=("y", "x"))
    >>> a.lazy[::-1, 1:3]
    <omnizarr.View of '/' (y: 3, x: 2) int64>
    >>> a.lazy[::-1, 1:3][0].read()
    array([ 9, 10])
    """

    __slots__ = ("_array", "_axes", "_picked")

    def __init__(
        self,
        array: Readable,
        picked: tuple[range | int, ...] | None = None,
        axes: tuple[_Axis, ...] | None = None,
    ) -> None:
        self._array = array
        # What is selected of each axis of the array, and in which order its axes and new ones are shown.
        self._picked = tuple(range(size) for size in array.shape) if picked is None else picked
        self._axes = tuple(_Axis(n, size) for n, size in enumerate(array.shape)) if axes is None else axes

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension."""
        return tuple(axis.length for axis in self._axes)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy type of the elements."""
        return self._array.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._axes)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements in memory."""
        return self.size * self.dtype.itemsize

    @property
    def dims(self) -> tuple[str | None, ...] | None:
        """Names of the dimensions; `None` for one that is new."""
        names = self._array.dims
        return None if names is None else tuple(None if n is None else names[n] for n, _ in self._axes)

    @property
    def pieces(self) -> tuple[tuple[int, ...], ...]:
        """Lengths of the pieces that the chunks of the array leave of each dimension, in order."""
        # Not called `chunks`: by that name xarray takes an array for one that a chunk manager, as Dask's, computes.
        return tuple((length,) if n is None else self._pieces_of(n) for n, length in self._axes)

    @property
    def _sources(self) -> tuple[int | None, ...]:
        return tuple(axis.source for axis in self._axes)

    @property
    def T(self) -> View:  # noqa: N802 - NumPy's name
        """The same with its axes in reverse order."""
        return self.transpose()

    def transpose(self, *axes: int | Iterable[int] | None) -> View:
        """Return the same with its axes in another order: reversed if none is given.

        Raises:
            SelectionError: If they are not all the axes, each once.
        """
        given = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        order = [as_int(n) for n in cast("Iterable[int]", given)] if given is not None and axes else []
        if not order and (given is None or not axes):
            order = list(reversed(range(self.ndim)))
        turned = [n + self.ndim if n < 0 else n for n in order]
        if sorted(turned) != list(range(self.ndim)):
            raise SelectionError(f"{tuple(order)} are not the axes of a view of {self.ndim} dimensions")
        return View(self._array, self._picked, tuple(self._axes[n] for n in turned))

    def __getitem__(self, selection: Any) -> Any:  # noqa: ANN401 - a view, or values where an array selects
        items = selection if isinstance(selection, tuple) else (selection,)
        if not all(_is_basic(item) for item in items):
            return self._fancy(items)
        picked, axes = list(self._picked), list[_Axis]()
        place = 0
        for item in _spread(items, self.ndim):
            if item is None:
                axes.append(_Axis(None, 1))
                continue
            source, length = self._axes[place]
            if isinstance(item, slice):
                axes.append(self._sliced(picked, source, length, item))
            else:
                at = as_int(item)
                if not -length <= at < length:
                    raise out_of_bounds(place, at, length)
                if source is not None:
                    picked[source] = cast("range", picked[source])[at]
            place += 1
        return View(self._array, tuple(picked), tuple(axes))

    @staticmethod
    def _sliced(picked: list[range | int], source: int | None, length: int, item: slice) -> _Axis:
        try:
            if source is None:
                return _Axis(None, len(range(length)[item]))
            found = cast("range", picked[source])[item]
        except (TypeError, ValueError) as error:
            raise SelectionError(f"{item} is not a slice of integers: {error}") from error
        picked[source] = found
        return _Axis(source, len(found))

    def read(self) -> npt.NDArray[Any]:
        """Read all that is selected: one call of the kernel, in one pass over the chunks."""
        values = np.asarray(self._array[tuple(_index(one) for one in self._picked)])
        return self._arranged(values, self.shape)

    def _arranged(self, values: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """Give values with the axes of the array the axes of the view; `shape` is theirs there."""
        shown = [n for n, _ in self._axes if n is not None]
        ranks = {source: rank for rank, source in enumerate(sorted(shown))}
        if 0 in shape:  # of a new axis, too, nothing may be left
            return np.empty(shape, values.dtype)
        return values.transpose([ranks[n] for n in shown]).reshape(shape)

    def _fancy(self, items: tuple[Any, ...]) -> Any:  # noqa: ANN401 - values as NumPy gives them
        """Read what index arrays select, as NumPy does it: only the indices that they name."""
        items = _expanded(items, self.shape)
        if not any(item is None or isinstance(item, slice) for item in items) and None not in self._sources:
            return self._points(items)
        # What is needed of each axis is read orthogonally; arrays then say where they find it in that.
        wanted: list[Any] = []
        places: list[Any] = []
        for item in items:
            axis = len(wanted)
            if item is None:
                places.append(None)
            elif isinstance(item, slice):
                wanted.append(item)
                places.append(slice(None))
            else:
                found = _checked(item, self._axes[axis].length, axis)
                used, where = np.unique(found, return_inverse=True)
                wanted.append(used)
                places.append(where.reshape(found.shape))
        return self._outer(wanted)[tuple(places)]

    def _outer(self, wanted: list[Any]) -> npt.NDArray[Any]:
        """Read slices or sorted indices of each axis."""
        part: View = self[tuple(one if isinstance(one, slice) else slice(None) for one in wanted)]
        key: list[Any] = [_index(one) for one in part._picked]
        shape = list(part.shape)
        for place, one in enumerate(wanted):
            if isinstance(one, slice):
                continue
            shape[place] = len(one)
            source = self._axes[place].source
            if source is not None:
                picked = cast("range", self._picked[source])
                key[source] = picked.start + picked.step * one
        values = np.asarray(self._array.oindex[tuple(key)])
        return self._arranged(values, tuple(shape))

    def _points(self, items: tuple[Any, ...]) -> npt.NDArray[Any]:
        key: list[Any] = list(self._picked)
        for place, (source, length) in enumerate(self._axes):
            one = cast("range", self._picked[cast("int", source)])
            key[cast("int", source)] = one.start + one.step * _checked(items[place], length, place)
        return np.asarray(self._array.vindex[tuple(np.broadcast_arrays(*key))])

    def _pieces_of(self, source: int) -> tuple[int, ...]:
        one, edges = cast("range", self._picked[source]), self._array.chunks[source]
        size = self._array.shape[source]
        lengths = [edges] * -(-size // max(1, edges)) if isinstance(edges, int) else edges
        ends = np.cumsum(lengths)
        owner = np.searchsorted(ends, np.asarray(one), side="right")
        return tuple(int(n) for n in np.unique(owner, return_counts=True)[1][:: 1 if one.step > 0 else -1]) or (0,)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("the values are in a store, so an array in memory is always a copy of them")
        values = self.read()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __array_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:  # noqa: ANN401 - whatever the function gives
        return func(*_read_in(args), **_read_in(kwargs))

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        return getattr(ufunc, method)(*_read_in(args), **_read_in(kwargs))

    def __len__(self) -> int:
        if not self._axes:
            raise TypeError("a view without dimensions has no length")
        return self._axes[0].length

    def __bool__(self) -> bool:
        return bool(self.read())

    def __repr__(self) -> str:
        names = self.dims or (None,) * self.ndim
        sizes = [f"{name}: {n}" if name else str(n) for name, n in zip(names, self.shape, strict=True)]
        text = ", ".join(sizes) + ("," if len(sizes) == 1 and not names[0] else "")
        return f"<omnizarr.View of {self._array.name!r} ({text}) {self.dtype}>"

    def __dask_tokenize__(self) -> tuple[object, ...]:
        array: Any = self._array
        return ("omnizarr.View", array.__dask_tokenize__(), self._picked, self._axes)


def _is_basic(item: object) -> bool:
    if item is None or item is Ellipsis or isinstance(item, slice):
        return True
    return not isinstance(item, (bool, np.bool_, list, tuple, np.ndarray)) and hasattr(item, "__index__")


def _spread(items: tuple[Any, ...], ndim: int) -> tuple[Any, ...]:
    """Put slices where an ellipsis is, or at the end, so that there is an item for each axis."""
    used = sum(item is not None and item is not Ellipsis for item in items)
    if used > ndim:
        raise SelectionError(f"{used} indices for a view of {ndim} dimensions")
    dots = [n for n, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise SelectionError("an index has more than one ellipsis")
    at = dots[0] if dots else len(items)
    return (*items[:at], *[slice(None)] * (ndim - used), *items[at + 1 :])


def _expanded(items: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Put the indices of its true elements in the place of each mask, and spread."""
    given = [item if _is_basic(item) else _as_index(item) for item in items]
    widths = [_width(item) for item in given]
    found: list[Any] = []
    axis = 0
    for item, width in zip(given, widths, strict=True):
        if isinstance(item, np.ndarray) and item.dtype == bool:
            found += np.nonzero(_fitting(item, shape, axis))
        else:
            found.append(item)
        axis += len(shape) - sum(widths) if item is Ellipsis else width
    return _spread(tuple(found), len(shape))


def _as_index(item: object) -> npt.NDArray[Any]:
    try:
        array = np.asarray(item)
    except (ValueError, TypeError) as error:
        raise SelectionError(f"{item!r} is not an index: {error}") from error
    if array.dtype == bool and array.ndim == 0:
        raise SelectionError("True and False are not indices")
    return array.astype(np.int64) if array.size == 0 and array.dtype != bool else array


def _width(item: object) -> int:
    """How many axes an index stands for: a mask has as many as dimensions."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, np.ndarray) and item.dtype == bool else 1


def _fitting(mask: npt.NDArray[Any], shape: tuple[int, ...], axis: int) -> npt.NDArray[Any]:
    """Return a mask that has the lengths of its axes; one that is shorter would select what nobody meant."""
    if mask.shape != shape[axis : axis + mask.ndim]:
        raise SelectionError(
            f"a boolean mask of shape {mask.shape} does not fit a view of shape {shape}, from axis {axis} on",
            hint=f"The mask needs the shape {shape[axis : axis + mask.ndim]}.",
        )
    return mask


def _checked(item: Any, length: int, axis: int) -> npt.NDArray[np.int64]:  # noqa: ANN401 - an index or an array of them
    array = np.asarray(item)
    if array.dtype.kind not in "iu":
        raise SelectionError(f"an index array has type {array.dtype}, not integers")
    array = array.astype(np.int64)
    bad = array[(array < -length) | (array >= length)]
    if bad.size:
        raise out_of_bounds(axis, int(bad[0]), length)
    return np.where(array < 0, array + length, array)


def _index(one: range | int) -> slice | int:
    if isinstance(one, int):
        return one
    if not one:
        return slice(0, 0)
    stop = one[-1] + (1 if one.step > 0 else -1)
    return slice(one.start, None if stop < 0 else stop, one.step)


def _read_in(value: Any) -> Any:  # noqa: ANN401 - arguments of any kind
    """Read the views among arguments."""
    if isinstance(value, View):
        return value.read()
    if isinstance(value, (list, tuple)):
        return type(value)(map(_read_in, value)) if not hasattr(value, "_fields") else value
    if isinstance(value, dict):
        return {key: _read_in(one) for key, one in value.items()}
    return value
