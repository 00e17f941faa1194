"""netCDF files on servers as datasets: definitions as the file has them, values fetched and decoded by the kernel."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from omnizarr.errors import NotFoundError, OmnizarrError, OmnizarrWarning, StoreError, UnsupportedError
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.group import Group
from omnizarr.hierarchy.opening import Place, open_node
from omnizarr.nc.files.classic import ClassicSource
from omnizarr.nc.files.hdf5 import Hdf5Source
from omnizarr.nc.files.regions import read_region
from omnizarr.nc.source import Key, Source, Values
from omnizarr.nc.tree import Var
from omnizarr.nc.zarr.source import open_source as open_zarr
from omnizarr.refs.direct import open_url as open_store
from omnizarr.refs.direct import store_for
from omnizarr.refs.scanners.dispatch import what_is
from omnizarr.refs.scanners.source import SourceFile
from omnizarr.store.cloud.at import At
from omnizarr.store.cloud.opening import is_cloud
from omnizarr.store.resolve import resolve
from omnizarr.store.wrap import PrefixStore


def open_source(where: str | At, mode: str = "r", **options: Any) -> Source:  # noqa: ANN401 - as every kind of place
    """Open a dataset that lies on a server.

    Args:
        where: Its URL, without a fragment; with options or without.
        mode: Only "r".
        options: What a kind of place takes.

    Raises:
        NotFoundError: If the server has no such file.
        StoreError: If the server does not give it, or does not give parts of it.
        UnsupportedError: If it is to be changed, or is of no format that can be read so.
    """
    url = where.where if isinstance(where, At) else where
    if mode != "r":
        raise UnsupportedError(f"{url} is on a server, and cannot be changed", hint="Copy it: `oz copy`.")
    source = SourceFile(where)
    try:
        what = what_is(source)
    except (NotFoundError, StoreError):  # a folder, perhaps
        what = ""
    if what == "netCDF classic file":
        return ClassicSource(source.open(), url)
    if what == "HDF5 file":
        return RemoteHdf5(source)
    given = where.options if isinstance(where, At) else None
    store, path = resolve(where, read_only=True) if is_cloud(url) else open_store(url, options=given)
    found: Source = open_zarr(PrefixStore(store, path + "/") if path else store, mode, **options)
    return found


class RemoteHdf5(Hdf5Source):
    """A netCDF-4 or HDF5 file on a server."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source.open(), source.url)
        self._source = source
        self._group: Group | None = None

    def read(self, var: Var, key: Key) -> Values:
        """Return the values that a key selects; numbers come through the kernel, all else through the library."""
        array = self._array(var)
        if array is None:
            return super().read(var, key)

        def block(start: tuple[int, ...], count: tuple[int, ...], step: tuple[int, ...]) -> Values:
            parts = zip(start, count, step, strict=True)
            chosen = tuple(slice(s, s + (n - 1) * by + 1, by) for s, n, by in parts)
            values = np.asarray(array[chosen or ...])
            return values.astype(var.type.numpy, copy=not values.flags.writeable)

        return read_region(var, key, array.shape, block)

    def _array(self, var: Var) -> Array | None:
        """Return the array of references of a variable of plain numbers, if there is one."""
        dtype = np.dtype(var.type.numpy)
        if dtype.kind not in "iuf" or dtype.fields is not None:
            return None
        if self._group is None:
            self._group = self._scanned()
        try:
            found = self._group[var.path.strip("/")] if self._group is not None else None
        except OmnizarrError:  # references cannot describe it
            return None
        fits = isinstance(found, Array) and found.dtype == dtype and found.ndim == len(var.dims)
        return found if fits and isinstance(found, Array) else None

    def _scanned(self) -> Group | None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OmnizarrWarning)
            store = store_for(self._source, on_error="drop")
        node = open_node(Place(store, "r"), "r", None, None)
        return node if isinstance(node, Group) else None
