"""One look at a place: what is there, in which dialect and store, and why; or what it is instead, and what is near."""

from __future__ import annotations

import os
from typing import Final, NamedTuple

from omnizarr.errors import NotFoundError, OmnizarrError, UnsupportedError
from omnizarr.format.dialects import DIALECTS, DRAFT
from omnizarr.format.names import ZMETADATA, join
from omnizarr.hierarchy.consolidated import load_block
from omnizarr.hierarchy.listing import nearest
from omnizarr.hierarchy.nearby import folder_above, node_above, nodes_below
from omnizarr.hierarchy.nodes import format_of
from omnizarr.hierarchy.opening import Place
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.store.file import FileStore, local_path
from omnizarr.store.protocol import Store
from omnizarr.store.sniff import SET, sniff, sniff_file, with_article

_NAMES: Final = {
    "zarr3": "Zarr v3",
    "zarr2": "Zarr v2",
    "zarr1": "Zarr v1",
    "zarr0": "Zarr v0",
    "zarr3-draft": "draft of Zarr v3",
    "n5": "N5",
}
_STORES: Final = {
    "FileStore": "file",
    "ZipStore": "zip",
    "MemoryStore": "memory",
    "DictStore": "memory",
    "ReferenceStore": "references",
}
_FILES: Final = {
    "HDF5 file": "netCDF-4/HDF5",
    "netCDF classic file": "netCDF-3",
    "GRIB file": "GRIB",
    "TIFF file": "TIFF",
    "FITS file": "FITS",
}
"""What files are called that open by way of references."""

_MOST_SHOWN: Final = 4


class Detected(NamedTuple):
    """What is at a place."""

    what: str
    """In words: "Zarr v2 array", "PNG image", "empty directory", "missing" …"""

    format: str
    """The dialect as `format=` takes it, or the empty string for what is no node."""

    kind: str
    """"array", "group", or the empty string where that cannot be told."""

    store: str
    """Where it is: "file", "zip", "memory", or the name of another store; empty if it is not in any."""

    reason: str
    """How that was found out, or what is wrong with it."""

    near: tuple[str, ...] = ()
    """What can be opened instead: above it, below it, or of a similar name."""


def detect(where: object, path: str | None) -> Detected:
    """Say what is at a place; see `omnizarr.detect`."""
    local = _local(where)
    if local is not None:
        sniffed = sniff_file(local)
        # A node of a draft need not have a folder of its own.
        if sniffed is not None and sniffed.what not in ("zip file", "missing", SET):
            return _not_a_folder(local, sniffed.what, sniffed.cure)
    try:
        place = Place(where, "r", path)
        place.look()
    except OmnizarrError as error:
        return Detected("unreadable", "", "", "", str(error.args[0] if error.args else error))
    return look(place)


def _local(where: object) -> str | None:
    if not isinstance(where, (str, os.PathLike)):
        return None
    try:
        return local_path(where)
    except OmnizarrError:
        return None


def look(place: Place) -> Detected:
    """Say what is at a place that has a store."""
    base = _base(place.context.store)
    local = base.root if isinstance(base, FileStore) else None
    store = _store_name(base)
    try:
        meta = place.load()
        block = None if meta is not None else load_block(place.context.store, place.path, place.context.limits)
    except OmnizarrError as error:
        return _broken(place, store, error)
    if isinstance(meta, (ArrayMeta, GroupMeta)):
        return of_node(place, meta)
    if block is not None:
        reason = f"there is {ZMETADATA}, and no other document"
        return Detected("Zarr v2 group", "zarr2", "group", store, reason)
    sniffed = sniff_file(local) if local is not None else None
    if local is not None and sniffed is not None:
        return _not_a_folder(local, sniffed.what, sniffed.cure)
    return _nothing(place, local, store)


def of_node(place: Place, meta: ArrayMeta | GroupMeta) -> Detected:
    """Say what a node is that was found at a place."""
    kind = "array" if isinstance(meta, ArrayMeta) else "group"
    base = _base(place.context.store)
    store = _store_name(base)
    file = _FILES.get(getattr(base, "what", ""))
    if file is not None:
        reason = f"the file is read by references, as {_NAMES[meta.format]}"
        return Detected(f"{file} {kind}", meta.format, kind, store, reason)
    return Detected(f"{_NAMES[meta.format]} {kind}", meta.format, kind, store, _reason(place, meta.format))


