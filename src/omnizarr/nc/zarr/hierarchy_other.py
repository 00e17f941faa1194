"""The nodes of hierarchies of every other dialect, as `omnizarr.hierarchy` reads them: v3, its drafts, v1, v0, N5."""

from __future__ import annotations

from omnizarr.errors import OmnizarrError, UnsupportedError
from omnizarr.format.names import join
from omnizarr.format.v2_codecs import render_codecs
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.listing import children
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.nc.zarr.generations import generation_of, member, names_in, writer_of
from omnizarr.nc.zarr.hierarchy_v2 import array_names
from omnizarr.nc.zarr.nodes import Hierarchy, Node


def read_other(context: Context, path: str, meta: ArrayMeta | GroupMeta, *, pure: bool) -> Hierarchy:
    """Read the nodes of a hierarchy; arguments are as for `omnizarr.nc.zarr.hierarchy_v2.read_v2`."""
    root = _node("", path, meta)
    generation = "" if pure else generation_of(root.attributes, root.extra, meta.format)
    level = [] if root.is_array else [(root, meta.format)]
    while level:
        level = [found for node, form in level for found in _fill(context, node, form, pure=pure)]
    return Hierarchy(root, meta.format, generation, writer_of(generation, root.attributes))


def _fill(context: Context, group: Node, form: str, *, pure: bool) -> list[tuple[Node, str]]:
    mark = None if pure else group.mark("group")
    found: dict[str, Node] = {}
    forms: dict[str, str] = {}
    for name, meta, _ in children(context, group.path, form):
        if isinstance(meta, OmnizarrError):
            # No telling what it is, but something is there that readers should learn of.
            found[name] = Node(name, join(group.path, name), {}, is_array=True, error=meta)
        else:
            found[name] = _node(name, join(group.path, name), meta)
            forms[name] = meta.format
    arrays, groups = list(found), list(found)
    if mark is not None:
        arrays, groups = array_names(mark), names_in(member(mark, "groups"))
    group.arrays = [found[name] for name in arrays if name in found and found[name].is_array]
    group.groups = [found[name] for name in groups if name in found and not found[name].is_array]
    return [(node, forms[node.name]) for node in group.groups]


def _node(name: str, path: str, meta: ArrayMeta | GroupMeta) -> Node:
    node = Node(name, path, dict(meta.attributes), meta.extra)
    if isinstance(meta, ArrayMeta):
        node.is_array, node.meta, node.shape = True, meta, meta.shape
        node.codecs = _in_words_of_v2(meta)
    return node


def _in_words_of_v2(meta: ArrayMeta) -> list[JSON]:
    """Return filters and compressor as Zarr v2 spells them, which is what netCDF knows; nothing if v2 has no words."""
    try:
        pipeline = render_codecs(meta.codecs, meta.ndim, meta.dtype)
    except UnsupportedError:
        return []
    return [*(pipeline.filters or ()), *(() if pipeline.compressor is None else (pipeline.compressor,))]
