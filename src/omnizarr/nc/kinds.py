"""The kinds of dataset that can be told apart and written, under every name that ncdump, ncgen and nccopy know."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import Final

from omnizarr.errors import UnsupportedError

CLASSIC: Final = "classic"
OFFSET64: Final = "64-bit offset"
CDF5: Final = "cdf5"
NETCDF4: Final = "netCDF-4"
NETCDF4_CLASSIC: Final = "netCDF-4 classic model"
NCZARR: Final = "nczarr"
"""Zarr v2 with netCDF's own metadata, as netcdf-c writes and reads it."""
NCZARR3: Final = "nczarr3"
"""The same model on Zarr v3."""
ZARR: Final = "zarr"
"""Zarr v2 without netCDF's own metadata."""
ZARR3: Final = "zarr3"
"""Zarr v3 without netCDF's own metadata."""

KINDS: Final = (CLASSIC, OFFSET64, CDF5, NETCDF4, NETCDF4_CLASSIC, NCZARR, NCZARR3, ZARR, ZARR3)
NETCDF3_KINDS: Final = (CLASSIC, OFFSET64, CDF5)
NETCDF4_KINDS: Final = (NETCDF4, NETCDF4_CLASSIC)
ZARR_KINDS: Final = (NCZARR, NCZARR3, ZARR, ZARR3)

_OTHER_NAMES: Final = {
    "1": CLASSIC, "nc3": CLASSIC, "netcdf3": CLASSIC, "netcdf3_classic": CLASSIC,
    "2": OFFSET64, "nc6": OFFSET64, "64-bit-offset": OFFSET64, "netcdf3_64bit": OFFSET64,
    "netcdf3_64bit_offset": OFFSET64,
    "3": NETCDF4, "nc4": NETCDF4, "hdf5": NETCDF4, "netcdf-4": NETCDF4, "netcdf4": NETCDF4, "enhanced": NETCDF4,
    "4": NETCDF4_CLASSIC, "7": NETCDF4_CLASSIC, "nc7": NETCDF4_CLASSIC, "hdf5-nc3": NETCDF4_CLASSIC,
    "netcdf-4 classic model": NETCDF4_CLASSIC, "netcdf-4-classic": NETCDF4_CLASSIC, "netcdf4_classic": NETCDF4_CLASSIC,
    "enhanced-nc3": NETCDF4_CLASSIC,
    "5": CDF5, "nc5": CDF5, "64-bit data": CDF5, "64-bit-data": CDF5, "netcdf3_64bit_data": CDF5, "pnetcdf": CDF5,
    "nczarr2": NCZARR, "zarr2": ZARR,
}  # fmt: skip
_ENDINGS: Final = {
    ".nc": NETCDF4,
    ".nc4": NETCDF4,
    ".netcdf": NETCDF4,
    ".h5": NETCDF4,
    ".hdf5": NETCDF4,
    ".cdf": CLASSIC,
    ".nc3": CLASSIC,
}


def as_kind(name: str) -> str:
    """Return the kind that a name stands for.

    Raises:
        UnsupportedError: If there is no such kind.

    >>> as_kind("nc4"), as_kind("64-bit data"), as_kind("NETCDF3_CLASSIC"), as_kind("nczarr")
    ('netCDF-4', 'cdf5', 'classic', 'nczarr')
    """
    found = _OTHER_NAMES.get(name.lower()) or next((kind for kind in KINDS if kind.lower() == name.lower()), None)
    if found is None:
        raise UnsupportedError(f"there is no kind of dataset called {name!r}", hint=f"One of: {', '.join(KINDS)}.")
    return found


def kind_by_name(where: object) -> str:
    """Return the kind that is written to a place unless another is asked for.

    >>> kind_by_name("a.nc"), kind_by_name("a.zarr"), kind_by_name({})
    ('netCDF-4', 'nczarr', 'nczarr')
    """
    return _ENDINGS.get(_ending(where), NCZARR)


def is_named_as_file(where: object) -> bool:
    """Whether a place has the ending of a netCDF or HDF5 file.

    >>> is_named_as_file("a.nc"), is_named_as_file("a.zarr")
    (True, False)
    """
    return _ending(where) in _ENDINGS


def _ending(where: object) -> str:
    return PurePath(where).suffix.lower() if isinstance(where, (str, os.PathLike)) else ""
