"""One node in another format, with other chunks or codecs: metadata in, metadata out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple

from omnizarr.array.defaults import Extents, grid_layout
from omnizarr.codec.chain import Layout, build_chain
from omnizarr.errors import MetadataError, OmnizarrError, ShapeError, UnsupportedError
from omnizarr.format.check import even_chunks
from omnizarr.format.dialects import ZARR2, ZARR3, dialect
from omnizarr.hierarchy.nodes import checked
from omnizarr.limits import Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import Codec, resolve, sharding_of
from omnizarr.model.grid import Grid, Lengths, RectilinearGrid
from omnizarr.model.group import GroupMeta
from omnizarr.model.keys import Keys, default_keys, v2_keys
from omnizarr.tools.convert.carry import Carried, carry_array, carry_group, difference
from omnizarr.tools.convert.chains import candidates, in_range, is_portable, plain_chain, reads_alike
from omnizarr.tools.convert.masks import Whole
from omnizarr.tools.convert.values import KEPT, How, Refusal, Step, Wish
from omnizarr.tools.convert.values import Lengths as Wanted

_STANDARD: Final = (*map(default_keys, "/."), *map(v2_keys, "/."))
"""The keys that every reader of v3 knows."""

_UNEVEN: Final = "Give chunks of one shape: chunks=, or --chunks."


class _Cut(NamedTuple):
    """How an array is cut."""

    grid: Grid
    chunks: tuple[int, ...]
    shards: tuple[int, ...] | None
    changed: bool


def group_step(
    path: str, source: GroupMeta, wish: Wish, limits: Limits, *, in_place: bool
) -> tuple[Step | None, list[Refusal]]:
    """Plan a group; without a step if there is something against it."""
    carried = carry_group(source, wish.format)
    try:
        seen, texts = checked(carried.meta, path, limits)
    except OmnizarrError as error:
        hint = "Convert its arrays one by one." if not dialect(wish.format).has_groups else error.hint or ""
        return None, [Refusal(path, error.message, hint)]
    how: How = "keep" if in_place and source.format == wish.format else "documents"
    return _step(Step(path, how, source, seen, texts), carried, wish)


def array_step(
    path: str, source: ArrayMeta, wish: Wish, limits: Limits, *, in_place: bool, whole: Whole
) -> tuple[Step | None, list[Refusal]]:
    """Plan an array; without a step if there is something against it. `whole` tells if all its chunks are stored."""
    carried = carry_array(source, wish.format, in_group=bool(path), whole=whole)
    try:
        cut = _cut(source, wish)
        seen, texts = _made(source, carried.meta, cut, wish, limits)
    except OmnizarrError as error:
        return None, [Refusal(path, str(error).partition("\n")[0], error.hint or "")]
    # Other settings of the same codecs are asked for in order to have them, though what is stored could be read.
    asked = wish.codecs is not KEPT and [*map(resolve, source.codecs)] != [*map(resolve, seen.codecs)]
    nameless = source.keys.key(_first(source)) == ""  # a chunk that only whoever reads it as one finds
    same = not (asked or nameless or carried.written_out) and reads_alike(source, seen, limits)
    keys = _keys(source, wish.format, stay=same and in_place)
    if keys != seen.keys:
        seen, texts = checked(seen._replace(keys=keys), path, limits)
    if same:
        named = source.keys.key(_first(source)) == keys.key(_first(source))
        how: How = "copy" if not in_place else "documents" if named else "rename"
        if how == "documents" and source == seen:
            how = "keep"
    else:
        how = "rechunk" if source.cells != seen.cells or source.grid != seen.grid else "recode"
    carried.notes.extend(_changes(source, seen))
    return _step(Step(path, how, source, seen, texts), carried, wish)


def _step(step: Step, carried: Carried, wish: Wish) -> tuple[Step, list[Refusal]]:
    """Return a step with what is said of it, and what is against it."""
    dropped = tuple(loss.reason for loss in carried.losses)
    full = step._replace(notes=tuple(carried.notes), dropped=dropped)
    return full, [] if wish.lossy else [Refusal(step.path, loss.reason, loss.hint) for loss in carried.losses]


def _made(
    source: ArrayMeta, base: ArrayMeta, cut: _Cut, wish: Wish, limits: Limits
) -> tuple[ArrayMeta, dict[str, bytes]]:
    """Return the array with the first chain of codecs that its format takes, as its documents say it."""
    foreign = source.format != wish.format
    error: OmnizarrError | None = None
    for codecs in _chains(source, base, cut, wish, limits):
        wanted = base._replace(grid=cut.grid, codecs=codecs, keys=_keys(source, wish.format, stay=True))
        try:
            seen, texts = checked(wanted, "", limits)
        except OmnizarrError as found:
            error = found
            continue
        if foreign and wish.codecs is KEPT and not is_portable(codecs, wish.format):
            continue
        lost = difference(wanted, seen)
        if not lost:
            return seen, texts
        error = UnsupportedError(f"{wish.format} cannot say the {lost} of the array")
    if error is None:
        error = UnsupportedError(f"{wish.format} has no codecs that could store the array")
    raise error


def _chains(source: ArrayMeta, base: ArrayMeta, cut: _Cut, wish: Wish, limits: Limits) -> Iterator[tuple[Codec, ...]]:
    stored = base.dtype.byteorder or None
    if wish.codecs is not KEPT:
        yield build_chain(wish.codecs, Layout(base.dtype, cut.chunks, cut.shards, endian=stored), limits)
        return
    chain = plain_chain(source)
    if source.format != ZARR3.name and wish.format == ZARR3.name:
        chain = tuple(in_range(codec) for codec in chain)
    if not cut.changed and cut.shards is not None and wish.format == ZARR3.name:
        yield source.codecs
    elif not cut.changed:
        yield chain
    yield from candidates(chain, Layout(base.dtype, cut.chunks, cut.shards, endian=stored), wish.format, limits)


def _cut(source: ArrayMeta, wish: Wish) -> _Cut:
    """Settle chunks and shards.

    Raises:
        ShapeError: They do not fit the array, or each other.
        UnsupportedError: The format has no shards, or no chunks of different lengths.
    """
    shards = None if wish.shards is None else _lengths(wish.shards, source, "shards")
    chunks = None if wish.chunks is None else _lengths(wish.chunks, source, "chunks")
    has_shards = wish.format == ZARR3.name
    if shards not in (None, False) and not has_shards:
        raise UnsupportedError(f"{wish.format} has no shards", hint="Leave out shards=, or convert to zarr3.")
    unsharded = source.is_sharded and not has_shards
    if chunks is None and shards is None and not unsharded and source.grid.stored is None:
        shape = sharding_of(source.codecs)
        inner = source.cells.longest if shape is not None else source.grid.longest
        _check_even(source.grid, wish.format)
        return _Cut(source.grid, inner, source.grid.longest if shape is not None else None, changed=False)
    if shards is None and source.is_sharded and has_shards:
        shards = source.shards
    if chunks is None:
        chunks = source.chunks
    try:
        grid, found, whole = grid_layout(source.shape, source.dtype.itemsize, chunks, shards)
    except ShapeError as error:
        if wish.shards is None and shards is not None:
            error.hint = "Give shards that are made of whole chunks, too: shards=, or --shards."
        raise
    _check_even(grid, wish.format)
    return _Cut(grid, found, whole, changed=True)


def _check_even(grid: Grid, form: str) -> None:
    if form == ZARR3.name or not isinstance(grid, RectilinearGrid):
        return
    try:
        even_chunks(grid, form)
    except MetadataError as error:
        error.hint = _UNEVEN
        raise


def _lengths(wanted: Wanted, source: ArrayMeta, what: str) -> Extents | Literal["auto"] | bool | None:
    """Return lengths for this array: those by name for the dimensions that it has, and others as they are."""
    if not isinstance(wanted, Mapping):
        return None if _is_for_others(wanted, source.ndim) else wanted
    now: tuple[Lengths, ...] = source.chunks if what == "chunks" else source.shards or source.chunks
    names = source.dims or (None,) * source.ndim
    if not any(name in wanted for name in names):
        return None
    return [wanted.get(name, size) if name is not None else size for name, size in zip(names, now, strict=True)]


def _is_for_others(wanted: object, ndim: int) -> bool:
    """Whether lengths are given one by one, and for another number of dimensions."""
    return isinstance(wanted, (list, tuple)) and len(wanted) != ndim


def _keys(source: ArrayMeta, form: str, *, stay: bool) -> Keys:
    """Choose the names of chunks: those that they have, if they shall stay and the format has them."""
    if source.format == form:
        return source.keys
    keys = source.keys
    if form == ZARR3.name:
        return keys if stay and keys in _STANDARD else default_keys("/")
    if form == ZARR2.name:
        plain = keys.separator in (".", "/") and not keys.reversed
        return v2_keys(keys.separator if plain else ".")
    return dialect(form).keys(None)


def _first(meta: ArrayMeta) -> tuple[int, ...]:
    return (0,) * meta.ndim


def collides(source: ArrayMeta, target: ArrayMeta) -> bool:
    """Whether chunks of the two have the same names."""
    return source.keys.key(_first(source)) == target.keys.key(_first(target))


def _changes(source: ArrayMeta, seen: ArrayMeta) -> list[str]:
    """Say in words how what is stored changes."""
    changes: list[str] = []
    if source.cells != seen.cells:
        changes.append(f"chunks {_shape(source.cells)} become {_shape(seen.cells)}")
    if source.is_sharded != seen.is_sharded or (seen.is_sharded and source.grid != seen.grid):
        if not seen.is_sharded:
            changes.append(f"shards {_shape(source.grid)} are taken apart")
        else:
            changes.append(f"shards of {_shape(seen.grid)}")
    old, new = _names(source), _names(seen)
    if old != new:
        changes.append(f"codecs {old} become {new}")
    zero = _first(source)
    if source.keys.key(zero) != seen.keys.key(zero):
        changes.append(f"chunks are named as {seen.keys.key(zero)}")
    return changes


def _names(meta: ArrayMeta) -> str:
    return "+".join(codec.name.removeprefix("numcodecs.") for codec in plain_chain(meta))


def _shape(grid: Grid) -> str:
    return str(grid.longest) if not isinstance(grid, RectilinearGrid) else "of different lengths"
