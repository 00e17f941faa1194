"""Work on whole subtrees: copying nodes byte for byte, and consolidating their metadata."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext, suppress
from typing import Final, NamedTuple

from omnizarr.errors import ExistsError, NodeTypeError, NotFoundError, OmnizarrError, UnsupportedError, warn
from omnizarr.format.consolidated import MARK, is_document, render_v2, render_v3
from omnizarr.format.dialects import DIALECTS, DRAFT, ZARR2, ZARR3, dialect
from omnizarr.format.names import ZARR_JSON, ZARRAY, ZGROUP, ZMETADATA, join
from omnizarr.hierarchy.beside import beside, is_folder, take_place
from omnizarr.hierarchy.changing import alone, seized
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.left import check_nothing_left
from omnizarr.hierarchy.listing import is_there, walk
from omnizarr.hierarchy.lock import address
from omnizarr.hierarchy.nodes import format_of, load
from omnizarr.hierarchy.save import create, forget_attributes
from omnizarr.hierarchy.upkeep import ancestors, enter, forget, is_sound, record
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.store.file import FileStore
from omnizarr.store.links import check_no_links
from omnizarr.store.protocol import Store, place_name
from omnizarr.store.tagged import Conditional, conditional

_MOST_SHOWN: Final = 6


def check_apart(source: Context, path: str, target: Context, new_path: str, done: str) -> None:
    """Raise if a node would go into itself, or in place of what holds it, which would be lost.

    Raises:
        ExistsError: If so; `done` is the word for what was asked for.
    """
    old, new = address(source.store, path), address(target.store, new_path)
    if new.startswith(old):
        raise ExistsError(f"a node cannot be {done} into itself", path=place_name(target.store, new_path))
    if old.startswith(new):
        raise ExistsError(
            f"a node cannot be {done} in place of a group that holds it", path=place_name(target.store, new_path)
        )


def copy_node(
    source: Context,
    path: str,
    target: Context,
    new_path: str,
    *,
    overwrite: bool,
    hint: str = "",
    locked: bool = False,
) -> None:
    """Copy a node, with all below it, byte for byte; the node's own documents last, so that it shows up whole.

    What the documents say is not looked at, so that nodes that cannot be read are copied, too. Of several who make a
    node at the new path one does. What a copy has written that fails is removed.

    Args:
        source: The store that has the node.
        path: The node's path.
        target: The store that gets the copy, opened for writing.
        new_path: Where it goes.
        overwrite: Whether what is there may be replaced.
        hint: What to do where something is there.
        locked: Whether the caller has the lock of the target, after which no lease may be asked for.

    Raises:
        ExistsError: If something is at the new path, unless `overwrite`.
        NodeTypeError: If an array is above the new path.
        UnsupportedError: If the group above has another format, or a folder is a link, behind which nothing is listed.
    """
    target.check_writable(new_path)
    check_no_links(source.store, path + "/" if path else "")
    form = _writable_format(source, path)
    work = _Copy(source.store, path + "/" if path else "", target, new_path, form, hint or None)
    # A folder's own place has nothing beside it that is in the store.
    if new_path and is_folder(target.store):
        work.beside(target.store, overwrite=overwrite)
    else:
        work.in_place(overwrite=overwrite, locked=locked)


class _Copy(NamedTuple):
    """One copy of a node."""

    source: Store
    start: str
    """What the node's keys begin with."""

    target: Context
    path: str
    """The node's new path."""

    form: str
    hint: str | None
    """What to do where something is at the new path."""

    def beside(self, store: FileStore, *, overwrite: bool) -> None:
        """Copy into a folder beside the new place, which gets that name when all is there."""
        with self.target.lock:
            self._prepare(overwrite=overwrite)
        written: list[str] = []
        with beside(store, self.path) as place:
            self._fill(place + "/", written)
            # Not held before: the lock of an array's folder comes before that of the context.
            with seized(self.target, self.path) if overwrite else self.target.lock:
                if overwrite:
                    self._erase()
                if written:
                    take_place(store, place, self.path, self.hint)
                self._record([self.path + key[len(place) :] for key in written])

    def in_place(self, *, overwrite: bool, locked: bool) -> None:
        """Copy to the new place, the node's own documents last, so that it shows up whole."""
        store, start = self.target.store, self.path + "/" if self.path else ""
        target = conditional(store)
        leased = target is not None and not overwrite and not locked
        written: list[str] = []
        with (
            alone(self.target, self.path, self.form) if leased else nullcontext(),
            seized(self.target, self.path) if overwrite else self.target.lock,
        ):
            self._prepare(overwrite=overwrite)
            if overwrite:
                self._erase()
            else:
                self._forget_attributes()
            try:
                self._fill(start, written, None if overwrite else target)
            except BaseException:
                with suppress(OmnizarrError):
                    for key in reversed(written):  # what makes it a node goes first
                        store.erase(key)
                raise
            self._record(written)

    def _prepare(self, *, overwrite: bool) -> None:
        """Look at the new place, and make the groups above it."""
        store = self.target.store
        if not overwrite and format_of(store, self.path) is not None:
            raise ExistsError("there is a node already", path=place_name(store, self.path), hint=self.hint)
        if not overwrite:
            check_nothing_left(store, self.path, self.hint)
        make_room(self.target, self.path, self.form)

    def _erase(self) -> None:
        forget(self.target.store, self.path)
        self.target.store.erase_prefix(self.path + "/" if self.path else "")

    def _forget_attributes(self) -> None:
        found = filter(is_document, self.source.list_prefix(self.start))
        for node in {key[len(self.start) :].rpartition("/")[0] for key in found}:
            forget_attributes(self.target.store, join(self.path, node).rstrip("/"), self.form)

    def _fill(self, start: str, written: list[str], first: tuple[Conditional, str] | None = None) -> None:
        """Copy all keys.

        Args:
            start: What they begin with in the target.
            written: Gets each of them before it is put: an answer may be lost.
            first: What puts a document only if there is none, where others may make the node at this moment.
        """
        # Whatever makes it a node comes last.
        own = [self.start + name for one in reversed(DIALECTS.values()) for name in reversed(one.documents)]
        keys = [key for key in self.source.list_prefix(self.start) if key not in own]
        for key in (*sorted(keys, key=is_document), *own):
            data = self.source.get(key)
            if data is None:
                continue
            new = start + key[len(self.start) :]
            written.append(new)
            if first is None or key not in own:
                self.target.store.put(new, data)
            elif first[0].put_if(first[1] + new, data, None) is None:
                written.clear()  # no longer to be told from the chunks of the other node
                message = "another program has made a node there at the same time"
                raise ExistsError(message, path=place_name(self.target.store, self.path), hint=self.hint)

    def _record(self, written: Iterable[str]) -> None:
        record(self.target.store, self.path, list(filter(is_document, written)), below=True)


