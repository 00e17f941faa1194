"""Arrays that xarray holds and that are read when they are needed: each selection by one call of the kernel."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

from omnizarr.array.objects import boxed
from omnizarr.hierarchy.array import Array
from omnizarr.store.protocol import Store


class LazyArray(BackendArray):  # type: ignore[misc]  # xarray is not seen by mypy
    """An array of Omnizarr as xarray's backends hold one.

    It pickles as the place where the array is, and keeps the shape that it had when the dataset was opened.
    """

    __slots__ = ("_array", "dtype", "shape")

    def __init__(self, array: Array) -> None:
        self._array = array
        # Of structures in another byte order xarray would make bytes without fields.
        self.dtype: np.dtype[Any] = array.dtype if array.dtype.names is None else array.dtype.newbyteorder("=")
        self.shape: tuple[int, ...] = array.shape

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self._array, self.dtype, self.shape)

    def home(self) -> tuple[Store, str]:
        """Return the store that the values are in, and the array's path there."""
        return self._array.store, self._array.path

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:  # noqa: ANN401 - an array, or a scalar
        array, parts = self._array, key.tuple
        if array.shape != self.shape:
            parts = _bounded(parts, self.shape)
        if isinstance(key, indexing.BasicIndexer):
            found = array[parts]
        elif isinstance(key, indexing.OuterIndexer):
            found = array.oindex[parts]
        else:
            found = _points(array, parts, self.shape)
        if self.dtype.hasobject and not any(isinstance(part, slice) or np.ndim(part) for part in parts):
            return boxed(found)  # the element may be an array itself, which xarray would take for a result
        if self.dtype.names is not None:
            return np.asarray(found).astype(self.dtype, copy=False)
        return found if isinstance(found, (np.ndarray, np.generic)) else self._boxed(found)

    def _boxed(self, value: object) -> np.ndarray[Any, Any]:
        """Return an element that is no scalar of NumPy, such as text, as an array without dimensions."""
        box = np.empty((), self.dtype)
        box[()] = value
        return box

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> Any:  # noqa: ANN401 - as above
        """Read without keeping the event loop waiting: the kernel works in threads of its own."""
        return await asyncio.to_thread(self.__getitem__, key)


def _restored(array: Array, dtype: np.dtype[Any], shape: tuple[int, ...]) -> LazyArray:
    lazy = LazyArray(array)
    lazy.dtype, lazy.shape = dtype, shape
    return lazy


def _bounded(parts: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Return a selection that means the same though the array has grown since."""
    return tuple(
        _range(part, size) if isinstance(part, slice) else part for part, size in zip(parts, shape, strict=True)
    )


def _range(part: slice, size: int) -> slice:
    start, stop, step = part.indices(size)
    return slice(start, stop if stop >= 0 else None, step)


def _points(array: Array, parts: tuple[Any, ...], shape: tuple[int, ...]) -> Any:  # noqa: ANN401 - as above
    """Read points; slices among their coordinates come last in the result, each a dimension of its own."""
    if not any(isinstance(part, slice) for part in parts):
        return array.vindex[parts]
    ndim = max((np.ndim(part) for part in parts if not isinstance(part, slice)), default=0)
    sliced = sum(isinstance(part, slice) for part in parts)
    coords: list[Any] = []
    at = ndim
    for part, size in zip(parts, shape, strict=True):
        if isinstance(part, slice):
            axes = [1] * (ndim + sliced)
            axes[at] = -1
            coords.append(np.arange(size)[part].reshape(axes))
            at += 1
        else:
            values = np.asarray(part)
            coords.append(values.reshape((1,) * (ndim - values.ndim) + values.shape + (1,) * sliced))
    return array.vindex[tuple(coords)]
