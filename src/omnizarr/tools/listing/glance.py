"""A quick look at the nodes below a folder, where all are of the plainest kind; see `plain_documents`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from omnizarr.errors import OmnizarrError
from omnizarr.format.document import load, load_object
from omnizarr.format.names import ATTRIBUTES_JSON, ATTRS, META, ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETA, ZMETADATA
from omnizarr.model.jsonvalue import JSON
from omnizarr.native import split_object
from omnizarr.store.file import FileStore
from omnizarr.tools.listing.entries import Entry, Layout
from omnizarr.tools.listing.plain_documents import layout_v2, layout_v3, names, sizes

_VARYING: Final = ("shape", "attributes", "dimension_names")
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
        # By all members but those that differ from array to array.
        self._layouts: dict[tuple[tuple[str, bytes], ...], Layout] = {}
        # Shapes, names of dimensions and attributes by their texts, of which many arrays have the same.
        self._values: dict[bytes, JSON] = {}

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
        texts = self._store.get_many([f"{path}/{name}" for path in paths for name in _V2])
        rows = [texts[at : at + 3] for at in range(0, len(texts), 3)]
        bare = [path for path, row in zip(paths, rows, strict=True) if row[0] is None and row[1] is None]
        self._check_others(bare, (ZARR_JSON, *_RARE))
        nodes = (self._node(path, None, *row) for path, row in zip(paths, rows, strict=True))
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
        if new is not None:
            return self._node_v3(path, new)
        if array is None and group is None:
            return None
        attributes = {} if attrs is None else load_object(attrs, path)
        if array is not None:
            return self._array_v2(path, array, attributes)
        if group is None or load_object(group, path) != {"zarr_format": 2}:
            raise _RareError
        return Entry(path, "group", "zarr2", attributes=attributes)

    def _node_v3(self, path: str, text: bytes) -> Entry:
        members = _members(text)
        block = members.pop("consolidated_metadata", b"{")
        varying: dict[str, JSON] = {name: self._value(members.pop(name)) for name in _VARYING if name in members}
        attributes = varying.get("attributes", {})
        if not isinstance(attributes, dict):
            raise _RareError
        if members.get("node_type") == b'"group"':
            if members != {"zarr_format": b"3", "node_type": b'"group"'} or varying.keys() - {"attributes"}:
                raise _RareError
            if not block.startswith((b"{", b"null")):
                raise _RareError
            return Entry(path, "group", "zarr3", attributes=attributes)
        if members.get("node_type") != b'"array"' or block != b"{":
            raise _RareError
        return self._array_v3(path, tuple(members.items()), varying, attributes)

    def _value(self, text: bytes) -> JSON:
        if text not in self._values:
            self._values[text] = load(text, "")
        return self._values[text]

    def _array_v3(
        self, path: str, rest: tuple[tuple[str, bytes], ...], varying: dict[str, JSON], attributes: dict[str, JSON]
    ) -> Entry:
        layout = self._layouts.get(rest) or layout_v3(dict(rest))
        shape = sizes(varying.get("shape"))
        if layout is None or shape is None or len(shape) != len(layout.chunks):
            raise _RareError
        self._layouts[rest] = layout
        dims = varying.get("dimension_names")
        named = None if dims is None else names(dims, len(shape))
        if dims is not None and named is None:
            raise _RareError
        return Entry(path, "array", "zarr3", shape, named, layout, attributes)

    def _array_v2(self, path: str, text: bytes, attributes: dict[str, JSON]) -> Entry:
        members = _members(text)
        shape = sizes(self._value(members.pop("shape", b"null")))
        rest = tuple(members.items())
        layout = self._layouts.get(rest) or layout_v2(members)
        if layout is None or shape is None or len(shape) != len(layout.chunks):
            raise _RareError
        self._layouts[rest] = layout
        dims = names(attributes.get("_ARRAY_DIMENSIONS"), len(shape))
        if dims is not None and None in dims:
            dims = None
        return Entry(path, "array", "zarr2", shape, dims, layout, attributes)


def _members(text: bytes) -> dict[str, bytes]:
    try:
        return split_object(text)
    except ValueError:
        raise _RareError from None