def _writable_format(context: Context, path: str) -> str:
    form = format_of(context.store, path)
    if form == DRAFT.name:
        hint = "Create an array there and write the data of this one to it."
        raise UnsupportedError("nodes of the drafts of Zarr v3 can only be read", path=path or "/", hint=hint)
    return form or ZARR3.name


def move_node(context: Context, path: str, new_path: str, parent: str = "") -> None:
    """Move a node, with all below it: in one step where the store can do that, else by copying and erasing.

    Args:
        context: The store, opened for writing.
        path: The node's path.
        new_path: Where it goes.
        parent: The format of the group that it is looked for in, as for `find`.

    Raises:
        NotFoundError: If somebody else has moved or erased it meanwhile.
        ExistsError: If something is at the new path.
        NodeTypeError: If an array is above the new path.
        UnsupportedError: If the group above has another format.
    """
    context.check_writable(new_path)
    store = context.store
    move_folder = getattr(store, "move_folder", None)
    with seized(context, path):
        if not is_there(context, path, parent):  # by the time that nobody else changes it
            raise NotFoundError("the node is gone", path=place_name(store, path))
        form = _writable_format(context, path)
        if format_of(store, new_path) is not None:
            raise ExistsError("there is a node already", path=place_name(store, new_path))
        make_room(context, new_path, form)
        forget(store, path)
        try:
            if not path or not new_path or move_folder is None or not move_folder(path, new_path):
                copy_node(context, path, context, new_path, overwrite=False, locked=True)
                store.erase_prefix(path + "/" if path else "")
            else:
                documents = filter(is_document, store.list_prefix(new_path + "/"))
                record(store, new_path, documents, below=True)
        except BaseException:
            with suppress(OmnizarrError):  # the cause says more
                left = store.list_prefix(path + "/" if path else "")
                record(store, path, filter(is_document, left), below=True)
            raise
        record(store, path, (), below=True)


