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
__has_set_alignment__: Final = True
__has_ncfilter__: Final = True
__has_nc_rc_set__: Final = True

is_native_little: Final = sys.byteorder == "little"
is_native_big: Final = sys.byteorder == "big"
default_encoding: Final = "utf-8"
unicode_error: Final = "replace"


def getlibversion() -> str:
    """Return the version of the C library whose formats are written."""
    return __netcdf4libversion__


# Settings of the C library, which have no effect here. Programs may set them, and read what they have set.
_cache: Final[dict[str, Any]] = {"size": 16777216, "nelems": 1000, "preemption": 0.75}
_alignment: Final = {"threshold": 1, "alignment": 1}
_settings: Final[dict[str, str]] = {}


def get_chunk_cache() -> tuple[int, int, float]:
    """Return what `set_chunk_cache` set; Omnizarr has no use for it."""
    return (_cache["size"], _cache["nelems"], _cache["preemption"])


def set_chunk_cache(size: int | None = None, nelems: int | None = None, preemption: float | None = None) -> None:
    """Remember settings of a cache of chunks; Omnizarr has no use for them."""
    given = {"size": size, "nelems": nelems, "preemption": preemption}
    _cache.update({name: value for name, value in given.items() if value is not None})


def get_alignment() -> tuple[int, int]:
    """Return what `set_alignment` set; Omnizarr has no use for it."""
    return (_alignment["threshold"], _alignment["alignment"])


def set_alignment(threshold: int, alignment: int) -> None:
    """Remember how objects in files of HDF5 are to be aligned; Omnizarr has no use for it."""
    _alignment.update(threshold=threshold, alignment=alignment)


def rc_get(key: str) -> str | None:
    """Return what `rc_set` set; Omnizarr has no use for it."""
    return _settings.get(key)


def rc_set(key: str, value: str) -> None:
    """Remember a setting of the C library; Omnizarr has no use for it."""
    _settings[key] = value
