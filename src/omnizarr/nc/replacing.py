"""Filters that the place of a copy does not have, replaced by one that every place has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from omnizarr.errors import warn
from omnizarr.nc.files.hdf5_library import load_h5py, load_plugins
from omnizarr.nc.filters import BLOSC, BZIP2, DEFLATE, FLETCHER32, SHUFFLE, ZSTD
from omnizarr.nc.kinds import NETCDF4_KINDS, ZARR_KINDS
from omnizarr.nc.tree import Group
from omnizarr.nc.types import is_fixed

_LEVEL: Final = 4
_MOST_NAMED: Final = 6
_IN_ZARR: Final = frozenset((DEFLATE, SHUFFLE, FLETCHER32, BZIP2, BLOSC, ZSTD))
"""All that have a codec in Zarr."""


def replace_missing_filters(root: Group, kind: str, *, kept: bool) -> None:
    """Use deflate where a variable has a filter that is not installed, or a codec that HDF5 does not know.

    What values are does not change by that; only the size of the file does.

    Args:
        root: The definitions of the copy, which are changed.
        kind: What is written.
        kept: Whether filters were asked for, so that a missing one is an error, not to be replaced.
    """
    has = _in_hdf5() if kind in NETCDF4_KINDS else _IN_ZARR.__contains__
    replaced: list[str] = []
    for var in root.all_vars():
        storage = var.storage
        filtered = bool(storage.deflate or storage.shuffle or storage.filters)
        if kind in NETCDF4_KINDS and storage.codecs and not filtered and is_fixed(var.type) and var.dims:
            storage.deflate, storage.shuffle = _LEVEL, var.type.numpy.itemsize > 1
        missing = [one.id for one in storage.filters if not has(one.id)]
        if missing and not kept and not (storage.codecs and kind in ZARR_KINDS):
            replaced.append(f"{var.path.removeprefix('/')} ({', '.join(map(str, missing))})")
            storage.filters = tuple(one for one in storage.filters if one.id not in missing)
            storage.deflate, storage.shuffle = storage.deflate or _LEVEL, var.type.numpy.itemsize > 1
        if kind in NETCDF4_KINDS and not is_fixed(var.type):
            # What HDF5 would compress is where the values are, not the values.
            storage.filters, storage.deflate, storage.shuffle = (), 0, False
    if replaced:
        shown = ", ".join(replaced[:_MOST_NAMED]) + (", …" if len(replaced) > _MOST_NAMED else "")
        warn(f"filters that {kind} does not have here are replaced by deflate: {shown}")


def _in_hdf5() -> Callable[[int], bool]:
    h5py = load_h5py("the copy")
    load_plugins()
    return lambda number: bool(h5py.h5z.filter_avail(number))
