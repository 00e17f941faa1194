"""Opening a dataset in Zarr to change it.

What nobody touches stays as it is, to the byte. Documents that do change keep what Omnizarr knows nothing of. A dataset
that an older netcdf-c wrote gets the documents of the newest form with the first change: chunks stay, labels that were
wrong are put right, and the old objects are erased last.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from omnizarr.errors import ReadOnlyError, UnsupportedError
from omnizarr.format import v2, v3
from omnizarr.format.consolidated import MARK
from omnizarr.format.lenient import load_object
from omnizarr.format.names import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETADATA, join
from omnizarr.format.v2_netcdf import as_meant, writer_of
from omnizarr.model.array import ArrayMeta
from omnizarr.nc.kinds import NCZARR, NCZARR3
from omnizarr.nc.tree import Attr, Dim, Group, Var
from omnizarr.nc.types import CHAR
from omnizarr.nc.zarr.attributes import number_json
from omnizarr.nc.zarr.generations import DOCUMENTS, SPELLINGS
from omnizarr.nc.zarr.layout import spelled
from omnizarr.nc.zarr.merging import removed
from omnizarr.nc.zarr.reader import ZarrReader, open_reader
from omnizarr.nc.zarr.sharing import as_it_is, main_key
from omnizarr.nc.zarr.style import ARRAY_KEY, STORED_IN, Style
from omnizarr.nc.zarr.texts import Kept, array_texts
from omnizarr.nc.zarr.widening import settle
from omnizarr.nc.zarr.writer import ZarrSource, store_at
from omnizarr.nc.zarr.written import Written
from omnizarr.store.protocol import Store

_OLD: Final = ("A0", "A1", "B", "C")
_MARKS: Final = frozenset(name for names in SPELLINGS.values() for name in names)
_V2_FIELDS: Final = frozenset(
    ("zarr_format", "shape", "dtype", "chunks", "fill_value", "order", "compressor", "filters", "dimension_separator")
)


def open_for_append(
    where: object, *, target: str = "", consolidated: bool | None = None, pure: bool = False
) -> ZarrSource:
    """Open a dataset to change it.

    Args:
        where: A path, a mapping or a store.
        target: A version of netcdf-c, such as "4.9.2"; what it cannot read of new variables is warned of.
        consolidated: Whether a copy of all documents is kept at the root; by default if there is one,
            or as `Style` says for variables that are new.
        pure: Whether it must be plain Zarr, without the words of NCZarr.

    Raises:
        NotFoundError: If nothing is there.
        UnsupportedError: If what is there can only be read, or is NCZarr and must not be.
        ReadOnlyError: If the store can only be read.
    """
    store = store_at(where)
    if store.read_only:
        raise ReadOnlyError(f"{store.uri} can only be read")
    reader = open_reader(store)
    if pure and reader.kind in (NCZARR, NCZARR3):
        message = f"{store.uri} is NCZarr, which cannot be changed as plain Zarr"
        raise UnsupportedError(message, hint="Open it without mode=zarr.")
    names = (ZARR_JSON, ZGROUP, ZATTRS, ZMETADATA, ZARRAY)
    texts = dict(zip(names, store.get_many(list(names)), strict=True))
    if (texts[ZARR_JSON] is None and texts[ZGROUP] is None) or texts[ZARRAY] is not None:
        raise UnsupportedError(
            f"{store.uri} can only be read: it is no group of Zarr v2 or v3", hint="Copy it to a new dataset."
        )
    main = texts[ZGROUP] or b""
    has_copy = texts[ZMETADATA] is not None or MARK in (texts[ZARR_JSON] or b"")
    style = Style(
        reader.kind,
        also="4.9.0" if reader.generation == "D" and b"_NCZARR_SUPERBLOCK" in main else "",
        consolidated=(has_copy or None) if consolidated is None else consolidated,
    )
    source = Appending(store, reader, style, target)
    source.has_copy = has_copy
    source.owns_store = store is not where
    return source


class Appending(ZarrSource):
    """A dataset that was there before."""

    def __init__(self, store: Store, reader: ZarrReader, style: Style, target: str) -> None:
        super().__init__(store, reader.root, style, target=target, reader=reader)
        self.all_anew = reader.generation in _OLD
        self._writer: Any = "old" if self.all_anew else "new" if reader.generation else ""
        self._loaded: dict[Group | Var, dict[str, Attr]] = {}
        self._kept: dict[Group | Var, Kept] = {}
        self._lengths: dict[Dim, int] = {}
        for group in self.root.walk():
            self._remember(group)
            for dim in group.dims.values():
                self.names[dim] = dim.name
                self._lengths[dim] = dim.size
                if not dim.unlimited:  # of others, the reader shows the longest of what it finds
                    self.sizes[dim] = dim.size
            for var in group.vars.values():
                self._remember(var)
                meta = getattr(var.handle, "meta", None)
                if meta is not None:
                    self.shapes[var] = meta.shape
        if reader.generation in ("A0", "A1"):
            # The one that says what all others are goes first: from then on nobody looks for them.
            self.old_objects = [join(self.places[node], name) for node in self.places for name in DOCUMENTS]

    def kept_for(self, node: Group | Var) -> Kept:
        """Return what the documents of a node hold that is none of ours."""
        known = self._kept.get(node)
        if known is None:
            known = self._kept[node] = self._kept_for(node)
        return known

    def _kept_for(self, node: Group | Var) -> Kept:
        loaded = self._loaded.get(node)
        if loaded is None:
            return super().kept_for(node)
        attributes, main = self._documents(node)
        members = {name: value for name, value in main.items() if name not in _MARKS and name not in _V2_FIELDS}
        if self.style.is_v3:
            members = {} if isinstance(node, Var) else _foreign_v3(main)
        if self.all_anew:
            return Kept(attributes, dict.fromkeys(loaded), members)  # type: ignore[arg-type]  # equal to no attribute
        return Kept(attributes, loaded, members, own_dims=self.style.is_pure and isinstance(node, Var))

    def array(self, var: Var) -> Written:
        """Return the array of a variable, as it is in the store."""
        if var in self.arrays or var not in self._loaded:
            return super().array(var)
        path = self.places[var]
        attributes, main = self._documents(var)
        if not main and self.context.store.get(main_key(self, path)) is None:
            raise removed(var.path)
        mark = attributes.get(ARRAY_KEY)
        folder = mark.get(STORED_IN) if isinstance(mark, dict) else None
        if folder is not None:
            main = self._object(join(path, f"{folder}/{ZARRAY}"))
        kept = self.kept_for(var)
        if self.style.is_v3:
            meta = v3.parse_array(main, join(path, ZARR_JSON))
            document = {name: value for name, value in main.items() if name != "attributes"}
        else:
            writer = writer_of(main, attributes) or self._writer
            meant = as_meant({k: v for k, v in main.items() if k not in _MARKS}, attributes, writer)
            meta = v2.parse_array(meant, None, join(path, ZARRAY))
            document = {**meant, "fill_value": _fill(main.get("fill_value"), meant.get("fill_value"), meta)}
            if self.all_anew or (var.type == CHAR and not self.style.is_pure):
                document["dtype"] = spelled(var.type, meta.dtype, self.style)
            document.setdefault("order", "C")
        stored = Written(self.context, path, meta, kept, is_new=False)
        stored.document = document
        if var.dims and len(var.dims) == len(meta.shape):
            stored.shown_to(tuple(self._lengths.get(dim, 0) for dim in var.dims))
        if self.all_anew and document["dtype"] != main.get("dtype"):
            # A label that is wrong is read right only as long as everything says that the array is old.
            stored.bridge = {**main, "dtype": document["dtype"]}
        if folder is not None:
            settle(self, path, array_texts(var, self.document(var, stored), self.style, kept))
        self.arrays[var] = stored
        return stored

    def forget(self, node: Group | Var) -> None:
        """Forget what the documents of a node held: it is looked up again."""
        self._kept.pop(node, None)

    def _remember(self, node: Group | Var) -> None:
        self.before[node] = as_it_is(node)
        self.places[node] = node.path.strip("/")
        self._loaded[node] = dict(node.attrs)

    def _documents(self, node: Group | Var) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the attributes and the main document of a node."""
        path = self.places[node]
        if self.style.is_v3:
            main = self._object(join(path, ZARR_JSON))
            attributes = main.pop("attributes", None) or {}
            return dict(attributes), main
        name = ZARRAY if isinstance(node, Var) else ZGROUP
        return self._object(join(path, ZATTRS)), self._object(join(path, name))

    def _object(self, key: str) -> dict[str, Any]:
        text = self.context.store.get(key)
        if text is None or not text.strip():
            return {}
        self.seen.setdefault(key, text)
        return dict(load_object(text, key))


def _foreign_v3(main: dict[str, Any]) -> dict[str, Any]:
    known = ("zarr_format", "node_type", "attributes", "consolidated_metadata")
    return {name: value for name, value in main.items() if name not in known}


def _fill(written: Any, meant: Any, meta: ArrayMeta) -> Any:  # noqa: ANN401 - JSON
    """Return a fill value as it is to be spelled: numbers put right, text as it was, without the brackets of old."""
    if meta.fill.bits is not None and meta.dtype.family == "float":
        return number_json(np.frombuffer(meta.fill.bits, meta.dtype.numpy)[0])
    one = meant if meta.dtype.family in ("int", "uint") else written
    return one[0] if isinstance(one, list) and len(one) == 1 else one
