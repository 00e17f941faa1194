"""One lock for each store and process: changes of metadata are read, changed and written without another between.

Other processes are kept out elsewhere: in a folder by locks on its files, and where a store puts on condition, what
somebody else has changed meanwhile is read and changed again (`changing`, `lease`).
"""

from __future__ import annotations

import os
from _thread import LockType, RLock, allocate_lock
from weakref import WeakValueDictionary

from omnizarr.store.protocol import Store
from omnizarr.store.uri import quote

# By process, since a forked child would inherit locks that no thread of its own will open. Locks live as long as
# someone holds on to them, so that the many short-lived stores of a program leave nothing behind.
_tables: dict[int, tuple[LockType, WeakValueDictionary[str, RLock]]] = {}


def lock_of(store: Store) -> RLock:
    """Return the lock of a store, the same for all handles on it in this process; keep it while it is needed."""
    name = _bottom(store, "")[0]
    process = os.getpid()
    guard, locks = _tables.get(process) or _tables.setdefault(process, (allocate_lock(), WeakValueDictionary()))
    with guard:
        lock = locks.get(name)
        if lock is None:
            lock = locks[name] = RLock()
    return lock


def address(store: Store, path: str) -> str:
    """Return where a node is, the same for all stores that lead there; that of a node below it starts with it."""
    uri, prefix = _bottom(store, path + "/" if path else "")
    return f"{uri.rstrip('/')}/{quote(prefix)}"


def _bottom(store: Store, prefix: str) -> tuple[str, str]:
    while (see_through := getattr(store, "see_through", None)) is not None:
        store, prefix = see_through(prefix)
    return store.uri, prefix
