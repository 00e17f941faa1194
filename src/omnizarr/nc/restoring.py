"""How variables of a copy are laid out: as they were, unless something else is asked for or can be stored."""

from __future__ import annotations

from math import prod
from typing import Final, NamedTuple

from omnizarr.errors import MetadataError, NotFoundError
from omnizarr.nc.filters import DEFLATE, FLETCHER32, SHUFFLE
from omnizarr.nc.kinds import NETCDF3_KINDS, NETCDF4_KINDS, ZARR_KINDS
from omnizarr.nc.picking import pick_variables
from omnizarr.nc.specs import Chunking, ChunkSpecs, FilterSpec
from omnizarr.nc.tree import Dim, Filter, Group, Storage, Var
from omnizarr.nc.types import is_fixed

SMALLEST_CHUNK: Final = 8192


class Layout(NamedTuple):
    """What is asked for.

    Attributes:
        level: Of deflate, for all variables; 0 to store them without any filter.
        shuffle: Whether bytes are shuffled before that.
        chunks: Lengths of chunks.
        filters: Other filters.
        smallest: Variables with chunks of fewer bytes are not divided, if chunks along dimensions are asked for.
    """

    level: int | None = None
    shuffle: bool = False
    chunks: ChunkSpecs = ChunkSpecs({}, {})
    filters: tuple[FilterSpec, ...] = ()
    smallest: int = SMALLEST_CHUNK

    def asks_for_anything(self) -> bool:
        """Whether there is anything that only files with chunks have."""
        return bool(self.level or self.shuffle or self.filters or self.chunks.dims or self.chunks.variables)


def restore(root: Group, layout: Layout, old_kind: str, new_kind: str) -> None:
    """Change the storage of all variables of a tree to what the copy will have.

    Raises:
        MetadataError: If a number of chunk lengths does not fit its variable.
        NotFoundError: If something is named that is not there.
    """
    by_dim = _dim_lengths(root, layout.chunks)
    by_var = _var_chunks(root, layout.chunks)
    filters = _var_filters(root, layout.filters)
    for var in root.all_vars():
        if new_kind in NETCDF3_KINDS:
            var.storage = Storage(kind="contiguous", no_fill=var.storage.no_fill)
            continue
        _refilter(var, layout, filters.get(var))
        _rechunk(var, layout, by_dim, by_var.get(var))
        if new_kind in ZARR_KINDS and var.storage.kind != "chunked":
            # One piece in a file; many in Zarr, where a piece is an object that is read as a whole.
            var.storage.kind, var.storage.chunks = "chunked", None
        if (old_kind in NETCDF4_KINDS) != (new_kind in NETCDF4_KINDS):
            var.storage.endian = "native"


def _refilter(var: Var, layout: Layout, asked: tuple[Filter, ...] | None) -> None:
    storage = var.storage
    if not var.dims or (asked is None and layout.level is None):
        return
    storage.codecs = ""
    if asked is not None or not layout.level:
        storage.deflate, storage.shuffle, storage.filters = 0, False, ()
        storage.fletcher32 = False
        for one in asked or () if is_fixed(var.type) else ():
            if one.id == DEFLATE:
                storage.deflate = one.parameters[0] if one.parameters else 1
            elif one.id == SHUFFLE:
                storage.shuffle = True
            elif one.id == FLETCHER32:
                storage.fletcher32 = True
            else:
                storage.filters = (*storage.filters, one)
    elif is_fixed(var.type):
        storage.deflate, storage.shuffle, storage.filters = layout.level, layout.shuffle, ()


def _rechunk(var: Var, layout: Layout, by_dim: dict[Dim, int], asked: Chunking | None) -> None:
    storage, filtered = var.storage, is_filtered(var)
    if not var.dims:
        return
    if layout.chunks.none or asked == "contiguous":
        storage.kind, storage.chunks = "contiguous", None
    elif asked == "compact":
        storage.kind, storage.chunks = "compact", None
    elif asked is not None:
        storage.kind, storage.chunks = "chunked", asked
    elif any(dim in by_dim for dim in var.dims):
        old = storage.chunks if storage.kind == "chunked" and storage.chunks else tuple(max(n, 1) for n in var.shape)
        chunks = tuple(by_dim.get(dim, length) for dim, length in zip(var.dims, old, strict=True))
        storage.kind, storage.chunks = "chunked", chunks
        small = prod(chunks) * var.type.numpy.itemsize < layout.smallest
        if small and not filtered and not any(dim.unlimited for dim in var.dims):
            storage.kind, storage.chunks = "contiguous", None
    if filtered and storage.kind != "chunked":
        storage.kind = "chunked"


def is_filtered(var: Var) -> bool:
    """Whether any filter applies to a variable."""
    storage = var.storage
    return bool(storage.deflate or storage.shuffle or storage.fletcher32 or storage.filters)


def _dim_lengths(root: Group, chunks: ChunkSpecs) -> dict[Dim, int]:
    found: dict[Dim, int] = {}
    every = [dim for group in root.walk() for dim in group.dims.values()]
    for name, length in chunks.dims.items():
        chosen = [dim for dim in every if name in (dim.path, dim.name, dim.path[1:])]
        if not chosen:
            raise NotFoundError(
                f"there is no dimension {name!r}", hint=f"There are: {', '.join(dim.name for dim in every[:12])}."
            )
        found.update((dim, max(1, dim.size if length is None else length)) for dim in chosen)
    return found


def _var_chunks(root: Group, chunks: ChunkSpecs) -> dict[Var, Chunking]:
    found: dict[Var, Chunking] = {}
    for name, asked in chunks.variables.items():
        for var in pick_variables(root, [name]):
            if not isinstance(asked, str) and len(asked) != len(var.dims):
                raise MetadataError(f"{var.path} has {len(var.dims)} dimensions, and {len(asked)} lengths of chunks")
            found[var] = asked
    return found


def _var_filters(root: Group, specs: tuple[FilterSpec, ...]) -> dict[Var, tuple[Filter, ...]]:
    found: dict[Var, tuple[Filter, ...]] = {}
    every = set(root.all_vars())
    for spec in specs:
        for var in every if spec.names == ("*",) else pick_variables(root, spec.names):
            found[var] = (*found.get(var, ()), *spec.filters) if spec.filters else ()
    return found
