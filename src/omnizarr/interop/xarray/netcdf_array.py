"""Variables of netCDF datasets as arrays that xarray holds."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import Any

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

from omnizarr.array.objects import boxed
from omnizarr.interop.xarray.places import dataset_name
from omnizarr.interop.xarray.source import SharedSource
from omnizarr.nc.tree import Var
from omnizarr.nc.types import STRING
from omnizarr.nc.zarr.held import Held
from omnizarr.store.protocol import Store


class NetcdfArray(BackendArray):  # type: ignore[misc]  # xarray is not seen by mypy
    """A variable; it pickles as the place of its dataset and its path there."""

    __slots__ = ("_path", "_shared", "_var", "dtype", "shape")

    def __init__(self, shared: SharedSource, var: Var, dtype: np.dtype[Any]) -> None:
        self._shared = shared
        self._path = var.path
        # The variable belongs to the source that it was found in.
        self._var: tuple[object, Var] | None = (shared.get(), var)
        self.dtype = dtype
        self.shape: tuple[int, ...] = var.shape

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self._shared, self._path, self.dtype, self.shape)

    def home(self) -> tuple[Store, str] | None:
        """Return the store that the values are in, and the array's path there; `None` if they are in a file."""
        held = self._variable().handle
        return (held.context.store, held.path) if isinstance(held, Held) else None

    def file(self) -> str:
        """Return the name of the dataset that the values are in."""
        return dataset_name(self._shared.get())

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:  # noqa: ANN401 - an array, or a scalar
        var = self._variable()
        held = var.handle
        if isinstance(key, indexing.VectorizedIndexer) and _is_plain(held) and _has_arrays_only(key.tuple):
            return held.array(var.shape).vindex[key.tuple]
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _read(self, parts: tuple[Any, ...]) -> Any:  # noqa: ANN401 - as above
        dropped: list[int] = []
        key: list[slice | np.ndarray[Any, Any]] = []
        for axis, (part, size) in enumerate(zip(parts, self.shape, strict=True)):
            if isinstance(part, slice):
                start, stop, step = part.indices(size)
                key.append(slice(start, max(start, stop), step))
            elif np.ndim(part):
                key.append(np.asarray(part) % size if size else np.asarray(part))
            else:
                at = int(part) % size if size else int(part)
                key.append(slice(at, at + 1, 1))
                dropped.append(axis)
        var, source = self._variable(), self._shared.get()
        # Zarr may be read by many threads at once, files through one handle may not.
        with nullcontext() if isinstance(var.handle, Held) else self._shared.lock:
            values = source.read(var, key)
        if var.type == STRING:
            values = _texts(values)
        if dropped:
            values = values[tuple(0 if axis in dropped else slice(None) for axis in range(values.ndim))]
        # The element may be an array itself, which xarray would take for a result.
        return boxed(values) if len(dropped) == len(self.shape) and self.dtype.hasobject else values

    def _variable(self) -> Var:
        source = self._shared.get()
        if self._var is None or self._var[0] is not source:
            self._var = source, self._shared.find(self._path)
        return self._var[1]

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> Any:  # noqa: ANN401 - as above
        """Read without keeping the event loop waiting."""
        return await asyncio.to_thread(self.__getitem__, key)


def _restored(shared: SharedSource, path: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NetcdfArray:
    array = NetcdfArray.__new__(NetcdfArray)
    array._shared, array._path, array._var = shared, path, None  # noqa: SLF001 - it is made here
    array.dtype, array.shape = dtype, shape
    return array


def _is_plain(held: object) -> bool:
    return isinstance(held, Held) and held.decode is None and not held.scalar and not held.netcdf


def _has_arrays_only(parts: tuple[Any, ...]) -> bool:
    return not any(isinstance(part, slice) for part in parts)


def _texts(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return strings, those that are not there as empty ones."""
    missing = np.array([one is None for one in values.flat], bool).reshape(values.shape)
    if np.any(missing):
        values[missing] = ""
    return values
