"""Keeping consolidated metadata in step: what is done after the documents of a node have changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from omnizarr.format.consolidated import MARK, render_v2, render_v3, split_v2, split_v3
from omnizarr.format.dialects import ZARR2, ZARR3
from omnizarr.format.names import ZARR_JSON, ZMETADATA, join
from omnizarr.native import split_object
from omnizarr.store.folder_lock import document_lock
from omnizarr.store.protocol import Store
from omnizarr.store.tagged import TaggedStore, conditional, retried


def ancestors(path: str) -> list[str]:
    """Return the paths above a path, the root first.

    >>> ancestors("a/b/c")
    ['', 'a', 'a/b']
    """
    if not path:
        return []
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(len(parts))]


def block_keys(above: Sequence[str], form: str = "") -> list[str]:
    """Return the keys that may hold the consolidated metadata of groups; with a format, those for nodes of that."""
    names = _BLOCKS.get(form, (ZARR_JSON, ZMETADATA))
    return [join(path, name) for path in above for name in names]


_BLOCKS: Final = {ZARR3.name: (ZARR_JSON,), ZARR2.name: (ZMETADATA,)}


def consolidated(texts: Mapping[str, bytes | None]) -> dict[str, bytes]:
    """Return those of the documents under `block_keys` that hold consolidated metadata."""
    return {key: text for key, text in texts.items() if text is not None and (MARK in text or key.endswith(ZMETADATA))}


def is_sound(text: bytes) -> bool:
    """Whether a document is an object in JSON: others would break what they are written into."""
    try:
        split_object(text)
    except ValueError:
        return False
    return True


def record(
    store: Store,
    path: str,
    documents: Mapping[str, bytes],
    *,
    erase: bool = False,
    itself: bool = False,
    found: Mapping[str, bytes] | None = None,
) -> None:
    """Enter changed documents into the consolidated metadata of every group above a node that has any.

    Args:
        store: Where the node is.
        path: The node's path.
        documents: New texts of documents by their whole keys.
        itself: Whether the node is a group whose own metadata, too, may be consolidated in it, as v2 does.
        erase: Whether all that the node and those below it had before is forgotten.
        found: The documents that hold it, by their keys, where that is known already.
    """
    above = [*ancestors(path), path] if itself else ancestors(path)
    if found is None:
        keys = block_keys(above)
        found = consolidated(dict(zip(keys, store.get_many(keys), strict=True)))
    for group in above if found else ():
        start = len(group) + 1 if group else 0
        inner = path[start:]
        if join(group, ZARR_JSON) in found and group != path:
            changed = {name[start:]: text for name, text in documents.items() if name.endswith(ZARR_JSON)}
            enter(store, join(group, ZARR_JSON), partial(_entered_v3, inner, changed, erase))
        if join(group, ZMETADATA) in found:
            changed = {name[start:]: text for name, text in documents.items() if not name.endswith(ZARR_JSON)}
            enter(store, join(group, ZMETADATA), partial(_entered_v2, inner, changed, erase))


def enter(store: Store, key: str, entered: Callable[[str, bytes], bytes | None]) -> None:
    """Change a document with consolidated metadata, if it is there, so that nobody else's change of it is lost.

    Args:
        store: Where it is.
        key: The document.
        entered: From the key and the text to the new text, or `None` for no change.
    """
    target = conditional(store)
    if target is None:
        with document_lock(store, [key]):
            _enter(store, key, entered)
    else:
        tagged = TaggedStore(store, target)
        retried(lambda: _enter(tagged, key, entered), key)


def _enter(store: Store, key: str, entered: Callable[[str, bytes], bytes | None]) -> None:
    now = store.get(key)
    text = None if now is None else entered(key, now)
    # What is put on condition takes its turn with others, which is not worth it for nothing.
    if text is not None and (text != now or not isinstance(store, TaggedStore)):
        store.put(key, text)


def _entered_v3(inner: str, changed: Mapping[str, bytes], erase: bool, key: str, text: bytes) -> bytes | None:
    texts = split_v3(text, key) if MARK in text else None
    return None if texts is None else render_v3(text, _changed(texts, inner, changed, erase=erase))


def _entered_v2(inner: str, changed: Mapping[str, bytes], erase: bool, key: str, text: bytes) -> bytes:
    return render_v2(_changed(split_v2(text, key), inner, changed, erase=erase))


def _changed(
    texts: Mapping[str, bytes], inner: str, documents: Mapping[str, bytes], *, erase: bool
) -> dict[str, bytes]:
    below = inner + "/"
    kept = {key: text for key, text in texts.items() if not (erase and key.startswith(below))}
    kept.update(documents)
    return kept
