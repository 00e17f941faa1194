"""Chunks and shards where the user leaves the choice: by size alone, so that the same array always gets the same.

A chunk of about 1 MiB decoded is large enough that finding and opening it costs little against decoding it, and small
enough to stay in a core's cache and to waste little when only a part is wanted. A store of very many small files is
slow to list, copy and delete, so arrays of more than 10,000 chunks can bundle them in shards of up to 64 MiB, of which
single chunks can still be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import index as as_int
from typing import Any, Literal, SupportsIndex, TypeAlias

from omnizarr.array.uneven import is_uneven, uneven_grid
from omnizarr.errors import ShapeError
from omnizarr.model.grid import Grid, RegularGrid

Extents: TypeAlias = SupportsIndex | Sequence[SupportsIndex | Sequence[SupportsIndex | Sequence[int]] | None] | Grid
"""One length for all dimensions, or one for each; -1 or None in the sequence stands for the whole dimension.

A sequence in the sequence has the length of each chunk of its dimension, or pairs of a length and a count.
"""

CHUNK_BYTES = 1 << 20
"""Most bytes of an automatic chunk, decoded."""

SHARD_BYTES = 64 << 20
"""Most bytes of an automatic shard, decoded."""

SHARD_FROM_CHUNKS = 10_000
"""Arrays of at most this many chunks are not sharded automatically."""

SHARD_CHUNKS = 1 << 14
"""Most chunks in an automatic shard: the index, read for the first of them, then has at most 256 KiB."""

GROWING = 1 << 16
"""The length that an empty dimension is taken for: it is there to be appended to."""


def default_chunks(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Choose a chunk shape of at most 1 MiB.

    A smaller array is one chunk. Of a larger one the longest dimension is halved (rounding up), again and again, until
    the chunk is small enough: so chunks tend towards equal sides, which serves reads along every dimension alike, and
    the last chunk of a dimension is nearly as full as the others. No length is ever 0.

    Args:
        shape: The array's shape.
        itemsize: Bytes of one element; 16 for those of variable length, whose real size nobody knows beforehand.

    >>> default_chunks((1000, 1000, 1000), 4), default_chunks((30, 40), 8), default_chunks((0,), 8)
    ((63, 63, 63), (30, 40), (65536,))
    """
    chunks = [size or GROWING for size in shape]
    most = max(1, CHUNK_BYTES // max(1, itemsize))
    while prod(chunks) > most:
        axis = chunks.index(max(chunks))
        chunks[axis] = -(-chunks[axis] // 2)
    return tuple(chunks)


def default_shards(shape: Sequence[int], chunks: Sequence[int], itemsize: int) -> tuple[int, ...] | None:
    """Choose a shard shape, or none for an array of at most 10,000 chunks.

    From one chunk on, the shortest side of the shard that does not span the array yet is doubled, as long as the shard
    has at most 64 MiB. It is always a whole number of chunks.

    Args:
        shape: The array's shape.
        chunks: The chunk shape.
        itemsize: Bytes of one element.

    >>> default_shards((1000, 1000, 1000), (63, 63, 63), 4)
    >>> default_shards((10000, 10000, 1000), (63, 63, 63), 4)
    (252, 252, 252)
    """
    grid = [-(-size // chunk) for size, chunk in zip(shape, chunks, strict=True)]
    if prod(grid) <= SHARD_FROM_CHUNKS:
        return None
    chunk_bytes = max(1, prod(chunks) * itemsize)
    factors = [1] * len(grid)
    while sides := [(chunks[i] * factors[i], i) for i in range(len(grid)) if factors[i] < grid[i]]:
        axis = min(sides)[1]
        wider = [*factors]
        wider[axis] = min(factors[axis] * 2, grid[axis])
        if prod(wider) * chunk_bytes > SHARD_BYTES or prod(wider) > SHARD_CHUNKS:
            break
        factors = wider
    if prod(factors) == 1:
        return None
    return tuple(chunk * factor for chunk, factor in zip(chunks, factors, strict=True))


def layout(
    shape: Sequence[int],
    itemsize: int,
    chunks: Extents | Literal["auto"] | bool | None = "auto",
    shards: Extents | Literal["auto"] | bool | None = None,
) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Settle the shapes of chunks and shards from what the user said.

    Args:
        shape: The array's shape.
        itemsize: Bytes of one element.
        chunks: "auto", True or None: by size, and so that they divide the shards, where those are given; False: the
            whole array; a length for all dimensions, or a sequence of one for each, in which -1 or None stands for
            the whole dimension.
        shards: None or False: none; "auto" or True: by size; else as for `chunks`, where a whole dimension is rounded
            up to whole chunks.

    Returns:
        The chunk shape, and the shard shape or None.

    Raises:
        ShapeError: A length is not a whole number above 0, there are too many or too few, or the chunks do not divide
            the shards.

    >>> layout((100, 200), 8, (10, -1)), layout((100, 200), 8, 10, (100, 30))
    (((10, 200), None), ((10, 10), (100, 30)))
    """
    chunks, shards = as_lists(chunks), as_lists(shards)
    automatic = chunks is None or chunks is True or chunks == "auto"
    if shards is None or shards is False:
        return (default_chunks(shape, itemsize) if automatic else _extents("chunks", chunks, shape)), None
    if shards is True or shards == "auto":
        found = default_chunks(shape, itemsize) if automatic else _extents("chunks", chunks, shape)
        return found, default_shards(shape, found, itemsize)
    if automatic:
        whole = _extents("shards", shards, shape)
        return _dividing(whole, itemsize), whole
    found = _extents("chunks", chunks, shape)
    wanted = _extents("shards", shards, shape, multiples=found)
    if any(shard % chunk for shard, chunk in zip(wanted, found, strict=True)):
        raise ShapeError(
            f"chunks of {found} do not divide shards of {wanted}", hint="A shard holds a whole number of chunks."
        )
    return found, wanted


def grid_layout(
    shape: Sequence[int],
    itemsize: int,
    chunks: Extents | Literal["auto"] | bool | None = "auto",
    shards: Extents | Literal["auto"] | bool | None = None,
) -> tuple[Grid, tuple[int, ...], tuple[int, ...] | None]:
    """Settle the grid of an array from what the user said; as `layout`, and chunks may have lengths of their own.

    Returns:
        The grid of what is stored under one key; the shape of the largest chunk; that of the largest shard or None.

    Raises:
        ShapeError: As for `layout`; or chunks in shards have different lengths.

    >>> grid_layout((60, 10), 8, [[10, 20, 30], 5])[1:]
    ((30, 5), None)
    """
    chunks, shards = as_lists(chunks), as_lists(shards)
    if is_uneven(chunks):
        if shards is not None and shards is not False:
            raise ShapeError("chunks in shards all have one shape", hint="Only shards may have lengths of their own.")
        grid = uneven_grid("chunks", chunks, shape)
        return grid, grid.longest, None
    if not is_uneven(shards):
        found, wanted = layout(shape, itemsize, chunks, shards)
        return RegularGrid(wanted or found), found, wanted
    grid = uneven_grid("shards", shards, shape)
    common = grid.common(shape)
    automatic = chunks is None or chunks is True or chunks == "auto"
    inner = _dividing(common, itemsize) if automatic else _extents("chunks", chunks, common)
    if any(shard % chunk for shard, chunk in zip(common, inner, strict=True)):
        raise ShapeError(
            f"chunks of {inner} do not divide every shard: all are multiples of {common}",
            hint="A shard holds a whole number of chunks.",
        )
    return grid, inner, grid.longest


def as_lists(given: object) -> Any:  # noqa: ANN401 - whatever was given
    """Return the lengths in an array, of NumPy or another, as lists: it cannot be compared with a word."""
    tolist = getattr(given, "tolist", None)
    return given if tolist is None else tolist()


def _extents(name: str, given: object, shape: Sequence[int], multiples: Sequence[int] | None = None) -> tuple[int, ...]:
    """Read lengths as users give them; a whole dimension is rounded up to a multiple."""
    steps = multiples or (1,) * len(shape)
    whole = [max(1, -(-size // step)) * step for size, step in zip(shape, steps, strict=True)]
    if given is False:
        return tuple(whole)
    if isinstance(given, Sequence) and not isinstance(given, (str, bytes)):
        items: list[object] = list(given)
    else:
        items = [given] * len(shape)
        _length(name, given)  # Also where there is no dimension to apply it to.
    if len(items) != len(shape):
        raise ShapeError(f"{name} has {len(items)} lengths for an array of {len(shape)} dimensions")
    return tuple(_length(name, item) or size for item, size in zip(items, whole, strict=True))


def _length(name: str, given: object) -> int:
    """Read one length; 0 stands for the whole dimension."""
    if given is None:
        return 0
    try:
        length = as_int(given)  # type: ignore[arg-type]  # what is no number is what the except is for
    except TypeError:
        length = 0
    if length == -1:
        return 0
    if length < 1 or isinstance(given, bool):
        raise ShapeError(
            f"{name} holds {given!r}, which is not a length",
            hint="Lengths are whole numbers above 0; -1 or None in a sequence stands for the whole dimension.",
        )
    return length


def _dividing(shards: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Choose chunks of about 1 MiB that divide a shard: its longest dimension is split by its smallest factor.

    Where that is a large prime the dimension stays whole, since very small chunks are worse than large ones.
    """
    chunks = list(shards)
    most = max(1, CHUNK_BYTES // max(1, itemsize))
    whole: set[int] = set()
    while prod(chunks) > most and len(whole) < len(chunks):
        axis = max((i for i in range(len(chunks)) if i not in whole), key=chunks.__getitem__)
        factor = _smallest_factor(chunks[axis])
        if factor > 1 and prod(chunks) // factor * 16 >= most:
            chunks[axis] //= factor
        else:
            whole.add(axis)
    return tuple(chunks)


def _smallest_factor(number: int) -> int:
    factor = 2
    while factor * factor <= number:
        if number % factor == 0:
            return factor
        factor += 1
    return number
