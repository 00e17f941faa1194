"""Chunks for which HDF5 left filters out, as it may where a filter could not make them smaller.

A chunk says by a mask which filters were left out, and Zarr has no such thing. Filters that all chunks left out are not
in the document; chunks that differ from most are encoded anew, and are then in the set itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from omnizarr.errors import CodecError, UnsupportedError
from omnizarr.refs.scanners.hdf5_elements import Element
from omnizarr.refs.scanners.hdf5_encoding import encoded
from omnizarr.refs.scanners.hdf5_filters import Filter, codecs_of
from omnizarr.refs.scanners.hdf5_index import ChunkIndex, chunk_starts
from omnizarr.refs.scanners.hdf5_site import Site
from omnizarr.refs.scanners.hdf5_values import read
from omnizarr.refset.model import INLINE, Chunks

_MOST: Final = 16 << 20
"""Most bytes of decoded chunks that are encoded anew."""


class Replaced(NamedTuple):
    """Chunks that are in the set itself, by their rows."""

    rows: np.ndarray[Any, np.dtype[np.int64]]
    data: list[bytes]

    def into(self, chunks: Chunks) -> Chunks:
        """Put them in the place of what their rows say."""
        urls, offsets, lengths = chunks.urls.copy(), chunks.offsets.copy(), chunks.lengths.copy()
        sizes = np.array([len(one) for one in self.data], np.uint64)
        urls[self.rows] = INLINE
        offsets[self.rows] = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.uint64)
        lengths[self.rows] = sizes
        return Chunks(chunks.counts, urls, offsets, lengths, chunks.numbers, b"".join(self.data))


def settle(
    site: Site,
    dataset: Any,  # noqa: ANN401 - of h5py's
    element: Element,
    filters: Sequence[Filter],
    rows: ChunkIndex,
) -> tuple[list[Filter], Replaced | None]:
    """Return the filters that most chunks have, and what replaces those that have others.

    Raises:
        UnsupportedError: If the others are too many.
    """
    bits = (1 << len(filters)) - 1
    masks = _true_masks(site, dataset, element, filters, rows) & np.uint32(bits)
    if not masks.any():
        return list(filters), None
    found, counts = np.unique(masks, return_counts=True)
    most = int(found[counts.argmax()])
    kept = [one for index, one in enumerate(filters) if not most >> index & 1]
    others = np.flatnonzero(masks != most)
    if not len(others):
        return kept, None
    chunks = tuple(int(length) for length in dataset.get_create_plist().get_chunk())
    size = prod(chunks) * element.dtype.itemsize * prod(element.tail) * len(others)
    if size > _MOST:
        raise UnsupportedError(
            f"{len(others)} of its {len(masks)} chunks left out other filters than the rest, "
            f"and their {size} bytes are too many to be encoded anew",
            hint="Write the file again: h5repack.",
        )
    codecs = codecs_of(kept, element, chunks)
    data: list[bytes] = []
    for start in chunk_starts(rows.numbers[others], dataset.shape, chunks).tolist():
        values = _chunk(site, dataset, element, tuple(start), chunks)
        try:
            data.append(encoded(values, codecs))
        except (CodecError, UnsupportedError) as error:
            raise UnsupportedError(
                f"its chunks left out different filters, and cannot be encoded anew: {error.message}"
            ) from error
    return kept, Replaced(others, data)


def _chunk(site: Site, dataset: Any, element: Element, start: tuple[int, ...], chunks: tuple[int, ...]) -> Any:  # noqa: ANN401 - as above
    """Read one chunk, whole, also where it reaches beyond the shape."""
    count = tuple(min(n, length - at) for n, length, at in zip(chunks, dataset.shape, start, strict=True))
    space = dataset.get_space()
    space.select_hyperslab(start, count)
    values = np.zeros((*chunks, *element.tail), element.dtype)
    values[tuple(slice(n) for n in count)] = read(site.h5py, dataset, element, space, count)
    return values


def _true_masks(
    site: Site,
    dataset: Any,  # noqa: ANN401 - as above
    element: Element,
    filters: Sequence[Filter],
    rows: ChunkIndex,
) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """Return the masks, with those of chunks at the edge that HDF5 was told not to filter, for which there are none."""
    masks, shape = rows.masks, dataset.shape
    chunks = tuple(int(length) for length in dataset.get_create_plist().get_chunk())
    size = prod(chunks) * element.dtype.itemsize * prod(element.tail)
    if site.url_of(dataset) or not any(length % n for length, n in zip(shape, chunks, strict=True)):
        return masks
    likely = np.flatnonzero((rows.lengths == size) & (masks == 0))
    if not len(likely) or not codecs_of(filters, element, chunks):
        return masks
    starts = chunk_starts(rows.numbers, shape, chunks)
    edge = (starts + np.array(chunks, np.uint64) > np.array(shape, np.uint64)).any(axis=1) & (masks == 0)
    likely = likely[edge[likely]]
    if not len(likely) or len(likely) < int(edge.sum()):
        return masks
    start = tuple(starts[int(likely[0])].tolist())
    inside = tuple(slice(min(n, length - at)) for n, length, at in zip(chunks, shape, start, strict=True))
    values = _chunk(site, dataset, element, start, chunks)
    stored = np.frombuffer(site.read(int(rows.offsets[int(likely[0])]), size), element.dtype).reshape(values.shape)
    if stored[inside].tobytes() != np.ascontiguousarray(values[inside]).tobytes():
        return masks
    return np.where(edge, np.uint32(0xFFFFFFFF), masks)
