"""From a place and a mode to a handle."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module  # for what few stores need
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from omnizarr.errors import ExistsError, MetadataError, NotFoundError, OmnizarrError, ReadOnlyError, UnsupportedError
from omnizarr.format.dialects import DRAFT, ZARR2
from omnizarr.format.names import ZMETADATA, join, normal_path
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.create import ArrayOptions, check_format
from omnizarr.hierarchy.group import Group
from omnizarr.hierarchy.grown import finish_growth
from omnizarr.hierarchy.listing import find_copy, not_found
from omnizarr.hierarchy.nodes import COMMON, Meta, format_of, implied, load
from omnizarr.hierarchy.resize import finish_cut
from omnizarr.hierarchy.save import create
from omnizarr.hierarchy.seen import SeenStore
from omnizarr.hierarchy.unfinished import CUT, GROWTH, has_note
from omnizarr.late import LateModule
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.native import CloudStore as NativeCloud
from omnizarr.store.cloud.at import At
from omnizarr.store.file import FileStore
from omnizarr.store.protocol import Store, get_documents, kernel_target, place_name
from omnizarr.store.resolve import resolve

if TYPE_CHECKING:
    from omnizarr.hierarchy import nearby
else:
    nearby = LateModule("omnizarr.hierarchy.nearby")

Mode: TypeAlias = Literal["r", "r+", "a", "w", "w-"]
Format: TypeAlias = Literal["zarr3", "zarr2", "zarr1", "zarr0", "zarr3-draft", "n5"]

_MODES: Final = ("r", "r+", "a", "w", "w-")


class Place:
    """A place that a user named: the store behind it, opened as the mode asks, and the path in it.

    `listed` says that the names below it will be wanted next, for which a distant store can be asked meanwhile.
    """

    __slots__ = ("_given", "_unseen", "context", "listed", "path")

    def __init__(
        self,
        where: object,
        mode: str,
        path: str | None = None,
        *,
        limits: Limits = DEFAULT_LIMITS,
        cache_bytes: int = 0,
        write_empty: bool = False,
        listed: bool = False,
    ) -> None:
        if mode not in _MODES:
            raise MetadataError(f"mode is {mode!r}, not one of {', '.join(_MODES)}")
        read_only = mode == "r"
        # Most places are folders, and those that are read are looked at only if they turn out not to be.
        self._unseen = where if read_only and isinstance(where, (str, os.PathLike, At)) and not _is_url(where) else None
        self._given = path
        store, start = _resolved(where, read_only=read_only, limits=limits, look=self._unseen is None)
        if not read_only and store.read_only:
            raise ReadOnlyError(f"the store is read-only, so it cannot be opened with mode {mode!r}", path=path)
        self.path = self._path_from(start)
        self.listed = listed and read_only
        self.context = Context(
            store, read_only=read_only, limits=limits, write_empty=write_empty, cache_bytes=cache_bytes
        )

    def _path_from(self, start: str) -> str:
        return join(start, normal_path(self._given)).strip("/") if self._given is not None else start

    def look(self) -> bool:
        """Look at what the place is, if it has not been; say whether it is something else than a folder.

        Raises:
            UnsupportedError: If it is a file that cannot be opened.
        """
        if self._unseen is None:
            return False
        where, self._unseen = self._unseen, None
        store, start = _resolved(where, read_only=True, limits=self.context.limits, look=True)
        self.context.store, self.path = store, self._path_from(start)
        self.context.seen = None
        found = getattr(store, "inner", store)
        return not isinstance(found, FileStore) and not hasattr(found, "settled")  # which is a folder, too

    def load(self, only: str | None = None) -> Meta | None:
        """Return what is there, or `None` if no node is; in a hierarchy of a draft the store becomes a view of that.

        Args:
            only: Name of the format to look for alone.

        Raises:
            MetadataError: If a document breaks its specification.
        """
        context = self.context
        plain = only != DRAFT.name
        with context.placing(self.path):
            meta = load(self._first(only), self.path, context.limits, only) if plain else None
        if meta is None and self.look() and plain:
            meta = load(context.store, self.path, context.limits, only)
        if meta is not None or only not in (None, DRAFT.name):
            return meta
        return self._load_other()

    def _first(self, only: str | None) -> Store:
        """Return the store, or a view of it for which all documents that may be needed were fetched at once."""
        context = self.context
        if context.is_near or only is not None:
            return context.store
        if self.listed:
            ahead, prefix = kernel_target(context.store, self.path + "/" if self.path else "")
            if isinstance(ahead, NativeCloud):
                ahead.list_ahead(prefix)
        keys = [join(self.path, name) for name in (*COMMON, ZMETADATA)]
        values = get_documents(context.store, keys, context.limits.max_document_bytes)
        context.seen = dict(zip(keys, values, strict=True))
        return SeenStore(context.store, context.seen)

    def _load_other(self) -> Meta | None:
        """Return what is there if it is in a draft, or without a document of its own."""
        context, meta = self.context, None
        found = import_module("omnizarr.hierarchy.draft_view").find_draft(context.store, self.path, context.limits)
        if found is not None:
            context.store, self.path = found
            context.seen = None
            meta = load(context.store, self.path, context.limits, DRAFT.name)
        if meta is None and not self.path:
            found = import_module("omnizarr.hierarchy.above").find_above(context.store, context.limits)
            if found is not None:
                context.store, self.path = found
                context.seen = None
                meta = load(context.store, self.path, context.limits)
        if meta is None and self.path:
            meta = implied(context.store, self.path)
        return meta


def open_node(place: Place, mode: str, dialect: str | None, consolidated: bool | None) -> Array | Group:
    """Open what is at a place, or create a group there as the mode says.

    Raises:
        NotFoundError: If nothing is there, or consolidated metadata is insisted on and missing.
        ExistsError: If something is there, for "w-".
    """
    context, path = place.context, place.path
    if mode in ("w", "w-"):
        return _new_group(context, path, dialect, overwrite=mode == "w")
    if consolidated and mode != "r":
        raise MetadataError("consolidated metadata is only for reading", hint='open with mode="r"')
    meta = place.load(dialect)
    context, path = place.context, place.path
    context.form = dialect or ""
    copied = False
    if mode == "r" and consolidated is not False and not isinstance(meta, ArrayMeta):
        if meta is None:
            meta = find_copy(context, path) if dialect in (None, ZARR2.name) else None
            copied = meta is not None
        else:
            context.block_root = path
            if consolidated and context.block is None:
                raise NotFoundError("the group has no consolidated metadata", path=place_name(context.store, path))
    if isinstance(meta, ArrayMeta):
        tidy(context, path)
        return Array(context, path, meta, unchecked=copied)
    if meta is not None:
        tidy(context, path, finish_growth)
        return Group(context, path, meta)
    if mode == "a":
        other = format_of(context.store, path) if dialect is not None else None
        if other not in (None, dialect) or find_copy(context, path) is not None:
            raise missing(place)
        with context.lock, suppress(ExistsError):
            if load(context.store, path, context.limits, dialect) is None:
                return _new_group(context, path, dialect, overwrite=False)
        # Another thread or program was faster.
        return open_node(place, "r+", dialect, consolidated)
    raise missing(place)


def tidy(context: Context, path: str, finish: Callable[..., bool] = finish_cut) -> None:
    """Finish what a crash has left at a node that is opened for writing; among files only, where that is cheap."""
    if not context.read_only and has_note(context.store, path, CUT if finish is finish_cut else GROWTH):
        with suppress(OmnizarrError):  # somebody is at work there, or the next one tries again
            finish(context, path, wait=False)


def _new_group(context: Context, path: str, dialect: str | None, *, overwrite: bool) -> Group:
    check_format(dialect or "zarr3")
    meta = GroupMeta(format=dialect or "zarr3")
    return Group(context, path, create(context, path, meta, overwrite=overwrite))


def missing(place: Place) -> OmnizarrError:
    """Return the error for a place without a node, with the nearest name that there is."""
    store = place.context.store
    name = place_name(store, place.path)
    other = format_of(store, place.path)
    if other is not None:
        # Only who insists on a format gets here.
        hint = f'pass format="{other}", or none'
        return NotFoundError(f"what is there is {other}, which was not asked for", path=name, hint=hint)
    if find_copy(place.context, place.path) is not None:
        # Only who would write gets here.
        message = "there is nothing but consolidated metadata, which can only be read"
        return NotFoundError(message, path=name, hint='open it with mode="r"')
    create = None if place.context.read_only else 'mode="a" creates what is missing'
    if place.path:
        near = not_found(place.context, place.path).hint
        hint = "\n".join(one for one in (near, create) if one)
        return NotFoundError("nothing that can be opened is there", path=name, hint=hint or None)
    detect = import_module("omnizarr.hierarchy.detect")
    error: OmnizarrError = detect.error_of(detect.look(place), name, create)
    return error


def _resolved(where: object, *, read_only: bool, limits: Limits, look: bool) -> tuple[Store, str]:
    try:
        return resolve(where, read_only=read_only, limits=limits, look=look)
    except UnsupportedError as error:
        # A file inside an array, say: whoever names it wants the array.
        above = nearby.folder_above(error.path) if error.path else None
        if above is not None:
            error.hint = "\n".join(one for one in (f"did you mean {above!r}?", error.hint) if one)
        raise


def _is_url(where: object) -> bool:
    return isinstance(where, str) and where[:7].lower() in ("http://", "https:/")


def known_options(options: Mapping[str, Any]) -> ArrayOptions:
    """Check that keywords are those of a new array.

    Raises:
        TypeError: If one is not.
    """
    unknown = options.keys() - ArrayOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"unexpected keyword arguments {', '.join(sorted(unknown))}")
    return cast("ArrayOptions", dict(options))
