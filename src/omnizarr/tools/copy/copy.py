"""Copying arrays and hierarchies from store to store, byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final, NamedTuple, Unpack

from omnizarr.array.io import changing
from omnizarr.errors import ConflictError, ExistsError, NotFoundError, UnsupportedError
from omnizarr.format.dialects import DRAFT
from omnizarr.format.names import ZMETADATA, join
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.changing import seized
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.draft_view import DraftView
from omnizarr.hierarchy.nodes import format_of
from omnizarr.hierarchy.opening import Place
from omnizarr.hierarchy.transfer import check_apart, check_room, make_room
from omnizarr.hierarchy.upkeep import forget, record
from omnizarr.late import LateModule
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.store.links import check_no_links
from omnizarr.store.protocol import Store, place_name
from omnizarr.tools.cluster.crew import Crew
from omnizarr.tools.copy import note as journal
from omnizarr.tools.copy.asked import check_no_others, needs_the_model
from omnizarr.tools.copy.batches import Moved, Mover
from omnizarr.tools.copy.changes import Changes
from omnizarr.tools.copy.choosing import chosen, in_order, is_document, own_documents, reduced
from omnizarr.tools.copy.closing import Closing
from omnizarr.tools.copy.sweeping import sweep
from omnizarr.tools.editing.rooted import topmost
from omnizarr.tools.nodes import Node, context_of, nodes_of, open_at
from omnizarr.tools.patterns import patterns_of
from omnizarr.tools.progress import Progress

if TYPE_CHECKING:
    from omnizarr.tools.copy import datasets
else:
    datasets = LateModule("omnizarr.tools.copy.datasets")

_MOST_NAMED: Final = 3


class Copied(NamedTuple):
    """What a copy did, or would do."""

    source: str
    target: str
    keys: int
    """How many keys the copy has."""

    copied: int
    """How many of them were copied now."""

    kept: int
    """How many an earlier run had copied."""

    nbytes: int
    """The bytes that were copied now."""

    left_out: tuple[str, ...] = ()
    """Nodes that the patterns leave out."""

    verified: bool | None = None
    """Whether all bytes are equal; `None` if nobody looked."""

    different: tuple[str, ...] = ()
    """Keys of the target whose bytes are not those of the source."""

    dry_run: bool = False
    kind: str | None = None
    """What was written, if a dataset was written anew; then variables are counted, not keys."""


def copy(
    source: object,
    target: object,
    *,
    path: str | None = None,
    target_path: str | None = None,
    include: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    overwrite: bool = False,
    verify: bool = False,
    dry_run: bool = False,
    resume: bool = True,
    progress: Progress | None = None,
    cluster: object = None,
    limits: Limits = DEFAULT_LIMITS,
    **changes: Unpack[Changes],
) -> Copied:
    """Copy an array, or a group with all below it, to another place: every key as it is, in parallel.

    From or to a netCDF or HDF5 file, and with any of `changes`, a whole dataset is written anew, piece by piece: its
    values, dimensions, types and attributes are kept, and how they are stored is what the new kind has.

    Chunks come first and documents last, so that nodes show up whole. A copy that was stopped leaves a note behind;
    the same call then goes on, and does not copy again what is there with the right size and, among files, is no older.

    Args:
        source: Whatever `omnizarr.open` takes, or a handle.
        target: A path, URI, store or mapping; `x.zip` makes an archive.
        path: Path of the node within the source.
        target_path: Path of the copy within the target.
        include: Patterns of names or paths of nodes, as in `temp*` or `model/*/t`; only these are copied, with all
            below them, and the groups above them.
        exclude: Patterns of nodes to leave out, with all below them.
        overwrite: Whether a node that is there may be replaced.
        verify: Whether to compare all bytes afterwards.
        dry_run: Whether to count only what would be copied.
        resume: Whether to go on with a copy that was stopped.
        progress: Told how many keys are done, of how many, and the bytes.
        cluster: Who copies keys, if not the threads of this process: the address of a Dask scheduler, `"local:4"` for
            so many workers on this machine, or a client of Dask's.
        limits: Bounds on what documents may claim.
        changes: See `omnizarr.tools.copy.changes.Changes`: kinds, chunks, filters, parts of datasets.

    Raises:
        NotFoundError: Nothing is in the source.
        ExistsError: Something is in the target, or the copy would lie within its source.
        ConflictError: The source changed meanwhile.

    >>> import omnizarr as oz
    >>> old, new = {}, {}
    >>> a = oz.create_array(old, shape=(4, 4), dtype="i4", chunks=(2, 2), data=7)
    >>> oz.copy(old, new, verify=True).verified, oz.open_array(new)[0, 0]
    (True, np.int32(7))
    """
    if needs_the_model(source, target, changes):
        others = {"path": path, "target_path": target_path, "include": include, "exclude": exclude}
        check_no_others({**others, "verify": verify, "cluster": cluster})
        names = datasets.copy_through_model(
            source, target, changes, overwrite=overwrite, dry_run=dry_run, progress=progress
        )
        kind, count, nbytes = names[2]
        return Copied(names[0], names[1], count, 0 if dry_run else count, 0, nbytes, dry_run=dry_run, kind=kind)
    patterns = patterns_of(include, "include"), patterns_of(exclude, "exclude")
    node = open_at(source, path=path, limits=limits)
    place = _rooted(Place(target, "a", target_path, limits=limits))
    with nullcontext() if cluster is None or dry_run else Crew(cluster) as crew, Closing(place.context.store, target):
        work = _Work(node, place.context, place.path, patterns, progress, crew=crew)
        if dry_run:
            work.check(overwrite=overwrite, resume=resume)
            return work.measured()
        with changing(place_name(place.context.store, place.path)):
            return work.run(overwrite=overwrite, resume=resume, verify=verify)


def _rooted(place: Place) -> Place:
    """Take a folder or prefix below a group for a path in that group, which must then hold it and may list it."""
    higher = topmost(place.context.store)
    if higher is not None:
        place.context.store, place.path = higher[0], join(higher[1], place.path).rstrip("/")
    return place


class _Work:
    """One copy."""

    def __init__(
        self,
        node: Node,
        target: Context,
        new_path: str,
        patterns: tuple[tuple[str, ...], tuple[str, ...]],
        progress: Progress | None,
        *,
        crew: Crew | None = None,
    ) -> None:
        self.crew = crew
        self.context = context_of(node)
        self.form = node.format
        self.target, self.new_path = target, new_path
        self.new_start = new_path + "/" if new_path else ""
        self.store, self.start = _raw(self.context.store, node.path, patterns)
        self.include, self.exclude = patterns
        self.changed: dict[str, bytes] = {}
        self.left_out: tuple[str, ...] = ()
        self.uri = place_name(self.store, self.start.rstrip("/"))
        check_no_links(self.store, self.start)
        keys = self._keys(node)
        if isinstance(self.context.store, DraftView):
            documents = [key for key in keys if not key.startswith("data/")]
        else:
            documents = list(filter(is_document, keys))
        if not documents and self.form != "n5":
            raise UnsupportedError(
                "the node has no documents of its own, only a copy of them in a group above",
                path=self.uri,
                hint="Copy that group, with a pattern for this node.",
            )
        apart = {*documents, journal.NAME}
        self.chunks = [key for key in keys if key not in apart]
        self.documents = in_order(documents)
        if crew is not None:
            crew.check_reach(self.store, target.store)
        self.mover = Mover(self.store, self.start, target.store, self.new_start, progress, crew=crew)

    def _keys(self, node: Node) -> list[str]:
        start = self.start
        if isinstance(node, Array) or not (self.include or self.exclude):
            return sorted(key[len(start) :] for key in self.store.list_prefix(start))
        kinds = {inner: found for inner, found in nodes_of(node) if inner}
        kept, above = chosen(kinds, self.include, self.exclude)
        if self.include and not kept:
            raise NotFoundError(
                f"no node matches {', '.join(map(repr, self.include))}", path=self.uri, hint="See `oz tree`."
            )
        self.left_out = tuple(sorted(kinds.keys() - kept - above))
        groups = ["", *sorted(above), *(one for one in sorted(kept) if not isinstance(kinds[one], Array))]
        keys = own_documents(self.store, start, groups)
        for one in sorted(kept):
            if isinstance(kinds[one], Array):
                keys += sorted(key[len(start) :] for key in self.store.list_prefix(f"{start}{one}/"))
        held = {"", *kept, *above}
        for key in filter(is_document, keys) if self.left_out else ():
            data = self.store.get(start + key)
            changed = None if data is None else reduced(key, data, held.__contains__)
            if changed is not None:
                self.changed[key] = changed
        return keys

    def measured(self) -> Copied:
        """Say what would be copied."""
        keys = [*self.chunks, *(key for level in self.documents for key in level)]
        found = self.mover(keys, "measure")
        return Copied(self.uri, self._to(), len(keys), 0, 0, found.nbytes, self.left_out, dry_run=True)

    def _to(self) -> str:
        return place_name(self.target.store, self.new_path)

    def check(self, *, overwrite: bool, resume: bool) -> tuple[journal.Note, bool]:
        """Look whether the target may be written; return what to note there, and whether to go on with what is there.

        Raises:
            ExistsError: If something is there that must not be replaced.
            ConflictError: If the source changed since an earlier run.
            UnsupportedError: If it lies in a group of another format.
        """
        self.target.check_writable(self.new_path)
        source = self.context if not isinstance(self.context.store, DraftView) else None
        if source is not None:
            check_apart(source, self.start.rstrip("/"), self.target, self.new_path, "copied")
        if self.form != DRAFT.name:
            check_room(self.target, self.new_path, self.form)
        texts = self.store.get_many([self.start + key for level in self.documents for key in level])
        print_ = journal.fingerprint(self.chunks, texts)
        note = journal.Note(self.uri, self.include, self.exclude, print_)
        return note, self._goes_on(note, overwrite=overwrite, resume=resume)

    def _goes_on(self, note: journal.Note, *, overwrite: bool, resume: bool) -> bool:
        """Look at the target; return whether to go on with what is there."""
        store, to = self.target.store, self._to()
        old = journal.read(store, self.new_start)
        if old is not None and resume and not overwrite:
            journal.check_same(old, note, to)
            return True
        if old is not None and not overwrite:
            raise ExistsError(
                f"an unfinished copy of {old.source} is there", path=to, hint="pass overwrite=True to replace it"
            )
        if old is None:
            self._check_free(overwrite=overwrite)
        return False

    def _check_free(self, *, overwrite: bool) -> None:
        store, to = self.target.store, self._to()
        there = self._is_taken()
        if there and not overwrite:
            raise ExistsError("there is a node already", path=to, hint="pass overwrite=True to replace it")
        if not there and any(store.list_dir(self.new_start)):
            # Whatever this is, it was not made by us, and no one has asked to lose it.
            hint = "Choose a new name for the copy."
            raise ExistsError("something is there that is no array or group", path=to, hint=hint)

    def run(self, *, overwrite: bool, resume: bool, verify: bool) -> Copied:
        """Copy."""
        note, goes_on = self.check(overwrite=overwrite, resume=resume)
        raw = [[key for key in level if key not in self.changed] for level in self.documents]
        count = len(self.chunks) + sum(map(len, raw))
        self.mover.total = count * (2 if verify else 1)
        store = self.target.store
        with seized(self.target, self.new_path) if overwrite and not goes_on else self.target.lock:
            # Others of this process may have been here while this one waited for the lock.
            goes_on = goes_on or self._goes_on(note, overwrite=overwrite, resume=resume)
            if not goes_on:
                self._begin(note, overwrite=overwrite)
            else:
                sweep(store, self.new_start)
            if self.crew is not None:
                self.crew.check_sees(store, self.new_start + journal.NAME)
            moved = [self.mover(self.chunks, "resume" if goes_on else "copy")]
            self._check_alone(note, goes_on=goes_on)
            moved += [self._documents(level) for level in self.documents]
            _check_all_there(moved, self.uri)
            different: tuple[str, ...] = ()
            if verify:
                different = self._verified(raw, again=goes_on)
            self._record()
            if self.crew is not None and self.crew.lost:
                sweep(store, self.new_start)
            if not different:
                store.erase(self.new_start + journal.NAME)
        return Copied(
            self.uri,
            self._to(),
            len(self.chunks) + sum(map(len, self.documents)),
            sum(one.done for one in moved) + len(self.changed),
            sum(one.kept for one in moved),
            sum(one.nbytes for one in moved),
            self.left_out,
            verified=not different if verify else None,
            different=different,
        )

    def _begin(self, note: journal.Note, *, overwrite: bool) -> None:
        """Leave the note, by which of several who begin one does."""
        store, to = self.target.store, self._to()
        if self.form != DRAFT.name:
            make_room(self.target, self.new_path, self.form)
        if overwrite:
            forget(store, self.new_path)
            store.erase_prefix(self.new_start)
        journal.write(store, self.new_start, note, to)
        # Somebody may have made a node, or finished a copy, between the look and the note.
        if self._is_taken():
            store.erase(self.new_start + journal.NAME)
            raise ExistsError("another program has made a node there at the same time", path=to)

    def _is_taken(self) -> bool:
        store = self.target.store
        return format_of(store, self.new_path) is not None or store.exists(self.new_start + ZMETADATA)

    def _check_alone(self, note: journal.Note, *, goes_on: bool) -> None:
        """Look, before the documents are copied, whether the place is still that of this copy.

        Raises:
            ConflictError: If somebody has erased or replaced it.
            ExistsError: If somebody has made a node there.
        """
        store, to = self.target.store, self._to()
        if not goes_on:
            journal.check_mine(store, self.new_start, note, to)
        if not goes_on and self._is_taken():  # what goes on may have come to its own documents before
            hint = "What is there may hold values of both: pass overwrite=True to copy anew, or erase it."
            raise ExistsError("another program has made a node there meanwhile", path=to, hint=hint)

    def _documents(self, level: list[str]) -> Moved:
        # Never skipped: they are small, and one of the same size may well say something else.
        moved = self.mover([key for key in level if key not in self.changed], "copy")
        for key in level:
            if key in self.changed:
                self.target.store.put(self.new_start + key, self.changed[key])
        return moved

    def _verified(self, raw: list[list[str]], *, again: bool) -> tuple[str, ...]:
        """Return the keys that differ; what an earlier run left behind gets a second chance."""
        different: tuple[str, ...] = ()
        for keys in (self.chunks, *raw):
            found = self.mover(keys, "compare").different
            if found and again:
                self.mover(found, "copy")
                found = self.mover(found, "compare").different
            different += found
        return tuple(self.new_start + key for key in different)

    def _record(self) -> None:
        """Enter the new documents into the consolidated metadata of groups above."""
        if not self.new_path:
            return
        keys = [self.new_start + key for level in self.documents for key in level]
        record(self.target.store, self.new_path, keys, below=True)


def _raw(store: Store, path: str, patterns: tuple[tuple[str, ...], ...]) -> tuple[Store, str]:
    """Return the store and the prefix that the keys of a node really have."""
    if not isinstance(store, DraftView):
        return store, path + "/" if path else ""
    if path or any(patterns):
        hint = "Convert it with `oz convert`, or copy the whole hierarchy."
        raise UnsupportedError("parts of a draft of Zarr v3 cannot be copied as they are", path=path or "/", hint=hint)
    return store.inner, store.start


def _check_all_there(moved: list[Moved], uri: str) -> None:
    missing = [key for one in moved for key in one.missing]
    if missing:
        shown = ", ".join(map(repr, missing[:_MOST_NAMED])) + (", …" if len(missing) > _MOST_NAMED else "")
        raise ConflictError(f"{len(missing)} keys vanished while they were copied: {shown}", path=uri)
