"""What lies below a group: names and metadata of its nodes, in as few requests as the store allows."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from omnizarr.errors import NotFoundError
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.nodes import Meta, load, load_many
from omnizarr.hierarchy.tree import Tree
from omnizarr.model.group import GroupMeta


def find(context: Context, path: str) -> tuple[Meta | None, bool]:
    """Return what is at a path, and whether that comes from consolidated metadata."""
    block = context.block
    if block is not None and not context.is_near:
        meta = block.meta(path, context.limits)
        if meta is not None:
            return meta, True
    meta = load(context.store, path, context.limits)
    if meta is None and block is not None:
        meta = block.meta(path, context.limits)
        return meta, meta is not None
    return meta, False


def children(context: Context, path: str, dialect: str) -> list[tuple[str, Meta, bool]]:
    """Return the nodes right below a group by name, each with whether it comes from consolidated metadata.

    Args:
        context: The store, and consolidated metadata if it may be used.
        path: The group's path.
        dialect: The group's format.
    """
    block = context.block
    listed: list[str] | None = None
    start = path + "/" if path else ""
    if block is None or context.is_near:
        listed = sorted(prefix[len(start) : -1] for prefix in context.store.list_dir(start)[1])
    if block is None or listed is None:
        names = listed or sorted(block.children(path) if block else ())
    else:
        # What only the copy knows is gone, unless the store holds nothing but the copy.
        names = listed or sorted(block.children(path))
    found: list[tuple[str, Meta | None, bool]] = []
    if block is not None:
        found = [(name, block.meta(start + name, context.limits), True) for name in names]
        names = [name for name, meta, _ in found if meta is None]
    if names:
        metas = load_many(context.store, [start + name for name in names], context.limits, dialect)
        fresh = zip(names, metas, (False,) * len(names), strict=True)
        found = sorted([*(one for one in found if one[1] is not None), *fresh], key=_name) if found else list(fresh)
    return [(name, meta, copied) for name, meta, copied in found if meta is not None]


def _name(one: tuple[str, Meta | None, bool]) -> str:
    return one[0]


def walk(
    context: Context, path: str, dialect: str, depth: int | None, start: str = ""
) -> Iterator[tuple[str, Meta, bool]]:
    """Yield all nodes below a group, parents before their children, by their path within it."""
    for name, meta, copied in children(context, path, dialect):
        yield start + name, meta, copied
        if isinstance(meta, GroupMeta) and depth != 0:
            inner = f"{path}/{name}" if path else name
            yield from walk(context, inner, meta.format, None if depth is None else depth - 1, f"{start}{name}/")


def tree(context: Context, path: str, meta: Meta, depth: int | None) -> Tree:
    """Return the tree below a node."""
    branches = []
    if isinstance(meta, GroupMeta) and depth != 0:
        for name, child, _ in children(context, path, meta.format):
            inner = f"{path}/{name}" if path else name
            branches.append(tree(context, inner, child, None if depth is None else depth - 1))
    return Tree(path.rpartition("/")[2] or "/", meta, branches)


def nearest(name: str, names: list[str]) -> str | None:
    """Return the name that looks most like another, if any does."""
    # Imported here because only errors need it.
    near: list[str] = import_module("difflib").get_close_matches(name, names, n=1, cutoff=0.5)
    return near[0] if near else None


def not_found(context: Context, path: str) -> NotFoundError:
    """Return the error for a path without a node, with the nearest name that there is."""
    parent, _, name = path.rpartition("/")
    while parent and find(context, parent)[0] is None:
        path = parent
        parent, _, name = path.rpartition("/")
    meta, _ = find(context, parent)
    hint = None
    if isinstance(meta, GroupMeta):
        names = [child for child, _, _ in children(context, parent, meta.format)]
        near = nearest(name, names)
        if near:
            hint = f"did you mean {(parent + '/' if parent else '') + near!r}?"
        elif names:
            shown = ", ".join(repr(one) for one in names[:6])
            hint = f"the group {'/' + parent!r} holds {shown}{', …' if len(names) > 6 else ''}"
        else:
            hint = f"the group {'/' + parent!r} is empty"
    return NotFoundError("no array or group is there", path=path or "/", hint=hint)
