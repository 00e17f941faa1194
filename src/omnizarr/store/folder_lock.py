"""One program at a time for a folder of files, or for one of the files, for changes that are more than one put."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from typing import Any, Final, Literal, Self

from omnizarr.errors import ConflictError, StoreError
from omnizarr.native import LockedFile
from omnizarr.store.protocol import Store

_NONE: Final = frozenset(("EBADF", "EINVAL", "ENOLCK", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"))
"""What file systems say that have no locks, or none for folders, as some on servers."""


class Held:
    """What is held while a `with` statement runs: an open file with a lock, or nothing where there are no locks."""

    __slots__ = ("_file", "_place", "_places", "_what")

    def __init__(self, places: Sequence[str], what: Literal["folder", "file"]) -> None:
        self._places = places
        self._what: Literal["folder", "file"] = what
        self._file: LockedFile | None = None
        self._place = ""

    def __enter__(self) -> Self:
        for place in self._places:
            self._file, self._place = _held(place, self._what), place
            if self._file is not None:
                break
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.let_go()

    def check(self) -> None:
        """Raise if what is held is no longer there, as after the erasure of a folder around it.

        Raises:
            ConflictError: If so.
        """
        if self._file is not None and not self._file.is_at(self._place):
            message = "it was erased, or replaced by another, by somebody else meanwhile"
            raise ConflictError(message, path=self._place)


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
    return Held(_places(store, [path + "/" if path else ""]), "folder")


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
    return Held(_places(store, keys), "file")


def _held(place: str, what: Literal["folder", "file"]) -> LockedFile | None:
    """Open what is at a place and lock it, again if it is another by then; `None` where there is nothing."""
    while True:
        try:
            file = LockedFile(place, what)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as error:
            if what == "file":  # whoever may not even read it will not change it
                return None
            raise StoreError(f"{place} cannot be locked: {error.strerror}") from error
        try:
            if not _lock(file, place) or file.is_at(place):
                return file
        except BaseException:
            file.let_go()
            raise
        file.let_go()


def _lock(file: LockedFile, place: str) -> bool:
    """Wait until nobody else holds a file; return whether there are locks."""
    try:
        file.lock()
    except OSError as error:
        if errno.errorcode.get(error.errno or 0) not in _NONE:
            raise StoreError(f"{place} cannot be locked: {error.strerror}") from error
        return False
    return True


def _places(store: Store, keys: Sequence[str]) -> list[str]:
    """Return where the files of keys are, or the folders of prefixes, in a store of files that can be locked."""
    if os.name == "nt":
        return []
    seen, prefix = _seen_through(store)
    root = getattr(seen, "root", None)
    return [f"{root}/{prefix}{key}" for key in keys] if isinstance(root, str) else []


def _seen_through(store: Store) -> tuple[object, str]:
    """Return the store behind views of it, and the prefix of their keys there."""
    seen: Any = store
    prefix = ""
    while (see_through := getattr(seen, "see_through", None)) is not None:
        seen, prefix = see_through(prefix)
    return seen, prefix
