"""What lies where a new node is to be made, and belongs to no node: left by work that failed, was killed or goes on."""

from __future__ import annotations

import time
from itertools import chain
from typing import Final

from omnizarr.errors import ConflictError, ExistsError
from omnizarr.format.consolidated import is_document
from omnizarr.format.dialects import DIALECTS
from omnizarr.format.names import join
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.nodes import Meta, format_of
from omnizarr.model.array import ArrayMeta
from omnizarr.model.keys import Keys
from omnizarr.store.protocol import Store, place_name

COPYING: Final = ".omnizarr-copy.json"
"""The note, at the place of a copy that is not whole yet, which says what is copied."""
CONVERTING: Final = ".omnizarr-convert.json"
"""The same of a conversion."""

_NOTES: Final = {COPYING: "copy", CONVERTING: "conversion"}
_ATTRIBUTES: Final = frozenset(one.attributes for one in DIALECTS.values() if one.attributes)
_WAITS: Final = (0.002, 0.01, 0.03)
"""Seconds between two looks: whoever wrote to an array that was erased takes its chunks away a moment later."""


def settle_left(context: Context, path: str, meta: Meta, *, overwrite: bool) -> None:
    """Let a new node show nothing of what is left at its path, where there is no node and nothing is erased for it.

    Chunks are of no use without their array, but nobody has asked to lose them, so they are not erased unasked.

    Args:
        context: The store, which is a near one: elsewhere a look costs a request.
        path: The node's path.
        meta: The node.
        overwrite: Whether what is there may be erased.

    Raises:
        ConflictError: If a copy or conversion is under way there, or chunks are there that the new array would show.
            No ExistsError, which for many means that they can open what is there.
    """
    store, start = context.store, path + "/" if path else ""
    keys, folders = store.list_dir(start)
    if not keys and not folders:
        return
    notes = [key for key in keys if key[len(start) :] in _NOTES]
    if notes and not overwrite:
        what = _NOTES[notes[0][len(start) :]]
        hint = f"give the same command again to finish the {what}, or pass overwrite=True to replace it"
        raise ConflictError(f"an unfinished {what} is there", path=place_name(store, path), hint=hint)
    left = left_chunks(store, path, meta)
    for wait in _WAITS if left and not overwrite else ():
        time.sleep(wait)
        left = left_chunks(store, path, meta)
        if not left or format_of(store, path) is not None:  # which whoever makes the node will see
            return
    if left and not overwrite:
        hint = 'pass overwrite=True or mode="w" to erase them'
        message = f"chunks of no array are there, which a new one would show: {left[0]!r}"
        raise ConflictError(message, path=place_name(store, path), hint=hint)
    for key in (*left, *notes):
        store.erase(key)


def left_chunks(store: Store, path: str, meta: Meta) -> list[str]:
    """Return the keys below a path that an array there would take for its chunks, but for those of nodes below it."""
    if not isinstance(meta, ArrayMeta):
        return []
    start, names = path + "/" if path else "", meta.keys
    keys, folders = store.list_dir(start)
    for folder in folders:
        if _may_hold(names, meta.ndim, folder[len(start) : -1]):
            found = list(store.list_prefix(folder))
            nodes = tuple({key.rpartition("/")[0] + "/" for key in found if is_document(key)})
            keys = [*keys, *(key for key in found if not key.startswith(nodes))]
    return [key for key in keys if names.parse(key[len(start) :], meta.ndim) is not None]


def _may_hold(names: Keys, ndim: int, folder: str) -> bool:
    """Whether chunks of such names may lie in a folder beside the documents."""
    if "/" in names.prefix:
        return names.prefix.startswith(folder + "/")
    return names.separator == "/" and ndim > 1 and folder.removeprefix(names.prefix).isdigit()


def something_left(store: Store, path: str) -> str:
    """Return a key below a path where no node is, or the empty string; attributes of a node never made do not count."""
    keys, folders = store.list_dir(path + "/")
    all_keys = chain(keys, (key for folder in folders for key in store.list_prefix(folder)))
    return next((key for key in all_keys if key.rpartition("/")[2] not in _ATTRIBUTES), "")


def check_nothing_left(store: Store, path: str, hint: str | None) -> None:
    """Refuse a place where something is that is no node: whatever it is, no one has asked to lose it.

    Raises:
        ExistsError: If something is there.
    """
    left = something_left(store, path) if path else ""
    if left:
        what = _NOTES.get(left.removeprefix(path + "/"))
        message = f"an unfinished {what} is there" if what else "something is there that is no array or group"
        raise ExistsError(message, path=place_name(store, path), key=left, hint=hint)


def forget_left_attributes(store: Store, path: str) -> None:
    """Erase attributes of a node that was never made."""
    for name in _ATTRIBUTES:
        store.erase(join(path, name))
