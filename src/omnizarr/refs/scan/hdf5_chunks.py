"""The index of the chunks of a dataset, as columns."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from omnizarr.refset.model import Numbers

Id: TypeAlias = Any
"""A dataset of h5py's lower layer."""


class ChunkRows(NamedTuple):
    """Where the chunks of a dataset are; those that were never written are not among them."""

    starts: Numbers
    """One row for each chunk: its first element along each dimension."""

    offsets: Numbers
    """Where each begins in the file."""

    lengths: Numbers
    """How many bytes each has there."""

    masks: npt.NDArray[np.uint32]
    """Which filters were left out, one bit for each, the lowest for the first."""


def chunk_rows(dataset: Id) -> ChunkRows:
    """Return where the chunks of a dataset are, in no particular order."""
    found: list[Any] = []
    # The method of the list itself is the fastest callback that there is: it gives None, which means "go on".
    dataset.chunk_iter(found.append)
    ndim = len(dataset.shape)
    if not found:
        nothing = np.zeros(0, np.uint64)
        return ChunkRows(nothing.reshape(0, ndim), nothing, nothing, np.zeros(0, np.uint32))
    starts, masks, offsets, lengths = zip(*found, strict=True)
    return ChunkRows(
        np.array(starts, np.uint64).reshape(len(found), ndim),
        np.array(offsets, np.uint64),
        np.array(lengths, np.uint64),
        np.array(masks, np.uint32),
    )


def chunk_numbers(starts: Numbers, chunks: tuple[int, ...], counts: tuple[int, ...]) -> Numbers:
    """Return the numbers of chunks in C order of the grid.

    >>> chunk_numbers(np.array([[0, 20], [5, 0]], np.uint64), (5, 10), (2, 3))
    array([2, 3], dtype=uint64)
    """
    numbers = np.zeros(len(starts), np.uint64)
    for axis, (length, count) in enumerate(zip(chunks, counts, strict=True)):
        numbers = numbers * np.uint64(count) + starts[:, axis] // np.uint64(length)
    return numbers
