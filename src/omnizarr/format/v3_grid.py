"""Chunk grids in v3 documents.

- `regular`: https://zarr-specs.readthedocs.io/en/latest/v3/chunk-grids/regular-grid/index.html
- `rectilinear`: https://github.com/zarr-developers/zarr-extensions/tree/main/chunk-grids/rectilinear
- `rectangular`, its older form: https://zarr.dev/zeps/draft/ZEP0003.html
- `zarrs.regular_bounded`: https://chunkgrid.zarrs.dev/regular_bounded
- `omnizarr.padded`: of our own, for arrays made of the chunks of several files. `chunk_shapes` is what it is in
  `rectilinear`; `stored_shapes` has, in the same notation, the lengths that chunks have when they are decoded, which
  may be longer: what is behind the length that counts belongs to nothing. Such arrays are only read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, cast

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.format.check import MAX_SIZE, chunk_shape, integer, writable
from omnizarr.format.document import describe
from omnizarr.format.flow import Flow
from omnizarr.format.v3_codecs import parse_chain
from omnizarr.model.codec import Codec
from omnizarr.model.grid import Edges, Grid, RectilinearGrid, RegularGrid, Run, laid, merged
from omnizarr.model.jsonvalue import JSON

REGULAR: Final = "regular"
RECTILINEAR: Final = "rectilinear"
RECTANGULAR: Final = "rectangular"
BOUNDED: Final = "zarrs.regular_bounded"
PADDED: Final = "omnizarr.padded"

Runs: TypeAlias = tuple[tuple[int, int, int], ...]

_POINTER: Final = "/chunk_grid"
_SETTINGS: Final = {
    REGULAR: {"chunk_shape"},
    BOUNDED: {"chunk_shape"},
    RECTANGULAR: {"chunk_shape"},
    RECTILINEAR: {"kind", "chunk_shapes"},
    PADDED: {"chunk_shapes", "stored_shapes"},
}


def parse_grid(named: Codec, array: tuple[int, ...], key: str) -> Grid:
    """Read the grid of an array.

    Args:
        named: Name and configuration, as they stand in the document.
        array: The array's shape.
        key: The store's key, for messages.

    Raises:
        MetadataError: The grid breaks its specification, or does not fit the shape.
        UnsupportedError: It is of another kind.
    """
    name, given = named.name, named.configuration
    settings = _SETTINGS.get(name)
    if settings is None:
        raise UnsupportedError(f"the chunk grid {name!r} is not supported", pointer=_POINTER, key=key)
    if set(given) != settings:
        words = " and ".join(repr(word) for word in sorted(settings, reverse=True))
        message = f"a {name} grid needs the setting{'s' if len(settings) > 1 else ''} {words} and no other"
        raise MetadataError(message, pointer=f"{_POINTER}/configuration", key=key)
    if name in (REGULAR, BOUNDED):
        lengths = chunk_shape(given["chunk_shape"], array, f"{_POINTER}/configuration/chunk_shape", key)
        return RegularGrid(lengths) if name == REGULAR else RectilinearGrid(lengths, clipped=True)
    if name == RECTANGULAR:
        return _rectilinear(given["chunk_shape"], array, f"{_POINTER}/configuration/chunk_shape", key)
    if name == PADDED:
        return _padded(given, array, key)
    if given["kind"] != "inline":
        message = f"a rectilinear grid of the kind {describe(given['kind'])} is not supported"
        raise UnsupportedError(message, pointer=f"{_POINTER}/configuration/kind", key=key)
    return _rectilinear(given["chunk_shapes"], array, f"{_POINTER}/configuration/chunk_shapes", key)


def parse_codecs(value: JSON, grid: Grid, array: tuple[int, ...], flow: Flow) -> tuple[Codec, ...]:
    """Read the codecs of an array, which must fit every chunk of its grid.

    Args:
        value: The list of codecs in the document.
        grid: The array's grid.
        array: The array's shape.
        flow: The largest chunk.

    Raises:
        MetadataError: They do not fit each other, the type or the chunks.
    """
    key, limits, dtype = flow.key, flow.limits, flow.dtype
    codecs = parse_chain(value, "/codecs", flow)
    common = grid.common(array)
    if common == grid.longest or dtype is None:
        return codecs
    # What fits the largest chunk and one that all are multiples of fits every chunk between them.
    try:
        parse_chain([codec.to_json() for codec in codecs], "/codecs", Flow(common, dtype, key, limits))
    except MetadataError as error:
        error.hint = f"It must fit chunks of every length; all are multiples of {list(common)}."
        raise
    return codecs


def render_grid(grid: Grid) -> JSON:
    """Write a grid; runs of equal lengths are written as such."""
    if isinstance(grid, RegularGrid):
        return {"name": REGULAR, "configuration": {"chunk_shape": writable(grid.chunk_shape)}}
    if not grid.clipped:
        shapes = _render_edges(grid.edges)
        if grid.stored is not None:
            configuration: JSON = {"chunk_shapes": shapes, "stored_shapes": _render_edges(grid.stored)}
            return {"name": PADDED, "configuration": configuration}
        return {"name": RECTILINEAR, "configuration": {"kind": "inline", "chunk_shapes": shapes}}
    lengths = tuple(one for one in grid.edges if isinstance(one, int))
    if len(lengths) != len(grid.edges):
        raise UnsupportedError("Zarr v3 has no grid of chunks of different lengths that end with the array")
    return {"name": BOUNDED, "configuration": {"chunk_shape": writable(lengths)}}


def _render_edges(edges: Sequence[Edges]) -> list[JSON]:
    return [one if isinstance(one, int) else _render_runs(one) for one in edges]


def _render_runs(runs: Sequence[Run]) -> list[JSON]:
    return [length if count == 1 else [length, count] for length, count in runs]


def _rectilinear(value: JSON, array: tuple[int, ...], pointer: str, key: str) -> RectilinearGrid:
    if not isinstance(value, list):
        raise MetadataError(f"a list is needed, not {describe(value)}", pointer=pointer, key=key)
    if len(value) != len(array):
        message = f"there are chunk lengths for {len(value)} of {len(array)} dimensions"
        raise MetadataError(message, pointer=pointer, key=key)
    return RectilinearGrid(
        tuple(
            _edges(one, size, f"{pointer}/{at}", key) for at, (one, size) in enumerate(zip(value, array, strict=True))
        )
    )


def _padded(given: Mapping[str, JSON], array: tuple[int, ...], key: str) -> RectilinearGrid:
    pointer = f"{_POINTER}/configuration/stored_shapes"
    grid = _rectilinear(given["chunk_shapes"], array, f"{_POINTER}/configuration/chunk_shapes", key)
    stored = _rectilinear(given["stored_shapes"], array, pointer, key).edges
    for at, (held, kept) in enumerate(zip(grid.edges, stored, strict=True)):
        if isinstance(held, int) or isinstance(kept, int):
            fits = held == kept
        else:
            fits = sum(count for _, count in held) == sum(count for _, count in kept)
            fits = fits and (held == kept or all(run[2] >= run[0] for run in cast("Runs", laid(held, kept))))
        if not fits:
            message = "there is one length as stored for each chunk, no shorter than the chunk"
            raise MetadataError(message, pointer=f"{pointer}/{at}", key=key)
    return grid if stored == grid.edges else grid._replace(stored=stored)


def _edges(value: JSON, size: int, pointer: str, key: str) -> Edges:
    if not isinstance(value, list):
        return integer(value, pointer, key, 1, MAX_SIZE)
    runs = merged(_run(one, f"{pointer}/{at}", key) for at, one in enumerate(value))
    total = sum(length * count for length, count in runs)
    if total < size:
        message = f"the chunks reach to {total}, but the dimension has the length {size}"
        raise MetadataError(message, pointer=pointer, key=key)
    return runs


def _run(value: JSON, pointer: str, key: str) -> Run:
    if not isinstance(value, list):
        return integer(value, pointer, key, 1, MAX_SIZE), 1
    if len(value) != 2:
        message = f"a length or a pair of length and count is needed, not a list of {len(value)}"
        raise MetadataError(message, pointer=pointer, key=key)
    # The length comes first, the count second.
    return integer(value[0], f"{pointer}/0", key, 1, MAX_SIZE), integer(value[1], f"{pointer}/1", key, 1, MAX_SIZE)
