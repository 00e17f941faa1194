"""Giving a node another name or place within its hierarchy."""

from __future__ import annotations

import os
from typing import NamedTuple

from omnizarr.errors import ExistsError, NotFoundError, UnsupportedError
from omnizarr.format.names import check_new_path, join
from omnizarr.hierarchy.group import Group
from omnizarr.hierarchy.nodes import load
from omnizarr.hierarchy.opening import Place
from omnizarr.hierarchy.transfer import check_room
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.store.file import FileStore, local_path
from omnizarr.store.protocol import Store, place_name
from omnizarr.tools.editing.rooted import Rooted, is_group, rooted, topmost

_OTHER_STORE = "'oz copy' copies it there, and 'oz rm' erases the old one then"


class Moved(NamedTuple):
    """What was moved, or would be."""

    source: str
    """Where the node was: a URI."""

    target: str
    """Where it is now."""

    kind: str
    done: bool


def move(source: object, target: str | os.PathLike[str], *, dry_run: bool = False) -> Moved:
    """Move a node within its hierarchy; or the folder of one that is in no group.

    The consolidated metadata of the groups above both places are kept in step. In the file system that is one step,
    whatever the node's size; elsewhere the node is copied and then erased.

    Args:
        source: The node, as for `omnizarr.open`.
        target: Its new place; if a group is there, it goes into that and keeps its name.
        dry_run: Whether to say what would be done, and not do it.

    Raises:
        NotFoundError: If nothing is at the source.
        ExistsError: If something is at the target, or that is within the node itself.
        UnsupportedError: If the target is in another store.
    """
    old = rooted(source)
    kind = "array" if isinstance(old.meta, ArrayMeta) else "group"
    store = old.context.store
    folder = store.root if isinstance(store, FileStore) else None
    if not old.path and folder is not None:
        return _move_top(old, folder, local_path(target), kind, dry_run=dry_run)
    new_store, new_path = _target(target, old)
    if _name(new_store) != _name(store) or not old.path:
        raise UnsupportedError(
            "the two places are in two stores, and nodes are moved within one",
            path=place_name(new_store, new_path),
            hint=_OTHER_STORE,
        )
    new_path = check_new_path(new_path)
    with Group(old.context, "", _top(old)) as group:
        if load(store, new_path) is not None:
            raise ExistsError("there is a node already", path=place_name(store, new_path), hint="'oz rm' erases it")
        check_room(old.context, new_path, old.meta.format)
        if not dry_run:
            group.move(old.path, new_path)
    return Moved(place_name(store, old.path), place_name(store, new_path), kind, not dry_run)


def _top(old: Rooted) -> GroupMeta:
    meta = load(old.context.store, "")
    # An archive may hold nodes without a group above them.
    return meta if isinstance(meta, GroupMeta) else GroupMeta(format=old.meta.format)


def _target(target: str | os.PathLike[str], old: Rooted) -> tuple[Store, str]:
    """Return the store that a new place is in, and the path in it."""
    place = Place(target, "r+")
    store, path = place.context.store, place.path
    if not path:
        store, path = topmost(store) or (store, path)
    if isinstance(load(store, path), GroupMeta):
        path = join(path, old.path.rpartition("/")[2])
    return store, path


def _name(store: Store) -> str:
    return os.path.realpath(store.root) if isinstance(store, FileStore) else store.uri


def _move_top(old: Rooted, folder: str, new: str, kind: str, *, dry_run: bool) -> Moved:
    """Move a whole hierarchy, which is a folder like any other."""
    above, name = os.path.split(new)
    if os.path.isdir(new) and not is_group(new):  # noqa: PTH112 - pathlib takes long to import
        above, new = new, os.path.join(new, os.path.basename(folder))  # noqa: PTH118, PTH119
    uri = FileStore(new).uri
    if is_group(new) or (name and is_group(above)):
        message = "the place is in another hierarchy, and nodes are moved within one"
        raise UnsupportedError(message, path=uri, hint=_OTHER_STORE)
    if os.path.lexists(new):
        raise ExistsError("something is there already", path=uri)
    if not os.path.isdir(above):  # noqa: PTH112
        raise NotFoundError("there is no such folder", path=FileStore(above).uri)
    if f"{new}{os.sep}".startswith(f"{folder}{os.sep}"):
        raise ExistsError("a node cannot be moved into itself", path=uri)
    if not dry_run:
        try:
            os.rename(folder, new)  # noqa: PTH104
        except OSError as error:
            message = f"the folder cannot be moved there: {error.strerror}"
            raise UnsupportedError(message, path=uri, hint=_OTHER_STORE) from error
    return Moved(old.context.store.uri, uri, kind, not dry_run)
