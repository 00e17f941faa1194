"""Smaller chunks of data that are stored as they are: any part of them that lies in one piece can be a chunk itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from omnizarr.errors import NotFoundError, ShapeError, UnsupportedError
from omnizarr.hierarchy.nodes import documents
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import canonical
from omnizarr.model.grid import RegularGrid
from omnizarr.refs.combining.blocks import check_numbers, window
from omnizarr.refs.combining.inputs import Reader
from omnizarr.refs.taking import AnySet, references_of
from omnizarr.refset.model import MISSING, WHOLE, Chunks, References


def subchunk(references: AnySet, path: str, factor: int | Sequence[int]) -> References:
    """Cut the chunks of an array that is not compressed into smaller ones.

    Args:
        references: The set, which stays as it is, or its place.
        path: The array.
        factor: Into how many parts chunks are cut along the first dimension; or along each of the first dimensions,
            of which all but the last must then be cut to a length of one, since a chunk lies in one piece.

    Raises:
        NotFoundError: If there is no such array.
        UnsupportedError: If it is compressed, or its chunks differ.
        ShapeError: If the factor does not divide the length of chunks, or parts would not lie in one piece.
    """
    references = references_of(references)
    one = Reader().read("the set", references)
    path = path.strip("/")
    meta = one.arrays.get(path)
    if meta is None:
        raise NotFoundError("there is no such array in the set", path=path)
    grid = meta.grid
    if len(meta.codecs) != 1 or canonical(meta.codecs[0].name) != "bytes" or meta.dtype.vlen:
        raise UnsupportedError("only chunks that are not compressed can be cut", path=path)
    if not isinstance(grid, RegularGrid):
        raise UnsupportedError("only chunks of one shape can be cut", path=path)
    factors = _checked(meta, path, (factor,) if isinstance(factor, int) else tuple(factor))
    small = tuple(length // part for length, part in zip(grid.chunk_shape, factors, strict=True))
    made = meta._replace(grid=RegularGrid(small))
    chunks = references.arrays.get(path)
    result = replace(references, documents=dict(references.documents), arrays=dict(references.arrays))
    prefix = path + "/" if path else ""
    result.documents.update({prefix + name: text for name, text in documents(made).items()})
    if chunks is not None:
        cut = _cut(chunks, factors, prod(small) * meta.dtype.itemsize, path)
        result.arrays[path] = window(cut, [(0, n) for n in made.grid.counts(made.shape)])
    return result


def _checked(meta: ArrayMeta, path: str, given: tuple[int, ...]) -> tuple[int, ...]:
    lengths = meta.grid.longest
    if not given or len(given) > len(lengths):
        raise ShapeError(f"there are factors for {len(given)} of {len(lengths)} dimensions", path=path)
    factors = given + (1,) * (len(lengths) - len(given))
    for axis, (length, part) in enumerate(zip(lengths, factors, strict=True)):
        if part < 1 or length % part:
            fitting = [n for n in range(2, min(length, 10_000) + 1) if length % n == 0][:12]
            raise ShapeError(
                f"chunks of length {length} cannot be cut into {part} equal parts",
                path=path,
                hint=f"Factors that fit: {', '.join(map(str, fitting)) or 'none'}.",
            )
        if part > 1 and any(before // cut > 1 for before, cut in zip(lengths[:axis], factors[:axis], strict=True)):
            raise ShapeError(
                f"parts along dimension {axis} would not lie in one piece",
                path=path,
                hint="All dimensions before it must be cut to a length of one.",
            )
    return factors


def _cut(chunks: Chunks, factors: tuple[int, ...], size: int, path: str) -> Chunks:
    check_numbers(chunks)
    parts = prod(factors)
    there = chunks.urls != MISSING
    full = np.uint64(parts * size)
    odd = there & (chunks.lengths != full) & (chunks.lengths != np.uint64(WHOLE))
    if bool(odd.any()):
        length = int(chunks.lengths[odd][0])
        raise UnsupportedError(f"a chunk of {length} bytes cannot be cut; whole ones have {int(full)}", path=path)
    numbers = np.arange(len(chunks), dtype=np.uint64) if chunks.numbers is None else chunks.numbers
    inner = np.arange(parts, dtype=np.uint64)
    counts = tuple(n * part for n, part in zip(chunks.counts, factors, strict=True))
    places = np.zeros((len(chunks), parts), np.uint64)
    rest, within, stride = numbers, inner, 1
    for axis in reversed(range(len(counts))):
        n, part = np.uint64(chunks.counts[axis]), np.uint64(factors[axis])
        outer = rest % n * part
        places += (outer[:, None] + (within % part)[None, :]) * np.uint64(stride)
        rest, within, stride = rest // n, within // part, stride * counts[axis]
    flat = places.reshape(-1)
    order = np.argsort(flat, kind="stable")
    urls = np.repeat(chunks.urls, parts)
    offsets = (np.where(there, chunks.offsets, 0)[:, None] + (inner * np.uint64(size))[None, :]).reshape(-1)
    lengths = np.where(urls == MISSING, 0, np.uint64(size)).astype(np.uint64)
    whole = len(flat) == prod(counts)
    return Chunks(
        counts,
        urls[order],
        offsets[order].astype(np.uint64),
        lengths[order],
        None if whole else flat[order],
        chunks.inline,
    )
