"""A quick look at the nodes below a folder, where all are of the plainest kind; see `plain_documents`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from omnizarr.errors import OmnizarrError
from omnizarr.format.document import load, load_object
from omnizarr.format.names import ATTRIBUTES_JSON, ATTRS, META, ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETA, ZMETADATA
from omnizarr.native import cut_member, split_object
from omnizarr.store.file import FileStore
from omnizarr.tools.listing.entries import Entry, Layout
from omnizarr.tools.listing.plain_documents import layout_v2, layout_v3, names, sizes, without_shape

_COPIES: Final = b'"consolidated_metadata"'
_V2: Final = (ZARRAY, ZGROUP, ZATTRS)
# Where one of these is, and none of the others, the node is of a kind that is not the plainest.
_RARE: Final = (META, ATTRS, ZMETA, ATTRIBUTES_JSON)


class _RareError(Exception):
    """Something that is not of the plainest kind."""


def glance(where: object, depth: int | None) -> list[Entry] | None:
    """List a folder's node and all below it, parents first; `None` if one is not of the plainest kind."""
    if not isinstance(where, (str, os.PathLike)):
        return None
    try:
        store = FileStore(where)
        if not os.path.isdir(store.root):  # noqa: PTH112 - pathlib takes long to import
            return None
        return _Glance(store).all_of(depth)
    except (_RareError, OmnizarrError, RecursionError):
        return None


class _Glance:
    def __init__(self, store: FileStore) -> None:
        self._store = store
        self._has_copies = False
        # Many arrays have the same documents, or such that differ in their attributes and shapes alone.
        self._nodes: dict[tuple[bytes | None, ...], Entry] = {}
        self._siblings: dict[bytes, Entry] = {}
        self._layouts: dict[bytes, Layout] = {}

    def all_of(self, depth: int | None) -> list[Entry]:
        new, *old, copies = self._store.get_many([ZARR_JSON, *_V2, ZMETADATA])
        if new is not None and any(text is not None for text in old):
            raise _RareError
        self._has_copies = copies is not None or (new is not None and _COPIES in new)
        root = self._node("", new, *old)
        if root is None:
            raise _RareError
        found = [root]
        if root.kind == "group":
            self._below(root, depth, found)
        return found

    def _below(self, group: Entry, depth: int | None, found: list[Entry]) -> None:
        if depth == 0:
            return
        start = f"{group.path}/" if group.path else ""
        paths = sorted(prefix[:-1] for prefix in self._store.list_dir(start)[1])
        children = self._new(paths) if group.format == "zarr3" else self._old(paths)
        if not children and depth is None and self._has_copies:
            # Consolidated metadata answers where there are no documents.
            raise _RareError
        for child in children:
            found.append(child)
            if child.kind == "group":
                self._below(child, None if depth is None else depth - 1, found)

    def _new(self, paths: Sequence[str]) -> list[Entry]:
        texts = self._store.get_many([f"{path}/{ZARR_JSON}" for path in paths])
        self._check_others([path for path, text in zip(paths, texts, strict=True) if text is None], (*_V2, *_RARE))
        nodes = (self._node(path, text, None, None, None) for path, text in zip(paths, texts, strict=True))
        return [node for node in nodes if node is not None]

    def _old(self, paths: Sequence[str]) -> list[Entry]:
        texts = self._store.get_many([f"{path}/{name}" for path in paths for name in (ZARRAY, ZATTRS)])
        arrays = dict(zip(paths, texts[::2], strict=True))
        # Most are arrays, which need not be asked for the document of a group.
        others = [path for path, array in arrays.items() if array is None]
        groups = dict(zip(others, self._store.get_many([f"{path}/{ZGROUP}" for path in others]), strict=True))
        self._check_others([path for path, group in groups.items() if group is None], (ZARR_JSON, *_RARE))
        rows = zip(arrays.items(), texts[1::2], strict=True)
        nodes = (self._node(path, None, array, groups.get(path), attrs) for (path, array), attrs in rows)
        return [node for node in nodes if node is not None]

    def _check_others(self, paths: Sequence[str], others: Sequence[str]) -> None:
        """Raise if a folder without a node of the expected kind has one of another kind."""
        if any(
            text is not None for text in self._store.get_many([f"{one}/{name}" for one in paths for name in others])
        ):
            raise _RareError

    def _node(
        self, path: str, new: bytes | None, array: bytes | None, group: bytes | None, attrs: bytes | None
    ) -> Entry | None:
        documents = (new, array, group, attrs)
        known = self._nodes.get(documents)
        if known is None:
            if new is not None:
                known = self._node_v3(new)
            elif array is not None:
                known = self._array_v2(array, attrs)
            elif group is not None:
                known = _group_v2(group, attrs)
            else:
                return None
            self._nodes[documents] = known
        return Entry(path, *known[1:])

    def _node_v3(self, text: bytes) -> Entry:
        try:
            rest, own = cut_member(text, "attributes")
        except ValueError:
            raise _RareError from None
        attributes = load_object(own, "") if own else {}
        rest, listed = without_shape(rest)
        known = self._siblings.get(rest)
        if known is None:
            members = _members(text)
            members.pop("attributes", None)
            known = self._siblings[rest] = _group_v3(members) or _array_v3(members, listed)
        if known.layout is None:
            return known._replace(attributes=attributes)
        shape = sizes(load(listed, ""))
        if shape is None or len(shape) != len(known.layout.chunks):
            raise _RareError
        return Entry("", "array", "zarr3", shape, known.dims, known.layout, attributes)

    def _array_v2(self, text: bytes, attrs: bytes | None) -> Entry:
        attributes = {} if attrs is None else load_object(attrs, "")
        rest, listed = without_shape(text)
        layout = self._layouts.get(rest)
        if layout is None:
            members = _members(text)
            layout = layout_v2(members) if members.pop("shape", None) == listed else None
        shape = sizes(load(listed, ""))
        if layout is None or shape is None or len(shape) != len(layout.chunks):
            raise _RareError
        self._layouts[rest] = layout
        dims = names(attributes.get("_ARRAY_DIMENSIONS"), len(shape))
        if dims is not None and None in dims:
            dims = None
        return Entry("", "array", "zarr2", shape, dims, layout, attributes)


