"""Writing nodes: creating, changing and erasing them, so that every state in between can be read.

Groups above a new node are made first, the node's own documents last; consolidated metadata follows at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from omnizarr.errors import ExistsError, MetadataError, NodeTypeError
from omnizarr.format.consolidated import render_v3, split_v3
from omnizarr.format.dialects import DIALECTS, ZARR2, ZARR3, dialect
from omnizarr.format.names import ZARR_JSON, check_new_path, join
from omnizarr.format.parsed import parse_v2, parse_v3
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.nodes import Meta, checked, documents
from omnizarr.hierarchy.upkeep import ancestors, block_keys, record
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON

_Node = TypeVar("_Node", ArrayMeta, GroupMeta)

_OWN: Final = tuple(name for one in DIALECTS.values() for name in one.nodes)
_COMMON: Final = (*ZARR3.nodes, *ZARR2.nodes)


def create(context: Context, path: str, meta: _Node, *, overwrite: bool, parent: str | None = None) -> _Node:
    """Write the documents of a new node, and of the groups above it that are missing.

    Nothing is erased or written before all that can be checked has been.

    Args:
        context: The store, opened for writing.
        path: The node's path.
        meta: The node.
        overwrite: Whether what is there may be erased, with all below it.
        parent: Path of a group above it that is known to exist.

    Returns:
        The node as the documents say it.

    Raises:
        ExistsError: If something is there and must not be replaced.
        NodeTypeError: If one of the nodes above is an array.
        MetadataError: If a group above has another format, or the new documents could not be read.
        LimitError: If the node is larger than the limits allow.
        ReadOnlyError: If the store is opened for reading.
    """
    context.check_writable(path)
    path = check_new_path(path)
    seen, texts = checked(meta, path, context.limits)
    with context.lock:
        _create(context, path, texts, seen.format, overwrite=overwrite, parent=parent)
    return seen


def _create(
    context: Context, path: str, texts: Mapping[str, bytes], form: str, *, overwrite: bool, parent: str | None
) -> None:
    store = context.store
    above = ancestors(path)
    # Formats without groups have nothing above an array.
    grouped = above if dialect(form).has_groups else []
    unknown = [one for one in grouped if parent is None or not _is_within(parent, one)]
    # In a group that is known, nodes of other dialects are not to be expected.
    nodes = _OWN if parent is None else _COMMON
    keys = [join(path, name) for name in nodes] + block_keys(above)
    keys += [join(one, name) for one in unknown for name in ZARR2.nodes]
    found = store.get_many(keys)
    own, found = found[: len(nodes)], found[len(nodes) :]
    blocks = found[: 2 * len(above)]
    exists = any(data is not None for data in own)
    if exists and not overwrite:
        raise ExistsError(
            "there is a node already",
            path=path or "/",
            hint='pass overwrite=True or mode="w" to replace it, or mode="a" to open it',
        )
    rest = found[len(blocks) :]
    missing = []
    for i, one in enumerate(unknown):
        document = blocks[2 * above.index(one)]
        if not _check_group(one, document, rest[2 * i : 2 * i + 2], form, context):
            missing.append(one)
    if overwrite and (exists or path):
        store.erase_prefix(path + "/" if path else "")
    written: dict[str, bytes] = {}
    group = documents(GroupMeta(format=form)) if missing else {}
    for one, its in (*((one, group) for one in missing), (path, texts)):
        for name, data in its.items():
            written[join(one, name)] = data
            store.put(join(one, name), data)
    folder, make_folder = dialect(form).folder, getattr(store, "make_folder", None)
    if folder and make_folder is not None:
        make_folder(join(path, folder))
    if above:
        record(store, path, written, erase=exists, found=blocks)


def _is_within(path: str, parent: str) -> bool:
    return not parent or path == parent or path.startswith(parent + "/")


def _check_group(path: str, new: bytes | None, old: Sequence[bytes | None], form: str, context: Context) -> bool:
    """Say whether a node above a new one exists; raise if it is not a group that can hold it."""
    start = path + "/" if path else ""
    if new is not None:
        meta: Meta | None = parse_v3(new, start + ZARR_JSON, context.limits)
    else:
        meta = parse_v2(start, dict(zip(ZARR2.nodes, old, strict=True)), context.limits)
    if meta is None:
        return False
    if isinstance(meta, ArrayMeta):
        raise NodeTypeError("an array cannot hold other nodes", path=path or "/")
    if meta.format != form:
        raise MetadataError(
            f"the group has the format {meta.format}, so nothing of the format {form} can be made in it",
            path=path or "/",
            hint=f'pass format="{meta.format}"',
        )
    return True


def replace(context: Context, path: str, old: _Node, new: _Node) -> _Node:
    """Write the documents of a node that has changed, and return it as they say it; call it with the lock held.

    Raises:
        ReadOnlyError: If the store is opened for reading.
        MetadataError: If the new documents could not be read.
        LimitError: If the node is larger than the limits allow.
    """
    context.check_writable(path)
    store = context.store
    seen, texts = checked(new, path, context.limits)
    new = seen
    attributes = dialect(new.format).attributes
    if attributes:
        texts.setdefault(attributes, b"{}\n")
        if new.attributes == old.attributes:
            del texts[attributes]
        elif _is_same_but_attributes(old, new):
            texts = {attributes: texts[attributes]}
            seen = _with_attributes(old, seen)
    for name, text in texts.items():
        key = join(path, name)
        data = text
        if name == ZARR_JSON and isinstance(new, GroupMeta):
            current = store.get(key)
            block = None if current is None else split_v3(current, key)
            data = text if block is None else render_v3(text, block)
        if name == attributes and data == b"{}\n":
            store.erase(key)
        else:
            store.put(key, data)
    itself = new.format == ZARR2.name and isinstance(new, GroupMeta)
    if path or itself:
        record(store, path, {join(path, name): text for name, text in texts.items()}, itself=itself)
    return seen


def change_attributes(
    context: Context, path: str, old: _Node, values: Mapping[str, JSON], removed: Iterable[str], *, replaced: bool
) -> _Node:
    """Write a node's attributes, and return the node; call it with the lock held, and the node as it is in the store.

    Args:
        context: The store, opened for writing.
        path: The node's path.
        old: The node.
        values: Attributes to set.
        removed: Names of attributes to remove.
        replaced: Whether all others are removed.
    """
    attributes = {} if replaced else dict(old.attributes)
    attributes.update(values)
    for name in removed:
        attributes.pop(name, None)
    new = old._replace(attributes=attributes)
    if dialect(new.format).attributes and isinstance(new, ArrayMeta):
        # Names of dimensions are an attribute there: whoever changes or removes it changes them.
        new = new._replace(dims=None)
    return replace(context, path, old, new)


def _with_attributes(old: _Node, new: _Node) -> _Node:
    """Return a node with another's attributes, and what follows from them."""
    fields: dict[str, Any] = {"attributes": new.attributes}
    if isinstance(new, ArrayMeta):
        fields["dims"] = new.dims
    return old._replace(**fields)


def _is_same_but_attributes(old: Meta, new: Meta) -> bool:
    if isinstance(old, GroupMeta) or isinstance(new, GroupMeta):
        return True
    return (old.shape, old.codecs, old.extra) == (new.shape, new.codecs, new.extra)


def erase(context: Context, path: str) -> None:
    """Erase a node with all below it.

    Raises:
        ReadOnlyError: If the store is opened for reading.
    """
    context.check_writable(path)
    with context.lock:
        context.store.erase_prefix(path + "/" if path else "")
        record(context.store, path, {}, erase=True)
