"""What lies below a URL of a server as a store to read: each key is a file there.

Servers do not list what they have. So the documents of groups must be consolidated, or nodes be named.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NoReturn

from omnizarr.errors import NotFoundError, ReadOnlyError, UnsupportedError
from omnizarr.store.keys import check_key
from omnizarr.store.remote import PUBLIC, Remote, fetch
from omnizarr.store.uri import quote

if TYPE_CHECKING:
    from typing_extensions import Buffer

_AT_ONCE: Final = 8
_KEPT: Final = 64


class HttpStore:
    """The files below a URL, to be read.

    Args:
        url: The folder's, with or without a slash behind it.

    >>> HttpStore("https://example.org/data.zarr/").uri
    'https://example.org/data.zarr'
    """

    __slots__ = ("_files", "_query", "uri")

    native = None
    read_only = True

    def __init__(self, url: str) -> None:
        place, mark, query = url.partition("#")[0].partition("?")
        self.uri = place.rstrip("/")
        self._query = mark + query
        self._files = lru_cache(_KEPT)(self._file)

    def get(self, key: str) -> bytes | None:
        """Return the file of a key."""
        try:
            return fetch(self._url(key), allow=self._reach())
        except NotFoundError:
            return None

    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None:
        """Return a part of the file of a key."""
        file = self._files(key)
        size = self.size(key)
        if size is None:
            return None
        first = max(size + start, 0) if start < 0 else min(start, size)
        return file.native.read_at(first, size - first if length is None else length)

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the files of several keys."""
        if len(keys) < 2:
            return [self.get(key) for key in keys]
        with ThreadPoolExecutor(min(_AT_ONCE, len(keys))) as threads:
            return list(threads.map(self.get, keys))

    def put(self, key: str, data: Buffer) -> None:
        """Refuse."""
        del data
        _refuse(key)

    def erase(self, key: str) -> bool:
        """Refuse."""
        _refuse(key)

    def erase_prefix(self, prefix: str) -> None:
        """Refuse."""
        _refuse(prefix)

    def list_prefix(self, prefix: str) -> list[str]:
        """Refuse: servers do not say what they have."""
        self._unlisted(prefix)

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        """Refuse: servers do not say what they have."""
        self._unlisted(prefix)

    def size(self, key: str) -> int | None:
        """Return the size of the file of a key."""
        try:
            return self._files(key).stamp()[0]
        except NotFoundError:
            return None

    def exists(self, key: str) -> bool:
        """Whether a key has a file."""
        return self.size(key) is not None

    def __repr__(self) -> str:
        return f"HttpStore({self.uri!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return HttpStore, (self.uri + self._query,)

    def _url(self, key: str) -> str:
        return f"{self.uri}/{quote(check_key(key))}{self._query}"

    def _file(self, key: str) -> Remote:
        return Remote(self._url(key), self._reach())

    def _reach(self) -> list[str]:
        return [self.uri + "/", *PUBLIC]

    def _unlisted(self, prefix: str) -> NoReturn:
        raise UnsupportedError(
            "a server does not list what it has",
            path=f"{self.uri}/{prefix}".rstrip("/"),
            hint="Consolidate the metadata (`oz consolidate`) where the data lies, or name the node itself.",
        )


def _refuse(key: str) -> NoReturn:
    raise ReadOnlyError("what lies on a server is only read", key=key)
