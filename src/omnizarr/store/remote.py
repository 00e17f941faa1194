"""Files on servers: an object to read from, made for those who look for metadata in many small pieces."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from omnizarr import native
from omnizarr.errors import NotFoundError, OmnizarrError, StoreError
from omnizarr.late import LateModule
from omnizarr.store.uri import scheme

if TYPE_CHECKING:
    from typing import Self

    from typing_extensions import Buffer

    from omnizarr.store.cloud import headers, servers
    from omnizarr.store.cloud import opening as cloud
    from omnizarr.store.cloud import options as cloud_options
    from omnizarr.store.cloud import store as cloud_store
    from omnizarr.store.url import grammar, modes
else:
    cloud = LateModule("omnizarr.store.cloud.opening")
    cloud_options = LateModule("omnizarr.store.cloud.options")
    cloud_store = LateModule("omnizarr.store.cloud.store")
    headers = LateModule("omnizarr.store.cloud.headers")
    servers = LateModule("omnizarr.store.cloud.servers")
    grammar = LateModule("omnizarr.store.url.grammar")
    modes = LateModule("omnizarr.store.url.modes")

SCHEMES: Final = ("http", "https")
CLOUDS: Final = ("s3", "s3a", "gs3", "gs", "gcs", "az", "azure", "abfs", "abfss", "wasb", "wasbs")
"""Of object stores."""

PUBLIC: Final = ("http://", "https://")
"""Where redirections may lead, as far as that is public."""

HEAD: Final = 64 << 10
"""Bytes that the first request brings."""

MOST_OF_A_DOCUMENT: Final = 4 << 30


def url_of(where: object) -> str | None:
    """Return the URL of a file on a server that a place names; `None` if it names something else.

    Modes of netcdf-c are understood: `#mode=bytes` says just this, any other model something else.

    Raises:
        UnsafeError: If modes contradict each other.

    >>> url_of("https://example.org/x.nc#mode=bytes"), url_of("https://example.org/x#mode=zarr"), url_of("x.nc")
    ('https://example.org/x.nc', None, None)
    """
    if not isinstance(where, str) or "://" not in where:
        return None
    if scheme(where) in CLOUDS or cloud.is_cloud(where):
        return where if cloud.names_file(where) else None
    if "#" not in where and not where.lstrip().startswith("["):
        return where if scheme(where) in SCHEMES else None
    url = grammar.parse_place(where)
    if url is None:
        return where.partition("#")[0] if scheme(where) in SCHEMES else None
    if url.scheme not in SCHEMES or modes.heard_modes(url).model not in ("", "bytes"):
        return None
    return (
        where[where.rindex("]") + 1 :].partition("#")[0] if where.lstrip().startswith("[") else where.partition("#")[0]
    )


def folder_of(url: str) -> str:
    """Return the URL of the folder that something lies in, ending in a slash.

    >>> folder_of("http://example.org/a/b.nc?x=/y"), folder_of("http://example.org")
    ('http://example.org/a/', 'http://example.org/')
    """
    kind, _, rest = url.partition("#")[0].partition("?")[0].partition("://")
    host, _, path = rest.partition("/")
    folder = path.rpartition("/")[0]
    return f"{kind}://{host}/{folder}/" if folder else f"{kind}://{host}/"


class Remote:
    """A file on a server, which several file objects can share; blocks of it stay in memory.

    Args:
        url: Its URL. Whoever names it himself may reach what is beside it, on whatever machine, and what is public.
        allow: The places that may be reached instead, redirections included; "*" for all.
        head: Bytes that the first request brings.
        options: Credentials and settings for an object store; for a server, headers and settings, and what is not for
            it is passed over.
    """

    def __init__(
        self,
        url: str,
        allow: Sequence[str] | None = None,
        *,
        head: int = HEAD,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        if cloud.is_cloud(url):
            settled = cloud_options.settle(url, options)
            # As others write it, where that says enough; a server of one's own has no name but its address.
            named = next((one for one in (settled.uri, url.partition("#")[0]) if scheme(one) in CLOUDS), None)
            self.url = named or f"{settled.uri}#mode=s3"
            self.native = cloud_store.native_store(settled, "").file(settled.prefix, head=head)
            return
        self.url = url.partition("#")[0]
        given = [folder_of(self.url), *PUBLIC] if allow is None else allow
        how = servers.for_server(self.url, headers.server_part(options))
        self.native = native.RemoteFile(self.url, given, head=head, headers=how.headers, **how.settings)

    def stamp(self) -> tuple[int | None, int | None, str | None]:
        """Return its size, when it was changed last in nanoseconds since 1970, and its ETag, as far as they are known.

        Raises:
            NotFoundError: If the server has no such file.
            StoreError: If it cannot be had.
        """
        try:
            return self.native.stamp()
        except StoreError as error:
            raise _missing(error, self.url) from error.__cause__

    def open(self) -> RemoteFile:
        """Return a new file object, at the file's beginning."""
        return RemoteFile(self)

    @property
    def requests(self) -> int:
        """How many requests there were so far."""
        return self.native.counts()[0]

    @property
    def received(self) -> int:
        """How many bytes came so far."""
        return self.native.counts()[1]


class RemoteFile(io.RawIOBase):
    """A file on a server, to be read like any other.

    Args:
        remote: The file, or its URL.
    """

    def __init__(self, remote: Remote | str) -> None:
        super().__init__()
        self.remote = Remote(remote) if isinstance(remote, str) else remote
        self.size = self.remote.stamp()[0] or 0
        self._at = 0

    @property
    def name(self) -> str:
        """The URL."""
        return self.remote.url

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return where reading goes on."""
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a byte, counted from the beginning, from here or from the end."""
        self._check()
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        if start + offset < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self._at = start + offset
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Return that many bytes, or all that are left; fewer only at the end."""
        self._check()
        left = max(self.size - self._at, 0)
        wanted = left if size is None or size < 0 else min(size, left)
        data = self.remote.native.read_at(self._at, wanted) if wanted else b""
        self._at += len(data)
        return data

    def readall(self) -> bytes:
        """Return all that is left."""
        return self.read()

    def readinto(self, buffer: Buffer) -> int:
        """Fill a buffer, and return how many bytes that were; fewer than it takes only at the end."""
        with memoryview(buffer) as view, view.cast("B") as target:
            data = self.read(len(target))
            target[: len(data)] = data
            return len(data)

    def __enter__(self) -> Self:
        return self

    def _check(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file")


def fetch(
    url: str,
    *,
    allow: Sequence[str] | None = None,
    limit: int = MOST_OF_A_DOCUMENT,
    options: Mapping[str, Any] | None = None,
) -> bytes:
    """Return all that a URL names, in one request.

    Args:
        url: Where it is. What a server compresses on its way comes as it is sent: gzip or zstd.
        allow: As for `Remote`.
        limit: More bytes than these are refused.
        options: As for `Remote`.

    Raises:
        NotFoundError: If the server has nothing there.
        LimitError: If it is larger.
        StoreError: If it cannot be had.
    """
    try:
        return Remote(url, allow, options=options).native.document(limit)
    except StoreError as error:
        raise _missing(error, url) from error.__cause__


def _missing(error: StoreError, url: str) -> OmnizarrError:
    """Return the error for a server that has nothing there, or the error that it was."""
    if error.errno != errno.ENOENT:
        return error
    return NotFoundError("the server has nothing there", path=url.partition("#")[0])
