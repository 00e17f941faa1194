"""A netCDF dataset in Zarr that can be changed.

Definitions are kept in the tree and written by `sync`, in the order that `omnizarr.nc.zarr.saving` explains; values go
to the store at once.
"""

from __future__ import annotations

from threading import RLock
from typing import Any, Final

from omnizarr.errors import CorruptError, ExistsError, ReadOnlyError, UnsupportedError
from omnizarr.format.names import RESERVED, ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETADATA
from omnizarr.hierarchy.changing import array_lock
from omnizarr.hierarchy.context import Context
from omnizarr.nc.source import Key, Source, Values, counts, grow, open_mesh
from omnizarr.nc.tree import Dim, Group, Var
from omnizarr.nc.tree_copying import copied
from omnizarr.nc.zarr.layout import array_document, array_of
from omnizarr.nc.zarr.saving import drop_copy, save
from omnizarr.nc.zarr.sharing import at_the_edge, catch_up, form_of, publish
from omnizarr.nc.zarr.style import Style, style
from omnizarr.nc.zarr.targets import warn_of
from omnizarr.nc.zarr.texts import NOTHING, Kept, group_texts
from omnizarr.nc.zarr.widening import widen
from omnizarr.nc.zarr.written import Written, shifted
from omnizarr.store.keys import is_key
from omnizarr.store.protocol import Store
from omnizarr.store.resolve import resolve
from omnizarr.store.wrap import PrefixStore


def create(where: object, root: Group, kind: str, *, target: str = "", **options: Any) -> ZarrSource:  # noqa: ANN401
    """Create a dataset in place of whatever is there.

    Args:
        where: A path, a mapping or a store.
        root: The definitions; they are copied.
        kind: "nczarr", "nczarr3", "zarr" or "zarr3".
        target: A version of netcdf-c, such as "4.9.2"; what it cannot read is warned of.
        options: See `omnizarr.nc.zarr.style.Style`.

    Raises:
        UnsupportedError: If the kind cannot hold what the tree defines; nothing is written then.
    """
    chosen = style(kind, **options)
    store = store_at(where)
    source = ZarrSource(store, copied(root), chosen, target=target)
    source.owns_store = store is not where
    source.check()
    _check_no_others(store)
    # Documents of the root go first: what is left of an old dataset must not look like a whole one.
    with source.context.placing(""):
        for name in _DOCUMENTS:
            store.erase(name)
        store.erase_prefix("")
        for name, text in group_texts(Group(), chosen).items():  # until all is there, there is nothing
            store.put(name, text)
        source.changed(source.root)
        source.save()
    return source


_DOCUMENTS: Final = (ZMETADATA, ".nczarr", ZATTRS, ZARR_JSON, ZGROUP, ZARRAY)


def _check_no_others(store: Store) -> None:
    """Refuse to replace what was never a dataset: a folder of somebody's files.

    Raises:
        ExistsError: If there is such a thing.
    """
    keys, prefixes = store.list_dir("")
    if not keys and not prefixes:
        return
    places = ("", *prefixes)
    if not any(store.exists(f"{place}{name}") for place in places for name in (*_DOCUMENTS, "meta", "attributes.json")):
        message = "something is there that is no dataset, array or group"
        raise ExistsError(message, path=store.uri, hint="Choose a new name, or remove it yourself.")


def store_at(where: object, *, read_only: bool = False) -> Store:
    """Return the store that has a dataset at its root."""
    store, path = resolve(where, read_only=read_only)
    return PrefixStore(store, f"{path}/") if path else store


