"""Everything that the package netCDF4 offers, under the same names: change the import line, and the program runs.

>>> import omnizarr.netcdf4 as netCDF4
>>> netCDF4.Dataset({}, "w").data_model
'NETCDF4'
"""

from __future__ import annotations

import sys
from typing import Any, Final

from omnizarr.nc.dataset.dataset import Dataset, Group
from omnizarr.nc.dataset.dates import date2index, date2num, num2date
from omnizarr.nc.dataset.dimension import Dimension
from omnizarr.nc.dataset.many import MFDataset
from omnizarr.nc.dataset.many_variable import MFTime
from omnizarr.nc.dataset.plan import default_fillvals
from omnizarr.nc.dataset.strings import chartostring, stringtoarr, stringtochar
from omnizarr.nc.dataset.usertypes import CompoundType, EnumType, OpaqueType, VLType
from omnizarr.nc.dataset.variable import Variable

__all__ = [
    "CompoundType",
    "Dataset",
    "Dimension",
    "EnumType",
    "Group",
    "MFDataset",
    "MFTime",
    "OpaqueType",
    "VLType",
    "Variable",
    "chartostring",
    "date2index",
    "date2num",
    "default_encoding",
    "default_fillvals",
    "get_alignment",
    "get_chunk_cache",
    "getlibversion",
    "is_native_big",
    "is_native_little",
    "num2date",
    "rc_get",
    "rc_set",
    "set_alignment",
    "set_chunk_cache",
    "stringtoarr",
    "stringtochar",
    "unicode_error",
]

__version__: Final = "1.7.5"
"""The version of netCDF4 whose interface this is."""
__netcdf4libversion__: Final = "4.10.1"
"""The version of the C library whose formats are written."""
__hdf5libversion__: Final = "1.14.6"
__has_rename_grp__: Final = True
__has_nc_inq_path__: Final = True
__has_nc_inq_format_extended__: Final = True
__has_nc_open_mem__: Final = True
__has_nc_create_mem__: Final = True
__has_cdf5_format__: Final = True
__has_parallel4_support__: Final = False
__has_pnetcdf_support__: Final = False
__has_parallel_support__: Final = False
__has_quantization_support__: Final = True
__has_zstandard_support__: Final = True
__has_bzip2_support__: Final = True
__has_blosc_support__: Final = True
__has_szip_support__: Final = False
__has_set_alignment__: Final = False
__has_ncfilter__: Final = True
__has_nc_rc_set__: Final = False

is_native_little: Final = sys.byteorder == "little"
is_native_big: Final = sys.byteorder == "big"
default_encoding: Final = "utf-8"
unicode_error: Final = "replace"


def getlibversion() -> str:
    """Return the version of the C library whose formats are written."""
    return __netcdf4libversion__


def get_chunk_cache() -> tuple[int, int, float]:
    """Return settings of a cache of chunks that Omnizarr does not have."""
    return (16777216, 1000, 0.75)


def set_chunk_cache(size: int | None = None, nelems: int | None = None, preemption: float | None = None) -> None:
    """Do nothing: there is no cache of chunks to set."""


def get_alignment() -> tuple[int, int]:
    """Raise: alignment is that of the C library of HDF5."""
    raise RuntimeError("alignment is that of the C library of HDF5, which is not used here")


def set_alignment(threshold: int, alignment: int) -> None:  # noqa: ARG001 - what netCDF4 takes
    """Raise: alignment is that of the C library of HDF5."""
    raise RuntimeError("alignment is that of the C library of HDF5, which is not used here")


def rc_get(key: str) -> Any:  # noqa: ANN401, ARG001 - what netCDF4 takes
    """Return `None`: settings of the C library are not used here."""
    return None


def rc_set(key: str, value: str) -> None:  # noqa: ARG001 - what netCDF4 takes
    """Raise: settings of the C library are not used here."""
    raise RuntimeError("settings of the C library are not used here")
