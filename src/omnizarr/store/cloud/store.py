"""Object stores as stores: the keys of a bucket below a prefix, or the files of a server below a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omnizarr.native import CloudStore as NativeStore
from omnizarr.store.buffers import byte_view
from omnizarr.store.cloud.keeping import cache_of, tell_of_trouble
from omnizarr.store.cloud.options import settle
from omnizarr.store.cloud.settled import Settled
from omnizarr.store.keys import check_key, check_prefix

if TYPE_CHECKING:
    from typing_extensions import Buffer


class CloudStore:
    """The keys of a bucket below a prefix, in S3 and what is like it, Google's store or Azure's.

    A put is whole or absent. Where the service has conditions, `put_if` lets no change of somebody else's be lost.

    Args:
        where: Its URL: `s3://bucket/prefix`, `gs://…`, `az://…`, or any of the forms that netcdf-c knows.
        storage_options: Credentials and settings, by the names that fsspec or obstore have for them; see `settle`.

    >>> CloudStore("s3://data/ocean", {"anon": True}).uri
    's3://data/ocean'
    """

    __slots__ = ("_again", "_up", "native", "settled", "uri")

    read_only = False

    def __init__(self, where: str, storage_options: Mapping[str, Any] | None = None) -> None:
        self._again = where, storage_options
        self._up = 0
        self._settle(settle(where, storage_options))

    def _settle(self, settled: Settled) -> None:
        self.settled = settled
        self.uri = settled.uri
        self.native = native_store(settled)

    def above(self, names: int = 1) -> CloudStore:
        """Return the store of a prefix of the same bucket that is so many names shorter.

        >>> CloudStore("s3://data/ocean/sst", {"anon": True}).above().uri
        's3://data/ocean'
        """
        parts = self.settled.prefix.split("/")
        made = CloudStore.__new__(CloudStore)
        made._again, made._up = self._again, self._up + names  # noqa: SLF001 - of this class
        uri = self.uri.rsplit("/", names)[0]
        made._settle(replace(self.settled, prefix="/".join(parts[:-names]), uri=uri))  # noqa: SLF001 - as above
        return made

    @property
    def conditional(self) -> bool:
        """Whether the service honours conditions on what is put."""
        return self.native.conditional

    def get(self, key: str) -> bytes | None:
        """Return the object of a key."""
        return self.native.get(key)

    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None:
        """Return a part of the object of a key."""
        return self.native.get_range(key, start, length)

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the objects of several keys, all of which are asked for at once."""
        return self.native.get_many(keys)

    def get_documents(self, keys: Sequence[str], most: int) -> list[bytes | None]:
        """Return the objects of several keys, none of which may have more than so many bytes."""
        return self.native.get_many(keys, most)

    def get_tagged(self, key: str) -> tuple[bytes, str] | None:
        """Return the object of a key, and the tag that `put_if` wants to see."""
        return self.native.get_tagged(key)

    def put(self, key: str, data: Buffer) -> None:
        """Replace the object of a key."""
        self.native.put(check_key(key), data if type(data) is bytes else byte_view(key, data))

    def put_if(self, key: str, data: Buffer, tag: str | None) -> str | None:
        """Replace the object of a key if it is the one with this tag; without a tag, only if there is none.

        Returns:
            The tag of what is there now, or `None` if someone else was quicker and nothing was put.
        """
        return self.native.put_if(check_key(key), data if type(data) is bytes else byte_view(key, data), tag)

    def erase(self, key: str) -> bool:
        """Remove the object of a key."""
        return self.native.erase(key)

    def erase_prefix(self, prefix: str) -> None:
        """Remove all objects below a prefix."""
        self.native.erase_prefix(check_prefix(prefix))

    def list_prefix(self, prefix: str) -> list[str]:
        """List the keys of all objects below a prefix."""
        return self.native.list_prefix(check_prefix(prefix))

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        """List the keys right below a prefix, and the prefixes there."""
        return self.native.list_dir(check_prefix(prefix))

    def size(self, key: str) -> int | None:
        """Return the size of the object of a key."""
        return self.native.size(key)

    def exists(self, key: str) -> bool:
        """Whether a key has an object."""
        return self.native.exists(key)

    def __repr__(self) -> str:
        return f"CloudStore({self.uri!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CloudStore):
            return False
        mine, theirs = self.settled, other.settled
        return (self.uri, mine.config, mine.settings) == (other.uri, theirs.config, theirs.settings)

    def __hash__(self) -> int:
        return hash((CloudStore, self.uri))

    def __reduce__(self) -> tuple[object, ...]:
        return (_restored, (*self._again, self._up)) if self._up else (CloudStore, self._again)


def _restored(where: str, storage_options: Mapping[str, Any] | None, up: int) -> CloudStore:
    return CloudStore(where, storage_options).above(up)


def native_store(settled: Settled, prefix: str | None = None, *, trusted: bool = True) -> NativeStore:
    """Return the kernel's store of a place, or of another prefix of the same bucket.

    Args:
        settled: The place.
        prefix: The other prefix.
        trusted: Whether the caller has named the place; otherwise only public addresses are reached.
    """
    numbers = {name: float(value) for name, value in settled.settings.items() if not isinstance(value, str)}
    numbers.pop("requests", None)
    if settled.config.get("aws_conditional_put", "").lower() == "disabled":
        numbers["conditional"] = 0.0
    numbers.pop("cache_bytes", None)
    cache = cache_of(settled)
    headers = json.loads(settled.config.get("headers", "{}"))
    native = NativeStore(
        settled.kind,
        settled.config,
        settled.prefix if prefix is None else prefix,
        settled.uri,
        options=numbers,
        renew=settled.renew,
        cache=cache,
        trusted=trusted,
        headers=(list(headers.items()), [settled.config["url"]]) if headers else None,
    )
    if cache is not None:
        tell_of_trouble(cache[0], native)
    return native
