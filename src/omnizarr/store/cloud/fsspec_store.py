"""Any file system of fsspec as a store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from omnizarr.store.buffers import byte_view
from omnizarr.store.cloud.foreign import MISSING, failures, sub_key, unless_missing
from omnizarr.store.cloud.secret import without_secrets
from omnizarr.store.keys import check_key, check_prefix, clip, is_key

if TYPE_CHECKING:
    from typing_extensions import Buffer

_MAGIC: Final = frozenset("*?[")
_MOST: Final = 64 << 20
"""Bytes that are asked for without knowing whether there are as many: some file systems make room for all."""


class FsspecStore:
    """What lies below a path of a file system of fsspec.

    Keys become paths by putting the root before them. Listings that a file system keeps are dropped before they are
    asked for, so that what others write is seen. Whether a put is whole or absent is up to the file system.

    Args:
        fs: The file system; one that is made for use with `await` is made anew for use without.
        root: A path of it.
    """

    __slots__ = ("fs", "root", "uri")

    native = None
    read_only = False

    def __init__(self, fs: Any, root: str) -> None:  # noqa: ANN401 - any file system
        self.fs = synchronous(fs)
        self.root = plain_path(self.fs, root)
        self.uri = _uri(self.fs, self.root)

    def get(self, key: str) -> bytes | None:
        """Return the file of a key."""
        path = self._path(key)
        return self._answer(key, lambda: self.fs.cat_file(path))

    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None:
        """Return a part of the file of a key."""
        path = self._path(key)
        if start >= 0 and length and length <= _MOST:
            try:
                return self._answer(key, lambda: self.fs.cat_file(path, start=start, end=start + length))
            except OSError:  # some file systems fail beyond the end
                if (self.size(key) or 0) > start:
                    raise
                return b""
        size = self.size(key)
        if size is None:
            return None
        first, last = clip(size, start, length)
        if first == last:
            return b""
        return self._answer(key, lambda: self.fs.cat_file(path, start=first, end=last))

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the files of several keys, which are asked for at once where the file system can do that."""
        if len(keys) < 2 or not getattr(self.fs, "async_impl", False):
            return [self.get(key) for key in keys]
        paths = [self._path(key) for key in keys]
        with failures(keys[0]):
            found = self.fs.cat_ranges(paths, None, None, on_error="return")
        return [self._answer(key, partial(_raised, one)) for key, one in zip(keys, found, strict=True)]

    def put(self, key: str, data: Buffer) -> None:
        """Write the file of a key, and the folders that it needs."""
        path = self._path(key)
        value = data if type(data) is bytes else byte_view(key, data).tobytes()
        with failures(key):
            try:
                self.fs.pipe_file(path, value)
            except FileNotFoundError:
                self.fs.makedirs(path.rpartition("/")[0], exist_ok=True)
                self.fs.pipe_file(path, value)

    def erase(self, key: str) -> bool:
        """Remove the file of a key."""
        path = self._path(key)
        if not self.exists(key):
            return False
        with failures(key), suppress(*MISSING):
            self.fs.rm_file(path)
        return True

    def erase_prefix(self, prefix: str) -> None:
        """Remove all files below a prefix."""
        prefix = check_prefix(prefix)
        paths = [self._path(key) for key in self.list_prefix(prefix)]
        plain = [path for path in paths if not _MAGIC & set(path)]
        with failures(prefix):
            if plain:
                self.fs.rm(plain)  # many at once; what looks like a pattern would be taken for one
            for path in set(paths).difference(plain):
                self.fs.rm_file(path)
            # Folders may be more than the names of the files in them; the root, which may be a bucket, stays.
            for folder in [prefix] if prefix else self.list_dir("")[1]:
                path = self._folder(folder)
                if not _MAGIC & set(path) and self.fs.isdir(path):
                    self.fs.rm(path, recursive=True)

    def list_prefix(self, prefix: str) -> list[str]:
        """List the keys below a prefix."""
        prefix = check_prefix(prefix)
        folder = self._folder(prefix)

        def found() -> list[Any]:
            self.fs.invalidate_cache(folder)
            return list(self.fs.find(folder))

        keys = [self._key(str(path)) for path in unless_missing(prefix, found) or ()]
        return [key for key in keys if key is not None and key.startswith(prefix)]

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        """List what lies right below a prefix."""
        prefix = check_prefix(prefix)
        folder = self._folder(prefix)

        def found() -> list[Any]:
            self.fs.invalidate_cache(folder)
            return list(self.fs.ls(folder, detail=True))

        keys: list[str] = []
        prefixes: list[str] = []
        for entry in unless_missing(prefix, found) or ():
            key = self._key(str(entry["name"]).rstrip("/"))
            if key is None or not key.startswith(prefix) or "/" in key[len(prefix) :]:
                continue
            if entry["type"] == "directory":
                prefixes.append(f"{key}/")
            else:
                keys.append(key)
        return keys, prefixes

    def size(self, key: str) -> int | None:
        """Return the size of the file of a key."""
        path = self._path(key)

        def found() -> Any:  # noqa: ANN401 - what file systems say
            self.fs.invalidate_cache(path.rpartition("/")[0])
            return self.fs.info(path)

        info = unless_missing(key, found)
        if info is None or info.get("type") == "directory":
            return None
        size = info.get("size")
        if isinstance(size, int):
            return size
        value = self.get(key)  # some servers do not say
        return None if value is None else len(value)

    def exists(self, key: str) -> bool:
        """Whether there is a file of a key."""
        return self.size(key) is not None

    def _answer(self, key: str, operation: Callable[[], Any]) -> bytes | None:
        def tried() -> Any:  # noqa: ANN401 - bytes, or what can become such
            try:
                return operation()
            except KeyError:
                # Some say so that there is no such file, others that they do not understand an answer.
                if self.size(key) is None:
                    return None
                raise

        found = unless_missing(key, tried)
        return None if found is None else bytes(found)

    def _path(self, key: str) -> str:
        return f"{self.root}/{check_key(key)}" if self.root or self.fs.root_marker == "/" else check_key(key)

    def _folder(self, prefix: str) -> str:
        return self._path(prefix.rstrip("/")) if prefix else self.root or str(self.fs.root_marker)

    def _key(self, path: str) -> str | None:
        key = sub_key(self.root, path)
        return key if key is not None and is_key(key) else None

    def __repr__(self) -> str:
        return f"FsspecStore({self.uri!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FsspecStore) and (self.fs, self.root) == (other.fs, other.root)

    def __hash__(self) -> int:
        return hash((FsspecStore, self.uri))

    def __reduce__(self) -> tuple[object, ...]:
        return FsspecStore, (self.fs, self.root)


