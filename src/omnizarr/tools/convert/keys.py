"""The chunks of an array in its store: finding, erasing and copying them as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Final

from omnizarr.errors import UnsupportedError
from omnizarr.format.names import join
from omnizarr.model.array import ArrayMeta
from omnizarr.model.keys import Keys
from omnizarr.native import copy_keys
from omnizarr.store.protocol import Store, kernel_target

BATCH: Final = 1024
"""How many values are copied between two looks at how far it is."""


def chunk_keys(store: Store, path: str, keys: Keys, ndim: int) -> list[str]:
    """Return the keys of all stored chunks below an array's path, sorted."""
    return [inner for inner, _ in _found(store, path, keys, ndim)]


def chunks_of(store: Store, path: str, meta: ArrayMeta) -> list[tuple[str, tuple[int, ...]]]:
    """Return the keys of an array's stored chunks below its path, and their places; those outside it are left out."""
    counts = meta.grid.counts(meta.shape)
    return [
        (inner, place)
        for inner, place in _found(store, path, meta.keys, meta.ndim)
        if all(at < count for at, count in zip(place, counts, strict=True))
    ]


def is_whole(store: Store, path: str, meta: ArrayMeta) -> bool:
    """Whether all chunks of an array are stored, or all shards; not where a store cannot tell."""
    try:
        return len(chunks_of(store, path, meta)) == prod(meta.grid.counts(meta.shape))
    except UnsupportedError:  # by a server that lists nothing
        return False


def _found(store: Store, path: str, keys: Keys, ndim: int) -> list[tuple[str, tuple[int, ...]]]:
    if ndim == 0:
        return [(keys.scalar, ())] if keys.scalar and store.exists(join(path, keys.scalar)) else []
    start = path + "/" if path else ""
    found = []
    for prefix in _prefixes(store, start, keys, ndim):
        for key in store.list_prefix(prefix):
            inner = key[len(start) :]
            place = keys.parse(inner, ndim)
            if place is not None:
                found.append((inner, place))
    return sorted(found)


def _prefixes(store: Store, start: str, keys: Keys, ndim: int) -> list[str]:
    """Return prefixes below which all chunks lie, and little else."""
    folder = keys.prefix.rpartition("/")[0]
    if folder:
        return [f"{start}{folder}/"]
    if keys.separator == "/" and ndim > 1 and not keys.prefix:
        return [one for one in store.list_dir(start)[1] if one[len(start) : -1].isdigit()]
    return [start]


def any_chunk(store: Store, path: str, keys: Keys, ndim: int) -> str:
    """Return the key of some chunk of such names that is there, or the empty string."""
    return next(iter(chunk_keys(store, path, keys, ndim)), "")


def erase_chunks(store: Store, path: str, keys: Keys, ndim: int) -> None:
    """Erase all chunks of such names, and the folders that they had to themselves."""
    start = path + "/" if path else ""
    for inner in chunk_keys(store, path, keys, ndim):
        store.erase(start + inner)
    for prefix in _prefixes(store, start, keys, ndim) if ndim else ():
        if prefix != start and not any(store.list_prefix(prefix)):
            store.erase_prefix(prefix)  # which on a file system takes empty folders away


def copy_chunks(
    source: tuple[Store, str], target: tuple[Store, str], pairs: Sequence[tuple[str, str]]
) -> Iterator[int]:
    """Copy values from key to key, some at a time; yields how many bytes they had when they are done.

    A value that is gone is erased in the target, too.

    Args:
        source: The store to read, and what all keys in it begin with.
        target: The same for the store to write.
        pairs: Keys in the one and the other.
    """
    sides = kernel_target(*source), kernel_target(*target)
    for at in range(0, len(pairs), BATCH):
        old, new = zip(*pairs[at : at + BATCH], strict=True)
        _, size, _, missing, _ = copy_keys(*sides, old, "copy", new)
        for i in missing:
            target[0].erase(target[1] + new[i])
        yield size
