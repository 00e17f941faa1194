"""Writing nodes: creating, changing and erasing them, so that every state in between can be read.

Groups above a new node are made first, the node's own documents last; consolidated metadata follows at the end.
"""

from __future__ import annotations

from typing import Final

from omnizarr.errors import ExistsError, MetadataError, NodeTypeError
from omnizarr.format.consolidated import render_v3, split_v3
from omnizarr.format.names import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, check_new_path, join
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.nodes import Meta, documents, parse_v2, parse_v3
from omnizarr.hierarchy.upkeep import ancestors, block_keys, record
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta

_OWN: Final = (ZARR_JSON, ZARRAY, ZGROUP)


def create(context: Context, path: str, meta: Meta, *, overwrite: bool, parent: str | None = None) -> None:
    """Write the documents of a new node, and of the groups above it that are missing.

    Args:
        context: The store, opened for writing.
        path: The node's path.
        meta: The node.
        overwrite: Whether what is there may be erased, with all below it.
        parent: Path of a group above it that is known to exist.

    Raises:
        ExistsError: If something is there and must not be replaced.
        NodeTypeError: If one of the nodes above is an array.
        MetadataError: If a group above has another format.
        ReadOnlyError: If the store is opened for reading.
    """
    context.check_writable(path)
    path = check_new_path(path)
    store = context.store
    above = ancestors(path)
    unknown = [one for one in above if parent is None or not _is_within(parent, one)]
    keys = [join(path, name) for name in _OWN] + block_keys(above)
    keys += [join(one, name) for one in unknown for name in (ZARRAY, ZGROUP)]
    found = store.get_many(keys)
    blocks = found[3 : 3 + 2 * len(above)]
    exists = any(data is not None for data in found[:3])
    if exists and not overwrite:
        raise ExistsError(
            "there is a node already", path=path or "/", hint='pass overwrite=True or mode="w" to replace it'
        )
    rest = found[3 + len(blocks) :]
    missing = []
    for i, one in enumerate(unknown):
        document = blocks[2 * above.index(one)]
        if not _check_group(one, document, (rest[2 * i], rest[2 * i + 1]), meta.format, context):
            missing.append(one)
    if overwrite and (exists or path):
        store.erase_prefix(path + "/" if path else "")
    written: dict[str, bytes] = {}
    for one, node in (*((one, GroupMeta(format=meta.format)) for one in missing), (path, meta)):
        for name, data in documents(node).items():
            written[join(one, name)] = data
            store.put(join(one, name), data)
    if above:
        record(store, path, written, erase=exists, found=blocks)


def _is_within(path: str, parent: str) -> bool:
    return not parent or path == parent or path.startswith(parent + "/")


def _check_group(
    path: str, new: bytes | None, old: tuple[bytes | None, bytes | None], dialect: str, context: Context
) -> bool:
    """Say whether a node above a new one exists; raise if it is not a group that can hold it."""
    start = path + "/" if path else ""
    if new is not None:
        meta: Meta | None = parse_v3(new, start + ZARR_JSON, context.limits)
    else:
        meta = parse_v2(start, (*old, None), context.limits)
    if meta is None:
        return False
    if isinstance(meta, ArrayMeta):
        raise NodeTypeError("an array cannot hold other nodes", path=path or "/")
    if meta.format != dialect:
        raise MetadataError(
            f"the group has the format {meta.format}, so nothing of the format {dialect} can be made in it",
            path=path or "/",
            hint=f'pass format="{meta.format}"',
        )
    return True


def replace(context: Context, path: str, old: Meta, new: Meta) -> None:
    """Write the documents of a node that has changed.

    Raises:
        ReadOnlyError: If the store is opened for reading.
    """
    context.check_writable(path)
    store = context.store
    texts = documents(new)
    if new.format == "zarr2":
        texts.setdefault(ZATTRS, b"{}\n")
        if new.attributes == old.attributes:
            del texts[ZATTRS]
        elif _is_same_but_attributes(old, new):
            texts = {ZATTRS: texts[ZATTRS]}
    for name, text in texts.items():
        key = join(path, name)
        data = text
        if name == ZARR_JSON and isinstance(new, GroupMeta):
            current = store.get(key)
            block = None if current is None else split_v3(current, key)
            data = text if block is None else render_v3(text, block)
        if name == ZATTRS and not new.attributes:
            store.erase(key)
        else:
            store.put(key, data)
    itself = isinstance(new, GroupMeta) and new.format == "zarr2"
    if path or itself:
        record(store, path, {join(path, name): text for name, text in texts.items()}, itself=itself)


def _is_same_but_attributes(old: Meta, new: Meta) -> bool:
    if isinstance(old, GroupMeta) or isinstance(new, GroupMeta):
        return True
    return (old.shape, old.codecs, old.dims, old.extra) == (new.shape, new.codecs, new.dims, new.extra)


def erase(context: Context, path: str) -> None:
    """Erase a node with all below it.

    Raises:
        ReadOnlyError: If the store is opened for reading.
    """
    context.check_writable(path)
    context.store.erase_prefix(path + "/" if path else "")
    record(context.store, path, {}, erase=True)
