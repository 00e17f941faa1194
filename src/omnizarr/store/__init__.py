"""Bytes under keys; knows nothing of Zarr.

`protocol` says what a store is and `keys` what a key is. Stores: `file`, `zip`, `memory`, and `mapping` for any
dictionary. Around another store: `wrap` (reading only, a part as a whole), `observe` (counting, delay), `fault`
(failures on cue). `resolve` finds the store that a path, a URI or an object stands for.

The classes can be had from here, too:

>>> from omnizarr.store import DictStore, ReadOnlyStore
>>> ReadOnlyStore(DictStore({"a": b"1"})).get("a")
b'1'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omnizarr.store.fault import Fault, FaultStore
    from omnizarr.store.file import FileStore
    from omnizarr.store.mapping import DictStore
    from omnizarr.store.memory import MemoryStore
    from omnizarr.store.observe import CountingStore, LatencyStore
    from omnizarr.store.protocol import Store
    from omnizarr.store.wrap import PrefixStore, ReadOnlyStore
    from omnizarr.store.zip import ZipStore

__all__ = [
    "CountingStore",
    "DictStore",
    "Fault",
    "FaultStore",
    "FileStore",
    "LatencyStore",
    "MemoryStore",
    "PrefixStore",
    "ReadOnlyStore",
    "Store",
    "ZipStore",
]

_MODULES = {
    "CountingStore": "observe",
    "DictStore": "mapping",
    "Fault": "fault",
    "FaultStore": "fault",
    "FileStore": "file",
    "LatencyStore": "observe",
    "MemoryStore": "memory",
    "PrefixStore": "wrap",
    "ReadOnlyStore": "wrap",
    "Store": "protocol",
    "ZipStore": "zip",
}


def __getattr__(name: str) -> object:
    """Import a class when it is asked for: most programs need few of them."""
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'omnizarr.store' has no attribute {name!r}")
    found: object = getattr(import_module(f"omnizarr.store.{module}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
