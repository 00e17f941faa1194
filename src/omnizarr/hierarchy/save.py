"""Writing nodes: creating, changing and erasing them, so that every state in between can be read.

Groups above a new node are made first, the node's own documents last; consolidated metadata follows at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Final, TypeVar

from omnizarr.errors import ConflictError, ExistsError
from omnizarr.format.consolidated import render_v3, split_v3
from omnizarr.format.dialects import ZARR2, dialect
from omnizarr.format.names import ZARR_JSON, check_new_path, join
from omnizarr.hierarchy.changing import array_lock, seized
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.first import put_first, way_to_be_first
from omnizarr.hierarchy.left import settle_left
from omnizarr.hierarchy.nodes import Meta, checked, checked_again, documents
from omnizarr.hierarchy.room import find_room
from omnizarr.hierarchy.upkeep import ancestors, forget, record
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.native import FileStore
from omnizarr.store.folder_lock import Held
from omnizarr.store.protocol import Store, kernel_target, place_name
from omnizarr.store.tagged import Conditional, TaggedStore, conditional

_Node = TypeVar("_Node", ArrayMeta, GroupMeta)

NOTHING: Final = b"{}\n"
"""A document without attributes."""


def create(context: Context, path: str, meta: _Node, *, overwrite: bool, parent: str | None = None) -> _Node:
    """Write the documents of a new node, as `create_seen` does, and return the node as they say it."""
    return create_seen(context, path, meta, overwrite=overwrite, parent=parent)[0]


def create_seen(
    context: Context, path: str, meta: _Node, *, overwrite: bool, parent: str | None = None
) -> tuple[_Node, int]:
    """Write the documents of a new node, and of the groups above it that are missing.

    Nothing is erased or written before all that can be checked has been.

    Args:
        context: The store, opened for writing.
        path: The node's path.
        meta: The node.
        overwrite: Whether what is there may be erased, with all below it.
        parent: Path of a group above it that is known to exist.

    Returns:
        The node as the documents say it, and the state of the one that makes it a node, 0 if that cannot be told.

    Raises:
        ExistsError: If something is there and must not be replaced.
        NodeTypeError: If one of the nodes above is an array.
        MetadataError: If a group above has another format, or the new documents could not be read.
        LimitError: If the node is larger than the limits allow.
        ReadOnlyError: If the store is opened for reading.
    """
    context.check_writable(path)
    path = check_new_path(path)
    seen, texts = checked(meta, path, context.limits)
    with seized(context, path) if overwrite else nullcontext(), context.lock, context.placing(path):
        state = _create(context, path, texts, seen, overwrite=overwrite, parent=parent)
    return seen, state


def _create(
    context: Context, path: str, texts: Mapping[str, bytes], meta: Meta, *, overwrite: bool, parent: str | None
) -> int:
    store, form = context.store, meta.format
    attributes = dialect(form).attributes
    exists, missing, is_bare, left = find_room(context, path, form, parent)
    if exists and not overwrite:
        raise ExistsError(
            "there is a node already",
            path=place_name(store, path),
            hint='pass overwrite=True or mode="w" to replace it, or mode="a" to open it',
        )
    erased = {path} if overwrite and (exists or path) else set()
    if erased:
        forget(store, path)
        store.erase_prefix(path + "/" if path else "")
    elif not is_bare and not exists and context.is_near:
        settle_left(context, path, meta, overwrite=overwrite)
    written: list[str] = []
    state: int | None = 0
    group = documents(GroupMeta(format=form)) if missing else {}
    for one, new in (*((one, group) for one in missing), (path, texts)):
        known = attributes if one in left - erased else ""
        its = {known: NOTHING, **new} if known else new
        bare = one in erased or (is_bare and one == path)
        if one == path and overwrite:
            state = _put_over(store, one, its, form, bare=bare)
        elif (target := conditional(store)) is not None:
            state = _put_new(target, one, its, known)
        elif (put_new := way_to_be_first(store)) is not None:
            state = put_first(store, put_new, one, its, form, bare=bare)
        else:
            state = _put_over(store, one, its, form, bare=bare)
        if state is None and one == path:
            where = place_name(store, path)
            raise ExistsError("another program has made a node there at the same time", path=where)
        written += [join(one, name) for name in its] if state is not None else ()
    _check_above(store, path, missing, form)
    folder, make_folder = dialect(form).folder, getattr(store, "make_folder", None)
    if folder and make_folder is not None:
        make_folder(join(path, folder))
    if path:
        # Only now: whoever consolidates looks for new nodes once more when the copy is there.
        record(store, path, written, below=True, form=form)
    return state or 0


def _check_above(store: Store, path: str, missing: Sequence[str], form: str) -> None:
    """Take a new node away again if the group above it was erased meanwhile: among files it would bring that back.

    Args:
        store: Where the node is.
        path: The node's path.
        missing: Paths of the groups above that were made with it.
        form: Its format.

    Raises:
        ConflictError: If so.
    """
    if not path or not dialect(form).has_groups or not isinstance(kernel_target(store)[0], FileStore):
        return
    above = path.rpartition("/")[0]
    if missing:
        known = [one for one in ancestors(path) if one not in missing]
        if not known:
            return
        above = known[-1]
    if not any(store.exists(join(above, name)) for name in reversed(dialect(form).nodes)):
        store.erase_prefix(min((*missing, path), key=len) + "/")
        where = place_name(store, above)
        hint = f"Nothing was made at {path!r}; create the group anew, or choose another."
        raise ConflictError("the group was erased by somebody else meanwhile", path=where, hint=hint)


def _put_over(store: Store, path: str, texts: Mapping[str, bytes], form: str, *, bare: bool) -> int:
    """Put the documents of a new node where nobody else makes one, or over whatever they make."""
    if dialect(form).attributes not in texts and not bare:
        forget_attributes(store, path, form)
    for name, data in texts.items():
        store.put(join(path, name), data)
    return 0


def forget_attributes(store: Store, path: str, form: str) -> None:
    """Erase attributes of a node that was never made: they are written first, and a crash may have come then."""
    name = dialect(form).attributes
    if name:
        store.erase(join(path, name))


def _put_new(target: tuple[Conditional, str], path: str, texts: Mapping[str, bytes], left: str) -> int | None:
    """Put the documents of a new node where others may make the same node at this moment; theirs stay.

    Args:
        target: The store, and the prefix of the keys there.
        path: The node's path.
        texts: Its documents.
        left: The name of the one that is there already, be it of a node that is gone or of one that is being made.

    Returns:
        0, or `None` if not all of them are this node's.
    """
    store, prefix = target
    replaced: tuple[str, bytes, str] | None = None
    for name, data in texts.items():
        key = prefix + join(path, name)
        old = store.get_tagged(key) if name == left else None
        tag = store.put_if(key, data, None if old is None else old[1])
        if tag is None:
            if replaced is not None:  # it was of the node that another program has made meanwhile
                store.put_if(*replaced)
            return None
        if old is not None:
            replaced = (key, old[0], tag)
    return 0


def unmake(context: Context, path: str, meta: ArrayMeta, is_same: Callable[[], bool]) -> None:
    """Erase an array that was just made, and that its values do not fit into: its documents and chunks, no more.

    Args:
        context: The store, opened for writing.
        path: The array's path.
        meta: The array.
        is_same: Whether what is there is still this array, asked when nobody else can replace it.
    """
    keys = [join(path, name) for name in dialect(meta.format).documents]
    with array_lock(context, path, meta.format), context.lock:
        if not is_same():
            return
        if meta.shape:
            context.access(path, meta).with_shape((0,) * len(meta.shape)).kernel.trim()
        for key in reversed(keys):  # with the first, others can make a node there
            context.store.erase(key)
        record(context.store, path, keys, below=True, form=meta.format)


def replace(context: Context, path: str, old: _Node, new: _Node, held: Held | None = None) -> _Node:
    """Write the documents of a node that has changed, and return it as they say it; call it with the lock held.

    Args:
        context: The store, opened for writing.
        path: The node's path.
        old: The node as it is.
        new: The node as it will be.
        held: What holds the node's folder, where something does: no other folder is written to.

    Raises:
        ConflictError: If that folder is gone.
        ReadOnlyError: If the store is opened for reading.
        MetadataError: If the new documents could not be read.
        LimitError: If the node is larger than the limits allow.
    """
    context.check_writable(path)
    with context.placing(path):
        return _replace(context, path, old, new, held)


def _replace(context: Context, path: str, old: _Node, new: _Node, held: Held | None) -> _Node:
    store = context.store
    seen, texts = checked_again(new, path, context.limits)
    new = seen
    attributes = dialect(new.format).attributes
    if attributes:
        texts.setdefault(attributes, NOTHING)
        if _are_same(new.attributes, old.attributes):
            del texts[attributes]
        elif _is_same_but_attributes(old, new):
            texts = {attributes: texts[attributes]}
            seen = _with_attributes(old, seen)
    for name, text in texts.items():
        key = join(path, name)
        data = text
        if name == ZARR_JSON and isinstance(new, GroupMeta):
            current = store.get(key)
            block = None if current is None else split_v3(current, key)
            data = text if block is None else render_v3(text, block)
        if name == attributes and data == NOTHING and not isinstance(store, TaggedStore):
            if held is not None:
                held.check()
            store.erase(key)
        elif held is None:
            store.put(key, data)
        else:
            held.put(store, key, data)
    itself = new.format == ZARR2.name and isinstance(new, GroupMeta)
    if path or itself:
        record(store, path, [join(path, name) for name in texts], itself=itself)
    return seen


def change_attributes(
    context: Context,
    path: str,
    old: _Node,
    values: Mapping[str, JSON],
    removed: Iterable[str],
    *,
    replaced: bool,
    held: Held | None = None,
) -> _Node:
    """Write a node's attributes, and return the node; call it with the lock held, and the node as it is in the store.

    Args:
        context: The store, opened for writing.
        path: The node's path.
        old: The node.
        values: Attributes to set.
        removed: Names of attributes to remove.
        replaced: Whether all others are removed.
        held: As for `replace`.
    """
    attributes = {} if replaced else dict(old.attributes)
    attributes.update(values)
    for name in removed:
        attributes.pop(name, None)
    new = old._replace(attributes=attributes)
    if dialect(new.format).attributes and isinstance(new, ArrayMeta):
        # Names of dimensions are an attribute there: whoever changes or removes it changes them.
        new = new._replace(dims=None)
    return replace(context, path, old, new, held)


def _are_same(new: Mapping[str, JSON], old: Mapping[str, JSON]) -> bool:
    """Whether attributes are the same to the letter: for Python 1, 1.0 and true are equal, and so are both zeros."""
    return new is old or repr(new) == repr(old)


def _with_attributes(old: _Node, new: _Node) -> _Node:
    """Return a node with another's attributes, and what follows from them."""
    fields: dict[str, Any] = {"attributes": new.attributes}
    if isinstance(new, ArrayMeta):
        fields["dims"] = new.dims
    return old._replace(**fields)


def _is_same_but_attributes(old: Meta, new: Meta) -> bool:
    if isinstance(old, GroupMeta) or isinstance(new, GroupMeta):
        return True
    return (old.shape, old.codecs, old.extra) == (new.shape, new.codecs, new.extra)


def erase(context: Context, path: str) -> None:
    """Erase a node with all below it.

    Raises:
        ReadOnlyError: If the store is opened for reading.
    """
    context.check_writable(path)
    with seized(context, path):
        forget(context.store, path)
        context.store.erase_prefix(path + "/" if path else "")
        record(context.store, path, (), below=True)
