"""How far apart the writers of one store may be."""

from __future__ import annotations

from enum import Enum
from typing import Any

from omnizarr.native import FileStore, MemoryStore, ZipStore
from omnizarr.store import memory
from omnizarr.store.mapping import DictStore
from omnizarr.store.protocol import Store, kernel_target
from omnizarr.store.tagged import conditional


class Reach(Enum):
    """Who may write to a store at the same time."""

    PROCESS = "the threads of one process"
    WHOLE_KEYS = "any process, as long as no two write to the same key"
    ANYWHERE = "any process, parts of the same key too"


def reach_of(store: Store) -> Reach:
    """Say who may write to a store at the same time without a loss."""
    target = kernel_target(store)[0]
    if isinstance(target, (MemoryStore, ZipStore)) or _in_memory(store):
        return Reach.PROCESS
    if isinstance(target, FileStore):
        return Reach.ANYWHERE if has_locks(store) else Reach.WHOLE_KEYS
    return Reach.ANYWHERE if conditional(store) is not None else Reach.WHOLE_KEYS


def _in_memory(store: Store) -> bool:
    seen: Any = store
    while seen is not None:
        if isinstance(seen, memory.MemoryStore) or (isinstance(seen, DictStore) and isinstance(seen.mapping, dict)):
            return True
        seen = getattr(seen, "inner", None)
    return False


def has_locks(store: Store) -> bool:
    """Whether the file system of a folder has locks, by which the kernel keeps other processes away from a file."""
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        return False
    import os  # noqa: PLC0415 - as above
    import tempfile  # noqa: PLC0415

    seen: Any = store
    while not hasattr(seen, "root"):
        seen = getattr(seen, "inner", None)
        if seen is None:
            return True
    if not os.path.isdir(seen.root):  # noqa: PTH112 - as in the store
        return True
    try:
        with tempfile.TemporaryFile(dir=seen.root) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except PermissionError:
        return True  # writing will say what is wrong
    except OSError:
        return False
    return True
