"""Where the chunks of old v2 arrays really are, which their documents do not say."""

from __future__ import annotations

from typing import Final

from omnizarr.errors import UnsafeError
from omnizarr.format.dialects import ZARR2
from omnizarr.format.names import ZARRAY, join
from omnizarr.model.array import ArrayMeta
from omnizarr.model.keys import v2_keys
from omnizarr.store.protocol import Store

_FIELD: Final = b'"dimension_separator"'


def may_be_elsewhere(meta: ArrayMeta) -> bool:
    """Whether chunks may not be where the document says."""
    return meta.format == ZARR2.name and meta.keys.separator == "." and meta.ndim != 1


def with_real_keys(store: Store, path: str, meta: ArrayMeta, *, near: bool) -> ArrayMeta:
    """Find out where chunks are if they are not where a v2 document says, or says nothing.

    Before 2021 zarr-python could store them as `0/0` without a word in the document, and then every other reader sees
    none. zarr 2.0 and 2.1 stored the chunk of an array without dimensions under the empty name.

    Args:
        store: Where the array is.
        path: The array's path.
        meta: What its documents say.
        near: Whether it is cheap to list all chunks.
    """
    if not may_be_elsewhere(meta):
        return meta
    first = (0,) * meta.ndim
    other = meta.keys._replace(scalar="") if not first else v2_keys("/")
    if store.exists(join(path, meta.keys.key(first))):
        return meta
    if _exists(store, join(path, other.key(first))) or (first and _is_nested(store, path, near=near)):
        return meta._replace(keys=other)
    return meta


def _exists(store: Store, key: str) -> bool:
    try:
        return store.exists(key)
    except UnsafeError:  # most stores have no empty names
        return False


def _is_nested(store: Store, path: str, *, near: bool) -> bool:
    """Whether chunks lie in folders although the first of them is missing, and the document names no separator."""
    document = store.get(join(path, ZARRAY))
    if document is None or _FIELD in document:
        return False
    start = path + "/" if path else ""
    if not near:  # a distant store may have to list millions; the folder of the first chunk costs one request
        return any(store.list_dir(f"{start}0/"))
    keys, folders = store.list_dir(start)
    return any(_is_index(one[len(start) : -1]) for one in folders) and not any(
        _is_index(one[len(start) :].partition(".")[0]) for one in keys
    )


def _is_index(name: str) -> bool:
    return name.isascii() and name.isdigit()
