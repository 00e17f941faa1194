"""What lies near a place that holds no node: above it, below it, or under a similar name."""

from __future__ import annotations

from typing import Final

from omnizarr.errors import OmnizarrError
from omnizarr.hierarchy.nodes import format_of
from omnizarr.store.file import FileStore
from omnizarr.store.protocol import Store

_MOST: Final = 6
_MOST_LOOKED_AT: Final = 200
_HIGHEST: Final = 8


def nodes_below(store: Store, path: str, depth: int = 2) -> list[str]:
    """Return the paths of the first few nodes below a path, those right below it first."""
    found: list[str] = []
    level, looked = [path], 0
    for _ in range(depth):
        deeper: list[str] = []
        for one in level:
            start = one + "/" if one else ""
            for prefix in sorted(store.list_dir(start)[1]):
                looked += 1
                if looked > _MOST_LOOKED_AT or len(found) >= _MOST:
                    return found
                inner = prefix[:-1]
                if _is_node(store, inner):
                    found.append(inner)
                else:
                    deeper.append(inner)
        level = deeper
    return found


def folder_above(path: str) -> str | None:
    """Return the nearest folder above a path of the file system that holds a node."""
    folder = path.replace("\\", "/").rstrip("/")
    for _ in range(_HIGHEST):
        folder = folder.rpartition("/")[0]
        if not folder:
            return None
        if _is_node(FileStore(folder), ""):
            return folder
    return None


def node_above(store: Store, path: str) -> str | None:
    """Return the path of the nearest node above a path."""
    while path:
        path = path.rpartition("/")[0]
        if _is_node(store, path):
            return path
    return None


def _is_node(store: Store, path: str) -> bool:
    try:
        return format_of(store, path) is not None
    except OmnizarrError:  # what cannot be looked at is no help
        return False
