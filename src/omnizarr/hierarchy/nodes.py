"""Nodes in a store: finding what is at a path, and the documents of it.

A path holds a node if it holds one of the documents that make a node in some dialect; where there are several, the
first of the table `omnizarr.format.dialects` wins. The documents of v3 and v2 are asked for at once, so that a distant
store costs one round trip; those of older formats follow if there are none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from omnizarr.errors import LimitError, MetadataError, OmnizarrError, warn
from omnizarr.format.dialects import DIALECTS, ZARR2, ZARR3, dialect, render
from omnizarr.format.names import as_path, join
from omnizarr.format.parsed import Meta, known
from omnizarr.format.reshaped import keep, reshaped
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.store.protocol import Store, documents_in_parts, get_documents, place_name

__all__ = [
    "Meta",
    "as_path",
    "checked",
    "checked_again",
    "claimed",
    "documents",
    "format_of",
    "implied",
    "load",
    "load_many",
    "parse",
]

COMMON: Final = (*ZARR3.documents, *ZARR2.documents)
"""Names of the documents that most nodes have."""
_RARE: Final = tuple(name for one in DIALECTS.values() if one not in (ZARR3, ZARR2) for name in one.documents)

_UP_TO: Final[dict[str | None, tuple[None, ...]]] = {ZARR3.name: (), ZARR2.name: (None,) * len(ZARR3.documents)}
"""Which of the common documents come before those of a dialect."""

_MOST_RENDERED: Final = 64

_PART: Final = 64
"""Nodes that are understood together, while the documents of others are on their way."""

_Node = TypeVar("_Node", ArrayMeta, GroupMeta)

# By the identity of the metadata, which stays alive here; made for creating many arrays that are alike.
_rendered: dict[int, tuple[Meta, dict[str, bytes]]] = {}


def load(store: Store, path: str, limits: Limits = DEFAULT_LIMITS, only: str | None = None) -> Meta | None:
    """Return what is at the path, or `None` if no node is.

    Args:
        store: Where to look.
        path: The node's path in the store.
        limits: Bounds on documents.
        only: Name of a dialect, to look for that alone.

    Raises:
        MetadataError: If a document is there that breaks its specification.
        UnsupportedError: If `only` is no dialect.
    """
    start = path + "/" if path else ""
    names = COMMON if only is None else dialect(only).documents
    values = get_documents(store, [start + name for name in names], limits.max_document_bytes)
    if limits is DEFAULT_LIMITS and (only is None or only in _UP_TO):
        meta = known(*_UP_TO.get(only, ()), *values)
        if meta is not None:
            return meta
    texts = {name: value for name, value in zip(names, values, strict=True) if value is not None}
    found = _readable(store, path, texts, limits)
    if found is None and only is None:
        found = _readable(store, path, _texts(store, path, _RARE), limits)
    elif only is None and ZARR3.nodes[0] in texts and any(name in texts for name in ZARR2.nodes):
        warn(f"{path or '/'!r} holds documents of Zarr v2 and v3; v3 is used. Pass format= to choose.")
    if isinstance(found, OmnizarrError):
        raise found
    return found


def _texts(store: Store, path: str, names: Sequence[str]) -> dict[str, bytes]:
    start = path + "/" if path else ""
    values = store.get_many([start + name for name in names])
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


def implied(store: Store, path: str) -> GroupMeta | None:
    """Return the group at a path without documents, if the format of the group above it needs none."""
    above = path
    while above:
        above = above.rpartition("/")[0]
        meta = _readable(store, above, _texts(store, above, (*COMMON, *_RARE)), DEFAULT_LIMITS)
        if isinstance(meta, GroupMeta) and dialect(meta.format).implicit_groups and any(store.list_dir(path + "/")):
            return GroupMeta(format=meta.format)
        if meta is not None:  # what lies below an array are its chunks
            return None
    return None


def load_many(store: Store, paths: Sequence[str], limits: Limits, parent: str) -> list[Meta | OmnizarrError | None]:
    """Return what is at each of the paths, or why it cannot be read; `parent` is the dialect that most will have."""
    own = dialect(parent)
    metas = _load_some(store, paths, limits, own.documents)
    others = (COMMON, _RARE) if own is ZARR3 or own is ZARR2 else (COMMON,)
    for names in others:
        missing = [i for i, meta in enumerate(metas) if meta is None]
        if not missing:
            return metas
        found = _load_some(store, [paths[i] for i in missing], limits, names)
        for i, meta in zip(missing, found, strict=True):
            metas[i] = meta
    if own.implicit_groups:
        return [GroupMeta(format=parent) if meta is None else meta for meta in metas]
    return metas


def _load_some(
    store: Store, paths: Sequence[str], limits: Limits, names: tuple[str, ...]
) -> list[Meta | OmnizarrError | None]:
    keys = [join(path, name) for path in paths for name in names]
    metas: list[Meta | OmnizarrError | None] = []
    try:
        for values in documents_in_parts(store, keys, limits.max_document_bytes, _PART * len(names)):
            metas += _understood(store, paths[len(metas) :], values, names, limits)
    except LimitError as error:
        if len(paths) == 1:
            return [error]
        # One of them is too large; the others can be read all the same.
        return [meta for path in paths for meta in _load_some(store, [path], limits, names)]
    return metas


def _understood(
    store: Store, paths: Sequence[str], values: Sequence[bytes | None], names: tuple[str, ...], limits: Limits
) -> list[Meta | OmnizarrError | None]:
    """Return what is at the first paths, of which these are the documents."""
    width = len(names)
    metas: list[Meta | OmnizarrError | None] = []
    for i, path in enumerate(paths[: len(values) // width]):
        if width == 1:
            value = values[i]
            meta = known(value) if limits is DEFAULT_LIMITS else None
            if meta is None and value is not None:
                metas.append(_readable(store, path, {names[0]: value}, limits))
            else:
                metas.append(meta)
            continue
        row = zip(names, values[i * width : (i + 1) * width], strict=True)
        metas.append(_readable(store, path, {name: value for name, value in row if value is not None}, limits))
    return metas


def _readable(store: Store, path: str, texts: Mapping[str, bytes], limits: Limits) -> Meta | OmnizarrError | None:
    """Return what documents say, or the error in them, which then names the place."""
    try:
        return parse(path, texts, limits)
    except OmnizarrError as error:
        if error.path is None:
            error.path = place_name(store, path)
        return error


def parse(path: str, texts: Mapping[str, bytes], limits: Limits) -> Meta | None:
    """Return what the documents at a path, by name, say; `None` if they make no node.

    Raises:
        MetadataError: If a document breaks its specification.
    """
    for one in DIALECTS.values() if texts else ():
        for name in one.nodes:
            if name in texts:
                meta = one.parse(path + "/" if path else "", texts, limits)
                if meta is not None:
                    return meta
                break
    return None


def format_of(store: Store, path: str) -> str | None:
    """Return the format of the documents at a path without reading what they say, or `None` if no node is there."""
    for names in (COMMON, _RARE):
        name = claimed(_texts(store, path, names))
        if name is not None:
            return name
    return None


def claimed(texts: Mapping[str, bytes | None]) -> str | None:
    """Return the format of documents by name without reading what they say, or `None` if they make no node."""
    for one in DIALECTS.values() if texts else ():
        for name in one.nodes:
            text = texts.get(name)
            if text is not None and one.claims(text):
                return one.name
    return None


def documents(meta: Meta) -> dict[str, bytes]:
    """Return the documents of a node by name, those that make it a node last.

    Raises:
        UnsupportedError: If its dialect cannot express the node.
    """
    known = _rendered.get(id(meta))
    if known is None:
        known = meta, render(meta)
        if len(_rendered) >= _MOST_RENDERED:
            _rendered.clear()
        _rendered[id(meta)] = known
    return dict(known[1])


def checked(meta: _Node, path: str, limits: Limits) -> tuple[_Node, dict[str, bytes]]:
    """Return the documents of a node, and what whoever reads them will see: the two may differ in what is implied.

    Raises:
        MetadataError: If the documents could be written but not read.
        LimitError: If they claim more than the limits allow.
        UnsupportedError: If the dialect cannot express the node.
    """
    texts = documents(meta)
    seen = dialect(meta.format).parse(path + "/" if path else "", texts, limits)
    if not isinstance(seen, type(meta)):  # a renderer of groups writes groups
        raise MetadataError("the documents do not say what they should", key=path)
    return seen, texts


def checked_again(meta: _Node, path: str, limits: Limits) -> tuple[_Node, dict[str, bytes]]:
    """Return and raise the same as `checked` for a node that has changed: most often an array that has got longer."""
    found = reshaped(meta, path + "/" if path else "", limits)
    if found is not None:
        return found  # type: ignore[return-value]  # an array if the node is one
    seen, texts = checked(meta, path, limits)
    if limits is DEFAULT_LIMITS:
        keep(seen, texts)
    return seen, texts
