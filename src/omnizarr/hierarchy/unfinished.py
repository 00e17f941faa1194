"""Notes of work that takes several steps, by which what a crash has left of it is finished later.

To cut an array takes several steps: the shape becomes smaller, chunks outside it are erased, and what has fallen out
of those at its edge is overwritten. Readers see the new shape and nothing else from the first step on. Were the rest
never done, though, what was cut off would come back when the array grows again.

Where several arrays grow as one step, their values are there before the first of them gets its new shape. Were the
others to keep the old one, nobody could open them together.

So whoever changes a shape, opens the node for writing, or repairs it, finishes what a note says. Among files, whoever
does so locks the note. Before it come the locks of the arrays that are changed, and that of the context: whoever holds
a note waits for none of them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, TypeGuard

from omnizarr.errors import LimitError, MetadataError, StoreError, UnsafeError
from omnizarr.format.document import load_object
from omnizarr.format.names import join
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.jsonvalue import JSON
from omnizarr.native import FileStore, LockedFile
from omnizarr.store.folder_lock import Held
from omnizarr.store.protocol import Store, get_documents, kernel_target

CUT: Final = ".omnizarr-resize.json"
"""The note at an array that is being cut: the shape that it has had."""
GROWTH: Final = ".omnizarr-append.json"
"""The note at a group of which several arrays get longer as one step: their old and new shapes."""


_LARGEST: Final = 1 << 20
_MOST_NAMES: Final = 10_000
"""Notes are read when a node is opened, and each name takes a look at the array: nobody's waits for long."""


class Note:
    """A note that was found, or left: nobody else works on it until it is let go of."""

    __slots__ = ("_file", "_key", "_link", "_store")

    def __init__(self, store: Store, key: str, file: LockedFile | None, link: str = "") -> None:
        self._store, self._key, self._file, self._link = store, key, file, link

    def content(self, limits: Limits = DEFAULT_LIMITS) -> dict[str, JSON]:
        """Return what it says; nothing if it cannot be understood, is no file, or is larger than notes are."""
        try:
            most = min(limits.max_document_bytes, _LARGEST)
            (data,) = get_documents(self._store, [self._key], most) if not self._link else (None,)
            found = load_object(data or b"", self._key, limits)
        except (MetadataError, LimitError, UnsafeError):
            return {}
        return found if len(found) <= _MOST_NAMES else {}

    def erase(self) -> None:
        """Take it away."""
        if not self._link:
            self._store.erase(self._key)
            return
        try:
            os.unlink(self._link)  # noqa: PTH108 - pathlib takes longer to import
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(f"a link in place of a note cannot be removed: {error}", path=self._link) from error

    def let_go(self) -> None:
        """Let others work on it, if it is still there."""
        if self._file is not None:
            self._file.let_go()
            self._file = None


def is_shape(value: object, ndim: int) -> TypeGuard[list[int]]:
    """Whether what a note says is a shape."""
    return isinstance(value, list) and len(value) == ndim and all(type(n) is int and n >= 0 for n in value)


def leave_note(store: Store, path: str, name: str, content: Mapping[str, Any], held: Held | None = None) -> Note:
    """Leave a note at a node; in the folder that is held, where one is.

    Raises:
        ConflictError: If that is gone.
    """
    key = join(path, name)
    while True:
        put = store.put if held is None else partial(held.put, store)
        put(key, json.dumps(content).encode())
        note = find_note(store, path, name)
        if note is not None:
            return note
        if held is not None:
            held.check()


def has_note(store: Store, path: str, name: str) -> bool:
    """Whether there is a note among files, or something else of that name; one look at the name."""
    place = _place(store, path, name)
    return place is not None and os.path.lexists(place)


def read_note(store: Store, path: str, name: str, limits: Limits) -> dict[str, JSON]:
    """Return what the note at a node says by now, whoever works on it; nothing if there is none."""
    return Note(store, join(path, name), None).content(limits)


def _place(store: Store, path: str, name: str) -> str | None:
    """Return the path of a note's file, if it is one."""
    native, prefix = kernel_target(store, path + "/" if path else "")
    if not isinstance(native, FileStore):
        return None
    return os.path.join(native.root, *prefix.split("/"), name)  # noqa: PTH118 - pathlib takes longer to import


def find_note(store: Store, path: str, name: str, *, wait: bool = True) -> Note | None:
    """Return the note at a node, or `None` if there is none.

    Args:
        store: Where the node is.
        path: Its path.
        name: Which note.
        wait: Whether to wait for who works on it; otherwise there is none if somebody does, or if that cannot be told.
    """
    key = join(path, name)
    place = _place(store, path, name)
    if place is None or os.name == "nt":
        return Note(store, key, None) if wait and store.get(key) is not None else None
    try:
        file = LockedFile.hold(place, "own", wait)
    except (OSError, MemoryError):  # somebody works on it, or it may not be opened
        if os.path.islink(place):  # noqa: PTH114 - as above
            return Note(store, key, None, place)  # which nobody has left: it goes, and what it leads to stays
        return Note(store, key, None) if wait and store.get(key) is not None else None
    if file is not None and not file.is_locked and not wait:
        file.let_go()
        file = None
    return None if file is None else Note(store, key, file)
