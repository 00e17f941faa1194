"""A note beside an array that is being cut, by which what a crash has left of the work is finished later.

To cut an array takes several steps: the shape becomes smaller, chunks outside it are erased, and what has fallen out
of those at its edge is overwritten. Readers see the new shape and nothing else from the first step on. Were the rest
never done, though, what was cut off would come back when the array grows again. So whoever changes the shape, opens
the array for writing, or repairs it, finishes what the note says. Among files, whoever does so locks the note.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Final

from omnizarr.format.names import join
from omnizarr.native import FileStore
from omnizarr.store.protocol import Store, kernel_target

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

NAME: Final = ".omnizarr-resize.json"
"""The note's name, in the folder of the array."""


class Note:
    """A note that was found, or left: nobody else works on it until it is let go of."""

    __slots__ = ("_file", "_path", "_store")

    def __init__(self, store: Store, path: str, file: int | None) -> None:
        self._store, self._path, self._file = store, path, file

    def shape(self, ndim: int) -> tuple[int, ...]:
        """Return the shape that the array has had; one without length if the note cannot be understood."""
        data = self._store.get(join(self._path, NAME))
        try:
            shape = json.loads(data or b"")["shape"]
        except (ValueError, TypeError, KeyError):
            shape = None
        sound = isinstance(shape, list) and len(shape) == ndim and all(type(n) is int and n >= 0 for n in shape)
        return tuple(shape) if sound else (0,) * ndim

    def erase(self) -> None:
        """Take it away."""
        self._store.erase(join(self._path, NAME))

    def let_go(self) -> None:
        """Let others work on it, if it is still there."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def leave_note(store: Store, path: str, shape: Sequence[int]) -> Note:
    """Leave a note: the shape that the array has before it is cut."""
    while True:
        store.put(join(path, NAME), json.dumps({"shape": list(shape)}).encode())
        note = find_note(store, path)
        if note is not None:
            return note


def find_note(store: Store, path: str, *, wait: bool = True) -> Note | None:
    """Return the note at an array, or `None` if there is none.

    Args:
        store: Where the array is.
        path: The array's path.
        wait: Whether to wait for who works on it; otherwise there is none if somebody does, or if that cannot be told.
    """
    native, prefix = kernel_target(store, path + "/" if path else "")
    if not isinstance(native, FileStore) or fcntl is None:
        return Note(store, path, None) if wait and store.get(join(path, NAME)) is not None else None
    place = os.path.join(native.root, *prefix.split("/"), NAME)  # noqa: PTH118 - pathlib takes longer to import
    while True:
        try:
            file = os.open(place, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return Note(store, path, None) if wait and store.get(join(path, NAME)) is not None else None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            there = os.fstat(file).st_nlink > 0
        except OSError:  # somebody works on it, or there are no locks
            there = wait
            if not wait:
                os.close(file)
                return None
        except BaseException:
            os.close(file)
            raise
        if there:
            return Note(store, path, file)
        os.close(file)
