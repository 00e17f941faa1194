"""What lies below a URL of a server as a store to read: each key is a file there.

Most servers do not list what they have. There the documents of groups must be consolidated, or nodes be named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from omnizarr.errors import LimitError, UnsupportedError
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.native import CloudStore as NativeStore
from omnizarr.store.cloud.at import At
from omnizarr.store.cloud.servers import for_server
from omnizarr.store.http_listing import listed
from omnizarr.store.keys import check_key
from omnizarr.store.refusing import Refusing
from omnizarr.store.remote import PUBLIC
from omnizarr.store.uri import quote


class HttpStore(Refusing):
    """The files below a URL, to be read; the kernel fetches them.

    Args:
        url: The folder's, with or without a slash behind it.
        limits: How deep folders may lie that the server lists.
        options: `headers` for requests to this server, and to no other; `attempts`, `pause`, `stall`, `patience`.

    >>> HttpStore("https://example.org/data.zarr/").uri
    'https://example.org/data.zarr'
    """

    __slots__ = ("_how", "_limits", "_options", "_url", "native", "uri")

    read_only = True
    lists_itself = True
    """The kernel's handle lists nothing; see `listing_view`."""
    refusal = "what lies on a server is only read"

    def __init__(self, url: str, *, limits: Limits = DEFAULT_LIMITS, options: Mapping[str, Any] | None = None) -> None:
        self._limits = limits
        self._options = dict(options or {})
        place = url.partition("#")[0]
        address, mark, query = place.partition("?")
        self.uri = address.rstrip("/")
        self._url = self.uri + mark + query
        self._how = for_server(self._url, options)
        self.native = NativeStore(
            "http",
            {"url": self._url},
            "",
            self.uri,
            options=self._how.settings,
            allow=[self.uri + "/", *PUBLIC],
            headers=self._how.headers,
        )

    def get(self, key: str) -> bytes | None:
        """Return the file of a key."""
        return self.native.get(check_key(key))

    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None:
        """Return a part of the file of a key."""
        return self.native.get_range(check_key(key), start, length)

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the files of several keys, all of which are asked for at once."""
        return self.native.get_many([check_key(key) for key in keys])

    def get_documents(self, keys: Sequence[str], most: int) -> list[bytes | None]:
        """Return the files of several keys, none of which may have more than so many bytes."""
        return self.native.get_many([check_key(key) for key in keys], most)

    def list_prefix(self, prefix: str) -> list[str]:
        """List all files below a prefix, where the server has pages that list its folders."""
        found: list[str] = []
        left = [prefix]
        while left:
            here = left.pop()
            if here.count("/") - prefix.count("/") > self._limits.max_folder_depth:
                raise LimitError(
                    f"folders are listed in folders more than {self._limits.max_folder_depth} deep",
                    path=f"{self.uri}/{prefix}".rstrip("/"),
                    hint="The server may list every folder in itself.",
                )
            keys, prefixes = self.list_dir(here)
            found += keys
            left += reversed(prefixes)
        return found

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        """List what is right below a prefix, where the server has a page that does."""
        mark, query = self._url.partition("?")[1:]
        found = listed(f"{self.uri}/{quote(prefix)}{mark}{query}", [self.uri + "/", *PUBLIC], self._how)
        if found is None:
            self._unlisted(prefix)
        return [prefix + name for name in found[0]], [f"{prefix}{name}/" for name in found[1]]

    def size(self, key: str) -> int | None:
        """Return the size of the file of a key."""
        return self.native.size(check_key(key))

    def exists(self, key: str) -> bool:
        """Whether a key has a file."""
        return self.size(key) is not None

    def __repr__(self) -> str:
        return f"HttpStore({self.uri!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (At(self._url, self._options), self._limits)

    def _unlisted(self, prefix: str) -> NoReturn:
        raise UnsupportedError(
            "a server does not list what it has",
            path=f"{self.uri}/{prefix}".rstrip("/"),
            hint="Consolidate the metadata (`oz consolidate`) where the data lies, or name the node itself.",
        )


def _again(where: At, limits: Limits) -> HttpStore:
    return HttpStore(where.where, limits=limits, options=where.options)
