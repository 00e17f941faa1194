"""A reference set as a store: the kernel finds, fetches and decodes; this hands it the columns."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from omnizarr import native
from omnizarr.errors import MetadataError
from omnizarr.late import LateModule
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.refset.grids import grids
from omnizarr.refset.guard import folder_of, spelled
from omnizarr.refset.model import References
from omnizarr.store.cloud.at import Hidden
from omnizarr.store.refusing import Refusing

connections: Any = LateModule("omnizarr.store.cloud.connect")
servers_of: Any = LateModule("omnizarr.store.cloud.servers")

_identities = itertools.count(1)

Again: TypeAlias = "Callable[[], ReferenceStore]"


class ReferenceStore(Refusing):
    """The keys of a reference set, to be read.

    >>> from omnizarr.refset.model import References
    >>> store = store_of(References({".zgroup": b'{"zarr_format": 2}'}), uri="memory:example")
    >>> store.get(".zgroup")
    b'{"zarr_format": 2}'
    """

    __slots__ = ("_again", "_keep", "native", "read_only", "uri", "what")

    refusal = "a reference set is only read"
    refusal_hint = "`oz refs` makes and changes reference sets."

    def __init__(
        self,
        inner: native.ReferenceStore,
        uri: str,
        again: Callable[[], ReferenceStore] | None = None,
        keep: object = None,
        what: str = "",
    ) -> None:
        """Make a store.

        Args:
            inner: The kernel's store.
            uri: Where the set is from, for messages.
            again: What makes the same store in another process, where it must be possible to send it: a `partial` of a
                function of a module, say. Without it the store stays in this process.
            keep: Kept as long as this is: a store that the kernel reads the set from, and that would close itself.
            what: What kind of file it is that was scanned, if it is one, in the words of `omnizarr.store.sniff`.
        """
        self._keep = keep
        self.native = inner
        self.uri = uri
        self.read_only = True
        self._again = again
        self.what = what

    def __reduce__(self) -> tuple[object, ...]:
        if self._again is None:
            raise TypeError(f"{self!r} cannot be sent to another process")
        return _made_again, (self._again,)

    def get(self, key: str) -> bytes | None:
        """Return the bytes that a key stands for."""
        return self.native.get(key)

    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None:
        """Return a part of what a key stands for."""
        return self.native.get_range(key, start, length)

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return what several keys stand for."""
        return self.native.get_many(keys)

    def list_prefix(self, prefix: str) -> list[str]:
        """List the keys below a prefix."""
        return self.native.list_prefix(prefix)

    def list_dir(self, prefix: str) -> tuple[Sequence[str], Sequence[str]]:
        """List what lies right below a prefix."""
        return self.native.list_dir(prefix)

    def size(self, key: str) -> int | None:
        """Return the number of bytes that a key stands for."""
        return self.native.size(key)

    def exists(self, key: str) -> bool:
        """Whether the set has the key."""
        return self.native.exists(key)

    def __repr__(self) -> str:
        return f"ReferenceStore({self.uri!r})"


def _made_again(again: Again) -> ReferenceStore:
    return again()


def new_identity() -> int:
    """Return a number that no other store of references has."""
    return next(_identities)


def store_of(
    references: References,
    *,
    uri: str,
    base: str = "",
    allow: Sequence[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    options: Mapping[str, Any] | None = None,
    what: str = "",
    servers: Sequence[str] | None = None,
) -> ReferenceStore:
    """Make the store of a set.

    Args:
        references: The set.
        uri: Where it is from, for messages.
        base: The folder that relative URLs are relative to.
        allow: What URLs may begin with; "*" allows everything.
        limits: Bounds on what documents may claim, and what the caller allows besides.
        options: Credentials and settings for the object stores that references lead to; headers for servers.
        what: What kind of file it is that was scanned, if it is one.
        servers: URLs of the servers that headers may go to; by default what `uri` and `allow` name.

    Raises:
        MetadataError: If the documents and the columns contradict each other.
    """
    made = native.References(references.urls)
    for key, data in references.documents.items():
        made.add_document(key, data)
    known = grids(references.documents, limits, {})
    for path, chunks in references.arrays.items():
        if path not in known:
            raise MetadataError("there are chunks but no document of an array", path=path)
        counts, keys = known[path]
        if counts != chunks.counts:
            raise MetadataError(f"references for a grid of {chunks.counts} chunks where it has {counts}", path=path)
        made.add_columns(
            path,
            (keys.prefix, keys.separator, keys.suffix, keys.scalar, keys.reversed),
            counts,
            chunks.numbers,
            np.ascontiguousarray(chunks.urls),
            np.ascontiguousarray(chunks.offsets),
            np.ascontiguousarray(chunks.lengths),
            chunks.inline,
        )
    stamps = {url: (stamp.size, stamp.modified, stamp.etag) for url, stamp in references.stamps.items()}
    allowed = spelled([*allow, *limits.allow])
    servers = servers_of.named_servers(uri, allowed) if servers is None else servers
    again = partial(
        store_of,
        references,
        uri=uri,
        base=base,
        allow=allow,
        limits=limits,
        options=options and Hidden(options),
        what=what,
        servers=servers,
    )
    headers = servers_of.for_set(servers, options)
    inner = made.store(folder_of(base), allowed, stamps, new_identity(), connecting(options), headers)
    return ReferenceStore(inner, uri, again, what=what)


def connecting(options: Mapping[str, Any] | None) -> Callable[[str, bool], tuple[object, str]]:
    """Return what finds the object stores that references lead to; they are made when one is."""
    found: Any = None

    def connect(url: str, trusted: bool) -> tuple[object, str]:
        nonlocal found
        if found is None:
            found = connections.Connections(options)
        answer: tuple[object, str] = found(url, trusted)
        return answer

    return connect
