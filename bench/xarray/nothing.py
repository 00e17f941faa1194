"""An engine that reads nothing: what it takes is xarray's and Dask's own time, which no engine can save."""

from __future__ import annotations

import os
from typing import Any, ClassVar

import numpy as np
from xarray import Variable
from xarray.backends import AbstractDataStore, BackendArray, BackendEntrypoint
from xarray.backends.store import StoreBackendEntrypoint
from xarray.core import indexing

_learned: dict[str, dict[str, tuple[Any, ...]]] = {}


def learn(where: os.PathLike[str]) -> None:
    """Remember what a dataset has, as the engine `omnizarr` sees it, but for values."""
    from omnizarr.interop.xarray.opening import asked, open_view

    view, close = open_view(where, asked())
    _learned[os.fspath(where)] = {
        name: (var.dims, var.shape, var.dtype, dict(var.attrs), dict(var.encoding))
        for name, var in view.variables().items()
    }
    close()


class _Zeros(BackendArray):  # type: ignore[misc]  # xarray is not seen by mypy
    """Zeros, in memory that is not touched."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype = shape, dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:  # xarray has no types
        if isinstance(key, indexing.VectorizedIndexer):
            return np.zeros(np.broadcast_shapes(*(np.shape(part) for part in key.tuple)), self.dtype)
        counts = [
            len(np.arange(n)[part])
            for part, n in zip(key.tuple, self.shape, strict=True)
            if np.shape(part) or isinstance(part, slice)
        ]
        return np.zeros(counts, self.dtype)


class _Store(AbstractDataStore):  # type: ignore[misc]  # as above
    def __init__(self, where: str) -> None:
        self._where = where

    def get_variables(self) -> dict[str, Variable]:
        return {
            name: Variable(
                dims, indexing.LazilyIndexedArray(_Zeros(shape, dtype)), dict(attrs), dict(words), fastpath=True
            )
            for name, (dims, shape, dtype, attrs, words) in _learned[self._where].items()
        }

    def get_attrs(self) -> dict[str, Any]:
        return {}


class NothingBackend(BackendEntrypoint):  # type: ignore[misc]  # as above
    """Opens what was learned."""

    description: ClassVar[str] = "Zeros in the shape of datasets"

    def open_dataset(self, filename_or_obj: Any, *, drop_variables: Any = None, **decoding: Any) -> Any:  # as above
        """Return a dataset of zeros; arguments are as for `xarray.open_dataset`."""
        store = _Store(os.fspath(filename_or_obj))
        return StoreBackendEntrypoint().open_dataset(store, drop_variables=drop_variables, **decoding)
