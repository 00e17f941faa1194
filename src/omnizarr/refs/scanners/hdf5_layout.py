"""Where the elements of a dataset are: in chunks, in one piece, in the header, or in other files."""

from __future__ import annotations

import os
from math import gcd, prod
from typing import Any, Final

import numpy as np

from omnizarr.errors import NotFoundError, UnsupportedError
from omnizarr.limits import DEFAULT_LIMITS
from omnizarr.refs.scanners.hdf5_chunks import chunk_numbers, chunk_rows, grid_counts, is_complete
from omnizarr.refs.scanners.hdf5_elements import Element
from omnizarr.refs.scanners.hdf5_filters import NBIT, Filter, codecs_of, filters_of
from omnizarr.refs.scanners.hdf5_index import chunk_starts
from omnizarr.refs.scanners.hdf5_masks import settle
from omnizarr.refs.scanners.hdf5_site import Site
from omnizarr.refs.scanners.hdf5_values import Laid, embedded
from omnizarr.refs.scanners.hdf5_virtual import virtual
from omnizarr.refset.model import Chunks

_ODD: Final = "its elements are stored with bits that NumPy's types do not have"

_SMALL: Final = 500
"""Bytes of an array that was never written and is made of fill values: more are not taken into the set."""

_UNKNOWN: Final = (1 << 64) - 1
"""The length of an external file that the dataset may use to its end."""


def lay(site: Site, dataset: Any, element: Element, shape: tuple[int, ...]) -> Laid:  # noqa: ANN401 - of h5py's
    """Find the elements of a dataset.

    Args:
        site: The file.
        dataset: The dataset.
        element: Its elements.
        shape: What its shape is to be; along unlimited dimensions that may be more than it has itself.

    Raises:
        UnsupportedError: If references cannot describe them, and they are too many to be taken into the set.
    """
    h5py, plist = site.h5py, dataset.get_create_plist()
    h5d, layout = h5py.h5d, plist.get_layout()
    if layout == h5d.VIRTUAL:
        return virtual(site, dataset, element)
    if element.kind != "plain" or layout == h5d.COMPACT:
        return embedded(h5py, dataset, element)
    if layout == h5d.CHUNKED and _is_whole(element, filters_of(plist)):
        return _chunked(site, dataset, element, shape)
    if not element.exact:
        return embedded(h5py, dataset, element, _ODD)
    return _external(site, dataset, element) if plist.get_external_count() else _contiguous(site, dataset, element)


def _contiguous(site: Site, dataset: Any, element: Element) -> Laid:  # noqa: ANN401 - as above
    offset, size = dataset.get_offset(), prod(dataset.shape) * _itemsize(element)
    if size and offset is not None:
        return pieces(dataset.shape, element, [(site.url_of(dataset), offset, size)])
    if 0 < size <= _SMALL:
        return embedded(site.h5py, dataset, element)
    return Laid(_at_least_one((*dataset.shape, *element.tail)), [], None, complete=not size)


def _chunked(site: Site, dataset: Any, element: Element, shape: tuple[int, ...]) -> Laid:  # noqa: ANN401 - as above
    plist = dataset.get_create_plist()
    chunks = tuple(int(length) for length in plist.get_chunk())
    whole = (*chunks, *element.tail)
    filters = filters_of(plist)
    try:
        codecs_of(filters, element, chunks)
    except UnsupportedError as error:
        return embedded(site.h5py, dataset, element, error.message)
    rows = chunk_rows(dataset, site.bytes_of(dataset))
    numbers, counts = rows.numbers, grid_counts(shape, chunks)
    if shape != dataset.shape:
        numbers = chunk_numbers(chunk_starts(numbers, dataset.shape, chunks), chunks, counts)
    complete = is_complete(rows, counts) and shape == dataset.shape
    try:
        filters, inline = settle(site, dataset, element, filters, rows)
    except UnsupportedError as error:
        return embedded(site.h5py, dataset, element, error.message)
    if not _is_whole(element, filters):
        return embedded(site.h5py, dataset, element, _ODD)
    codecs = codecs_of(filters, element, chunks)
    lengths = rows.lengths
    if not codecs and inline is None and counts[0] == 1 and chunks[0] > shape[0]:
        # Chunks of an unlimited dimension are often far longer than it; of raw ones the first part is a chunk, too.
        whole = (shape[0], *whole[1:])
        lengths = np.full(len(lengths), prod(whole) * element.dtype.itemsize, np.uint64)
    grid = (*counts, *(1 for _ in element.tail))
    made = Chunks.ranges(grid, site.url_of(dataset), rows.offsets, lengths, numbers=None if complete else numbers)
    return Laid(whole, codecs, made if inline is None else inline.into(made), complete)


