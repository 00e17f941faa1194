"""Erasing nodes: their documents and chunks, and nothing that only lies beside these."""

from __future__ import annotations

import contextlib
import os
from typing import NamedTuple

from omnizarr.errors import NodeTypeError, OmnizarrError, UnsupportedError
from omnizarr.format.dialects import ZARR2, ZARR3, dialect
from omnizarr.format.names import ZMETADATA, join
from omnizarr.hierarchy.changing import seized
from omnizarr.hierarchy.listing import walk
from omnizarr.hierarchy.real_keys import with_real_keys
from omnizarr.hierarchy.upkeep import forget, record
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.store.file import FileStore
from omnizarr.store.protocol import Store, place_name
from omnizarr.store.wrap import PrefixStore
from omnizarr.store.zip import ZipStore
from omnizarr.tools.editing.rooted import Rooted, rooted
from omnizarr.tools.progress import Progress, silent

_OWN = ".omnizarr-"
_DOCUMENTS = frozenset((*ZARR3.documents, *ZARR2.documents, ZMETADATA))


class Doomed(NamedTuple):
    """A node that is to be erased."""

    place: Rooted
    nodes: int
    """How many nodes that are, itself among them."""

    documents: list[str]
    """What is erased first: without it nobody takes missing chunks for empty ones."""

    chunks: list[str]
    """What is erased then."""

    others: list[str]
    """What lies below the node and is not Zarr's; it is left there."""

    @property
    def keys(self) -> list[str]:
        """All that is erased."""
        return self.documents + self.chunks

    @property
    def uri(self) -> str:
        """Where the node is."""
        return place_name(self.place.context.store, self.place.path)

    @property
    def kind(self) -> str:
        """What the node is."""
        return "array" if isinstance(self.place.meta, ArrayMeta) else "group"


def condemn(where: object, *, recursive: bool = False) -> Doomed:
    """Find out what erasing a node would erase; nothing is changed.

    Args:
        where: The node, as for `omnizarr.open`.
        recursive: Whether a group may hold nodes, which go with it.

    Raises:
        NotFoundError: If no node is there.
        NodeTypeError: If it is a group that holds nodes, unless `recursive`.
        ReadOnlyError: If it cannot be written.
        UnsupportedError: If it is a link.
    """
    place = rooted(where)
    context, path, meta = place.context.for_format(place.meta.format), place.path, place.meta
    context.check_writable(path)
    _check_no_link(context.store, path)
    found: dict[str, ArrayMeta | GroupMeta | OmnizarrError] = {path: meta}
    if isinstance(meta, GroupMeta):
        found |= {join(path, inner): one for inner, one, _ in walk(context, path, meta.format, None)}
    if len(found) > 1 and not recursive:
        message = f"the group holds {len(found) - 1} other node{'s' if len(found) > 2 else ''}"
        raise NodeTypeError(message, path=place_name(context.store, path), hint="-r erases them, too")
    found = {
        one: with_real_keys(context.store, one, its, near=context.is_near) if isinstance(its, ArrayMeta) else its
        for one, its in found.items()
    }
    start = path + "/" if path else ""
    documents: list[str] = []
    chunks: list[str] = []
    others: list[str] = []
    for key in context.store.list_prefix(start):
        owned = _owned(key, found, path)
        (others if owned is None else documents if owned == "document" else chunks).append(key)
    return Doomed(place, len(found), documents, chunks, others)


def _check_no_link(store: Store, path: str) -> None:
    """Refuse a link: what it leads to is elsewhere, and may be of use to others.

    Raises:
        UnsupportedError: It is one.
    """
    if isinstance(store, FileStore) and os.path.islink(store.path(path) if path else store.root):  # noqa: PTH114
        message = "it is a link, and what that leads to is not erased through it"
        raise UnsupportedError(message, path=place_name(store, path), hint="remove the link itself with 'rm'")


def _owned(key: str, found: dict[str, ArrayMeta | GroupMeta | OmnizarrError], top: str) -> str | None:
    """Return what a key holds for the nearest node above it, or `None` if that has no such key."""
    node = key
    while node != top:
        node = node.rpartition("/")[0]
        if node in found:
            break
    meta = found[node]
    name = key[len(node) + 1 :] if node else key
    if isinstance(meta, OmnizarrError):  # there is no telling what its chunks are called
        return "chunk"
    if name in _DOCUMENTS or name in dialect(meta.format).documents:
        return "document"
    if name.startswith(_OWN):  # journals, and what waited for the work that they tell of
        return "chunk"
    return "chunk" if isinstance(meta, ArrayMeta) and meta.keys.parse(name, meta.ndim) is not None else None


def erase(doomed: Doomed, *, progress: Progress = silent) -> None:
    """Erase what `condemn` found, and forget it in the consolidated metadata of the groups above."""
    place = doomed.place
    context, path = place.context, place.path
    store, keys = context.store, doomed.keys
    with seized(context, path):
        forget(store, path)
        for done, key in enumerate(doomed.documents, 1):
            store.erase(key)
            progress(done, len(keys), 0)
        if path:
            record(store, path, (), below=True)
        for done, key in enumerate(doomed.chunks, len(doomed.documents) + 1):
            store.erase(key)
            progress(done, len(keys), 0)
        if isinstance(store, FileStore):
            _prune(store, path, keys)
    archive = _emptied(store)
    place.node.close()  # which writes an archive
    if archive is not None:
        os.unlink(archive)  # noqa: PTH108 - pathlib takes long to import


def _emptied(store: Store) -> str | None:
    """Return the path of an archive that holds nothing any more."""
    inner = store.inner if isinstance(store, PrefixStore) else store
    if not isinstance(inner, ZipStore) or next(iter(inner.list_prefix("")), None) is not None:
        return None
    return inner.path


def _prune(store: FileStore, path: str, keys: list[str]) -> None:
    """Remove the folders that are empty now."""
    folders = {store.path(path) if path else store.root}
    for key in keys:
        above = key.rpartition("/")[0]
        while above and above != path and store.path(above) not in folders:
            folders.add(store.path(above))
            above = above.rpartition("/")[0]
    for folder in sorted(folders, key=len, reverse=True):
        with contextlib.suppress(OSError):  # something else is in it
            os.rmdir(folder)  # noqa: PTH106 - as above
