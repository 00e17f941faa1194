"""Nodes in a store: finding what is at a path, and the documents of it.

A path holds a node if it holds one of the documents that make a node in some dialect; where there are several, the
first of the table `omnizarr.format.dialects` wins. The documents of v3 and v2 are asked for at once, so that a distant
store costs one round trip; those of older formats follow if there are none.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from omnizarr.errors import MetadataError, NodeTypeError, OmnizarrError, OmnizarrWarning, UnsafeError
from omnizarr.format.dialects import DIALECTS, ZARR2, ZARR3, dialect, render
from omnizarr.format.names import join
from omnizarr.format.parsed import Meta
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.model.keys import v2_keys
from omnizarr.store.protocol import Store, place_name

__all__ = ["Meta", "as_path", "checked", "documents", "format_of", "load", "load_many", "with_real_keys"]

_COMMON: Final = (*ZARR3.documents, *ZARR2.documents)
_RARE: Final = tuple(name for one in DIALECTS.values() if one not in (ZARR3, ZARR2) for name in one.documents)

_MOST_RENDERED: Final = 64

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
    texts = _texts(store, path, _COMMON if only is None else dialect(only).documents)
    found = _readable(store, path, texts, limits)
    if found is None and only is None:
        found = _readable(store, path, _texts(store, path, _RARE), limits)
    elif only is None and ZARR3.nodes[0] in texts and any(name in texts for name in ZARR2.nodes):
        warnings.warn(
            f"{path or '/'!r} holds documents of Zarr v2 and v3; v3 is used. Pass format= to choose.",
            OmnizarrWarning,
            stacklevel=4,
        )
    if isinstance(found, OmnizarrError):
        raise found
    return found


def _texts(store: Store, path: str, names: Sequence[str]) -> dict[str, bytes]:
    start = path + "/" if path else ""
    values = store.get_many([start + name for name in names])
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


def load_many(store: Store, paths: Sequence[str], limits: Limits, parent: str) -> list[Meta | OmnizarrError | None]:
    """Return what is at each of the paths, or why it cannot be read; `parent` is the dialect that most will have."""
    own = dialect(parent)
    metas = _load_some(store, paths, limits, own.documents)
    others = (_COMMON, _RARE) if own is ZARR3 or own is ZARR2 else (_COMMON,)
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
    values = store.get_many([join(path, name) for path in paths for name in names])
    width = len(names)
    metas = []
    for i, path in enumerate(paths):
        row = zip(names, values[i * width : (i + 1) * width], strict=True)
        metas.append(_readable(store, path, {name: value for name, value in row if value is not None}, limits))
    return metas


def _readable(store: Store, path: str, texts: Mapping[str, bytes], limits: Limits) -> Meta | OmnizarrError | None:
    """Return what documents say, or the error in them, which then names the place."""
    try:
        return _parse(path, texts, limits)
    except OmnizarrError as error:
        if error.path is None:
            error.path = place_name(store, path)
        return error


def _parse(path: str, texts: Mapping[str, bytes], limits: Limits) -> Meta | None:
    for one in DIALECTS.values() if texts else ():
        for name in one.nodes:
            if name in texts:
                meta = one.parse(path + "/" if path else "", texts, limits)
                if meta is not None:
                    return meta
                break
    return None


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
    for names in (_COMMON, _RARE):
        texts = _texts(store, path, names)
        for one in DIALECTS.values() if texts else ():
            if any(name in texts for name in one.nodes):
                return one.name
    return None


def with_real_keys(store: Store, path: str, meta: ArrayMeta) -> ArrayMeta:
    """Find out where chunks are if they are not where a v2 document says, or says nothing.

    Before 2021 zarr-python could store them as `0/0` without a word in the document, and then every other reader sees
    none. zarr 2.0 and 2.1 stored the chunk of an array without dimensions under the empty name.
    """
    if meta.format != ZARR2.name or meta.keys.separator != "." or meta.ndim == 1:
        return meta
    first = (0,) * meta.ndim
    other = meta.keys._replace(scalar="") if not first else v2_keys("/")
    if store.exists(join(path, meta.keys.key(first))) or not _exists(store, join(path, other.key(first))):
        return meta
    return meta._replace(keys=other)


def _exists(store: Store, key: str) -> bool:
    try:
        return store.exists(key)
    except UnsafeError:  # most stores have no empty names
        return False


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
