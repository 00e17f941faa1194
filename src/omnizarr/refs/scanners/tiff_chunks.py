"""From the pieces of TIFF pages to the chunks of an array."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from omnizarr.errors import CorruptError
from omnizarr.model.grid import Edges, RectilinearGrid
from omnizarr.refs.scanners.splitting import divided
from omnizarr.refs.scanners.tiff_codecs import Encoding, encoding
from omnizarr.refs.scanners.tiff_ends import short_strips
from omnizarr.refs.scanners.tiff_page import Layout, Offsets, Page
from omnizarr.refset.model import INLINE, MISSING, Chunks

_MOST_INLINE: Final = 1 << 20
"""Short last strips are filled up and taken into the set if they have no more bytes than this, all together."""


class Pieces(NamedTuple):
    """An array of pages, as references have it."""

    shape: tuple[int, ...]
    chunks: tuple[int, ...] | RectilinearGrid
    rows: Chunks
    encoding: Encoding


def pieces(
    pages: list[Page],
    lead: tuple[int, ...],
    order: str,
    read: Callable[[int, int], bytes],
    where: str,
    *,
    block: bool = False,
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
            lengths = np.full(starts.shape, length, np.uint64)
            return Pieces(
                _whole(layout, lead), chunk, _rows(counts, starts, lengths), encoding(layout, order, chunk, where)
            )
    if block:
        raise CorruptError(f"{where} is said to hold {prod(lead)} pages in one piece, which it does not")
    ones = (1,) * len(lead)
    chunk = _shape(layout, ones, layout.rows)
    found = _rows(_counts(layout, lead, layout.counts[1]), offsets, sizes)
    made = Pieces(_whole(layout, lead), chunk, found, encoding(layout, order, chunk, where))
    if layout.tile or not layout.length % layout.rows:
        return made
    return _with_ends(made, chunk, layout, read) or _uneven(made, chunk, layout, encoding(layout, order, None, where))


def _with_ends(
    made: Pieces, chunk: tuple[int, ...], layout: Layout, read: Callable[[int, int], bytes]
) -> Pieces | None:
    """Fill up last strips that are shorter than the others; `None` where that would be too much."""
    last = layout.counts[1] - 1
    ends = np.flatnonzero(np.arange(len(made.rows)) // layout.counts[2] % layout.counts[1] == last)
    ends = ends[made.rows.urls[ends] != MISSING]
    if not made.encoding.rewritable or len(ends) * prod(chunk) * made.encoding.dtype.itemsize > _MOST_INLINE:
        return None
    strips = [read(int(made.rows.offsets[end]), int(made.rows.lengths[end])) for end in ends.tolist()]
    end = len(chunk) + _axis(layout), layout.length % layout.rows
    return made._replace(rows=_inlined(made.rows, ends, short_strips(made.encoding, chunk, end, strips)))


def _uneven(made: Pieces, chunk: tuple[int, ...], layout: Layout, other: Encoding) -> Pieces:
    """Let last strips be shorter than the others."""
    edges: list[Edges] = list(chunk)
    full, left = divmod(layout.length, layout.rows)
    edges[_axis(layout)] = ((layout.rows, full), (left, 1))
    return made._replace(chunks=RectilinearGrid(tuple(edges)), encoding=other)


def _axis(layout: Layout) -> int:
    """Return the dimension of rows, counted from the end."""
    return -2 if layout.together == 1 else -3


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
    """Cut planes that lie in one piece anew: rows of a chunk, where each starts, its bytes; `None` if they do not."""
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
