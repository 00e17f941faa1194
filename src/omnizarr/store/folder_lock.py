"""One program at a time for a folder of files, for changes that are more than one put."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

from omnizarr.errors import StoreError
from omnizarr.store.protocol import Store

_NONE: Final = frozenset(("EBADF", "EINVAL", "ENOLCK", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"))
"""What file systems say that have no locks, or none for folders, as some on servers."""


@contextmanager
def folder_lock(store: Store, path: str) -> Generator[None, None, None]:
    """Wait until no other program holds the folder of a node, then hold it.

    The lock is on the folder itself, so that nothing is left behind, not even by a program that was killed. Where a
    store has no folders, or its file system no locks, nobody is kept away.

    Args:
        store: Where the node is.
        path: The node.

    Raises:
        StoreError: If the folder cannot be locked for another reason.
    """
    folder = _folder(store, path + "/" if path else "")
    if folder is None:
        yield
        return
    import errno  # noqa: PLC0415 - only where there is something to lock
    import fcntl  # noqa: PLC0415 - not on every system, as `_folder` knows

    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise StoreError(f"{folder} cannot be locked: {error.strerror}") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            if errno.errorcode.get(error.errno or 0) not in _NONE:
                raise StoreError(f"{folder} cannot be locked: {error.strerror}") from error
        yield
    finally:
        # A child process may share the lock, so closing the folder would not be enough.
        _unlock(handle)
        os.close(handle)


def _unlock(handle: int) -> None:
    import fcntl  # noqa: PLC0415 - as above

    try:
        fcntl.flock(handle, fcntl.LOCK_UN)
    except OSError:
        return  # there are no locks


def _folder(store: Store, prefix: str) -> str | None:
    """Return the folder of a node, if it is in one that can be locked."""
    if os.name == "nt":
        return None
    seen: Any = store
    while (see_through := getattr(seen, "see_through", None)) is not None:
        seen, prefix = see_through(prefix)
    root = getattr(seen, "root", None)
    if not isinstance(root, str):
        return None
    folder = os.path.join(root, *prefix.strip("/").split("/"))  # noqa: PTH118 - as the store does
    return folder if os.path.isdir(folder) else None  # noqa: PTH112 - as above
