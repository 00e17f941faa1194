"""Nodes that a path of the file system leads to through a folder above it.

The nodes of a draft have no folders of their own: `data.zr3/foo` is documented in `data.zr3/meta`. A group of N5 may
have a folder without a document, which only the container above it tells from any other.
"""

from __future__ import annotations

from typing import Final

from omnizarr.errors import OmnizarrError
from omnizarr.format.dialects import DRAFT, dialect
from omnizarr.hierarchy.draft_view import find_draft
from omnizarr.hierarchy.nodes import implied, load
from omnizarr.limits import Limits
from omnizarr.model.group import GroupMeta
from omnizarr.store.file import FileStore
from omnizarr.store.keys import is_text
from omnizarr.store.protocol import Store
from omnizarr.store.wrap import ReadOnlyStore

_HIGHEST: Final = 8


def find_above(store: Store, limits: Limits) -> tuple[Store, str] | None:
    """Return a store and the path in it that holds what a folder without a node stands for; `None` if nothing does."""
    inner = store.inner if isinstance(store, ReadOnlyStore) else store
    if not isinstance(inner, FileStore):
        return None
    parts = inner.root.replace("\\", "/").split("/")
    try:
        found = _draft(parts, limits) or _container(parts, limits)
    except OmnizarrError:  # what is broken up there does not concern who asks for something below
        return None
    if found is None:
        return None
    outer, path = FileStore(found[0]), found[1]
    wrapped: Store = outer if inner is store else ReadOnlyStore(outer)
    return (find_draft(wrapped, path, limits) or (wrapped, path)) if found[2] else (wrapped, path)


def _draft(parts: list[str], limits: Limits) -> tuple[str, str, bool] | None:
    at = max(1, len(parts) - _HIGHEST)
    top = "/".join(parts[:at]) or "/"
    path = "/".join(parts[at:])
    found = find_draft(FileStore(top), path, limits) if is_text(path) else None
    if found is None or not found[1] or load(found[0], found[1], limits, DRAFT.name) is None:
        return None
    return f"{top.rstrip('/')}/{found[0].start}", found[1], True


def _container(parts: list[str], limits: Limits) -> tuple[str, str, bool] | None:
    for at in range(len(parts) - 1, max(1, len(parts) - _HIGHEST) - 1, -1):
        folder, path = "/".join(parts[:at]), "/".join(parts[at:])
        if not is_text(path):  # names of files may be any bytes, those of nodes may not
            return None
        meta = load(FileStore(folder), "", limits) if folder else None
        if meta is not None:
            lax = isinstance(meta, GroupMeta) and dialect(meta.format).implicit_groups
            return (folder, path, False) if lax and implied(FileStore(folder), path) is not None else None
    return None
