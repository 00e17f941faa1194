"""Nodes in a store: finding what is at a path, and writing the documents of it.

A path holds a node if it holds `zarr.json`, `.zarray` or `.zgroup`; the first wins over the others, with a warning. All
are asked for at once, so that a distant store costs one round trip. Documents that were parsed before are not parsed
again: what they mean is kept by their bytes.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

from omnizarr.errors import LimitError, MetadataError, NodeTypeError, OmnizarrError, OmnizarrWarning
from omnizarr.format import v2, v3
from omnizarr.format.consolidated import MARK, without_block
from omnizarr.format.document import dump, load_object
from omnizarr.format.document import load as load_json
from omnizarr.format.names import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, join
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.model.keys import v2_keys
from omnizarr.native import split_object
from omnizarr.store.protocol import Store, place_name

Meta: TypeAlias = ArrayMeta | GroupMeta

_DOCUMENTS: Final = (ZARR_JSON, ZARRAY, ZGROUP, ZATTRS)

_MOST_CACHED: Final = 4096
_MOST_RENDERED: Final = 64
_LARGEST_CACHED: Final = 1 << 12

_Key = TypeVar("_Key", bound=Hashable)
_Known = TypeVar("_Known", ArrayMeta, Meta)
_Node = TypeVar("_Node", ArrayMeta, GroupMeta)

_parsed_v3: dict[bytes, Meta] = {}
_siblings_v3: dict[tuple[tuple[str, bytes], ...], ArrayMeta] = {}
_parsed_v2: dict[tuple[bytes, bytes | None, bool], Meta] = {}
# By the identity of the metadata, which stays alive here; made for creating many arrays that are alike.
_rendered: dict[int, tuple[Meta, dict[str, bytes]]] = {}


def load(store: Store, path: str, limits: Limits = DEFAULT_LIMITS, dialect: str | None = None) -> Meta | None:
    """Return what is at the path, or `None` if no node is.

    Args:
        store: Where to look.
        path: The node's path in the store.
        limits: Bounds on documents.
        dialect: "zarr3" or "zarr2" to look for that alone.

    Raises:
        MetadataError: If a document is there that breaks its specification.
    """
    start = path + "/" if path else ""
    data = array = group = attrs = None
    if dialect == "zarr3":
        data = store.get(start + ZARR_JSON)
    elif dialect == "zarr2":
        array, group, attrs = store.get_many([start + ZARRAY, start + ZGROUP, start + ZATTRS])
    else:
        data, array, group, attrs = store.get_many([start + name for name in _DOCUMENTS])
    if data is not None and (array is not None or group is not None):
        warnings.warn(
            f"{path or '/'!r} holds documents of Zarr v2 and v3; v3 is used. Pass format= to choose.",
            OmnizarrWarning,
            stacklevel=4,
        )
    found = _readable(store, path, (data, array, group, attrs), limits)
    if isinstance(found, OmnizarrError):
        raise found
    return found


def load_many(store: Store, paths: Sequence[str], limits: Limits, parent: str) -> list[Meta | OmnizarrError | None]:
    """Return what is at each of the paths, or why it cannot be read; `parent` is the dialect that most will have."""
    if parent == "zarr2":
        found = store.get_many([join(path, name) for path in paths for name in _DOCUMENTS])
        rows = zip(found[0::4], found[1::4], found[2::4], found[3::4], strict=True)
        return [_readable(store, path, row, limits) for path, row in zip(paths, rows, strict=True)]
    texts = store.get_many([join(path, ZARR_JSON) for path in paths])
    metas = [_readable(store, path, (data, None, None, None), limits) for data, path in zip(texts, paths, strict=True)]
    missing = [i for i, meta in enumerate(metas) if meta is None]
    if missing:
        others = load_many(store, [paths[i] for i in missing], limits, "zarr2")
        for i, meta in zip(missing, others, strict=True):
            metas[i] = meta
    return metas


def _readable(
    store: Store, path: str, texts: tuple[bytes | None, bytes | None, bytes | None, bytes | None], limits: Limits
) -> Meta | OmnizarrError | None:
    """Return what documents say, or the error in them, which then names the place."""
    start = path + "/" if path else ""
    try:
        if texts[0] is not None:
            return parse_v3(texts[0], start + ZARR_JSON, limits)
        return parse_v2(start, texts[1:], limits)
    except OmnizarrError as error:
        if error.path is None:
            error.path = place_name(store, path)
        return error


def as_path(path: object) -> str:
    """Check that what a user gives for a path is text.

    Raises:
        NodeTypeError: If it is not.
    """
    if isinstance(path, str):
        return path
    raise NodeTypeError(f"the path of a node is text, not {path!r} of type {type(path).__name__}")


def format_of(store: Store, path: str) -> str | None:
    """Return the format of the documents at a path without reading what they say, or `None` if no node is there."""
    data, array, group = store.get_many([join(path, name) for name in _DOCUMENTS[:3]])
    if data is not None:
        return "zarr3"
    return None if array is None and group is None else "zarr2"


def parse_v3(data: bytes, key: str, limits: Limits = DEFAULT_LIMITS) -> Meta:
    """Parse a `zarr.json`; consolidated metadata in it is left out."""
    meta = _parsed_v3.get(data)
    if meta is not None and limits is DEFAULT_LIMITS:
        return meta
    own = without_block(data) if MARK in data and len(data) <= limits.max_document_bytes else data
    encoding = _encoding(own) if limits is DEFAULT_LIMITS and len(own) <= _LARGEST_CACHED else None
    meta = None if encoding is None else _sibling(*encoding, key)
    if meta is not None:
        remember(_parsed_v3, data, len(data), meta)
        return meta
    document = load_object(own, key, limits)
    if v3.node_type(document, key) == "group":
        meta = v3.parse_group(document, key)
    else:
        meta = v3.parse_array(document, key, limits)
    if limits is DEFAULT_LIMITS:
        remember(_parsed_v3, data, len(data), meta)
        if encoding is not None and isinstance(meta, ArrayMeta):
            remember(_siblings_v3, encoding[0], len(data), meta)
    return meta


def _encoding(data: bytes) -> tuple[tuple[tuple[str, bytes], ...], dict[str, bytes]] | None:
    """Part a document's members into those that the arrays of a dataset share, and the varying ones."""
    try:
        members = split_object(data)
    except ValueError:  # whoever parses the whole says better what is wrong
        return None
    varying = {name: members.pop(name) for name in v3.VARYING if name in members}
    return tuple(members.items()), varying


