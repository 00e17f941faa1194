"""Where a conversion reads and writes."""

from __future__ import annotations

import os
from typing import NamedTuple

from omnizarr.errors import ExistsError, MetadataError, NotFoundError, UnsupportedError
from omnizarr.format.dialects import dialect
from omnizarr.format.names import join
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.changing import seized
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.draft_view import DraftView
from omnizarr.hierarchy.group import Group
from omnizarr.hierarchy.listing import find_copy
from omnizarr.hierarchy.nodes import documents, load
from omnizarr.hierarchy.opening import Place, missing
from omnizarr.hierarchy.room import find_room
from omnizarr.hierarchy.transfer import check_apart
from omnizarr.hierarchy.upkeep import forget
from omnizarr.limits import Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.nc.kinds import is_named_as_file
from omnizarr.store.protocol import place_name
from omnizarr.tools.editing.rooted import topmost


class Spot(NamedTuple):
    """A place in a store."""

    context: Context
    path: str
    owned: bool
    """Whether the store was opened here, and is to be closed."""

    @property
    def name(self) -> str:
        """Where it is, for people."""
        return place_name(self.context.store, self.path)

    def close(self) -> None:
        """Close the store, if it was opened here and can be: an archive is written then."""
        store: object = self.context.store
        while self.owned and store is not None:
            close = getattr(store, "close", None)
            if close is not None:
                close()
                return
            store = getattr(store, "inner", None)


def spot_at(where: object, mode: str, limits: Limits) -> tuple[Spot, Place]:
    """Return a place to work at; a folder or prefix below a group is taken for a path in the store of that group."""
    place = _place_of(where, mode, limits)
    context, path = place.context, place.path
    owned = isinstance(where, (str, os.PathLike))
    if mode != "r" and not path and (higher := topmost(context.store)) is not None:
        place.context.store, path = higher
        place.path = path
    return Spot(context, path, owned), place


def _place_of(where: object, mode: str, limits: Limits) -> Place:
    if not isinstance(where, (Array, Group)):
        return Place(where, mode, limits=limits)
    store, path = where.store, where.path
    if isinstance(store, DraftView):
        return Place(store.inner, mode, f"{store.start}{path}".strip("/"), limits=limits)
    return Place(store, mode, path, limits=limits)


def node_at(spot: Spot, place: Place, only: str | None = None) -> tuple[Spot, ArrayMeta | GroupMeta]:
    """Return what is at a place; in a hierarchy of a draft the place becomes one in a view of that.

    Args:
        spot: The place.
        place: The same as it was opened.
        only: The format to look for, where there may be documents of several.

    Raises:
        NotFoundError: Nothing is there.
    """
    meta = place.load(only)
    if meta is None and place.context.read_only:
        meta = find_copy(place.context, place.path)
    if meta is None:
        raise missing(place)
    return spot._replace(context=place.context, path=place.path), meta


def check_in_place(spot: Spot, meta: ArrayMeta | GroupMeta, form: str) -> None:
    """Refuse what cannot be converted where it is.

    Raises:
        UnsupportedError: It is a hierarchy of a draft.
        MetadataError: It lies in a group of another format.
    """
    if isinstance(spot.context.store, DraftView):
        hint = "Give a target, and erase the old hierarchy afterwards."
        message = "documents and chunks of a draft of Zarr v3 lie apart, so it cannot be converted in place"
        raise UnsupportedError(message, path=spot.name, hint=hint)
    above = spot.path
    while above and meta.format != form and dialect(form).has_groups:
        above = above.rpartition("/")[0]
        group = load(spot.context.store, above, spot.context.limits)
        if group is not None and group.format != form:
            hint = "Convert the whole hierarchy, or give a target."
            message = f"it lies in a group of the format {group.format}, which cannot hold one of {form}"
            raise MetadataError(message, path=spot.name, hint=hint)


def make_room(target: Spot, form: str, *, overwrite: bool, begun: bool) -> dict[str, bytes]:
    """Look at the place of a new node, and erase what is there if it may be.

    Args:
        target: The place.
        form: The format of the new node.
        overwrite: Whether a node may be erased.
        begun: Whether what is there is the new node itself, of an earlier run.

    Returns:
        The documents, by key, of groups above it that are missing.

    Raises:
        ExistsError: A node is there.
        MetadataError: A group above has another format.
    """
    store, path = target.context.store, target.path
    exists, absent, *_ = find_room(target.context, path, form, None)
    if exists and not overwrite and not begun:
        hint = "pass overwrite=True to replace it, or choose another place"
        raise ExistsError("there is a node already", path=target.name, hint=hint)
    if exists and not begun:
        with seized(target.context, path):
            forget(store, path)
            store.erase_prefix(path + "/" if path else "")
    group = documents(GroupMeta(format=form)) if absent else {}
    return {join(one, name): text for one in absent for name, text in group.items()}


def check_two(source: Spot, target: Spot) -> None:
    """Refuse to convert a node into itself.

    Raises:
        ExistsError: The target is within the source, or holds it.
    """
    try:
        check_apart(source.context, source.path, target.context, target.path, "converted")
    except ExistsError as error:
        error.hint = "Leave out the target to convert it in place."
        raise


def check_name(where: object) -> None:
    """Refuse the name of a netCDF file for what becomes Zarr.

    Raises:
        UnsupportedError: It is one.
    """
    if is_named_as_file(where):
        hint = "'oz copy' writes netCDF files; for Zarr, give it another name"
        raise UnsupportedError(f"{where!s} is named as a netCDF or HDF5 file", hint=hint)


def check_target(where: object, form: str, limits: Limits, *, overwrite: bool) -> None:
    """Look whether a new node can be made at a place, as `make_room` would; nothing is made there.

    Raises:
        ExistsError: A node is there.
        NodeTypeError: An array is above it.
        MetadataError: A group above has another format.
        UnsupportedError: It is named as a netCDF file.
    """
    check_name(where)
    try:
        place = Place(where, "r", limits=limits)
        taken = place.load() is not None
    except (NotFoundError, UnsupportedError):
        return
    if taken and not overwrite:
        hint = "pass overwrite=True to replace it, or choose another place"
        raise ExistsError("there is a node at the target already", hint=hint)
    context, path = place.context, place.path
    if not path and (higher := topmost(context.store)) is not None:
        context, path = Context(higher[0], read_only=True, limits=limits), higher[1]
    find_room(context, path, form, None)
