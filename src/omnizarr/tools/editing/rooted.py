"""A node together with the hierarchy that it is part of, however it was named.

`data.zarr/t` can be opened by its own path, as a store that begins there. What changes a node must know the groups
above it as well: their consolidated metadata hold a copy of its documents.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from omnizarr.errors import NotFoundError, OmnizarrError
from omnizarr.format.dialects import WRITABLE, dialect
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.group import Group
from omnizarr.hierarchy.listing import not_found
from omnizarr.hierarchy.nodes import Meta, load
from omnizarr.hierarchy.opening import Place, missing
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.store.file import FileStore
from omnizarr.store.protocol import Store
from omnizarr.store.wrap import ReadOnlyStore
from omnizarr.tools.nodes import Node

if TYPE_CHECKING:
    from omnizarr.store.cloud.store import CloudStore

_HIGHEST: Final = 32


class Rooted(NamedTuple):
    """A node, and where it is in the store that holds the topmost group above it."""

    context: Context
    path: str
    meta: Meta

    @property
    def node(self) -> Node:
        """A handle on the node."""
        if isinstance(self.meta, ArrayMeta):
            return Array(self.context, self.path, self.meta)
        return Group(self.context, self.path, self.meta)


def rooted(where: object, *, read_only: bool = False) -> Rooted:
    """Open a node in the store that holds the topmost group above it.

    Raises:
        NotFoundError: If no node is there.
        ReadOnlyError: If the store cannot be written, unless `read_only`.
    """
    place = Place(where, "r" if read_only else "r+")
    meta = place.load()
    if meta is None:
        raise _missing(place)
    context, path = place.context, place.path
    higher = topmost(context.store) if not path and meta.format in WRITABLE else None
    if higher is not None:
        outer = Context(higher[0], read_only=context.read_only)
        if _is_same(outer, higher[1], meta):
            return Rooted(outer, higher[1], meta)
    return Rooted(context, path, meta)


def topmost(store: Store) -> tuple[Store, str] | None:
    """Return the store of the topmost of the nodes above the place of a store, and the way down from there.

    Args:
        store: A folder, or a prefix of a bucket. Nothing is above any other.

    Returns:
        The store, read-only where the given one is, and a path; `None` if no node is above.
    """
    inner = store.inner if isinstance(store, ReadOnlyStore) else store
    found: tuple[Store, str]
    if isinstance(inner, FileStore):
        top, path = climb(inner.root)
        found = FileStore(top, durable=inner.durable), path
    elif hasattr(inner, "settled"):  # by which object stores are told
        found = _climb_bucket(cast("CloudStore", inner))
    else:
        return None
    if not found[1]:
        return None
    return (found[0] if inner is store else ReadOnlyStore(found[0])), found[1]


def _climb_bucket(store: CloudStore) -> tuple[Store, str]:
    """Do as `climb` does, in an object store."""
    found: tuple[Store, str] = store, ""
    top, inner = store, ""
    for _ in range(_HIGHEST):
        above, _, name = top.settled.prefix.rpartition("/")
        if not name:
            break
        top, inner = top.above(), f"{name}/{inner}" if inner else name
        if _meta_in(top) is not None:
            found = top, inner
        elif not above or _holds_anything(top):
            break
    return found


def _holds_anything(store: Store) -> bool:
    try:
        return any(store.list_dir(""))
    except OmnizarrError:  # there is no telling
        return True


def climb(folder: str) -> tuple[str, str]:
    """Return the topmost of the folders above a folder that are nodes one in the other, and the way down from it.

    Folders that do not exist yet may be on the way: a node will make groups of them.
    """
    top, inner = folder, ""
    found = top, inner
    for _ in range(_HIGHEST):
        above, name = os.path.split(top)
        if not name:
            break
        top, inner = above, f"{name}/{inner}" if inner else name
        if is_node(top):
            found = top, inner
        elif os.path.exists(top):  # noqa: PTH110 - pathlib takes long to import
            break
    return found


def is_group(folder: str) -> bool:
    """Whether a folder holds a group."""
    return isinstance(_meta(folder), GroupMeta)


def is_node(folder: str) -> bool:
    """Whether a folder holds a group or an array."""
    return _meta(folder) is not None


def _meta(folder: str) -> Meta | None:
    return _meta_in(FileStore(folder))


def _meta_in(store: Store) -> Meta | None:
    try:
        found = load(store, "")
    except OmnizarrError:  # what is broken up there does not concern who asks for something below
        return None
    # Where every folder is a group, that says nothing.
    return None if found is None or dialect(found.format).implicit_groups else found


def folder_of(store: Store) -> str | None:
    """Return the folder that a store is, if it is one."""
    inner = store.inner if isinstance(store, ReadOnlyStore) else store
    return inner.root if isinstance(inner, FileStore) else None


def _over(context: Context, top: str) -> Context:
    store: Store = FileStore(top)
    return Context(ReadOnlyStore(store) if context.read_only else store, read_only=context.read_only)


def _is_same(context: Context, path: str, meta: Meta) -> bool:
    try:
        return load(context.store, path) == meta
    except OmnizarrError:  # a link that leads out of the group, say
        return False


def _missing(place: Place) -> OmnizarrError:
    """Return the error for a place without a node, with the nearest name in the group above it."""
    folder = folder_of(place.context.store)
    if folder is not None and not place.path and not os.path.exists(folder):  # noqa: PTH110 - as above
        top, inner = climb(folder)
        if inner:
            return not_found(_over(place.context, top), inner)
    return missing(place)


def explained(error: NotFoundError, where: object) -> OmnizarrError:
    """Return the error of a place where nothing is, with the nearest name in the group above it."""
    try:
        place = Place(where, "r")
        place.load()  # which finds an archive on the way
        return not_found(place.context, place.path) if place.path else _missing(place)
    except OmnizarrError:
        return error
