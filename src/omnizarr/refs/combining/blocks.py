"""Columns of many inputs put into the grid of one array: index arithmetic on whole blocks, never chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from omnizarr.errors import LimitError, MetadataError
from omnizarr.refset.model import INLINE, MISSING, WHOLE, Chunks, Ids, Numbers


class UrlTable:
    """The URLs of the result, each once, and the numbers that the URLs of an input get there."""

    def __init__(self, urls: Iterable[str] = ()) -> None:
        self.urls: list[str] = list(urls)
        self._numbers = {url: number for number, url in enumerate(self.urls)}

    def add(self, urls: Sequence[str]) -> Ids:
        """Return the numbers of some URLs, new ones added.

        >>> table = UrlTable(["a"])
        >>> table.add(["b", "a"]).tolist(), table.urls
        ([1, 0], ['a', 'b'])
        """
        found = np.empty(len(urls), np.uint32)
        for i, url in enumerate(urls):
            number = self._numbers.setdefault(url, len(self.urls))
            if number == len(self.urls):
                self.urls.append(url)
            found[i] = number
        if len(self.urls) >= INLINE:
            raise LimitError("more than four thousand million URLs")
        return found


class Part(NamedTuple):
    """The chunks of one input, and where they go."""

    start: tuple[int, ...]
    """The place of their first chunk in the grid of the result."""

    chunks: Chunks

    table: Ids
    """The numbers of the input's URLs in the result."""


def placed(counts: tuple[int, ...], parts: Sequence[Part]) -> Chunks:
    """Put the chunks of inputs into one grid; what none of them covers is missing.

    Raises:
        MetadataError: If an input has chunks outside its grid, or names a URL that it does not have.

    >>> one = Chunks.ranges((1, 2), 0, [0, 10], 10)
    >>> both = placed((2, 2), [Part((1, 0), one, np.array([7], "u4")), Part((0, 0), one, np.array([3], "u4"))])
    >>> both.urls.tolist(), both.offsets.tolist()
    ([3, 3, 7, 7], [0, 10, 0, 10])
    """
    parts = sorted((part._replace(chunks=dense(part.chunks)) for part in parts), key=lambda part: part.start)
    total = sum(len(part.chunks) for part in parts)
    urls, offsets, lengths = np.empty(total, np.uint32), np.empty(total, np.uint64), np.empty(total, np.uint64)
    inline: list[bytes] = []
    at = held = 0
    for _, chunks, table in parts:
        end = at + len(chunks)
        offsets[at:end], lengths[at:end] = chunks.offsets, chunks.lengths
        embedded = renumbered(chunks.urls, table, urls[at:end])
        if embedded is not None and chunks.inline:
            offsets[at:end][embedded] += np.uint64(held)
            inline.append(chunks.inline)
            held += len(chunks.inline)
        at = end
    rest = b"".join(inline)
    if _follow(counts, parts):
        return Chunks(counts, urls, offsets, lengths, None, rest)
    places = np.concatenate([destinations(counts, part) for part in parts]) if parts else np.empty(0, np.uint64)
    size = prod(counts)
    if size > max(2 * total, 64):
        order = np.argsort(places, kind="stable")
        return Chunks(counts, urls[order], offsets[order], lengths[order], places[order], rest)
    whole = Chunks(
        counts, np.full(size, MISSING, np.uint32), np.zeros(size, np.uint64), np.zeros(size, np.uint64), None, rest
    )
    whole.urls[places], whole.offsets[places], whole.lengths[places] = urls, offsets, lengths
    return whole


def dense(chunks: Chunks) -> Chunks:
    """Leave out the numbers of chunks that are all there."""
    if chunks.numbers is None or len(chunks.numbers) != prod(chunks.counts):
        return chunks
    check_numbers(chunks)
    return replace(chunks, numbers=None)


def renumbered(ids: Ids, table: Ids, out: Ids) -> npt.NDArray[np.bool_] | None:
    """Write the numbers that URLs have in the result; return which rows are embedded, or None for none.

    Raises:
        MetadataError: If a number has no URL.
    """
    special = ids >= INLINE
    some = bool(special.any())
    try:
        # Rows without a URL take any number for the moment.
        np.take(table, np.where(special, 0, ids) if some else ids, out=out) if len(table) else out.fill(MISSING)
    except IndexError:
        raise MetadataError(f"references name the URL number {int(ids[ids < INLINE].max())} of {len(table)}") from None
    if not some:
        if not len(table) and len(ids):
            raise MetadataError("references name URLs, of which there are none")
        return None
    np.copyto(out, ids, where=special)
    return np.equal(ids, INLINE)