def pieces(shape: tuple[int, ...], element: Element, segments: list[tuple[int, int, int]]) -> Laid:
    """Cut what lies in one piece, or in several that follow each other, into chunks that each lie in one.

    Args:
        shape: The shape.
        element: The elements.
        segments: The number of a URL, an offset and a length for each.

    Raises:
        UnsupportedError: If the segments meet within what can be no two chunks.
    """
    whole = (*shape, *element.tail)
    ends = np.cumsum([length for _, _, length in segments])
    common = gcd(*(int(end) for end in ends))
    chunk = list(_at_least_one(whole))
    size = prod(chunk) * element.dtype.itemsize
    for axis, length in enumerate(whole):
        if common % size == 0 and size <= DEFAULT_LIMITS.max_chunk_bytes:
            break
        row = size // length
        chunk[axis] = next(
            (n for n in _divisors(length) if common % (n * row) == 0 and n * row <= DEFAULT_LIMITS.max_chunk_bytes), 1
        )
        size = chunk[axis] * row
    if common % size:
        raise UnsupportedError("its elements are in several files, in pieces that are no chunks")
    counts = tuple(-(-length // n) for length, n in zip(whole, chunk, strict=True))
    starts = np.arange(prod(counts), dtype=np.uint64) * np.uint64(size)
    at = np.searchsorted(ends, starts, side="right")
    begins = np.concatenate([[0], ends[:-1]]).astype(np.uint64)
    urls = np.array([url for url, _, _ in segments], np.uint32)[at]
    offsets = np.array([offset for _, offset, _ in segments], np.uint64)[at] + (starts - begins[at])
    return Laid(tuple(chunk), [], Chunks.ranges(counts, urls, offsets, size), complete=True)


def _external(site: Site, dataset: Any, element: Element) -> Laid:  # noqa: ANN401 - as above
    plist, left = dataset.get_create_plist(), prod(dataset.shape) * _itemsize(element)
    if not left:
        return Laid(_at_least_one((*dataset.shape, *element.tail)), [], None, complete=True)
    segments: list[tuple[int, int, int]] = []
    for index in range(plist.get_external_count()):
        name, offset, length = plist.get_external(index)
        path = site.beside(name.decode("utf-8", "surrogateescape"))
        if site.local is not None and not os.path.exists(path):  # noqa: PTH110 - the path is text already
            raise NotFoundError(f"its elements are in the file {path}, which is not there")
        taken = left if int(length) in (0, _UNKNOWN) else min(int(length), left)
        segments.append((site.url(path), int(offset), taken))
        left -= taken
        if not left:
            return pieces(dataset.shape, element, segments)
    raise UnsupportedError(f"the last {left} bytes of its elements are in no file")


def _is_whole(element: Element, filters: list[Filter]) -> bool:
    """Whether elements are what NumPy has, once the filters are undone."""
    return element.exact or (element.packable and bool(filters) and filters[0].number == NBIT)


def _itemsize(element: Element) -> int:
    return element.dtype.itemsize * prod(element.tail)


def _at_least_one(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(max(length, 1) for length in shape)


def _divisors(number: int) -> list[int]:
    """Return the divisors of a number, the largest first.

    >>> _divisors(12)
    [12, 6, 4, 3, 2, 1]
    """
    small = [n for n in range(1, int(number**0.5) + 1) if number % n == 0]
    return sorted({*small, *(number // n for n in small)}, reverse=True)
