"""Datasets in Zarr, for reading."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import PurePath

from omnizarr.errors import ReadOnlyError, warn
from omnizarr.format.names import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETADATA, join
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.opening import Place, missing
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.native import ZipStore
from omnizarr.nc.kinds import NCZARR, NCZARR3, ZARR, ZARR3
from omnizarr.nc.source import Key, Values
from omnizarr.nc.tree import Group, Var
from omnizarr.nc.zarr.building import Builder
from omnizarr.nc.zarr.documents import Texts, texts_of
from omnizarr.nc.zarr.generations import DOCUMENTS, Generation
from omnizarr.nc.zarr.held import Held
from omnizarr.nc.zarr.hierarchy_other import read_other
from omnizarr.nc.zarr.hierarchy_v2 import read_v2
from omnizarr.nc.zarr.nodes import Hierarchy
from omnizarr.store.protocol import kernel_target, place_name

_ROOT = (ZARR_JSON, ZGROUP, ZARRAY, ZATTRS, ZMETADATA, *DOCUMENTS)
_V2 = (ZGROUP, ZARRAY, ZATTRS, ZMETADATA, ".nczarr")


class ZarrReader:
    """A dataset in Zarr of any dialect, as a read-only source.

    Attributes:
        root: The tree.
        kind: "nczarr", "nczarr3", "zarr" or "zarr3".
        name: Where the dataset is.
        generation: Of NCZarr, the generation; see `omnizarr.nc.zarr.generations`.
        owns_store: Whether to close the store, too.
    """

    read_only = True

    def __init__(self, root: Group, kind: str, name: str, generation: Generation, context: Context) -> None:
        self.root = root
        self.kind = kind
        self.name = name
        self.generation = generation
        self.context = context
        self.owns_store = False

    def read(self, var: Var, key: Key) -> Values:
        """Return the values that a key selects.

        Raises:
            OmnizarrError: If the variable cannot be read; the message says why.
        """
        held: Held = var.handle
        return held.read(key, var.shape)

    def write(self, var: Var, key: Key, values: Values) -> None:
        """Refuse.

        Raises:
            ReadOnlyError: Always.
        """
        del key, values
        raise ReadOnlyError(
            f"{self.name} is open for reading only, so {var.path} cannot change", hint='Open it with mode "a".'
        )

    def changed(self, node: Group | Var) -> None:
        """Refuse.

        Raises:
            ReadOnlyError: Always.
        """
        raise ReadOnlyError(
            f"{self.name} is open for reading only, so {node.path} cannot change", hint='Open it with mode "a".'
        )

    def sync(self) -> None:
        """Do nothing: nothing changes."""

    def close(self) -> None:
        """Let go of the store, unless it was given as one."""
        close = getattr(self.context.store, "close", None)
        if self.owns_store and close is not None:
            close()


def open_reader(
    where: object,
    *,
    path: str | None = None,
    pure: bool = False,
    consolidated: bool | None = None,
    limits: Limits = DEFAULT_LIMITS,
    cache_bytes: int = 0,
) -> ZarrReader:
    """Open a dataset in Zarr for reading.

    Args:
        where: A path, a URI, a mapping, or a store.
        path: Path of the dataset's root within it.
        pure: Whether to take NCZarr for plain Zarr, as `mode=zarr` asks.
        consolidated: Whether `.zmetadata` may be used; by default where that is quicker, or nothing else is there.
        limits: Bounds on what documents may claim.
        cache_bytes: Size of each array's cache of decoded chunks.

    Raises:
        NotFoundError: If nothing is there.
        MetadataError: If the documents of the root cannot be read. What is wrong elsewhere leaves something out, with a
            warning, or raises when a variable is read.
    """
    place = Place(where, "r", path, limits=limits, cache_bytes=cache_bytes)
    place.look()
    context = place.context
    own = _documents(context, place.path)
    if ZARR_JSON not in own and any(name in own for name in _V2):
        if consolidated is False:
            texts = Texts(context.store, place.path)
        else:
            texts = texts_of(context.store, place.path, own, limits, near=context.is_near and not consolidated)
        if not any(name in own for name in (ZGROUP, ZARRAY, ZATTRS)):
            copies = texts.get_many([join(place.path, name) for name in _ROOT])
            own = {name: text for name, text in zip(_ROOT, copies, strict=True) if text is not None}
        found = read_v2(texts, place.path, own, limits, pure=pure)
    else:
        found = _other(place, pure=pure, consolidated=consolidated) or _implied(place, pure=pure)
    name = place_name(context.store, place.path)
    root = Builder(found, context).build(_variable_name(name))
    reader = ZarrReader(root, _kind(found), name, found.generation, context)
    reader.owns_store = isinstance(where, (str, os.PathLike))
    return reader


def _documents(context: Context, path: str) -> Mapping[str, bytes]:
    values = context.store.get_many([join(path, name) for name in _ROOT])
    return {name: text for name, text in zip(_ROOT, values, strict=True) if text is not None}


def _other(place: Place, *, pure: bool, consolidated: bool | None) -> Hierarchy | None:
    meta = place.load()
    if meta is None:
        return None
    if consolidated is not False:
        place.context.block_root = place.path
    return read_other(place.context, place.path, meta, pure=pure)


def _implied(place: Place, *, pure: bool) -> Hierarchy:
    """Read a folder that holds arrays, and nothing that says that it is a group.

    Raises:
        NotFoundError: If it is no such folder.
    """
    store, path = place.context.store, place.path
    folder = path
    if isinstance(kernel_target(store)[0], ZipStore):  # an archive of a folder begins with that
        keys, prefixes = store.list_dir(path + "/" if path else "")
        folder = prefixes[0].rstrip("/") if len(prefixes) == 1 and not keys else path
    texts = Texts(store, folder)
    names = texts.children(folder)
    if not any(text is not None for text in store.get_many([join(join(folder, name), ZARRAY) for name in names])):
        raise missing(place)
    warn(f"{place_name(store, folder)!r} has no document of its own; it is taken for a group, as it holds arrays")
    place.path = folder
    return read_v2(texts, folder, {}, place.context.limits, pure=pure)


def _kind(found: Hierarchy) -> str:
    new = found.form == "zarr3"
    if found.generation:
        return NCZARR3 if new else NCZARR
    return ZARR3 if new else ZARR


def _variable_name(place: str) -> str:
    """Return what a variable is called that has no name but that of its place."""
    stem = PurePath(place).name.partition(".")[0].strip("<>")
    return stem or "data"
