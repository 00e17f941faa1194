"""Sets as groups of one set."""

from __future__ import annotations

from collections.abc import Mapping

from omnizarr.errors import MetadataError
from omnizarr.format.names import join
from omnizarr.hierarchy.nodes import documents
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.refs.combining.assembling import stamps_of
from omnizarr.refs.combining.blocks import Part, UrlTable, placed
from omnizarr.refs.combining.inputs import Reader, formats_of
from omnizarr.refs.taking import AnySet, references_of
from omnizarr.refs.translating import as_v3
from omnizarr.refset.model import References


def nest(
    sets: Mapping[str, AnySet],
    *,
    attributes: Mapping[str, JSON] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> References:
    """Make one set in which each of several is a group of its own.

    Args:
        sets: The sets, or their places, by the path of their group; groups above them are made.
        attributes: Those of the root.
        limits: Bounds on what documents may claim.

    Raises:
        MetadataError: If two sets would lie within each other.

    >>> root = References({".zgroup": b'{"zarr_format": 2}'})
    >>> sorted(nest({"a": root, "b/c": root}).documents)
    ['.zgroup', 'a/.zgroup', 'b/.zgroup', 'b/c/.zgroup']
    """
    places = [name.strip("/") for name in sets]
    for place in places:
        inside = any(place != other and other.startswith(place + "/") for other in places)
        if not place or inside or places.count(place) > 1:
            raise MetadataError(f"{place!r} cannot be the group of a set beside the others")
    reader = Reader(limits)
    inputs = [reader.read(name, one) for name, one in zip(places, map(references_of, sets.values()), strict=True)]
    formats = {form for one in inputs for form in formats_of(one)} or {"zarr2"}
    form = formats.pop() if len(formats) == 1 else "zarr3"
    nodes: dict[str, GroupMeta | ArrayMeta] = {"": GroupMeta(dict(attributes or {}), form)}
    table = UrlTable()
    result = References(urls=table.urls, stamps=stamps_of(inputs))
    for one in inputs:
        parts = one.name.split("/")
        for depth in range(1, len(parts)):
            nodes.setdefault("/".join(parts[:depth]), GroupMeta(format=form))
        for path, group in one.groups.items():
            extra = {name: value for name, value in group.extra.items() if name != "consolidated_metadata"}
            nodes[_below(one.name, path)] = GroupMeta(group.attributes, form, extra if form == group.format else {})
        for path, meta in one.arrays.items():
            nodes[_below(one.name, path)] = meta if meta.format == form else as_v3(meta)
        numbers = table.add(one.references.urls)
        for path, chunks in one.references.arrays.items():
            part = Part((0,) * len(chunks.counts), chunks, numbers)
            result.arrays[_below(one.name, path)] = placed(chunks.counts, [part])
        result.others.update({_below(one.name, key): value for key, value in one.references.others.items()})
    for path in sorted(nodes, key=lambda path: (path.count("/") + bool(path), path)):
        result.documents.update({join(path, name): text for name, text in documents(nodes[path]).items()})
    return result


def _below(group: str, path: str) -> str:
    return f"{group}/{path}" if path else group