def destinations(counts: tuple[int, ...], part: Part) -> Numbers:
    """Return the numbers that the chunks of an input have in the grid of the result.

    Raises:
        MetadataError: If there are chunks outside the input's grid.
    """
    start, chunks, _ = part
    strides = [prod(counts[axis + 1 :]) for axis in range(len(counts))]
    if chunks.numbers is None:
        found = np.zeros((), np.uint64)
        for first, count, stride in zip(start, chunks.counts, strides, strict=True):
            along = (first + np.arange(count, dtype=np.uint64)) * np.uint64(stride)
            found = np.add.outer(found, along)
        return found.reshape(-1)
    check_numbers(chunks)
    places = np.full(len(chunks), sum(a * b for a, b in zip(start, strides, strict=True)), np.uint64)
    rest = chunks.numbers
    for count, stride in zip(reversed(chunks.counts), reversed(strides), strict=True):
        places += rest % np.uint64(count) * np.uint64(stride)
        rest = rest // np.uint64(count)
    return places


def check_numbers(chunks: Chunks) -> None:
    """Refuse rows that stand for no chunk of the grid, or for one twice.

    Raises:
        MetadataError: If there are such rows.
    """
    numbers = chunks.numbers
    if numbers is None or not len(numbers):
        return
    if len(numbers) == 1 and not numbers[0]:
        return
    if int(numbers[-1]) >= prod(chunks.counts) or not bool((numbers[1:] > numbers[:-1]).all()):
        raise MetadataError(f"references outside a grid of {chunks.counts} chunks, or not in its order")


def _follow(counts: tuple[int, ...], parts: Sequence[Part]) -> bool:
    """Whether the inputs follow each other along the first dimension that has several chunks, without gaps."""
    at = 0
    for start, chunks, _ in parts:
        if chunks.numbers is not None or chunks.counts[1:] != counts[1:] or any(start[1:]):
            return False
        if not counts:
            return len(parts) == 1
        if start[0] != at:
            return False
        at += chunks.counts[0]
    return bool(parts) and at == (counts[0] if counts else 0)


def window(chunks: Chunks, box: Sequence[tuple[int, int]]) -> Chunks:
    """Keep the chunks of a box of the grid, from the first to before the end along each dimension.

    >>> window(Chunks.ranges((3, 2), 0, [0, 1, 2, 3, 4, 5], 1), [(1, 3), (0, 1)]).offsets.tolist()
    [2, 4]
    """
    if all((a, b) == (0, n) for (a, b), n in zip(box, chunks.counts, strict=True)):
        return chunks
    counts = tuple(b - a for a, b in box)
    if chunks.numbers is None:
        cut = tuple(slice(a, b) for a, b in box)
        urls = np.ascontiguousarray(chunks.urls.reshape(chunks.counts)[cut]).reshape(-1)
        offsets = np.ascontiguousarray(chunks.offsets.reshape(chunks.counts)[cut]).reshape(-1)
        lengths = np.ascontiguousarray(chunks.lengths.reshape(chunks.counts)[cut]).reshape(-1)
        return Chunks(counts, urls, offsets, lengths, None, chunks.inline)
    check_numbers(chunks)
    places = np.unravel_index(chunks.numbers.astype(np.int64), chunks.counts) if chunks.counts else ()
    keep = np.ones(len(chunks), np.bool_)
    for at, (a, b) in zip(places, box, strict=True):
        keep &= (at >= a) & (at < b)
    moved = tuple(at[keep] - a for at, (a, _) in zip(places, box, strict=True))
    numbers = np.ravel_multi_index(moved, counts).astype(np.uint64)
    return Chunks(counts, chunks.urls[keep], chunks.offsets[keep], chunks.lengths[keep], numbers, chunks.inline)


def shortened(chunks: Chunks, full: int, kept: int) -> Chunks:
    """Cut the chunks at the end of the first dimension, which are stored as they are, to their first bytes.

    Args:
        chunks: The chunks of one input.
        full: The bytes of a stored chunk.
        kept: The bytes to keep.
    """
    last = chunks.counts[0] - 1
    row = prod(chunks.counts[1:])
    numbers = np.arange(len(chunks), dtype=np.uint64) if chunks.numbers is None else chunks.numbers
    cut = (numbers >= np.uint64(last * row)) & (chunks.urls != MISSING)
    cut &= (chunks.lengths == np.uint64(full)) | (chunks.lengths == np.uint64(WHOLE))
    lengths = chunks.lengths.copy()
    lengths[cut] = kept
    return replace(chunks, lengths=lengths)
