"""Files of HDF5 that are open for reading: each of them once in a process, however many read it.

HDF5 shares what it knows of a dataset among all who have opened its file. In HDF5 2.0 the fill value of text and of
sequences keeps pointing to the handle that came first: once that is closed, whoever has another one and asks how the
dataset was created ends the process. So there is one handle, which is closed when the last who uses it lets go.
"""

from __future__ import annotations

import os
from threading import RLock
from typing import Any, Final, TypeAlias

_CACHE: Final = 8 << 20

_Key: TypeAlias = tuple[int, int]


class OpenFile:
    """A file, and how many use it."""

    __slots__ = ("file", "key", "users")

    def __init__(self, file: Any, key: _Key | None) -> None:  # noqa: ANN401 - of a package without types
        self.file = file
        self.key = key
        self.users = 0


_files: dict[_Key, OpenFile] = {}


def _begin() -> None:
    """Make the lock, also in a child whose parent held it in a thread that the child does not have."""
    global _lock  # noqa: PLW0603 - there is one for each process
    # The collector may free a source while the same thread opens another one.
    _lock = RLock()


_lock = RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin)


def acquire(h5py: Any, where: Any) -> OpenFile:  # noqa: ANN401 - as above
    """Open a file for reading, or take the handle that others have of it; `release` gives it back.

    Args:
        h5py: The package.
        where: A path, or an open file, which nobody else can mean.
    """
    with _lock:
        key = _key(where)
        found = None if key is None else _files.get(key)
        if found is None or not found.file:  # whoever has the handle from HDF5 itself may have closed it
            found = OpenFile(h5py.File(where, "r", locking="best-effort", rdcc_nbytes=_CACHE), key)
            if key is not None:
                _files[key] = found
        found.users += 1
        return found


def release(one: OpenFile) -> None:
    """Close a file, unless others use it."""
    with _lock:
        one.users -= 1
        if one.users:
            return
        if one.key is not None and _files.get(one.key) is one:
            del _files[one.key]
        one.file.close()


def _key(where: object) -> _Key | None:
    """Return what tells a file from all others, whatever it is called."""
    if not isinstance(where, (str, os.PathLike)):
        return None
    try:
        found = os.stat(where)  # noqa: PTH116 - a path as users give it
    except OSError:
        return None
    return found.st_dev, found.st_ino
