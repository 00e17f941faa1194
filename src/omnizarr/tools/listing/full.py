"""The nodes below a node of any kind and in any store, by the model; see `listing` for what they are listed for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from omnizarr.errors import LimitError, OmnizarrError
from omnizarr.format.names import join
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.listing import Found, walk
from omnizarr.hierarchy.tree import grid_text
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import inner_codecs, sharding_of
from omnizarr.model.group import GroupMeta
from omnizarr.tools.listing.entries import Entry, Layout, Lengths, matching
from omnizarr.tools.nodes import Node, context_of, open_at


def list_nodes(
    where: object, path: str | None = None, depth: int | None = None, patterns: Sequence[str] = (), *, stored: bool
) -> list[Entry]:
    """List nodes as `listing.list_nodes` does, whatever they are."""
    node = open_at(where, path=path)
    found = {inner: (meta, copied) for inner, meta, copied in _walk(node, depth)}
    entries = matching([entry_of(inner, meta) for inner, (meta, _) in found.items()], patterns)
    if not stored:
        return entries
    return [_measured(node, entry, *found[entry.path]) for entry in entries]


def _walk(node: Node, depth: int | None) -> Iterator[tuple[str, Found, bool]]:
    yield "", node.metadata, False
    if isinstance(node, Array) or depth == 0:
        return
    context = context_of(node)
    yield from walk(context, node.path, node.format, None if depth is None else depth - 1)


def entry_of(path: str, meta: Found) -> Entry:
    """Return what a listing says of a node."""
    if isinstance(meta, ArrayMeta):
        return Entry(path, "array", meta.format, meta.shape, meta.dims, _layout(meta), meta.attributes)
    if isinstance(meta, GroupMeta):
        return Entry(path, "group", meta.format, attributes=meta.attributes)
    return Entry(path, "unreadable", error=meta.message)


def _layout(meta: ArrayMeta) -> Layout:
    sharding = sharding_of(meta.codecs)
    codecs = meta.codecs if sharding is None else inner_codecs(sharding)
    return Layout(
        dtype=meta.dtype.label,
        itemsize=None if meta.dtype.is_vlen else meta.dtype.numpy.itemsize,
        chunks=_lengths(meta, sharded=False) or (),
        chunks_text=grid_text(meta.cells),
        shards=None if sharding is None else _lengths(meta, sharded=True),
        shards_text=None if sharding is None else grid_text(meta.grid),
        codecs=tuple(codec.name for codec in codecs),
    )


def _lengths(meta: ArrayMeta, *, sharded: bool) -> tuple[Lengths, ...] | None:
    try:
        return meta.shards if sharded else meta.chunks
    except LimitError:  # too many of different lengths to list
        return ()


def _measured(node: Node, entry: Entry, meta: Found, copied: bool) -> Entry:
    if not isinstance(meta, ArrayMeta):
        return entry
    array = Array(context_of(node), join(node.path, entry.path) if entry.path else node.path, meta, unchecked=copied)
    try:
        return entry._replace(nbytes_stored=array.nbytes_stored)
    except OmnizarrError:  # the codecs are not to be had, say; the rest of the list is still of use
        return entry