class ZarrSource:
    """An open dataset; a `omnizarr.nc.source.Source`."""

    def __init__(
        self, store: Store, root: Group, style: Style, *, target: str = "", reader: Source | None = None
    ) -> None:
        self.root = root
        self.style = style
        self.context = Context(store, read_only=False)
        self.reader = reader
        """What reads variables that nobody has changed yet, of a dataset that was there before."""
        self.arrays: dict[Var, Written] = {}
        self.places: dict[Group | Var, str] = {}
        """Where the documents of each node are."""
        self.begun: dict[Group | Var, str] = {}
        """Where nodes without documents have values already, or have such nodes in them."""
        self.names: dict[Dim, str] = {}
        """What each dimension is called in the documents."""
        self.shapes: dict[Var, tuple[int, ...]] = {}
        """The shapes of arrays that were there before."""
        self.sizes: dict[Dim, int] = {}
        """The length of each dimension as the documents say it, where that is known."""
        self.grown = False
        """Whether a dimension may have grown since."""
        self.marked: dict[Group | Var, None] = {}
        self.texts: dict[str, bytes] = {}
        """What each document should have been when it was last written."""
        self.put: dict[str, bytes] = {}
        """What was written then, with what others had changed of it."""
        self.seen: dict[str, bytes] = {}
        """The documents of arrays by which their shapes are known."""
        self.before: dict[Group | Var, Group | Var] = {}
        """What is stored of each node, as far as this dataset knows."""
        self.saving = RLock()
        """Held while everything is brought to the store; whoever has it may wait for arrays, groups and documents."""
        self.owns_store = True
        """Whether the store is closed with the dataset: not if it was the caller's."""
        self.all_anew = False
        """Whether the documents are of an older form, and are all written anew with the first change."""
        self.has_copy = False
        """Whether there is consolidated metadata."""
        self.old_objects: list[str] = []
        """Keys of an older form of documents, to be erased."""
        self._target = target
        self._warned: set[str] = set()
        self._open = True

    @property
    def kind(self) -> str:
        """One of `omnizarr.nc.kinds.ZARR_KINDS`."""
        return self.style.kind

    @property
    def name(self) -> str:
        """Where the dataset is."""
        return self.context.store.uri

    @property
    def read_only(self) -> bool:
        """Whether changes are refused."""
        return not self._open

    def read(self, var: Var, key: Key) -> Values:
        """Return the values that a key selects."""
        if var not in self.arrays and self.reader is not None and var in self.places:
            return self.reader.read(var, key)
        try:
            return self.array(var).read(var, key)
        except CorruptError:
            if self.reader is None or var not in self.shapes:
                raise
            return self.reader.read(var, key)  # which knows what netcdf-c may leave at the end of chunks

    def write(self, var: Var, key: Key, values: Values) -> None:
        """Store values; unlimited dimensions grow.

        Raises:
            ConflictError: If somebody else removed the array, or made it anew.
        """
        self._check_open()
        stored = self.array(var)
        if not at_the_edge(self, var, stored, key):
            self._write_within(var, stored, key, values)
            return
        with array_lock(self.context, stored.path, form_of(self)):
            with self.context.lock:
                catch_up(self, var, stored)
            self._write_within(var, stored, key, values)
            with self.context.lock:
                publish(self, var, stored)

    def _write_within(self, var: Var, stored: Written, key: Key, values: Values) -> None:
        sizes = var.shape
        grew = grow(var, key)
        # Also where another variable made the dimension longer, and a crash kept this one's document behind.
        self.grown = self.grown or grew or (bool(var.dims) and stored.meta.shape != sizes)
        try:
            stored.clean_beyond(var)  # also if another variable made the dimension longer
            if not all(counts(key)):
                return
            length = stored.too_long(var, values)
            if length:
                self.forget(var)
                widen(self, var, stored, length)
            self._write(var, stored, key, values)
        except BaseException:
            if grew:
                stored.left_beyond(sizes)
            for dim, size in zip(var.dims, sizes, strict=True):
                dim.size = size
            raise

    def _write(self, var: Var, stored: Written, key: Key, values: Values) -> None:
        try:
            stored.write(var, key, values)
        except CorruptError:
            if self.reader is None or var not in self.shapes or not var.dims:
                raise
            # Chunks that netcdf-c left longer than they should be cannot be changed in part: they are written whole.
            region = stored.whole_chunks(var, key)
            held = self.reader.read(var, region)
            held[open_mesh(shifted(key, region))] = values
            stored.write(var, region, held)

    def changed(self, node: Group | Var) -> None:
        """Take note that a node is new or differs."""
        self._check_open()
        self.marked.setdefault(node)
        if self.place_of(node, _place(node)) != _place(node):
            self.save()  # one move at a time, so that names can be exchanged

    def sync(self) -> None:
        """Bring everything to the store, and what the store holds back to its place."""
        self.save()
        flush = getattr(self.context.store, "flush", None)
        if flush is not None:
            flush()

    def save(self) -> None:
        """Bring everything to the store."""
        self._check_open()
        if self.marked or self.grown:
            with self.saving:
                save(self)

    def close(self) -> None:
        """As `sync`, and let go of the store."""
        if not self._open:
            return
        self.save()
        with self.saving, self.context.lock:
            save(self, last=True)
        self._open = False
        for one in (self.reader, self.context.store if self.owns_store else None):
            close = getattr(one, "close", None)
            if close is not None:
                close()

    def array(self, var: Var) -> Written:
        """Return the array of a variable, settled the first time it is asked for."""
        known = self.arrays.get(var)
        if known is None:
            known = Written(self.context, _place(var), array_of(var, self.style), is_new=True)
            self.arrays[var] = known
            self.marked.setdefault(var)
            for node in (var, *(var.group.above() if var.group is not None else ())):
                self.begun.setdefault(node, _place(node))
        return known

    def place_of(self, node: Group | Var, default: str) -> str:
        """Return where a node is in the store, whatever its name is by now."""
        return self.places.get(node, self.begun.get(node, default))

    def kept_for(self, node: Group | Var) -> Kept:
        """Return what the documents of a node hold that is none of ours."""
        del node
        return NOTHING

    def forget(self, node: Group | Var) -> None:
        """Forget what the documents of a node held: it is looked up again."""

    def drop_copy(self) -> None:
        """Erase consolidated metadata, before anything changes."""
        drop_copy(self)

    def loaded_shape(self, var: Var) -> tuple[int, ...] | None:
        """Return the shape of an array that was there before, as its document says it; `None` if it is new."""
        return self.shapes.get(var)

    def document(self, var: Var, stored: Written) -> dict[str, Any]:
        """Return the main document of an array as it has to be now, attributes aside."""
        if stored.document is None:
            return array_document(var, stored.meta, self.style)
        document = {**stored.document, "shape": list(stored.meta.shape)}
        if self.style.is_v3 and var.dims and not stored.kept.own_dims:
            document["dimension_names"] = [dim.name for dim in var.dims]
        return document

    def check(self) -> None:
        """Raise if the tree has anything that cannot be written.

        Raises:
            UnsupportedError: If so.
        """
        for group in self.root.walk():
            self.check_names(group)
            for var in group.vars.values():
                meta = array_of(var, self.style)
                self.context.access(_place(var), meta)  # which knows whether there are such codecs

    def check_name(self, name: str, group: Group) -> None:
        """Raise if a name in a group cannot be part of a key.

        Raises:
            UnsupportedError: If so.
        """
        if name in RESERVED or "/" in name or name.startswith(".ncz") or not is_key(f"{group.path}/{name}".strip("/")):
            raise UnsupportedError(f"{name!r} cannot be a name in Zarr", path=group.path)

    def check_names(self, group: Group) -> None:
        """Raise if a name in a group cannot be part of a key.

        Raises:
            UnsupportedError: If so.
        """
        for name in (*group.vars, *group.groups):
            self.check_name(name, group)
        both = group.vars.keys() & group.groups.keys()
        if both:
            raise UnsupportedError(f"{min(both)!r} is the name of a variable and of a group", path=group.path)

    def warn_of(self, var: Var) -> None:
        """Warn once of a variable that the chosen version of netcdf-c cannot read."""
        if self._target and var.path not in self._warned:
            self._warned.add(var.path)
            warn_of(var, self.array(var).meta, self.style, self._target)

    def _check_open(self) -> None:
        if not self._open:
            raise ReadOnlyError(f"{self.name} is closed")


def _place(node: Group | Var) -> str:
    return node.path.strip("/")
