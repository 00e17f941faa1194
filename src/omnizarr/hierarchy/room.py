"""Room for a new node: what is at its path already, and whether the nodes above it can hold it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module  # for what few stores hold
from typing import Final, NamedTuple

from omnizarr.errors import MetadataError, NodeTypeError
from omnizarr.format.dialects import DIALECTS, DRAFT, WRITABLE, dialect
from omnizarr.format.names import ZARR_JSON, ZMETADATA, join
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.nodes import claimed, parse
from omnizarr.hierarchy.upkeep import ancestors, block_keys, consolidated
from omnizarr.model.array import ArrayMeta
from omnizarr.store.protocol import place_name
from omnizarr.store.tagged import conditional

# The documents of a draft lie elsewhere; see `_draft`.
_NODES: Final = tuple(name for one in DIALECTS.values() if one is not DRAFT for name in one.nodes)
# Consolidated metadata alone are also a node.
_OWN: Final = (*_NODES, ZMETADATA)
_OTHERS: Final = tuple(name for name in _NODES if name != ZARR_JSON)


class Room(NamedTuple):
    """What is at and above the path of a new node."""

    exists: bool
    """Whether a node is there."""

    missing: list[str]
    """Paths of the groups above it that must be made."""

    blocks: Mapping[str, bytes]
    """Documents above it, by their keys, that hold consolidated metadata which a node of its format is entered into."""

    is_bare: bool = False
    """Whether not even a folder is there, so that nothing can be left of an earlier node."""

    left: frozenset[str] = frozenset()
    """Paths of nodes to be made whose attributes are there already, in a store where others may have put them."""


def find_room(context: Context, path: str, form: str, parent: str | None) -> Room:
    """Look at the path of a new node, and at those above it.

    Args:
        context: The store.
        path: The node's path.
        form: The node's format.
        parent: Path of a group above it that is known to exist.

    Raises:
        NodeTypeError: If one of the nodes above is an array.
        MetadataError: If one of them has another format.
    """
    above, store = ancestors(path), context.store
    unknown = [one for one in above if parent is None or not _is_within(parent, one)]
    names = _OWN if _may_be_there(context, path) else ()
    if not names and not unknown:
        keys = block_keys(above, form)
        return Room(False, [], consolidated(dict(zip(keys, store.get_many(keys), strict=True))), is_bare=True)
    start = path + "/" if path else ""
    keys = [start + name for name in names]
    block = block_keys(above)
    others = [join(one, name) for one in unknown for name in _OTHERS]
    attributes = _attributes((path, *unknown), form) if conditional(store) is not None else {}
    asked = [*keys, *block, *others, *attributes]
    found = dict(zip(asked, store.get_many(asked), strict=True))
    own = {name: found[key] for name, key in zip(names, keys, strict=True)}
    exists = claimed(own) is not None or own.get(ZMETADATA) is not None
    blocks = {key: found[key] for key in block}
    missing = []
    for one in unknown:
        texts = {name: found[join(one, name)] for name in (*_OTHERS, ZARR_JSON)}
        if not _can_hold(context, one, texts, form):
            missing.append(one)
    if parent is None and not exists and len(missing) == len(above) and _may_be_draft(context, (*above, path), blocks):
        exists = _draft(context, path)
    missing = missing if dialect(form).has_groups else []
    left = {one for key, one in attributes.items() if found[key] is not None}.intersection((path, *missing))
    return Room(exists, missing, consolidated(blocks), is_bare=not names, left=frozenset(left))


def _attributes(paths: Sequence[str], form: str) -> dict[str, str]:
    """Return the paths by the keys of their attributes, where those have a document of their own."""
    name = dialect(form).attributes
    return {join(path, name): path for path in paths} if name else {}


def _may_be_there(context: Context, path: str) -> bool:
    """Whether it takes a look at the documents to tell that nothing is there: not in a folder that is not there."""
    has_folder = getattr(context.store, "has_folder", None)
    if has_folder is not None:
        return not path or has_folder(path)
    return not path or not context.is_near or any(context.store.list_dir(path + "/"))


def _may_be_draft(context: Context, paths: Sequence[str], blocks: Mapping[str, bytes | None]) -> bool:
    """Whether it takes a closer look to tell that there is no draft: an entry point, or a folder of documents."""
    entry = any(text is not None for key, text in blocks.items() if key.endswith(ZARR_JSON))
    return entry or any(any(context.store.list_dir(join(one, "meta/"))) for one in paths)


def _is_within(path: str, parent: str) -> bool:
    return not parent or path == parent or path.startswith(parent + "/")


def _can_hold(context: Context, path: str, texts: dict[str, bytes | None], form: str) -> bool:
    """Say whether there is a node; raise if it is not a group that can hold a new one."""
    meta = parse(path, {name: text for name, text in texts.items() if text is not None}, context.limits)
    if meta is None:
        return False
    if isinstance(meta, ArrayMeta):
        raise NodeTypeError("an array cannot hold other nodes", path=place_name(context.store, path))
    # Formats without groups have nothing above an array; wherever one lies, it stands alone.
    if meta.format != form and dialect(form).has_groups:
        own = f'pass format="{meta.format}", or create it through that group'
        raise MetadataError(
            f"the group has the format {meta.format}, so nothing of the format {form} can be made in it",
            path=place_name(context.store, path),
            hint=own if meta.format in WRITABLE else f"{meta.format} can only be read; create it in another place",
        )
    return True


def _draft(context: Context, path: str) -> bool:
    """Say whether a hierarchy of a draft, which may have no document of a fixed name, is at a path.

    Raises:
        MetadataError: If the path leads into one.
    """
    found = import_module("omnizarr.hierarchy.draft_view").find_draft(context.store, path, context.limits)
    if found is None or not found[1]:
        return found is not None
    where = found[0].start.rstrip("/") or "/"
    hint = "create it in another place"
    raise MetadataError(
        "this is within a hierarchy of a draft of Zarr v3, which can only be read", path=where, hint=hint
    )
