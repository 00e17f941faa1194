"""Arrays and groups of every Zarr there ever was, read and written by a native kernel.

>>> import omnizarr as oz
>>> a = oz.create_array({}, shape=(1000, 1000), dtype="f4", chunks=(100, 1000))
>>> a[10:20, ::2] = 1.5
>>> float(a[15].sum())
750.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from omnizarr import codec, errors
from omnizarr.api import consolidate, create_array, create_group, detect, open, open_array, open_group  # noqa: A004
from omnizarr.errors import OmnizarrError, OmnizarrWarning
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.group import Group
from omnizarr.limits import Limits
from omnizarr.store.file import FileStore
from omnizarr.store.memory import MemoryStore

if TYPE_CHECKING:
    from omnizarr.store.zip import ZipStore

__version__: str
__all__ = [
    "Array",
    "FileStore",
    "Group",
    "Limits",
    "MemoryStore",
    "OmnizarrError",
    "OmnizarrWarning",
    "ZipStore",
    "__version__",
    "codec",
    "consolidate",
    "create_array",
    "create_group",
    "detect",
    "errors",
    "open",
    "open_array",
    "open_group",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - of many types
    """Look up what is seldom asked for, and takes long to import, when it is."""
    if name == "__version__":
        return import_module("importlib.metadata").version("omnizarr")
    if name == "ZipStore":
        return import_module("omnizarr.store.zip").ZipStore
    raise AttributeError(f"module 'omnizarr' has no attribute {name!r}")
