"""From the pieces of TIFF pages to the chunks of an array."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from omnizarr.errors import CorruptError
from omnizarr.model.grid import RectilinearGrid
from omnizarr.refs.scan.splitting import divided
from omnizarr.refs.scan.tiff_codecs import Encoding, encoding
from omnizarr.refs.scan.tiff_ends import short_strips
from omnizarr.refs.scan.tiff_page import Layout, Offsets, Page
from omnizarr.refset.model import INLINE, MISSING, Chunks

_MOST_INLINE: Final = 1 << 20
"""Short last strips are filled up and taken into the set if they make up no more bytes than this, all pages together."""


class Pieces(NamedTuple):
    """An array of pages, as references have it."""

    shape: tuple[int, ...]
    chunks: tuple[int, ...] | RectilinearGrid
    rows: Chunks
    encoding: Encoding


def pieces(
    pages: list[Page], lead: tuple[int, ...], order: str, read: Callable[[int, int], bytes], where: str, *, block: bool = False
) -> Pieces:
    """Return the chunks of pages that agree.

    Args:
        pages: The pages, in the order of the array.
        lead: The lengths of the dimensions that pages are arranged in.
        order: The byte order of the file.
        read: Gives bytes of the file: an offset, and how many.
        where: Words for the image, for messages.
        block: Whether only the first page tells where it is, and all others follow its data.

    Raises:
        CorruptError: If pieces are too short.
        UnsupportedError: If they cannot be decoded.
    """
    layout = pages[0].layout
    offsets = np.stack([page.offsets for page in pages])
    sizes = np.stack([page.sizes for page in pages])
    if layout.compression == 1:
        sizes = _plain(layout, offsets, sizes, where)
        merged = None if layout.tile else _merged(layout, offsets, sizes, prod(lead) if block else 0)
        if merged is not None:
            rows, starts, length = merged
            chunk = _shape(layout, (1,) * len(lead), rows)
            counts = _counts(layout, lead, layout.length // rows)
            found = np.full(starts.shape, length, np.uint64)
            return Pieces(_whole(layout, lead), chunk, _rows(counts, starts, found), encoding(layout, order, chunk, where))
    if block:
        raise CorruptError(f"{where} is said to hold {prod(lead)} pages in one piece, which it does not")
    ones = (1,) * len(lead)
    chunk = _shape(layout, ones, layout.rows)
    rows = _rows(_counts(layout, lead, layout.counts[1]), offsets, sizes)
    made = Pieces(_whole(layout, lead), chunk, rows, encoding(layout, order, chunk, where))
    left = layout.length % layout.rows
    return made if layout.tile or not left else _with_ends(made, layout, left, read, order, where)


def _with_ends(
    made: Pieces, layout: Layout, left: int, read: Callable[[int, int], bytes], order: str, where: str
) -> Pieces:
    """Make room for last strips that are shorter than the others."""
    last = layout.counts[1] - 1
    ends = np.flatnonzero(np.arange(len(made.rows)) // _after(layout) % layout.counts[1] == last)
    ends = ends[made.rows.urls[ends] != MISSING]
    chunk = made.chunks
    assert isinstance(chunk, tuple)  # noqa: S101 - strips are regular up to here
    itemsize = made.encoding.dtype.itemsize
    if made.encoding.rewritable and len(ends) * prod(chunk) * itemsize <= _MOST_INLINE:
        axis = chunk.index(layout.rows) if layout.planar else len(made.shape) - (2 if layout.together == 1 else 3)
        filled = short_strips(made.encoding, chunk, (axis, left), [
            read(int(made.rows.offsets[end]), int(made.rows.lengths[end])) for end in ends.tolist()
        ])
        return made._replace(rows=_inlined(made.rows, ends, filled))
    edges: list[Any] = list(chunk)
    edges[-2 if layout.together == 1 else -3] = ((layout.rows, last), (left, 1)) if last else ((left, 1),)
    return made._replace(chunks=RectilinearGrid(tuple(edges)), encoding=encoding(layout, order, None, where))


def _after(layout: Layout) -> int:
    """Return how many chunks there are behind the dimension of strips: one, for each strip has whole rows."""
    return layout.counts[2]


def _inlined(rows: Chunks, ends: Any, filled: list[bytes]) -> Chunks:  # noqa: ANN401 - an array of numbers
    sizes = np.array([len(one) for one in filled], np.uint64)
    urls, offsets, lengths = rows.urls.copy(), rows.offsets.copy(), rows.lengths.copy()
    urls[ends] = INLINE
    offsets[ends] = np.cumsum(sizes) - sizes
    lengths[ends] = sizes
    return Chunks(rows.counts, urls, offsets, lengths, None, b"".join(filled))


def _plain(layout: Layout, offsets: Offsets, sizes: Offsets, where: str) -> Offsets:
    """Return how many bytes of each piece that is not compressed are pixels."""
    planes, down, across = layout.counts
    rows = np.full((planes, down, across), layout.rows, np.uint64)
    if layout.tile is None:
        rows[:, -1] = layout.length - (down - 1) * layout.rows
    wanted = np.broadcast_to((rows * np.uint64(layout.row_bytes)).reshape(-1), sizes.shape)
    if ((sizes < wanted) & (offsets > 0)).any():
        raise CorruptError(f"{where} has pieces of fewer bytes than their pixels need")
    return np.ascontiguousarray(wanted)


def _merged(layout: Layout, offsets: Offsets, sizes: Offsets, pages: int) -> tuple[int, Offsets, int] | None:
    """Cut planes that lie in one piece anew: rows of a chunk, where each starts, and its bytes; `None` if they do not."""
    planes, down, _ = layout.counts
    starts = offsets.reshape(-1, planes, down)
    ends = (offsets + sizes).reshape(-1, planes, down)
    if (starts[..., 1:] != ends[..., :-1]).any() or (starts == 0).any():
        return None
    first = starts[..., 0]
    plane = layout.length * layout.row_bytes
    if pages:
        if (first[0, 1:] != first[0, :-1] + np.uint64(plane)).any():
            return None
        first = first[0, 0] + np.uint64(plane) * np.arange(pages * planes, dtype=np.uint64)
    rows = divided((layout.length,), layout.row_bytes)[0]
    length = rows * layout.row_bytes
    steps = np.uint64(length) * np.arange(layout.length // rows, dtype=np.uint64)
    return rows, first.reshape(-1, 1) + steps, length


def _rows(counts: tuple[int, ...], offsets: Offsets, sizes: Offsets) -> Chunks:
    starts, lengths = offsets.reshape(-1), sizes.reshape(-1)
    there = starts > 0
    return Chunks.ranges(counts, np.where(there, np.uint32(0), np.uint32(MISSING)), starts, lengths)


def _shape(layout: Layout, lead: tuple[int, ...], rows: int) -> tuple[int, ...]:
    if layout.planar:
        return (*lead, 1, rows, layout.columns)
    return (*lead, rows, layout.columns, *((layout.samples,) if layout.samples > 1 else ()))


def _whole(layout: Layout, lead: tuple[int, ...]) -> tuple[int, ...]:
    if layout.planar:
        return (*lead, layout.samples, layout.length, layout.width)
    return (*lead, layout.length, layout.width, *((layout.samples,) if layout.samples > 1 else ()))


def _counts(layout: Layout, lead: tuple[int, ...], down: int) -> tuple[int, ...]:
    if layout.planar:
        return (*lead, layout.samples, down, layout.counts[2])
    return (*lead, down, layout.counts[2], *((1,) if layout.samples > 1 else ()))
