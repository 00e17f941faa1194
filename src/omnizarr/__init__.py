"""Arrays and groups of every Zarr there ever was, read and written by a native kernel.

>>> import omnizarr as oz
>>> a = oz.create_array({}, shape=(1000, 1000), dtype="f4", chunks=(100, 1000))
>>> a[10:20, ::2] = 1.5
>>> float(a[15].sum())
750.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from omnizarr import codec, errors, refs
    from omnizarr.api import consolidate, create_array, create_group, detect, open, open_array, open_group  # noqa: A004
    from omnizarr.errors import OmnizarrError, OmnizarrWarning
    from omnizarr.hierarchy.array import Array
    from omnizarr.hierarchy.group import Group
    from omnizarr.interop.dask import from_dask, to_dask
    from omnizarr.limits import Limits
    from omnizarr.nc.dataset.dataset import Dataset
    from omnizarr.nc.dataset.many import MFDataset
    from omnizarr.store.cloud.at import at
    from omnizarr.store.cloud.store import CloudStore
    from omnizarr.store.file import FileStore
    from omnizarr.store.memory import MemoryStore
    from omnizarr.store.url.explain import explain
    from omnizarr.store.zip import ZipStore
    from omnizarr.tools.census import census
    from omnizarr.tools.convert import convert
    from omnizarr.tools.copy.copy import copy
    from omnizarr.tools.diff import diff
    from omnizarr.tools.info.info import info
    from omnizarr.tools.validate import validate

__version__: str
__all__ = [
    "Array",
    "CloudStore",
    "Dataset",
    "FileStore",
    "Group",
    "Limits",
    "MFDataset",
    "MemoryStore",
    "OmnizarrError",
    "OmnizarrWarning",
    "ZipStore",
    "__version__",
    "at",
    "census",
    "codec",
    "consolidate",
    "convert",
    "copy",
    "create_array",
    "create_group",
    "detect",
    "diff",
    "errors",
    "explain",
    "from_dask",
    "info",
    "open",
    "open_array",
    "open_group",
    "refs",
    "to_dask",
    "validate",
]

# Where each name is from. It is imported when it is first used, so that a command that only prints its help, and a
# program that only might open an array, do not wait for NumPy and the kernel.
_HOMES: Final = {
    "Array": "hierarchy.array",
    "CloudStore": "store.cloud.store",
    "Dataset": "nc.dataset.dataset",
    "FileStore": "store.file",
    "Group": "hierarchy.group",
    "Limits": "limits",
    "MFDataset": "nc.dataset.many",
    "MemoryStore": "store.memory",
    "OmnizarrError": "errors",
    "OmnizarrWarning": "errors",
    "ZipStore": "store.zip",
    "at": "store.cloud.at",
    "census": "tools.census",
    "codec": "",
    "consolidate": "api",
    "convert": "tools.convert",
    "copy": "tools.copy.copy",
    "create_array": "api",
    "create_group": "api",
    "detect": "api",
    "diff": "tools.diff",
    "errors": "",
    "explain": "store.url.explain",
    "from_dask": "interop.dask",
    "info": "tools.info.info",
    "open": "api",
    "open_array": "api",
    "open_group": "api",
    "refs": "",
    "to_dask": "interop.dask",
    "validate": "tools.validate",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - of many types
    home = _HOMES.get(name)
    if name == "__version__":
        value = import_module("importlib.metadata").version("omnizarr")
    elif home is None:
        raise AttributeError(f"module 'omnizarr' has no attribute {name!r}")
    else:
        value = getattr(import_module(f"omnizarr.{home}"), name) if home else import_module(f"omnizarr.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
