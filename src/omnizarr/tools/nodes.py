"""From whatever a user names to nodes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from typing import TypeAlias

from omnizarr.errors import NotFoundError, OmnizarrError
from omnizarr.format.names import join
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.group import Group
from omnizarr.hierarchy.listing import walk
from omnizarr.hierarchy.opening import Format, Mode, Place, open_node
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta

Node: TypeAlias = Array | Group


def open_at(
    where: object,
    mode: Mode = "r",
    *,
    path: str | None = None,
    format: Format | None = None,  # noqa: A002 - the word of the documents
    limits: Limits = DEFAULT_LIMITS,
    cache_bytes: int = 0,
) -> Node:
    """Open what is at a place, as `omnizarr.open` does; handles are taken as they are."""
    if isinstance(where, (Array, Group)) and path is None:
        return where
    if isinstance(where, Group) and path is not None:
        return where[path]
    try:
        return open_node(Place(where, mode, path, limits=limits, cache_bytes=cache_bytes), mode, format, None)
    except NotFoundError as error:
        if path is not None or not isinstance(where, (str, os.PathLike)):
            raise
        explained = import_module("omnizarr.tools.editing.rooted").explained  # which opens nodes, too
        raise explained(error, where) from None


def context_of(node: Node) -> Context:
    """Return what a handle was opened with: its store, whether that may be written, the limits."""
    return node._context  # noqa: SLF001 - tools work below the surface of handles


def nodes_of(node: Node, depth: int | None = None) -> Iterator[tuple[str, Node | OmnizarrError]]:
    """Yield a node and all below it by their paths within it, parents first; the error of those that cannot be read."""
    yield "", node
    if isinstance(node, Array) or depth == 0:
        return
    context = context_of(node)
    for inner, meta, copied in walk(context, node.path, node.format, None if depth is None else depth - 1):
        path = join(node.path, inner)
        if isinstance(meta, OmnizarrError):
            yield inner, meta
        elif isinstance(meta, ArrayMeta):
            yield inner, Array(context, path, meta, unchecked=copied)
        else:
            yield inner, Group(context, path, meta)