def _store_name(base: Store) -> str:
    return _STORES.get(type(base).__name__, type(base).__name__)


def _reason(place: Place, name: str) -> str:
    store, path = place.context.store, place.path
    if name == DRAFT.name:
        return "there are documents below 'meta/'"
    found = [one for one in DIALECTS[name].nodes if store.exists(join(path, one))]
    others = [
        document
        for one in DIALECTS.values()
        if one.name not in (name, DRAFT.name)
        for document in one.nodes
        if store.exists(join(path, document))
    ]
    also = f"; {' and '.join(map(repr, others))} beside it counts less" if others else ""
    return f"there is {' and '.join(map(repr, found)) or 'a folder in N5'}{also}"


def _broken(place: Place, store: str, error: OmnizarrError) -> Detected:
    """Say what is wrong with the documents of what should be a node."""
    reason = str(error).partition("\n")[0]
    try:
        name = format_of(place.context.store, place.path) or ""
    except OmnizarrError:  # something that cannot be read lies in place of a document
        return Detected("unreadable", "", "", store, reason)
    for document in DIALECTS[name].nodes if name else ():
        head = place.context.store.get(join(place.path, document))
        what = "" if head is None else sniff(head).what
        if what in ("HTML page", "XML document", "empty file") or (what and what.endswith("image")):
            return Detected(f"{what} in place of {document}", "", "", store, reason)
    return Detected(f"{_NAMES.get(name, 'Zarr')} that cannot be read", name, "", store, reason)


def _nothing(place: Place, local: str | None, store: str) -> Detected:
    inner, path = place.context.store, place.path
    keys, prefixes = inner.list_dir(path + "/" if path else "")
    start = f"{local.rstrip('/')}/" if local and store == "file" else ""
    near = [start + one for one in nodes_below(inner, path)]
    above = node_above(inner, path) if path else folder_above(local) if local and store == "file" else None
    if above is not None:
        near.insert(0, above or "/")
    if keys or prefixes:
        names = [one.rstrip("/").rpartition("/")[2] for one in (*keys, *prefixes)]
        shown = ", ".join(names[:_MOST_SHOWN]) + (", …" if len(names) > _MOST_SHOWN else "")
        what = "directory" if store == "file" else "zip file" if store == "zip" else "store without a node"
        return Detected(what, "", "", store, f"it holds {shown}, and no document of Zarr", tuple(near))
    what = "empty directory" if store == "file" else "zip file" if store == "zip" else "empty store"
    return Detected(what, "", "", store, "there is nothing in it", tuple(near))


def _not_a_folder(path: str, what: str, cure: str) -> Detected:
    above = folder_above(path)
    near = [above] if above is not None else []
    if what == "missing":
        similar = _similar(path)
        near += [similar] if similar is not None and similar not in near else []
        return Detected(what, "", "", "", "nothing has that name", tuple(near))
    reason = cure or f"it begins as a {what} does"
    return Detected(what, "", "", "", reason, tuple(near))


def _similar(path: str) -> str | None:
    """Return what in the folder around a path has the name most like it."""
    folder, _, name = path.replace("\\", "/").rstrip("/").rpartition("/")
    try:
        keys, prefixes = FileStore(folder or "/").list_dir("")
    except OmnizarrError:
        return None
    near = nearest(name, [*keys, *(prefix[:-1] for prefix in prefixes)])
    return f"{folder}/{near}" if near and near != name else None


def _base(store: Store) -> Store:
    """Return the store that others are wrapped around."""
    inner: Store | None = getattr(store, "inner", None)
    return store if inner is None else _base(inner)


def error_of(found: Detected, path: str, hint: str | None = None) -> OmnizarrError:
    """Return the error for a place that cannot be opened."""
    cures = [f"did you mean {found.near[0]!r}?" if found.near else None, hint]
    text = "\n".join(one for one in cures if one) or None
    if found.what == "missing":
        return NotFoundError("nothing is there", path=path, hint=text)
    what = f"something {found.what}" if found.what == "unreadable" else with_article(found.what)
    message = f"this is {what}, not an array or group: {found.reason}"
    if found.store:
        return NotFoundError(message, path=path, hint=text)
    return UnsupportedError(message, path=path, hint=text)
