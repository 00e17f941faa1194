"""The zip store: the entries of one archive under their names.

https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO, Self, cast

from omnizarr.errors import NodeTypeError, NotFoundError, ReadOnlyError, StoreError
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.native import ZipStore as NativeStore
from omnizarr.store.buffers import byte_view
from omnizarr.store.file import local_path
from omnizarr.store.keys import check_key, check_prefix
from omnizarr.store.zip_archive import Archive, is_waiting, shared

if TYPE_CHECKING:
    from typing_extensions import Buffer


class ZipStore:
    """The entries of a zip archive, in a file or a file object.

    What is put can be read at once, by every store of the same archive in this process. The archive itself changes when
    the store is closed (or `flush` is called): a new one is written beside it and takes its place in one step, so that
    it holds the last closed state whenever its writer is killed. A store that nobody closes is closed when the last
    handle on it is gone, at the latest when the program ends. One process at a time can write an archive.

    In a file object the archive is overwritten when the store is closed; that is not one step.

    Args:
        where: A path, a `file:` URI, or a binary file object that can seek.
        read_only: Whether to refuse changes; if not given, only for file objects that cannot be written.
        durable: Whether a closed archive also survives a loss of power.
        limits: Bounds on what entries may claim.

    Raises:
        NotFoundError: The archive is to be read and is not there.
        ReadOnlyError: The file object is to be written and cannot.
        NodeTypeError: The object is not a binary file that can seek.

    >>> import io
    >>> file = io.BytesIO()
    >>> with ZipStore(file) as store:
    ...     store.put("a", b"123")
    >>> ZipStore(file, read_only=True).get_range("a", -2)
    b'23'
    """

    __slots__ = ("_archive", "_closed", "limits", "read_only")

    def __init__(
        self,
        where: str | os.PathLike[str] | BinaryIO,
        *,
        read_only: bool | None = None,
        durable: bool = False,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._closed = True  # as long as there is nothing to close
        self.limits = limits
        place: str | BinaryIO
        if isinstance(where, (str, os.PathLike)):
            place = os.path.realpath(local_path(where))
            if read_only and not is_waiting(place) and not os.path.exists(place):  # noqa: PTH110 - pathlib is slow to import
                raise NotFoundError("there is no such archive", path=place)
        else:
            place = _checked(where)
            writable = _can_write(place)
            if read_only is False and not writable:
                raise ReadOnlyError("the file object cannot be written", hint="Open the file with mode 'r+b' or 'w+b'.")
            read_only = not writable if read_only is None else read_only
        self.read_only = bool(read_only)
        self._archive: Archive = shared(place, durable=durable, limit=limits.max_entry_bytes)
        self._closed = False

    @property
    def native(self) -> NativeStore:
        """The kernel's handle, which all stores of the archive share."""
        return self._archive.native

    @property
    def uri(self) -> str:
        """The `file:` URI of the archive without links, or for a file object a name that nothing else ever gets.

        A path in the archive follows it, as in `file:///data.zip/a`, which can be opened, too.
        """
        return self._archive.uri

    @property
    def path(self) -> str | None:
        """The path of the archive, or None for a file object."""
        return self._archive.path or None

    @property
    def closed(self) -> bool:
        """Whether this store has been closed."""
        return self._closed

    @property
    def ignored(self) -> dict[str, str]:
        """Names of entries that cannot be keys, such as "../x", and why; they are kept, and never read."""
        return dict(self._open().ignored())

    def _open(self) -> NativeStore:
        if self._closed:
            raise StoreError(f"the store of {self.uri} has been closed")
        return self._archive.native

    def _writable(self, key: str) -> NativeStore:
        if self.read_only:
            hint = "Open it with mode='r+' or 'a' to write."
            raise ReadOnlyError("the archive was opened for reading only", key=key, hint=hint)
        return self._open()

    def get(self, key: str) -> bytes | None:
        """Return the contents of an entry, after a look at its checksum."""
        return self._open().get(key)

    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None:
        """Return a part of an entry; nothing else is read where the entry is not compressed."""
        return self._open().get_range(key, start, length)

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the contents of several entries."""
        return self._open().get_many(keys)

    def put(self, key: str, data: Buffer) -> None:
        """Replace an entry."""
        native = self._writable(key)
        native.put(check_key(key), data if type(data) is bytes else byte_view(key, data))

    def erase(self, key: str) -> bool:
        """Remove an entry."""
        return self._writable(key).erase(key)

    def erase_prefix(self, prefix: str) -> None:
        """Remove all entries below a prefix."""
        self._writable(prefix).erase_prefix(check_prefix(prefix))

    def list_prefix(self, prefix: str) -> list[str]:
        """List the entries below a prefix."""
        return self._open().list_prefix(check_prefix(prefix))

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        """List what lies right below a prefix."""
        return self._open().list_dir(check_prefix(prefix))

    def size(self, key: str) -> int | None:
        """Return the size of an entry's contents."""
        return self._open().size(key)

    def exists(self, key: str) -> bool:
        """Whether there is an entry."""
        return self._open().exists(key)

    def flush(self) -> None:
        """Bring the archive up to date, and go on.

        Raises:
            ConflictError: Someone else has changed the archive; it is left as it is.
        """
        if not self.read_only:
            self._open().commit()

    def discard(self) -> None:
        """Forget all changes since the archive was last written, those of other stores of it included."""
        if not self.read_only:
            self._open().discard()

    def close(self) -> None:
        """Bring the archive up to date, and let go of it; a second call does nothing.

        Raises:
            ConflictError: Someone else has changed the archive; it is left as it is, and the store open; see `discard`.
        """
        if not self._closed:
            self._archive.leave(write=not self.read_only)
            self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        name = repr(self.path) if self.path else "<file object>"
        return f"ZipStore({name}{', read_only=True' if self.read_only else ''})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZipStore) and (self.uri, self.read_only) == (other.uri, other.read_only)

    def __hash__(self) -> int:
        return hash((ZipStore, self.uri, self.read_only))

    def __reduce__(self) -> tuple[object, ...]:
        if self.path and self.read_only:
            return _remake, (self.path, self.limits)
        raise StoreError(
            f"{self!r} cannot be pickled: one process at a time can write an archive",
            hint="Close it, and open the archive by its path with mode='r'.",
        )


def _remake(path: str, limits: Limits) -> ZipStore:
    return ZipStore(path, read_only=True, limits=limits)


def is_file_object(thing: object) -> bool:
    """Whether a thing can be read and seeks."""
    return callable(getattr(thing, "read", None)) and callable(getattr(thing, "seek", None))


def _checked(file: object) -> BinaryIO:
    if not is_file_object(file):
        raise NodeTypeError(f"a {type(file).__name__} is neither a path nor a file object")
    binary = cast("BinaryIO", file)
    seekable = getattr(binary, "seekable", None)
    if seekable is not None and not seekable():
        raise NodeTypeError("the file object cannot seek", hint="Read it into io.BytesIO first.")
    if isinstance(binary.read(0), str):
        raise NodeTypeError("the file object gives text", hint="Open the file with mode 'rb'.")
    return binary


def _can_write(file: BinaryIO) -> bool:
    writable = getattr(file, "writable", None)
    return writable is not None and bool(writable()) and callable(getattr(file, "truncate", None))
