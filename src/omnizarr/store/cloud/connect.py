"""From the URL in a reference to the object store that it leads to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from omnizarr.native import CloudStore as NativeStore
from omnizarr.store.cloud.options import settle
from omnizarr.store.cloud.store import native_store


class Connections:
    """Finds the store of a URL; stores are made once for each bucket.

    A set is text that others wrote: where it leads to a bucket that the caller has not named, nothing is signed, so
    that only what everybody can see is read there. Options that the caller gives count everywhere.

    Args:
        options: Credentials and settings, as for `CloudStore`.
    """

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        self.options = dict(options or {})
        self._known: dict[tuple[object, ...], NativeStore] = {}

    def __call__(self, url: str, trusted: bool) -> tuple[NativeStore, str]:
        """Return the kernel's store of the bucket that a URL names, and the key in it."""
        options = self.options if trusted or self.options else {"anon": True}
        settled = settle(url, options)
        config = settled.config
        bucket = tuple(config.get(name) for name in ("aws_bucket_name", "google_bucket_name", "azure_container_name"))
        place = (settled.kind, bucket, config.get("aws_endpoint"), config.get("azure_storage_account_name"), trusted)
        store = self._known.get(place)
        if store is None:
            store = self._known[place] = native_store(settled, "")
        return store, settled.prefix
