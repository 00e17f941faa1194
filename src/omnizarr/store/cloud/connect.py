"""From the URL in a reference to the object store that it leads to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from omnizarr.native import CloudStore as NativeStore
from omnizarr.store.cloud.headers import bucket_part
from omnizarr.store.cloud.options import settle
from omnizarr.store.cloud.store import native_store


class Connections:
    """Finds the store of a URL; stores are made once for each bucket.

    A set is text that others wrote: where it leads to a bucket that the caller has not named, nothing is signed, so
    that only what everybody can see is read there, and only at public addresses. Options that the caller gives count
    for buckets of the services that they are for, never for a host that only the set names.

    Args:
        options: Credentials and settings, as for `CloudStore`; headers, which are for servers, may be among them.
    """

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        self.options = bucket_part(options)
        self._known: dict[tuple[object, ...], NativeStore] = {}

    def __call__(self, url: str, trusted: bool) -> tuple[NativeStore, str]:
        """Return the kernel's store of the bucket that a URL names, and the key in it."""
        given = trusted or (bool(self.options) and _is_home(url, self.options))
        settled = settle(url, self.options if given else {"anon": True})
        config = settled.config
        bucket = tuple(config.get(name) for name in ("aws_bucket_name", "google_bucket_name", "azure_container_name"))
        place = (settled.kind, bucket, config.get("aws_endpoint"), config.get("azure_storage_account_name"), given)
        store = self._known.get(place)
        if store is None:
            store = self._known[place] = native_store(settled, "", trusted=given)
        return store, settled.prefix


def _is_home(url: str, options: Mapping[str, Any]) -> bool:
    """Whether a URL leads to the service that options are for, and not to a host of its own choosing.

    >>> _is_home("s3://bucket/key", {}), _is_home("s3://evil.example.com/bucket/key", {})
    (True, False)
    >>> _is_home("abfss://box@me.dfs.core.windows.net/key", {"account_name": "me"})
    True
    """
    place = urlsplit(url)
    host = place.hostname or ""
    if "@" in place.netloc:
        account, _, domain = host.partition(".")
        return account == options.get("account_name") and domain.endswith("core.windows.net")
    if "." not in host and place.port is None:
        return True
    endpoint = options.get("endpoint_url") or (options.get("client_kwargs") or {}).get("endpoint_url") or ""
    return bool(endpoint) and urlsplit(str(endpoint)).netloc == place.netloc
