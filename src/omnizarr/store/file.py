"""The file system store: a key is a path below a base directory.

https://zarr-specs.readthedocs.io/en/latest/v3/stores/filesystem/
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from operator import index
from typing import TYPE_CHECKING, Final

from omnizarr.errors import NodeTypeError, StoreError, UnsafeError
from omnizarr.late import LateModule
from omnizarr.native import FileStore as NativeStore
from omnizarr.store.buffers import byte_view
from omnizarr.store.keys import check_key, check_prefix
from omnizarr.store.uri import NATIVE, key_to_path, path_to_key, path_to_uri, scheme, uri_to_path

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from omnizarr.store.url import places as url_places
else:
    url_places = LateModule("omnizarr.store.url.places")


_MOST: Final = 2**63 - 1
"""More bytes than any value has."""


def local_path(where: str | os.PathLike[str]) -> str:
    """Return the absolute path that a path or a `file:` URI stands for, also one with the modes of netcdf-c.

    Text without a scheme is a path.

    Raises:
        NodeTypeError: It is something else.
        UnsafeError: The path is empty, holds a NUL or cannot be a file's, or the URI is not one of this system.
        UnsupportedError: The text is a URI of another scheme.
        StoreError: The path is relative, and the folder that it begins at was removed.
    """
    try:
        text = where if isinstance(where, str) else os.fsdecode(where)
    except TypeError:
        message = f"the place of files is a path or a file: URI, not {where!r} of type {type(where).__name__}"
        raise NodeTypeError(message, hint="Pass text, as in FileStore('data.zarr'), or a pathlib.Path.") from None
    if not (text.isascii() or _is_name(text)):
        raise UnsafeError(f"{text!r} is not a path: it is not valid Unicode, and stands for no bytes either")
    if text is where and ("#" in text or text.startswith("[")) and (found := url_places.path_of(text)) is not None:
        return found
    if text is where and ":" in text and (kind := scheme(text)) is not None:
        if kind == "file":
            return uri_to_path(text)
        raise url_places.cannot_open(text)
    if not text or "\0" in text:
        raise UnsafeError(f"{text!r} is not a path")
    # The same as the other for what begins at the root, in half the time.
    whole = os.path.normpath if text[0] == "/" == os.sep else os.path.abspath
    try:
        return whole(text)
    except FileNotFoundError as error:
        message = f"{text!r} is relative to the folder that this process is in, which was removed"
        raise StoreError(message, path=text, hint="pass an absolute path, or change to another folder") from error


def text_key(key: object) -> str:
    """Check that what a user gives for a key is text.

    Raises:
        NodeTypeError: It is not.
    """
    if isinstance(key, str):
        return key
    message = f"a key is text, not {key!r} of type {type(key).__name__}"
    raise NodeTypeError(message, hint='Parts are joined by "/", as in "a/zarr.json".')


def range_in_bounds(start: object, length: object) -> tuple[int, int | None]:
    """Bring a range of bytes, which may lie beyond the end of every value, to what the kernel takes.

    Raises:
        NodeTypeError: A part of it is no whole number.
        UnsafeError: The length is negative.
    """
    numbers: list[int] = []
    for name, value in (("start", start), ("length", 0 if length is None else length)):
        try:
            numbers.append(index(value))  # type: ignore[arg-type]  # what is no number is what the except is for
        except TypeError:
            message = f"{name} is a whole number of bytes, not {value!r} of type {type(value).__name__}"
            raise NodeTypeError(
                message, hint="A negative start counts from the end; no length is all the rest."
            ) from None
    first, most = numbers
    if most < 0:
        raise UnsafeError("length is negative, and a range has 0 bytes or more", hint="No length is all the rest.")
    return max(-_MOST, min(first, _MOST)), None if length is None else min(most, _MOST)


def _is_name(text: str) -> bool:
    """Whether the file system can be asked for a text; surrogates may stand for bytes that are not UTF-8."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


