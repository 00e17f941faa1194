"""One program at a time for a folder of files, or for one of the files, for changes that are more than one put."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, Self

from omnizarr.errors import ConflictError, StoreError
from omnizarr.native import LockedFile
from omnizarr.store.protocol import Store

_What = Literal["folder", "file"]


class Held:
    """What is held while a `with` statement runs: the first of some places that is there and has a lock.

    A folder without a lock, as on some servers, is kept open all the same, so that one can see whether it is gone.
    """

    __slots__ = ("_files", "_places")

    def __init__(self, places: Iterable[tuple[str, _What]]) -> None:
        self._places: Final = places
        self._files: Final[list[tuple[LockedFile, str]]] = []

    def __enter__(self) -> Self:
        try:
            for place, what in self._places:
                file = _held(place, what)
                if file is not None:
                    self._files.append((file, place))
                    if file.is_locked:
                        break
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for file, _place in self._files:
            file.let_go()

    def check(self) -> None:
        """Raise if what is held is no longer there, as after the erasure of a folder around it.

        Raises:
            ConflictError: If so.
        """
        for file, place in self._files[:1]:
            if not file.is_at(place):
                message = "it was erased, or replaced by another, by somebody else meanwhile"
                raise ConflictError(message, path=place)


def folder_lock(store: Store, path: str, documents: Sequence[str] = ()) -> Held:
    """Wait until no other program holds the folder of a node, then hold it.

    The lock is on the folder itself, so that nothing is left behind, not even by a program that was killed. Where a
    store has no folders, or its file system no locks, nobody is kept away.

    Args:
        store: Where the node is.
        path: The node.
        documents: Names of files in the folder, the first of which is locked where folders have no locks.

    Raises:
        StoreError: If the folder cannot be locked for another reason.
    """
    start = path + "/" if path else ""
    root = _root(store)
    return Held(() if root is None else _folder_first(root + start, documents))


def _folder_first(folder: str, documents: Sequence[str]) -> Iterable[tuple[str, _What]]:
    yield folder, "folder"
    for name in documents:
        yield folder + name, "file"


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
    root = _root(store)
    return Held(() if root is None else [(root + key, "file") for key in keys])


def _held(place: str, what: _What) -> LockedFile | None:
    try:
        return LockedFile.hold(place, what)
    except OSError as error:
        raise StoreError(f"{place} cannot be locked: {error.strerror}") from error


def _root(store: Store) -> str | None:
    """Return what the names of a store's files start with, if it is one of files that can be locked."""
    if os.name == "nt":
        return None
    seen: Any = store
    prefix = ""
    while (see_through := getattr(seen, "see_through", None)) is not None:
        seen, prefix = see_through(prefix)
    root = getattr(seen, "root", None)
    return f"{root}/{prefix}" if isinstance(root, str) else None
