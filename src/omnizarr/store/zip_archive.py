"""One archive in this process: what all stores of it share, and how it is closed when nobody does."""

from __future__ import annotations

import os
from _thread import LockType, allocate_lock  # what threading.Lock is, without the millisecond that importing it takes
from typing import Any, BinaryIO, cast
from weakref import WeakValueDictionary, finalize

from omnizarr.native import ZipStore as NativeStore
from omnizarr.store.uri import path_to_uri


class ForkLock:
    """A lock that a forked child has anew: it does not inherit the thread that would have opened it."""

    __slots__ = ("_lock", "_process")

    def __init__(self) -> None:
        self._lock, self._process = allocate_lock(), os.getpid()

    def __call__(self) -> LockType:
        """Return this process's lock."""
        if self._process != os.getpid():
            self._lock, self._process = allocate_lock(), os.getpid()
        return self._lock


class FileAdapter:
    """A file object that the kernel reads and writes at places, one thread at a time."""

    __slots__ = ("_lock", "file")

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self._lock = ForkLock()

    def size(self) -> int:
        """Return how many bytes there are."""
        with self._lock():
            return self.file.seek(0, os.SEEK_END)

    def read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes at a place; fewer where the file ends."""
        with self._lock():
            self.file.seek(offset)
            first = self.file.read(length)
            if len(first) == length:
                return bytes(first)
            parts = [first]
            while parts[-1]:  # unbuffered files give what they have
                length -= len(parts[-1])
                parts.append(self.file.read(length))
            return b"".join(parts)

    def write_at(self, offset: int, data: bytes) -> None:
        """Overwrite the bytes at a place."""
        with self._lock():
            self.file.seek(offset)
            view = memoryview(data)
            while view:
                view = view[self.file.write(view) :]

    def finish(self, size: int) -> None:
        """Cut the file to a size."""
        with self._lock():
            self.file.truncate(size)
            self.file.flush()


class Archive:
    """An archive that is open; the last store that lets go of it, or the end of the program, writes what has changed.

    Attributes:
        native: The kernel's handle.
        path: Its path without links, or an empty string for a file object.
        uri: Its name.
        users: The stores that have not been closed.
    """

    __slots__ = ("__weakref__", "_place", "native", "path", "process", "uri", "users")

    def __init__(self, place: str | BinaryIO, *, durable: bool, limit: int) -> None:
        self._place = place  # keeps a file object, whose `id` must not be used again
        self.path = place if isinstance(place, str) else ""
        self.native = NativeStore(self.path or FileAdapter(cast("BinaryIO", place)), durable, limit)
        self.uri = path_to_uri(self.path) if self.path else f"zip://{os.urandom(12).hex()}"
        self.process = os.getpid()
        self.users = 0
        finalize(self, _close, self.native, self.process)

    def leave(self, *, write: bool) -> None:
        """Count one store less; after the last one nobody can use the archive any more."""
        if write or self.users == 1:
            self.native.commit()
        with _lock():
            self.users -= 1
            last = self.users == 0 and self.process == os.getpid()
            if last and _archives.get(_key(self._place)) is self:
                del _archives[_key(self._place)]
        if last:
            self.native.close()


_archives: WeakValueDictionary[Any, Archive] = WeakValueDictionary()
_lock = ForkLock()


def shared(place: str | BinaryIO, *, durable: bool, limit: int) -> Archive:
    """Return the archive at a real path or in a file object: the one that is open already, if it is in this process."""
    with _lock():
        archive = _archives.get(_key(place))
        if archive is None or archive.process != os.getpid():
            archive = _archives[_key(place)] = Archive(place, durable=durable, limit=limit)
        archive.users += 1
    archive.native.raise_limit(limit)
    if durable:
        archive.native.make_durable()
    return archive


def is_waiting(path: str) -> bool:
    """Whether the archive at a real path is open in this process and holds what is not written yet."""
    archive = _archives.get(path)
    return archive is not None and archive.process == os.getpid() and archive.native.changed


def _key(place: str | BinaryIO) -> str | int:
    return place if isinstance(place, str) else id(place)


def _close(native: NativeStore, process: int) -> None:
    if process == os.getpid():  # what a child inherits is its parent's to write
        native.close()
