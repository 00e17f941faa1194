"""Consolidated metadata: a group's copy of the documents of all nodes below it.

It is a cache, which other programs may leave behind the documents. So these are the rules:

- It is used only by handles opened with mode "r", and not at all with `consolidated=False`.
- It answers what nodes there are, and what they look like, where asking for each document would take long. Where that
  is cheap (memory, file system) the documents answer, and the copy only where there are none.
- Before the first chunk of an array is read, the array's own document is read; where the two differ, that one counts.
  Where there is none, the array is gone, unless the group has none either, as in reference sets of kerchunk.
- Every change made through Omnizarr to a node updates the consolidated metadata of each group above it, after the
  node's own documents. Should that fail, the documents are right and the copy is behind, which the rules above allow.
  A node that is erased goes from the copy first.

v2: `.zmetadata` beside the group's documents. v3: the member `consolidated_metadata` of the group's `zarr.json`, as
zarr-python writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from omnizarr.format.consolidated import split_v2, split_v3
from omnizarr.format.names import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETADATA, join
from omnizarr.format.parsed import Meta, parse_v2, parse_v3
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.store.protocol import Store, get_documents

_MAIN: Final = (ZARR_JSON, ZARRAY, ZGROUP)


class Block:
    """The documents below the group at `root`, split into texts and parsed one by one when asked for."""

    __slots__ = ("_children", "_texts", "root")

    def __init__(self, root: str, texts: Mapping[str, bytes]) -> None:
        self.root = root
        self._texts = texts
        self._children: dict[str, list[str]] | None = None

    def meta(self, path: str, limits: Limits = DEFAULT_LIMITS) -> Meta | None:
        """Return what the node at the path looked like, or `None` if it was not there."""
        inner = self._inside(path)
        if inner is None:
            return None
        start = inner + "/" if inner else ""
        texts = self._texts
        text = texts.get(start + ZARR_JSON)
        if text is not None:
            return parse_v3(text, join(path, ZARR_JSON), limits)
        old = {name: texts.get(start + name) for name in (ZARRAY, ZGROUP, ZATTRS)}
        return parse_v2(path + "/" if path else "", old, limits)

    def holds(self, path: str) -> bool:
        """Whether there was a node at the path, readable or not."""
        inner = self._inside(path)
        return inner is not None and any(join(inner, name) in self._texts for name in _MAIN)

    def children(self, path: str) -> list[str]:
        """Return the names of the nodes right below a path."""
        if self._children is None:
            self._children = _families(self._texts)
        inner = self._inside(path)
        return [] if inner is None else self._children.get(inner, [])

    def _inside(self, path: str) -> str | None:
        if not self.root:
            return path
        if path == self.root:
            return ""
        return path[len(self.root) + 1 :] if path.startswith(self.root + "/") else None


def _families(texts: Iterable[str]) -> dict[str, list[str]]:
    families: dict[str, list[str]] = {}
    # Taken once each: a path may have the documents of both an array and a group, and then is an array.
    nodes = dict.fromkeys(node for node, _, document in (key.rpartition("/") for key in texts) if document in _MAIN)
    for node in nodes:
        if node:
            parent, _, name = node.rpartition("/")
            families.setdefault(parent, []).append(name)
    return families


def load_block(store: Store, path: str, limits: Limits) -> Block | None:
    """Return the consolidated metadata of the group at a path, or `None` if it has none.

    Raises:
        MetadataError: If it is there and broken, or of a kind that is not supported.
        UnsafeError: If it has paths that lead out of the group.
    """
    keys = [join(path, ZARR_JSON), join(path, ZMETADATA)]
    new, old = get_documents(store, keys, limits.max_document_bytes)
    if new is not None:
        texts = split_v3(new, join(path, ZARR_JSON), limits)
    elif old is not None:
        texts = split_v2(old, join(path, ZMETADATA), limits)
    else:
        texts = None
    return None if texts is None else Block(path, texts)
