"""What stands for an array in the name of a computation: where it is, what it is, and which state of it."""

from __future__ import annotations

import os

from omnizarr.array.io import changes_of
from omnizarr.model.array import ArrayMeta
from omnizarr.store.protocol import Store, place_name
from omnizarr.store.uri import scheme, uri_to_path

_DOCUMENTS = ("zarr.json", ".zarray")


def token_of(store: Store, path: str, meta: ArrayMeta) -> tuple[object, ...]:
    """Return what is equal for two handles on the same state of an array, and another for another state.

    No chunk is looked at. What is seen of a change: the metadata; what this process has written, or has had written by
    workers; for a file or folder of this machine, when the file, the array's document or its folder changed last. After
    a write was planned that others may do at any time, no two are equal.
    """
    place = place_name(store, path)
    return ("omnizarr.Array", store.uri, path, repr(meta), changes_of(place), *_stamps(store.uri, path))


def _stamps(uri: str, path: str) -> list[tuple[int, int, int] | None]:
    if scheme(uri) != "file":
        return []
    root = uri_to_path(uri)
    here = _stamp(root)
    if here is None or not os.path.isdir(root):  # noqa: PTH112 - as in the store
        return [here]
    folder = os.path.join(root, *path.split("/")) if path else root  # noqa: PTH118
    return [_stamp(folder), *(_stamp(os.path.join(folder, name)) for name in (*_DOCUMENTS, "c"))]  # noqa: PTH118


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        seen = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    # The size of a folder is the file system's own affair.
    return seen.st_ino, seen.st_mtime_ns, 0 if os.path.isdir(path) else seen.st_size  # noqa: PTH112
