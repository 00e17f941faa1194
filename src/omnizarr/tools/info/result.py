"""What `info` says, as values; without NumPy, for which a command shall not wait."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from omnizarr.model.jsonvalue import JSON
from omnizarr.tools.info.remark import Remark

if TYPE_CHECKING:
    from omnizarr.model.grid import Lengths
    from omnizarr.tools.census import Census


class ArrayInfo(NamedTuple):
    """What an array is."""

    shape: tuple[int, ...]
    dims: tuple[str | None, ...] | None
    dtype: str
    chunks: tuple[Lengths, ...]
    shards: tuple[Lengths, ...] | None
    codecs: str
    """In words, in the order of writing; those of the inner chunks where sharded."""

    codecs_json: tuple[Mapping[str, JSON], ...]
    """As a v3 document has them."""

    fill_value: Any
    """`None` where it is undefined."""

    order: str
    first_key: str
    """Key of the first chunk below the array's path, as a sample."""

    nbytes: int
    """Bytes of all elements in memory."""

    chunk_nbytes: int
    """Bytes of a chunk, an inner one where sharded, in memory."""

    shard_nbytes: int | None
    nchunks: int
    """Chunks, inner ones where sharded, that the shape makes."""

    census: Census | None
    """What is stored of it; `None` if nobody asked."""

    ratio: float | None
    """Bytes in memory of the stored chunks by the bytes that they take up."""


class GroupInfo(NamedTuple):
    """What a group holds, at any depth."""

    arrays: int
    groups: int
    nbytes: int
    """Bytes of all elements in memory."""

    consolidated: str
    """"none", "in step", "stale", "only" (there are no other documents) or "not compared" (the store is distant)."""

    stale: tuple[str, ...]
    """Which entries of consolidated metadata are behind the documents, in words."""

    unreadable: tuple[tuple[str, str], ...]
    """Paths of nodes that cannot be read, and why."""

    chunks: int | None = None
    """Chunks of all arrays, one for each key; `None` if nobody asked."""

    present: int | None = None
    nbytes_stored: int | None = None


class Info(NamedTuple):
    """What is at a place."""

    name: str
    """The node's path in its store, with a slash in front."""

    uri: str
    """The store."""

    store: str
    """The kind of store: "file", "zip", "memory" …"""

    kind: str
    """"array" or "group"."""

    format: str
    """The dialect, as `format=` takes it."""

    what: str
    """In words: "Zarr v2 array"."""

    reason: str
    """How that was found out."""

    attributes: Mapping[str, JSON]
    conventions: tuple[str, ...]
    array: ArrayInfo | None
    group: GroupInfo | None
    remarks: tuple[Remark, ...]
    """What is odd about it."""