def plain_path(fs: Any, path: str) -> str:  # noqa: ANN401 - any file system
    """Return a path without a protocol before it, and without a slash at its end."""
    return str(fs._strip_protocol(path)).rstrip("/")  # noqa: SLF001 - all of fsspec calls it


def synchronous(fs: Any) -> Any:  # noqa: ANN401 - any file system
    """Return a file system that can be used without `await`."""
    if not getattr(fs, "asynchronous", False):
        return fs
    if hasattr(fs, "sync_fs"):
        return fs.sync_fs
    with failures(""):
        return type(fs)(*fs.storage_args, **{**fs.storage_options, "asynchronous": False, "loop": None})


def _raised(found: object) -> object:
    """Return what came, unless it is an error."""
    if isinstance(found, BaseException):
        raise found
    return found


def _uri(fs: Any, root: str) -> str:  # noqa: ANN401 - any file system
    """Name the place; where options make one file system differ from another, by a token of them that tells nothing."""
    if "://" in root:
        return without_secrets(root)
    protocol = fs.protocol if isinstance(fs.protocol, str) else fs.protocol[0]
    told = fs.storage_args, fs.storage_options
    token = f"{import_module('fsspec.utils').tokenize(*told)[:12]}@" if any(told) else ""
    return f"{protocol}://{token}{root}"