class FileStore:
    """Files below a directory, which the first put makes.

    A put is whole or absent: a reader, and whoever looks after a crash, sees the old value or the new. A key that is a
    directory has no value; neither have pipes and devices. Links that lead out of the directory are refused, those that
    stay inside are followed, and one that leads nowhere is an error: its value is missed. Names of unfinished puts
    (`.<hex>.partial`) are never listed.

    Args:
        where: A path, or a `file:` URI.
        durable: Whether a finished put or erasure also survives a loss of power; each then waits for the disk.

    >>> FileStore("/my data").uri
    'file:///my%20data'
    """

    __slots__ = ("_uri", "durable", "native", "root")

    read_only = False

    def __init__(self, where: str | os.PathLike[str], *, durable: bool = False) -> None:
        self.root = local_path(where)
        self.durable = durable
        self.native = NativeStore(self.root, durable)
        self._uri = ""

    @property
    def uri(self) -> str:
        """The canonical URI of the directory."""
        if not self._uri:  # quoting takes a while, and messages of each array name the store
            self._uri = path_to_uri(self.root)
        return self._uri

    def path(self, key: str) -> str:
        """Return the path of a key's file."""
        return key_to_path(self.root, key)

    def key(self, path: str | os.PathLike[str]) -> str:
        """Return the key of a file below the directory."""
        return path_to_key(self.root, os.path.abspath(path))  # noqa: PTH100 - as above

    def get(self, key: str) -> bytes | None:
        """Return the contents of the key's file."""
        return self.native.get(key if type(key) is str else text_key(key))

    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None:
        """Return a part of the contents of the key's file."""
        key = key if type(key) is str else text_key(key)
        try:
            return self.native.get_range(key, start, length)
        except (TypeError, OverflowError):
            return self.native.get_range(key, *range_in_bounds(start, length))

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the contents of several files."""
        return self.native.get_many(keys)

    def get_documents(self, keys: Sequence[str], most: int) -> list[bytes | None]:
        """Return the contents of several files, none of which may have more than so many bytes."""
        return self.native.get_many(keys, most)

    def put(self, key: str, data: Buffer) -> None:
        """Replace the key's file."""
        if NATIVE == "windows":
            key_to_path(self.root, key)  # Refuses names that the system would take for something else.
        self.native.put(check_key(key), data if type(data) is bytes else byte_view(key, data))

    def put_new(self, key: str, data: bytes) -> int | None:
        """Make the key's file, unless another program or thread has; return its state, or `None` if so."""
        if NATIVE == "windows":
            key_to_path(self.root, key)
        return self.native.put_new(check_key(key), data)

    def has_folder(self, prefix: str) -> bool:
        """Whether anything may lie below a prefix; quicker than listing it."""
        return self.native.has_folder(prefix)

    def make_folder(self, prefix: str) -> None:
        """Make an empty directory, which no other operation does."""
        os.makedirs(key_to_path(self.root, check_prefix(prefix)[:-1]), exist_ok=True)  # noqa: PTH103 - as above

    def move_folder(self, old: str, new: str) -> bool:
        """Give a directory another name in one step; False where that cannot be, and nothing has changed then."""
        top = os.path.realpath(self.root)
        source, target = key_to_path(self.root, check_key(old)), key_to_path(self.root, check_key(new))
        above = os.path.dirname(target)  # noqa: PTH120 - as above
        try:
            os.makedirs(above, exist_ok=True)  # noqa: PTH103
            inside = (os.path.realpath(source), os.path.realpath(above) + os.sep)
            if os.path.islink(source) or not all(one.startswith(top + os.sep) for one in inside):  # noqa: PTH114
                return False
            os.rename(source, target)  # noqa: PTH104
        except OSError:  # something is in the way, or the directories are on two disks
            return False
        return True

    def erase(self, key: str) -> bool:
        """Remove the file or directory at the key's path."""
        return self.native.erase(key if type(key) is str else text_key(key))

    def erase_prefix(self, prefix: str) -> None:
        """Remove all files and directories below a prefix."""
        self.native.erase_prefix(check_prefix(prefix))

    def list_prefix(self, prefix: str) -> list[str]:
        """List the keys of all files below a prefix."""
        return self.native.list_prefix(check_prefix(prefix))

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        """List the files of a directory as keys, its directories (empty ones too) as prefixes."""
        return self.native.list_dir(check_prefix(prefix))

    def size(self, key: str) -> int | None:
        """Return the size of the key's file."""
        return self.native.size(key if type(key) is str else text_key(key))

    def exists(self, key: str) -> bool:
        """Whether the key has a file."""
        return self.native.exists(key if type(key) is str else text_key(key))

    def __repr__(self) -> str:
        return f"FileStore({self.root!r}{', durable=True' if self.durable else ''})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FileStore) and (self.root, self.durable) == (other.root, other.durable)

    def __hash__(self) -> int:
        return hash((FileStore, self.root, self.durable))

    def __reduce__(self) -> tuple[object, ...]:
        return _remake, (self.root, self.durable)


def _remake(root: str, durable: bool) -> FileStore:
    return FileStore(root, durable=durable)
