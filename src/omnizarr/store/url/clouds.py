"""Where a URL of Google's or Microsoft's object store leads, in all forms that their tools write."""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import unquote

from omnizarr.errors import UnsafeError
from omnizarr.store.url.grammar import Url
from omnizarr.store.url.modes import Note

AZURE_HOSTS: Final = tuple(
    f".{kind}.{host}"
    for host in ("core.windows.net", "core.chinacloudapi.cn", "core.usgovcloudapi.net", "fabric.microsoft.com")
    for kind in ("blob", "dfs")
)
EMULATED: Final = "devstoreaccount1"
"""The account of Azurite, which everyone may use."""

_AZURE: Final = ("az", "abfs", "abfss", "wasb", "wasbs")
_LOCAL: Final = ("127.0.0.1", "localhost", "[::1]")
_AZURITE_PORT: Final = "10000"


class CloudPlace(NamedTuple):
    """A place in an object store of Google's or Microsoft's."""

    kind: str
    """gcs or azure."""
    account: str
    """Of Azure; empty where the URL does not tell."""
    bucket: str
    """Or container."""
    key: str
    endpoint: str
    """The server, with the account where it is in the path; empty where the URL does not tell."""
    notes: tuple[Note, ...]


def cloud_place(url: Url) -> CloudPlace | None:
    """Find account, bucket and key; `None` for a URL of another service.

    Raises:
        UnsafeError: If the URL names no bucket.

    >>> from omnizarr.store.url.grammar import parse
    >>> cloud_place(parse("abfss://box@me.dfs.core.windows.net/a/b"))[:4]
    ('azure', 'me', 'box', 'a/b')
    >>> cloud_place(parse("gs://box/a"))[:4], cloud_place(parse("https://example.org/x"))
    (('gcs', '', 'box', 'a'), None)
    """
    parts = [part for part in url.path.split("/") if part]
    if url.scheme == "gs":
        return _named(url, "gcs", ("", url.host, parts, ""))
    if url.scheme in _AZURE:
        account, server = (url.host.partition(".")[0], _blob(f"https://{url.host}")) if url.user else ("", "")
        return _named(url, "azure", (account, url.user or url.host, parts, server))
    return _on_host(url, parts) if url.scheme in ("http", "https") else None


def _on_host(url: Url, parts: list[str]) -> CloudPlace | None:
    decoded = [unquote(part, errors="surrogateescape") for part in parts]
    server = f"{url.scheme}://{url.host}" + (f":{url.port}" if url.port else "")
    if url.host.lower().endswith(AZURE_HOSTS):
        account = url.host.partition(".")[0]
        return _named(url, "azure", (account, decoded[0] if decoded else "", decoded[1:], _blob(server)))
    if decoded[:1] == [EMULATED] or (url.port == _AZURITE_PORT and url.host.lower() in _LOCAL and decoded):
        container = decoded[1] if len(decoded) > 1 else ""
        return _named(url, "azure", (decoded[0], container, decoded[2:], f"{server}/{decoded[0]}"))
    return None


def _blob(server: str) -> str:
    """Return the address of the service for blobs, which has all that the one for files has."""
    return server.lower().replace(".dfs.", ".blob.", 1)


def _named(url: Url, kind: str, found: tuple[str, str, list[str], str]) -> CloudPlace:
    account, bucket, parts, endpoint = found
    if not bucket:
        what = "bucket" if kind == "gcs" else "container"
        raise UnsafeError(f"{url.shown!r} names no {what}", hint=f"Write {url.scheme}://{what}/key.")
    notes = [Note("query", "queries are not used")] if url.query else []
    return CloudPlace(kind, account, bucket, "/".join(parts), endpoint, tuple(notes))
