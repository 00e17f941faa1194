"""One program at a time for a folder of files, or for one of the files, for changes that are more than one put."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Self

from omnizarr.errors import ConflictError, StoreError
from omnizarr.store.locked_file import LockedFile
from omnizarr.store.protocol import Store

_NONE: Final = frozenset(("EBADF", "EINVAL", "ENOLCK", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"))
"""What file systems say that have no locks, or none for folders, as some on servers."""


class Held:
    """What is held while a `with` statement runs: an open file with a lock, or nothing where there are no locks."""

    __slots__ = ("_held", "_take")

    def __init__(self, take: Callable[[], tuple[LockedFile, str] | None]) -> None:
        self._take = take
        self._held: tuple[LockedFile, str] | None = None

    def __enter__(self) -> Self:
        self._held = self._take()
        return self

    def __exit__(self, *_: object) -> None:
        if self._held is not None:
            self._held[0].let_go()

    def check(self) -> None:
        """Raise if what is held is no longer there, as after the erasure of a folder around it.

        Raises:
            ConflictError: If so.
        """
        if self._held is not None and not self._held[0].is_at(self._held[1]):
            message = "it was erased, or replaced by another, by somebody else meanwhile"
            raise ConflictError(message, path=self._held[1])


def folder_lock(store: Store, path: str) -> Held:
    """Wait until no other program holds the folder of a node, then hold it.

    The lock is on the folder itself, so that nothing is left behind, not even by a program that was killed. Where a
    store has no folders, or its file system no locks, nobody is kept away.

    Args:
        store: Where the node is.
        path: The node.

    Raises:
        StoreError: If the folder cannot be locked for another reason.
    """
    return Held(partial(_held_folder, store, path))


def document_lock(store: Store, keys: Sequence[str]) -> Held:
    """Wait until no other program holds a document, then hold it.

    The lock is on the file itself, as the kernel locks chunks of which a part is written. Every put replaces the file
    by another, so whoever has waited looks whether it is still the one under that name.

    Args:
        store: Where it is.
        keys: Names that it may have; the first that is there is locked, and nothing where none is.

    Raises:
        StoreError: If it cannot be locked, though the file system has locks.
    """
    return Held(partial(_held_document, store, keys))


def _held_folder(store: Store, path: str) -> tuple[LockedFile, str] | None:
    """Lock a folder; `None` where there is none."""
    folder = _place(store, path + "/" if path else "")
    return None if folder is None else _held_at(folder, _opened_folder)


def _held_document(store: Store, keys: Sequence[str]) -> tuple[LockedFile, str] | None:
    """Lock the first of the files that is there; `None` where there is none."""
    for key in keys:
        place = _place(store, key)
        if place is None:
            return None
        held = _held_at(place, _opened)
        if held is not None:
            return held
    return None


def _held_at(place: str, opened: Callable[[str], LockedFile | None]) -> tuple[LockedFile, str] | None:
    """Open what is at a place and lock it, again if it is another by then; `None` where there is nothing."""
    while (file := opened(place)) is not None:
        try:
            if not _lock(file, place) or file.is_at(place):
                return file, place
        except BaseException:
            file.let_go()
            raise
        file.let_go()
    return None


def _opened_folder(place: str) -> LockedFile | None:
    try:
        return LockedFile(place, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"{place} cannot be locked: {error.strerror}") from error


def _opened(place: str) -> LockedFile | None:
    # Locks of network file systems need a file that is open for writing.
    for how in (os.O_RDWR, os.O_RDONLY):
        try:
            return LockedFile(place, how | os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError:
            continue
    return None


def _lock(file: LockedFile, place: str) -> bool:
    """Wait until nobody else holds a file; return whether there are locks."""
    try:
        file.lock()
    except OSError as error:
        if errno.errorcode.get(error.errno or 0) not in _NONE:
            raise StoreError(f"{place} cannot be locked: {error.strerror}") from error
        return False
    return True


def _place(store: Store, key: str) -> str | None:
    """Return where the file of a key is, or the folder of a prefix, in a store of files that can be locked."""
    if os.name == "nt":
        return None
    seen: Any = store
    while (see_through := getattr(seen, "see_through", None)) is not None:
        seen, key = see_through(key)
    root = getattr(seen, "root", None)
    return f"{root}/{key}" if isinstance(root, str) else None
