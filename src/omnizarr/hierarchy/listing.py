"""What lies below a group: names and metadata of its nodes, in as few requests as the store allows."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from operator import index
from typing import TypeAlias

from omnizarr.errors import NodeTypeError, NotFoundError, OmnizarrError, warn
from omnizarr.format.dialects import dialect
from omnizarr.format.names import check_depth
from omnizarr.hierarchy.consolidated import Block, load_block
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.nodes import Meta, format_of, implied, load, load_many
from omnizarr.hierarchy.tree import Tree
from omnizarr.hierarchy.upkeep import ancestors
from omnizarr.model.group import GroupMeta
from omnizarr.store.protocol import place_name

Found: TypeAlias = Meta | OmnizarrError
"""What a node is, or why that cannot be read."""

_LONGEST_NAME = 40


def find(context: Context, path: str, parent: str = "") -> tuple[Meta | None, bool]:
    """Return what is at a path, and whether that comes from consolidated metadata.

    Args:
        context: The store, and consolidated metadata if it may be used.
        path: The node's path.
        parent: The format of a group above it, where that is known.
    """
    meta, copied = (None, False) if context.is_near else _copied(context, path)
    if meta is None:
        meta = documented(context, path)
    if meta is None and context.is_near:
        meta = only_copy(context, path)
        copied = meta is not None
    if meta is None and _is_lax(parent):
        meta = implied(context.store, path)
    return meta, copied


def documented(context: Context, path: str) -> Meta | None:
    """Return what the documents at a path say: those of the format that was asked for, where there are any of it."""
    meta = load(context.store, path, context.limits, context.form) if context.form else None
    return load(context.store, path, context.limits) if meta is None else meta


def _is_lax(parent: str) -> bool:
    return bool(parent) and dialect(parent).implicit_groups


def _copied(context: Context, path: str) -> tuple[Meta | None, bool]:
    block = context.block
    meta = None if block is None else block.meta(path, context.limits)
    return meta, meta is not None


def reload(context: Context, path: str, form: str) -> Meta | None:
    """Return what is at a path where a node of some format was before: from its documents, or else from a copy."""
    meta = load(context.store, path, context.limits, form)
    if meta is None:
        meta = only_copy(context, path)
    return implied(context.store, path) if meta is None and _is_lax(form) else meta


def only_copy(context: Context, path: str) -> Meta | None:
    """Return a node that has no document, if the consolidated metadata may have one that is not gone.

    Where the group that has them has documents of its own, so have its nodes: then it is gone.
    """
    block = _lone_block(context)
    return None if block is None else block.meta(path, context.limits)


def _lone_block(context: Context) -> Block | None:
    block = context.block
    return None if block is None or format_of(context.store, block.root) is not None else block


def find_copy(context: Context, path: str) -> Meta | None:
    """Return a node that has no document but in the consolidated metadata of a group at its path or above it.

    Reference files of kerchunk have nothing else. Where the group has a document its nodes have some, too, and the copy
    may be of one that is gone. The context keeps in mind which group it was.
    """
    for root in (path, *reversed(ancestors(path))):
        if root != path and format_of(context.store, root) is not None:
            return None
        block = load_block(context.store, root, context.limits)
        meta = None if block is None else block.meta(path, context.limits)
        if meta is not None:
            context.block_root = root
            return meta
    return None


def is_there(context: Context, path: str, parent: str = "") -> bool:
    """Whether a node is at a path, readable or not; arguments are as for `find`."""
    if not context.is_near and context.block is not None and context.block.holds(path):
        return True
    if format_of(context.store, path) is not None:
        return True
    if (block := _lone_block(context)) is not None and block.holds(path):
        return True
    return _is_lax(parent) and implied(context.store, path) is not None


def children(context: Context, path: str, form: str) -> list[tuple[str, Found, bool]]:
    """Return the nodes right below a group by name, each with whether it comes from consolidated metadata.

    Args:
        context: The store, and consolidated metadata if it may be used.
        path: The group's path.
        form: The group's format.
    """
    start = path + "/" if path else ""
    # Near stores are asked for the documents first, so that the copy need not even be read.
    block = None if context.is_near else context.block
    if block is None:
        names = sorted(prefix[len(start) : -1] for prefix in context.store.list_dir(start)[1])
        first = form if _is_lax(context.form) else context.form or form
        metas = load_many(context.store, [start + name for name in names], context.limits, first)
        found = [(name, meta, False) for name, meta in zip(names, metas, strict=True) if meta is not None]
        block = _lone_block(context) if not found else None
        if block is None:
            return found
    copies = ((name, _copy(block, context, start + name)) for name in sorted(block.children(path)))
    return [(name, meta, True) for name, meta in copies if meta is not None]


def _copy(block: Block, context: Context, path: str) -> Found | None:
    try:
        return block.meta(path, context.limits)
    except OmnizarrError as error:
        return error


def left_out(path: str, error: OmnizarrError) -> None:
    """Warn that a node cannot be read."""
    warn(f"{path!r} is left out, as it cannot be read: {error.message}")


def walk(context: Context, path: str, form: str, depth: int | None) -> Iterator[tuple[str, Found, bool]]:
    """Yield all nodes below a group, parents before their children, by their path within it.

    Raises:
        NodeTypeError: If the depth is no whole number.
    """
    depth = _levels(depth, "max_depth")
    # A list, since groups may lie in each other deeper than functions may.
    todo = [("", iter(children(context, path, form)))]
    while todo:
        start, rest = todo[-1]
        for name, meta, copied in rest:
            inner = start + name
            yield inner, meta, copied
            if isinstance(meta, GroupMeta) and (depth is None or len(todo) <= depth):
                todo.append((inner + "/", iter(children(context, f"{path}/{inner}" if path else inner, meta.format))))
                break
        else:
            todo.pop()


def tree(context: Context, path: str, meta: Found, depth: int | None) -> Tree:
    """Return the tree below a node.

    Raises:
        NodeTypeError: If the depth is no whole number.
        LimitError: If groups lie in each other deeper than functions may.
    """
    depth = _levels(depth, "depth")
    branches = []
    check_depth(path)
    if isinstance(meta, GroupMeta) and depth != 0:
        for name, child, _ in children(context, path, meta.format):
            inner = f"{path}/{name}" if path else name
            branches.append(tree(context, inner, child, None if depth is None else depth - 1))
    return Tree(path.rpartition("/")[2] or "/", meta, branches)


def _levels(given: object, name: str) -> int | None:
    """Check what a user gives for a number of levels."""
    if given is None or type(given) is int:
        return given
    try:
        return index(given)  # type: ignore[arg-type]  # what is no number is what the except is for
    except TypeError:
        message = f"{name} is a whole number of levels, not {given!r} of type {type(given).__name__}"
        raise NodeTypeError(message, hint=f"Pass {name}=None for all levels, 0 for none below.") from None


def nearest(name: str, names: list[str]) -> str | None:
    """Return the name that looks most like another, if any does."""
    # Imported here because only errors need it.
    near: list[str] = import_module("difflib").get_close_matches(name, names, n=1, cutoff=0.5)
    return near[0] if near else None


def not_found(context: Context, path: str) -> NotFoundError:
    """Return the error for a path without a node, with the nearest name that there is."""
    parent, _, name = path.rpartition("/")
    while parent and not is_there(context, parent):
        path = parent
        parent, _, name = path.rpartition("/")
    try:
        meta, _ = find(context, parent)
    except OmnizarrError:
        meta = None
    hint = None
    if isinstance(meta, GroupMeta):
        names = [child for child, _, _ in children(context, parent, meta.format)]
        near = nearest(name, names)
        if near:
            hint = f"did you mean {(parent + '/' if parent else '') + near!r}?"
        elif names:
            shown = ", ".join(
                repr(one if len(one) <= _LONGEST_NAME else one[:_LONGEST_NAME] + "…") for one in names[:6]
            )
            hint = f"the group {'/' + parent!r} holds {shown}{', …' if len(names) > 6 else ''}"
        else:
            hint = f"the group {'/' + parent!r} is empty"
    return NotFoundError("no array or group is there", path=place_name(context.store, path), hint=hint)
