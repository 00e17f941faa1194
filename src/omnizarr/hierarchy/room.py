"""Room for a new node: what is at its path already, and whether the nodes above it can hold it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module  # for what few stores hold
from typing import Final, NamedTuple

from omnizarr.errors import MetadataError, NodeTypeError, NotFoundError
from omnizarr.format.dialects import DIALECTS, DRAFT, WRITABLE, dialect
from omnizarr.format.names import ZARR_JSON, ZMETADATA, join
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.nodes import claimed, parse
from omnizarr.hierarchy.upkeep import ancestors
from omnizarr.limits import Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.store.protocol import place_name
from omnizarr.store.tagged import conditional

# The documents of a draft lie elsewhere; see `_draft`.
_NODES: Final = tuple(name for one in DIALECTS.values() if one is not DRAFT for name in one.nodes)
# Consolidated metadata alone are also a node.
_OWN: Final = (*_NODES, ZMETADATA)


class Room(NamedTuple):
    """What is at and above the path of a new node."""

    exists: bool
    """Whether a node is there."""

    missing: list[str]
    """Paths of the groups above it that must be made."""

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
        parent: Path of a group above it that was there, of the same format.

    Raises:
        NotFoundError: If that group is gone.
        NodeTypeError: If one of the nodes above is an array.
        MetadataError: If one of them has another format.
    """
    names = _OWN if _may_be_there(context, path) else ()
    if not names and parent is not None and path.rpartition("/")[0] == parent:
        _check_parent(context, parent, form)
        return Room(exists=False, missing=[], is_bare=True)
    above, store = ancestors(path), context.store
    unknown = [one for one in above if parent is None or not _is_within(parent, one)]
    start = path + "/" if path else ""
    keys = [start + name for name in names]
    known = () if parent is None else dialect(form).nodes
    asked = [*keys, *(join(parent or "", name) for name in known)]
    asked += [join(one, name) for one in unknown for name in _NODES]
    attributes = _attributes((path, *unknown), form) if conditional(store) is not None else {}
    asked += attributes
    found = dict(zip(asked, store.get_many(asked), strict=True))
    own = {name: found[key] for name, key in zip(names, keys, strict=True)}
    exists = claimed(own) is not None or own.get(ZMETADATA) is not None
    if parent is not None and not _can_hold(context, parent, {name: found[join(parent, name)] for name in known}, form):
        raise NotFoundError("the group is gone", path=place_name(store, parent))
    texts = {one: {name: found[join(one, name)] for name in _NODES} for one in unknown}
    missing = [one for one in unknown if not _can_hold(context, one, texts[one], form)]
    if parent is None and not exists and len(missing) == len(above) and _may_be_draft(context, (*above, path), texts):
        exists = _draft(context, path)
    missing = missing if dialect(form).has_groups else []
    left = {one for key, one in attributes.items() if found[key] is not None}.intersection((path, *missing))
    return Room(exists, missing, is_bare=not names, left=frozenset(left))


def _check_parent(context: Context, parent: str, form: str) -> None:
    """Look at nothing but the group, which is all it takes where many nodes are made in one."""
    names = dialect(form).nodes
    texts = context.store.get_many([join(parent, name) for name in names])
    # What was read is most often what was read before.
    if _known.get(form) != (context.limits, texts):
        if not _can_hold(context, parent, dict(zip(names, texts, strict=True)), form):
            raise NotFoundError("the group is gone", path=place_name(context.store, parent))
        if sum(len(text or b"") for text in texts) <= _LARGEST_KNOWN:
            _known[form] = context.limits, texts


_known: Final[dict[str, tuple[Limits, list[bytes | None]]]] = {}
"""The documents of a group that could last hold a node of a format, by the format."""

_LARGEST_KNOWN: Final = 4096


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


def _may_be_draft(context: Context, paths: Sequence[str], above: Mapping[str, Mapping[str, bytes | None]]) -> bool:
    """Whether it takes a closer look to tell that there is no draft: an entry point, or a folder of documents."""
    entry = any(texts[ZARR_JSON] is not None for texts in above.values())
    return entry or any(any(context.store.list_dir(join(one, "meta/"))) for one in paths)


def _is_within(path: str, parent: str) -> bool:
    return not parent or path == parent or path.startswith(parent + "/")


def _can_hold(context: Context, path: str, texts: Mapping[str, bytes | None], form: str) -> bool:
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