def _sibling(rest: tuple[tuple[str, bytes], ...], varying: Mapping[str, bytes], key: str) -> ArrayMeta | None:
    known = _siblings_v3.get(rest)
    if known is None:
        return None
    try:
        fields = {name: load_json(text, key) for name, text in varying.items()}
        return v3.parse_sibling(known, fields, key, DEFAULT_LIMITS)
    except (MetadataError, LimitError):  # as above
        return None


def parse_v2(
    start: str, texts: tuple[bytes | None, bytes | None, bytes | None], limits: Limits = DEFAULT_LIMITS
) -> Meta | None:
    """Parse the documents of a v2 node: `.zarray`, `.zgroup` and `.zattrs`; `None` if there is no node.

    Args:
        start: What the keys of the documents begin with.
        texts: The documents.
        limits: Bounds on them.
    """
    array, group, attrs = texts
    main = group if array is None else array
    if main is None:
        return None
    cached = (main, attrs, array is not None)
    meta = _parsed_v2.get(cached)
    if meta is not None and limits is DEFAULT_LIMITS:
        return meta
    attributes = None if attrs is None else load_object(attrs, start + ZATTRS, limits)
    if array is not None:
        meta = v2.parse_array(load_object(array, start + ZARRAY, limits), attributes, start + ZARRAY, limits)
    else:
        meta = v2.parse_group(load_object(main, start + ZGROUP, limits), attributes, start + ZGROUP)
    if limits is DEFAULT_LIMITS:
        remember(_parsed_v2, cached, len(main) + len(attrs or b""), meta)
    return meta


def remember(cache: dict[_Key, _Known], texts: _Key, size: int, meta: _Known) -> None:
    """Keep what documents mean; all is forgotten when there is too much of it."""
    if size <= _LARGEST_CACHED:
        if len(cache) >= _MOST_CACHED:
            cache.clear()
        cache[texts] = meta


def with_real_keys(store: Store, path: str, meta: ArrayMeta) -> ArrayMeta:
    """Find out whether chunks are stored as `0/0` although a v2 document says `0.0`, or says nothing.

    Before 2021 zarr-python could store them so without a word in the document, and then every other reader sees none.
    """
    if meta.format != "zarr2" or meta.keys.separator != "." or meta.ndim < 2:
        return meta
    first = (0,) * meta.ndim
    nested = v2_keys("/")
    if store.exists(join(path, meta.keys.key(first))) or not store.exists(join(path, nested.key(first))):
        return meta
    return meta._replace(keys=nested)


def documents(meta: Meta) -> dict[str, bytes]:
    """Return the documents of a node by name, the one that makes it a node last."""
    known = _rendered.get(id(meta))
    if known is None:
        known = meta, _render(meta)
        if len(_rendered) >= _MOST_RENDERED:
            _rendered.clear()
        _rendered[id(meta)] = known
    return dict(known[1])


def _render(meta: Meta) -> dict[str, bytes]:
    if meta.format == "zarr3":
        document = v3.render_array(meta) if isinstance(meta, ArrayMeta) else v3.render_group(meta)
        return {ZARR_JSON: dump(document, ZARR_JSON)}
    if meta.format != "zarr2":
        raise MetadataError(f"documents of the format {meta.format!r} cannot be written")
    name = ZARRAY if isinstance(meta, ArrayMeta) else ZGROUP
    main, attributes = v2.render_array(meta) if isinstance(meta, ArrayMeta) else v2.render_group(meta)
    data = dump(main, name)
    return {ZATTRS: dump(attributes, ZATTRS), name: data} if attributes else {name: data}


def checked(meta: _Node, path: str, limits: Limits) -> tuple[_Node, dict[str, bytes]]:
    """Return the documents of a node, and what whoever reads them will see: the two may differ in what is implied.

    Raises:
        MetadataError: If the documents could be written but not read.
        LimitError: If they claim more than the limits allow.
    """
    texts = documents(meta)
    start = path + "/" if path else ""
    if meta.format == "zarr3":
        seen: Meta | None = parse_v3(texts[ZARR_JSON], start + ZARR_JSON, limits)
    else:
        seen = parse_v2(start, (texts.get(ZARRAY), texts.get(ZGROUP), texts.get(ZATTRS)), limits)
    if not isinstance(seen, type(meta)):  # a renderer of groups writes groups
        raise MetadataError("the documents do not say what they should", key=path)
    return seen, texts