def _group_v2(text: bytes, attrs: bytes | None) -> Entry:
    if load_object(text, "") != {"zarr_format": 2}:
        raise _RareError
    return Entry("", "group", "zarr2", attributes={} if attrs is None else load_object(attrs, ""))


def _group_v3(members: dict[str, bytes]) -> Entry | None:
    """Return the group that the members of a document describe, but for the attributes; `None` if it is none."""
    if members.get("node_type") != b'"group"':
        return None
    others = {name: text for name, text in members.items() if name != "consolidated_metadata"}
    block = members.get("consolidated_metadata", b"null")
    if others != {"zarr_format": b"3", "node_type": b'"group"'} or not block.startswith((b"{", b"null")):
        raise _RareError
    return Entry("", "group", "zarr3")


def _array_v3(members: dict[str, bytes], listed: bytes) -> Entry:
    """Return the array that the members of a document describe, but for attributes and shape; `listed` is the shape."""
    if members.pop("shape", None) != listed:
        raise _RareError
    dims = members.pop("dimension_names", None)
    layout = layout_v3(members) if members.get("node_type") == b'"array"' else None
    if layout is None:
        raise _RareError
    named = None if dims is None else names(load(dims, ""), len(layout.chunks))
    if dims is not None and named is None:
        raise _RareError
    return Entry("", "array", "zarr3", (), named, layout)


def _members(text: bytes) -> dict[str, bytes]:
    try:
        return split_object(text)
    except ValueError:
        raise _RareError from None