def make_room(target: Context, path: str, form: str) -> None:
    """Make the groups above a path that are missing, after checking those that are there.

    Raises:
        NodeTypeError: If one of them is an array.
        UnsupportedError: If one has another format.
    """
    parent, _, _ = path.rpartition("/")
    if not check_room(target, path, form) and parent and dialect(form).has_groups:
        create(target, parent, GroupMeta(format=form), overwrite=False)


def check_room(target: Context, path: str, form: str) -> bool:
    """Check the groups above a path; return whether the one right above is there.

    Raises:
        NodeTypeError: If one of them is an array.
        UnsupportedError: If one has another format.
    """
    for i, above in enumerate(reversed(ancestors(path))):
        meta = load(target.store, above, target.limits)
        if meta is None:
            continue
        if isinstance(meta, ArrayMeta):
            raise NodeTypeError("an array cannot hold other nodes", path=place_name(target.store, above))
        # An array of a format without groups stands alone wherever it lies.
        if meta.format != form and dialect(form).has_groups:
            raise UnsupportedError(
                f"a node of the format {form} cannot be copied into a group of the format {meta.format}",
                path=place_name(target.store, above),
                hint="create an array there and write the data of this one to it",
            )
        return i == 0
    return False


def consolidate(context: Context, path: str, meta: GroupMeta) -> None:
    """Write consolidated metadata into a group's own documents.

    Whoever makes a node looks for them afterwards, and enters it. Where there were none, nodes may be made by others
    who have not seen them yet, so all nodes are looked for once more when they are there.

    Raises:
        NotFoundError: If the group is gone.
        ReadOnlyError: If the store is opened for reading.
        UnsupportedError: If the format has none.
    """
    context.check_writable(path)
    if meta.format not in (ZARR3.name, ZARR2.name):
        raise UnsupportedError(f"the format {meta.format} has no consolidated metadata", path=path or "/")
    store, key = context.store, join(path, ZMETADATA if meta.format == ZARR2.name else ZARR_JSON)

    def all_of_them(_: str, own: bytes) -> bytes:
        texts = _all_texts(context, path, meta)
        return render_v2(texts) if meta.format == ZARR2.name else render_v3(own, texts)

    with context.lock:
        if not isinstance(load(store, path, context.limits, meta.format), GroupMeta):
            raise NotFoundError("the group is gone", path=place_name(store, path))
        before = store.get(key)
        if before is None:
            store.put(key, all_of_them(key, b""))
        elif MARK not in before and meta.format == ZARR3.name:
            enter(store, key, all_of_them)
        enter(store, key, all_of_them)


def _all_texts(context: Context, path: str, meta: GroupMeta) -> dict[str, bytes]:
    """Return the documents that consolidated metadata hold, by their keys below the group."""
    plain = Context(context.store, read_only=True, limits=context.limits)
    start = path + "/" if path else ""
    names = dialect(meta.format).documents
    keys = [name for name in names if name not in (ZARRAY, ZARR_JSON)]
    foreign: list[str] = []
    for inner, found, _ in walk(plain, path, meta.format, None):
        if isinstance(found, OmnizarrError) or found.format == meta.format:
            skipped = ZGROUP if isinstance(found, ArrayMeta) else ZARRAY if isinstance(found, GroupMeta) else None
            keys += [f"{inner}/{name}" for name in names if name != skipped]
        elif not any(inner.startswith(one + "/") for one in foreign):
            foreign.append(inner)
    if foreign:
        shown = ", ".join(map(repr, foreign[:_MOST_SHOWN])) + (", …" if len(foreign) > _MOST_SHOWN else "")
        message = f"the consolidated metadata of {meta.format} leave out what is of another format: {shown}"
        warn(message)
    return _texts(context, start, keys)


def _texts(context: Context, start: str, keys: list[str]) -> dict[str, bytes]:
    texts: dict[str, bytes] = {}
    for key, value in zip(keys, context.store.get_many([start + key for key in keys]), strict=True):
        if value is None:
            continue
        if is_sound(value):
            texts[key] = value
        else:
            message = f"{start + key!r} is not an object in JSON, so the consolidated metadata leave it out"
            warn(message)
    return texts
