"""Work on whole subtrees: copying nodes byte for byte, and consolidating their metadata."""

from __future__ import annotations

from omnizarr.errors import ExistsError
from omnizarr.format.consolidated import is_document, render_v2, render_v3
from omnizarr.format.names import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETADATA, join
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.listing import walk
from omnizarr.hierarchy.nodes import Meta, load
from omnizarr.hierarchy.save import create
from omnizarr.hierarchy.upkeep import record
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta


def copy_node(source: Context, path: str, meta: Meta, target: Context, new_path: str, *, overwrite: bool) -> None:
    """Copy a node, with all below it, byte for byte; the node's own documents last, so that it shows up whole.

    Raises:
        ExistsError: If something is at the new path, unless `overwrite`.
    """
    target.check_writable(new_path)
    if not overwrite and load(target.store, new_path, target.limits) is not None:
        raise ExistsError("there is a node already", path=new_path, hint="pass overwrite=True to replace it")
    parent, _, _ = new_path.rpartition("/")
    if parent and load(target.store, parent, target.limits) is None:
        create(target, parent, GroupMeta(format=meta.format), overwrite=False)
    start, new_start = path + "/" if path else "", new_path + "/"
    if overwrite:
        target.store.erase_prefix(new_start)
    own = [start + name for name in (ZATTRS, ZARRAY, ZGROUP, ZARR_JSON)]
    keys = [key for key in source.store.list_prefix(start) if key not in own]
    written: dict[str, bytes] = {}
    for key in (*sorted(keys, key=is_document), *own):
        data = source.store.get(key)
        if data is not None:
            new_key = new_start + key[len(start) :]
            target.store.put(new_key, data)
            if is_document(key):
                written[new_key] = data
    record(target.store, new_path, written, erase=True)


def consolidate(context: Context, path: str, meta: GroupMeta) -> None:
    """Write consolidated metadata into a group's own documents.

    Raises:
        ReadOnlyError: If the store is opened for reading.
    """
    context.check_writable(path)
    store = context.store
    plain = Context(store, read_only=True, limits=context.limits)
    start = path + "/" if path else ""
    nodes = [(inner, found) for inner, found, _ in walk(plain, path, meta.format, None) if found.format == meta.format]
    if meta.format == "zarr3":
        keys = [f"{inner}/{ZARR_JSON}" for inner, _ in nodes]
        key = start + ZARR_JSON
        own = store.get(key)
        if own is not None:
            store.put(key, render_v3(own, _texts(context, start, keys)))
        return
    keys = [ZGROUP, ZATTRS]
    for inner, found in nodes:
        keys += (f"{inner}/{ZARRAY if isinstance(found, ArrayMeta) else ZGROUP}", f"{inner}/{ZATTRS}")
    store.put(join(path, ZMETADATA), render_v2(_texts(context, start, keys)))


def _texts(context: Context, start: str, keys: list[str]) -> dict[str, bytes]:
    values = context.store.get_many([start + key for key in keys])
    return {key: value for key, value in zip(keys, values, strict=True) if value is not None}
