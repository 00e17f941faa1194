"""Making a node among files, where other programs may make the same one at this moment: one of them does."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from omnizarr.format.dialects import dialect
from omnizarr.format.names import join
from omnizarr.hierarchy.nodes import format_of
from omnizarr.store.protocol import Store, kernel_target

_PutNew = Callable[[str, bytes], int | None]


def way_to_be_first(store: Store) -> _PutNew | None:
    """Return what puts a value unless there is one, in a folder.

    `None` also where a class of somebody's own has another `put`, which must not be passed by.
    """
    put_new: _PutNew | None = getattr(store, "put_new", None)
    return put_new if put_new is not None and kernel_target(store)[0] is store.native else None


def put_first(
    store: Store, put_new: _PutNew, path: str, texts: Mapping[str, bytes], form: str, *, bare: bool
) -> int | None:
    """Put the documents of a new node, unless another program has made a node there since it was looked for.

    Whoever puts the document that makes a path a node has made it. Where attributes have a document of their own, that
    comes before: what was there goes, be it of a node that was never made, and comes back if it is of another's node.

    Args:
        store: Where the node is.
        put_new: Puts a value unless there is one; returns its state, or `None` if there is one.
        path: The node's path.
        texts: Its documents.
        form: Its format.
        bare: Whether nothing was there, not even attributes.

    Returns:
        The state of the document that makes it a node, 0 if that cannot be told; `None` if another node was made.
    """
    attributes = dialect(form).attributes
    apart = join(path, attributes) if attributes else ""
    before = store.get(apart) if apart and not bare else None
    if before is not None:
        store.erase(apart)
    state: int | None = 0
    for name, data in texts.items():
        key = join(path, name)
        state = put_new(key, data)
        if state is not None:
            continue
        if format_of(store, path) is not None:
            _put_back(store, put_new, apart, texts.get(attributes), before)
            return None
        # Of a node that was never made, or that is being made by another program, or no document at all.
        before = store.get(key) if key == apart else before
        store.put(key, data)
        state = 0
    return state


def _put_back(store: Store, put_new: _PutNew, key: str, ours: bytes | None, before: bytes | None) -> None:
    """Take away attributes that are not those of the node that another program has made, and put back its own."""
    if ours is not None and ours != before and store.get(key) == ours:
        store.erase(key)
    if before is not None:
        put_new(key, before)
