"""Consolidated metadata as JSON values: v2's `.zmetadata`, and the member of a v3 group that zarr-python writes.

Neither is in a specification. v2: a map from keys such as `a/.zarray` to documents. v3: `consolidated_metadata` of kind
"inline" with a map from paths below the group to documents; the documents of groups in it carry an empty member of the
same name, which does not mean that they have no children.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.format.check import mapping, part
from omnizarr.format.document import describe, load
from omnizarr.format.names import ZARRAY, ZATTRS, ZGROUP, join, normal_path
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.jsonvalue import JSON

FIELD: Final = "consolidated_metadata"


class V2Node(NamedTuple):
    """The documents of one v2 node."""

    document: Mapping[str, JSON]
    """The `.zarray` or `.zgroup`."""

    attributes: Mapping[str, JSON] | None
    """The `.zattrs`, if there is one."""

    is_array: bool


def read_v2(document: JSON, key: str, limits: Limits = DEFAULT_LIMITS) -> dict[str, V2Node]:
    """Read a `.zmetadata`: the documents of each node by its path, "" for the group itself.

    A path with the documents of both an array and a group is an array. Keys that are no documents are left out, as are
    attributes without a node.

    Raises:
        MetadataError: It is malformed.
        UnsupportedError: It is of another format than 1.
        UnsafeError: A path leads out of the group.
    """
    doc = mapping(document, "/", key)
    version = doc.get("zarr_consolidated_format", 1)
    if version != 1:
        message = f"zarr_consolidated_format is {describe(version)}, not 1"
        raise UnsupportedError(message, pointer="/zarr_consolidated_format", key=key)
    texts = mapping(doc.get("metadata"), "/metadata", key)
    found: dict[str, dict[str, Mapping[str, JSON]]] = {}
    for name, value in texts.items():
        path, _, leaf = name.rpartition("/")
        if leaf in (ZARRAY, ZGROUP, ZATTRS) and value is not None:
            entry = _document(value, f"/metadata/{part(name)}", key, limits)
            found.setdefault(normal_path(path), {})[leaf] = _without_block(entry)
    nodes: dict[str, V2Node] = {}
    for path, parts in found.items():
        main = parts.get(ZARRAY, parts.get(ZGROUP))
        if main is not None:
            nodes[path] = V2Node(main, parts.get(ZATTRS), ZARRAY in parts)
    return nodes


def render_v2(nodes: Mapping[str, V2Node]) -> dict[str, JSON]:
    """Write a `.zmetadata` from the documents of each node, the group itself among them."""
    texts: dict[str, JSON] = {}
    for path, node in nodes.items():
        texts[join(path, ZARRAY if node.is_array else ZGROUP)] = node.document
        texts[join(path, ZATTRS)] = node.attributes or {}
    return {"metadata": texts, "zarr_consolidated_format": 1}


def read_v3(document: JSON, key: str, limits: Limits = DEFAULT_LIMITS) -> dict[str, Mapping[str, JSON]] | None:
    """Read what a group's `zarr.json` says of the nodes below it: their documents by path, or None if it says nothing.

    Raises:
        MetadataError: It is malformed.
        UnsafeError: A path leads out of the group.
    """
    value = mapping(document, "/", key).get(FIELD)
    if value is None:  # zarr-python 3.0 writes null for none
        return None
    nodes: dict[str, Mapping[str, JSON]] = {}
    for path, entry in _nodes(value, "", f"/{FIELD}", key, limits):
        nodes.setdefault(path, entry)  # the flat map, which comes first, is what writers keep in step
    return nodes


def render_v3(document: Mapping[str, JSON], nodes: Mapping[str, Mapping[str, JSON]] | None) -> dict[str, JSON]:
    """Write a group's `zarr.json` with the documents of the nodes below it, or without any if `nodes` is None."""
    plain = dict(_without_block(document))
    if nodes is None:
        return plain
    metadata = {path: _without_block(node) for path, node in nodes.items()}
    return {**plain, FIELD: {"kind": "inline", "must_understand": False, "metadata": metadata}}


def _nodes(value: JSON, above: str, pointer: str, key: str, limits: Limits) -> Iterator[tuple[str, Mapping[str, JSON]]]:
    block = mapping(value, pointer, key)
    kind = block.get("kind", "inline")
    if kind != "inline":
        message = f"consolidated metadata of kind {describe(kind)} are not supported"
        raise UnsupportedError(message, pointer=f"{pointer}/kind", key=key)
    place = f"{pointer}/metadata"
    for name, item in mapping(block.get("metadata"), place, key).items():
        if item is None:
            continue
        path = join(above, normal_path(name))
        entry = _document(item, f"{place}/{part(name)}", key, limits)
        yield path, _without_block(entry)
        inner = entry.get(FIELD)
        if inner is not None:  # mostly empty, but a writer may nest instead of giving paths
            yield from _nodes(inner, path, f"{place}/{part(name)}/{FIELD}", key, limits)


def _document(value: JSON, pointer: str, key: str, limits: Limits) -> dict[str, JSON]:
    # Reference files of kerchunk hold each document as a string.
    if isinstance(value, str):
        try:
            value = load(value.encode("utf-8"), key, limits)
        except UnicodeEncodeError as error:
            raise MetadataError(f"the document is not UTF-8: {error.reason}", pointer=pointer, key=key) from error
    return mapping(value, pointer, key)


def _without_block(document: Mapping[str, JSON]) -> Mapping[str, JSON]:
    if FIELD not in document:
        return document
    return {name: value for name, value in document.items() if name != FIELD}
