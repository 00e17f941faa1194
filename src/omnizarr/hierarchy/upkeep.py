"""Keeping consolidated metadata in step: what is done after the documents of a node have changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from omnizarr.format.consolidated import MARK, render_v2, render_v3, split_v2, split_v3
from omnizarr.format.dialects import ZARR2, ZARR3
from omnizarr.format.names import ZARR_JSON, ZMETADATA, join
from omnizarr.native import split_object
from omnizarr.store.folder_lock import document_lock
from omnizarr.store.protocol import Store
from omnizarr.store.tagged import TaggedStore, conditional, retried

_BLOCKS: Final = {ZARR3.name: (ZARR_JSON,), ZARR2.name: (ZMETADATA,)}


def ancestors(path: str) -> list[str]:
    """Return the paths above a path, the root first.

    >>> ancestors("a/b/c")
    ['', 'a', 'a/b']
    """
    if not path:
        return []
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(len(parts))]


def is_sound(text: bytes) -> bool:
    """Whether a document is an object in JSON: others would break what they are written into."""
    try:
        split_object(text)
    except ValueError:
        return False
    return True


def record(
    store: Store, path: str, keys: Iterable[str], *, below: bool = False, itself: bool = False, form: str = ""
) -> None:
    """Let the consolidated metadata of every group above a node that has any say what its documents say by now.

    Whoever changes documents calls this afterwards. They are read when it is this one's turn to change the copy, so
    that of several who change the same node at once the last one enters what all of them have left.

    Args:
        store: Where the node is.
        path: The node's path.
        keys: The documents that have changed, by their whole keys.
        below: Whether all else that the copy has of the node, and of those below it, may be gone.
        itself: Whether the node is a group whose own metadata, too, may be consolidated in it, as v2 does.
        form: The format of the node, if no other has documents there.
    """
    there = _blocks(store, [*ancestors(path), path] if itself else ancestors(path), path, form)
    keys = list(keys) if there else ()
    for group, name in there:
        start = len(group) + 1 if group else 0
        changed = [key[start:] for key in keys if key.endswith(ZARR_JSON) == (name == ZARR_JSON)]
        now = partial(_as_they_are, store, group, changed, path[start:] + "/" if below else None)
        enter(store, join(group, name), partial(_ENTERED[name], now))


def forget(store: Store, path: str) -> None:
    """Take a node, and all below it, out of the consolidated metadata of every group above it: before it is erased.

    Otherwise they would show for a moment, or for good after a crash, what is no longer there. Somebody who changes it
    may enter it once more, so `record` follows when it is gone.
    """
    for group, name in _blocks(store, ancestors(path), path, ""):
        inner = path[len(group) + 1 if group else 0 :] + "/"
        enter(store, join(group, name), partial(_ENTERED[name], partial(_without, inner)))


def _blocks(store: Store, above: Sequence[str], path: str, form: str) -> list[tuple[str, str]]:
    """Return the groups that have consolidated metadata, and the names of the documents with them."""
    names = _BLOCKS.get(form, (ZARR_JSON, ZMETADATA))
    blocks = [(group, name) for group in above for name in names if group != path or name == ZMETADATA]
    texts = store.get_many([join(*block) for block in blocks]) if blocks else []
    found = zip(blocks, texts, strict=True)
    return [block for block, text in found if text is not None and (block[1] == ZMETADATA or MARK in text)]


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


_Renewed = Callable[[Mapping[str, bytes]], dict[str, bytes]]


def _entered_v3(renewed: _Renewed, key: str, text: bytes) -> bytes | None:
    texts = split_v3(text, key) if MARK in text else None
    return None if texts is None else render_v3(text, renewed(texts))


def _entered_v2(renewed: _Renewed, key: str, text: bytes) -> bytes:
    return render_v2(renewed(split_v2(text, key)))


_ENTERED: Final = {ZARR_JSON: _entered_v3, ZMETADATA: _entered_v2}


def _without(below: str, texts: Mapping[str, bytes]) -> dict[str, bytes]:
    return {key: text for key, text in texts.items() if not key.startswith(below)}


def _as_they_are(
    store: Store, group: str, changed: Sequence[str], below: str | None, texts: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Return the documents of a copy, by their keys below its group, with some of them read anew."""
    doubtful = dict.fromkeys(changed)
    if below is not None:
        doubtful.update(dict.fromkeys(key for key in texts if key.startswith(below)))
    plain = store.inner if isinstance(store, TaggedStore) else store  # nothing is put over these
    found = zip(doubtful, plain.get_many([join(group, key) for key in doubtful]), strict=True)
    now = dict(texts)
    for key, text in found:
        if text is not None and is_sound(text):
            now[key] = text
        else:
            now.pop(key, None)
    return now
