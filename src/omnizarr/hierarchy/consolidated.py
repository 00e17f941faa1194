"""Consolidated metadata: a group's copy of the documents of all nodes below it.

It is a cache, which other programs may leave behind the documents. So these are the rules:

- It is used only by handles opened with mode "r", and not at all with `consolidated=False`.
- It answers what nodes there are, and what they look like, where asking for each document would take long. Where that
  is cheap (memory, file system) the documents answer, and the copy only where there are none.
- Before the first chunk of an array is read, the array's own document is read; where the two differ, that one counts.
- Every change made through Omnizarr to a node updates the consolidated metadata of each group above it, after the
  node's own documents. Should that fail, the documents are right and the copy is behind, which the rules above allow.

v2: `.zmetadata` beside the group's documents. v3: the member `consolidated_metadata` of the group's `zarr.json`, as
zarr-python writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from json.encoder import encode_basestring_ascii
from typing import Final

from omnizarr.errors import MetadataError
from omnizarr.format.document import load
from omnizarr.format.names import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETADATA, join
from omnizarr.hierarchy.nodes import CONSOLIDATED, Meta, parse_v2, parse_v3
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.native import split_object
from omnizarr.store.protocol import Store

_DOCUMENTS: Final = (ZARR_JSON, ZARRAY, ZGROUP, ZATTRS)


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
        old = (texts.get(start + ZARRAY), texts.get(start + ZGROUP), texts.get(start + ZATTRS))
        return parse_v2(path + "/" if path else "", old, limits)

    def children(self, path: str) -> list[str]:
        """Return the names of the nodes right below a path."""
        if self._children is None:
            self._children = _families(self._texts)
        inner = self._inside(path)
        return [] if inner is None else self._children.get(inner, [])

    def covers(self, path: str) -> bool:
        """Whether the path is that of the group or of something below it."""
        return self._inside(path) is not None

    def _inside(self, path: str) -> str | None:
        if not self.root:
            return path
        if path == self.root:
            return ""
        return path[len(self.root) + 1 :] if path.startswith(self.root + "/") else None


def _families(texts: Iterable[str]) -> dict[str, list[str]]:
    families: dict[str, list[str]] = {}
    for key in texts:
        node, _, document = key.rpartition("/")
        if node and document != ZATTRS:
            parent, _, name = node.rpartition("/")
            families.setdefault(parent, []).append(name)
    return families


def load_block(store: Store, path: str, limits: Limits) -> Block | None:
    """Return the consolidated metadata of the group at a path, or `None` if it has none.

    Raises:
        MetadataError: If it is there and broken.
    """
    new, old = store.get_many([join(path, ZARR_JSON), join(path, ZMETADATA)])
    if new is not None:
        texts = split_v3(new, join(path, ZARR_JSON))
    elif old is not None:
        texts = split_v2(old, join(path, ZMETADATA), limits)
    else:
        texts = None
    return None if texts is None else Block(path, texts)


def split_v3(data: bytes, key: str) -> dict[str, bytes] | None:
    """Return the texts of the documents in a group's `zarr.json` by their keys; `None` if it has no such member."""
    block = _member(data, CONSOLIDATED, key)
    if block is None or block == b"null":
        return None
    entries = _member(block, "metadata", key)
    if entries is None:
        raise MetadataError("consolidated metadata without the member 'metadata'", key=key, pointer=f"/{CONSOLIDATED}")
    return {join(path.strip("/"), ZARR_JSON): text for path, text in _split(entries, key).items()}


def split_v2(data: bytes, key: str, limits: Limits = DEFAULT_LIMITS) -> dict[str, bytes]:
    """Return the texts of the documents in a `.zmetadata` by their keys."""
    entries = _member(data, "metadata", key)
    if entries is None:
        raise MetadataError("consolidated metadata without the member 'metadata'", key=key, pointer="/metadata")
    return {name.strip("/"): _unquoted(text, key, limits) for name, text in _split(entries, key).items()}


def _unquoted(text: bytes, key: str, limits: Limits) -> bytes:
    # Reference files of kerchunk hold each document as a string.
    if not text.startswith(b'"'):
        return text
    inner = load(text, key, limits)
    return inner.encode() if isinstance(inner, str) else text


def _member(data: bytes, name: str, key: str) -> bytes | None:
    return _split(data, key).get(name)


def _split(data: bytes, key: str) -> dict[str, bytes]:
    try:
        return split_object(data)
    except ValueError as error:
        raise MetadataError(f"consolidated metadata is not JSON: {error}", key=key) from error


def render_v2(texts: Mapping[str, bytes]) -> bytes:
    """Return a `.zmetadata` that holds these documents."""
    return b'{\n  "metadata": ' + _members(texts, b"\n    ") + b',\n  "zarr_consolidated_format": 1\n}\n'


def render_v3(data: bytes, texts: Mapping[str, bytes] | None) -> bytes:
    """Return a group's `zarr.json` with these documents in place of the consolidated metadata that it has, if any."""
    members = {name: text for name, text in split_object(data).items() if name != CONSOLIDATED}
    if texts is not None:
        inner = {key.removesuffix("/" + ZARR_JSON): text for key, text in texts.items() if key != ZARR_JSON}
        metadata = _members(inner, b"\n      ")
        members[CONSOLIDATED] = (
            b'{\n    "kind": "inline",\n    "must_understand": false,\n    "metadata": ' + metadata + b"\n  }"
        )
    return _members(members, b"\n  ") + b"\n"


def _members(texts: Mapping[str, bytes], newline: bytes) -> bytes:
    if not texts:
        return b"{}"
    lines = (encode_basestring_ascii(name).encode() + b": " + text.strip() for name, text in texts.items())
    return b"{" + newline + (b"," + newline).join(lines) + newline[:-2] + b"}"


def is_document(key: str) -> bool:
    """Whether a key is that of a document which consolidated metadata holds."""
    return key.rpartition("/")[2] in _DOCUMENTS
