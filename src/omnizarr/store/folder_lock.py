"""One program at a time for a folder of files, or for one of the files, for changes that are more than one put."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final, Literal, Self

from omnizarr.errors import ConflictError, StoreError
from omnizarr.native import FileStore, LockedFile
from omnizarr.store.protocol import Store, kernel_target

_What = Literal["folder", "file"]


class BusyError(ConflictError):
    """Somebody else holds it, and this one must not wait."""


class LateError(ConflictError):
    """What was to be held was not there, and is by now: to be held anew."""


class Held:
    """What is held while a `with` statement runs: the first of some places that is there and has a lock.

    A folder without a lock, as on some servers, is kept open all the same, so that one can see whether it is gone.
    Where there is no folder, nothing in it is held either: a file there a moment later is of a folder with a lock.
    """

    __slots__ = ("_files", "_places", "_wait")

    def __init__(self, places: Sequence[tuple[str, _What]], *, wait: bool = True) -> None:
        self._places: Final = places
        self._wait: Final = wait
        self._files: Final[list[tuple[LockedFile, str, _What]]] = []

    def __enter__(self) -> Self:
        try:
            for place, what in self._places:
                file = _held(place, what, wait=self._wait)
                if file is not None:
                    self._files.append((file, place, what))
                if file.is_locked if file is not None else what == "folder":
                    break
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        while self._files:
            self._files.pop()[0].let_go()

    def check(self) -> None:
        """Raise if what is held is no longer there, as after the erasure of a folder around it.

        Raises:
            ConflictError: If so.
            LateError: If there was no folder to hold, and there is one by now.
        """
        for file, place, _what in self._files[:1]:
            if not file.is_at(place):
                raise _gone(place)
        if not self._files and self._is_for_folder:
            place = self._places[0][0]
            if os.path.isdir(place):  # noqa: PTH112 - pathlib takes longer to import
                raise LateError("it was made anew by somebody else meanwhile", path=place)

    @property
    def _is_for_folder(self) -> bool:
        return bool(self._places) and self._places[0][1] == "folder"

    def put(self, store: Store, key: str, data: bytes) -> None:
        """Put a file into the folder that is held, wherever that is by now, and never into one that took its place.

        Args:
            store: Where the node is whose folder is held.
            key: The file, right in that folder.
            data: What it holds.

        Raises:
            ConflictError: If the folder is gone, or if what is held instead is another by now.
            LateError: If there was no folder to hold.
        """
        for file, place, what in self._files[:1]:
            native, prefix = kernel_target(store)
            if what == "folder" and isinstance(native, FileStore):
                if not native.put_in(file, prefix + key, data):
                    raise _gone(place)
                return
        self.check()
        if not self._files and self._is_for_folder and isinstance(kernel_target(store)[0], FileStore):
            raise LateError("it was away for a moment", path=self._places[0][0])  # putting would make the folder anew
        store.put(key, data)


def _gone(place: str) -> ConflictError:
    return ConflictError("it was erased, or replaced by another, by somebody else meanwhile", path=place)


def folder_lock(store: Store, path: str, documents: Sequence[str] = (), *, wait: bool = True) -> Held:
    """Wait until no other program holds the folder of a node, then hold it.

    The lock is on the folder itself, so that nothing is left behind, not even by a program that was killed. Where a
    store has no folders, or its file system no locks, nobody is kept away.

    Args:
        store: Where the node is.
        path: The node.
        documents: Names of files in the folder, the first of which is locked where folders have no locks.
        wait: Whether to wait; otherwise holding it is an error where somebody else does.

    Raises:
        StoreError: If the folder cannot be locked for another reason.
        BusyError: If somebody else holds it, and this must not wait.
    """
    root = _root(store)
    if root is None:
        return Held(())
    folder = f"{root}{path}/" if path else root
    files: list[tuple[str, _What]] = [(folder + name, "file") for name in documents]
    return Held([(folder, "folder"), *files], wait=wait)


def document_lock(store: Store, keys: Sequence[str], *, wait: bool = True) -> Held:
    """Wait until no other program holds a document, then hold it.

    The lock is on the file itself, as the kernel locks chunks of which a part is written. Every put replaces the file
    by another, so whoever has waited looks whether it is still the one under that name.

    Args:
        store: Where it is.
        keys: Names that it may have; the first that is there is locked, and nothing where none is.
        wait: Whether to wait; otherwise holding it is an error where somebody else does.

    Raises:
        StoreError: If it cannot be locked, though the file system has locks.
        BusyError: If somebody else holds it, and this must not wait.
    """
    root = _root(store)
    return Held(() if root is None else [(root + key, "file") for key in keys], wait=wait)


def _held(place: str, what: _What, *, wait: bool) -> LockedFile | None:
    try:
        return LockedFile.hold(place, what, wait)
    except BlockingIOError as error:
        raise BusyError("another program is changing it", path=place) from error
    except (OSError, MemoryError) as error:  # which the system may run out of for locks, too
        # The kernel's errors have no `strerror`.
        words = getattr(error, "strerror", None) or str(error) or "the system has no memory left for it"
        hint = "Look at the rights of the folder, and at how many files may be open; then try again."
        raise StoreError(f"{place} cannot be locked: {words}", hint=hint) from error


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
