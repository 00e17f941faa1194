"""Where the chunks of a dataset are, as columns: by the kernel if it knows the index, else by HDF5."""

from __future__ import annotations

from math import prod
from typing import Any, BinaryIO

import numpy as np

from omnizarr.errors import CorruptError
from omnizarr.refs.scanners.hdf5_index import ChunkIndex, Id, chunk_index
from omnizarr.refset.model import Numbers


def grid_counts(shape: tuple[int, ...], chunks: tuple[int, ...]) -> tuple[int, ...]:
    """Return how many chunks there are along each dimension.

    >>> grid_counts((10, 0), (4, 3))
    (3, 0)
    """
    return tuple(-(-length // chunk) for length, chunk in zip(shape, chunks, strict=True))


def chunk_numbers(starts: Numbers, chunks: tuple[int, ...], counts: tuple[int, ...]) -> Numbers:
    """Return the numbers of chunks in C order of the grid.

    >>> chunk_numbers(np.array([[0, 20], [5, 0]], np.uint64), (5, 10), (2, 3))
    array([2, 3], dtype=uint64)
    """
    numbers = np.zeros(len(starts), np.uint64)
    for axis, (length, count) in enumerate(zip(chunks, counts, strict=True)):
        numbers = numbers * np.uint64(count) + starts[:, axis] // np.uint64(length)
    return numbers


def chunk_rows(dataset: Id, file: str | BinaryIO) -> ChunkIndex:
    """Return where the chunks of a dataset are.

    Args:
        dataset: The dataset.
        file: The path of its file, or the file itself, open.

    Raises:
        CorruptError: If the index has a chunk twice, or outside of the shape.
    """
    chunks = tuple(int(length) for length in dataset.get_create_plist().get_chunk())
    return chunk_index(file, dataset) or _listed(dataset, chunks)


def _listed(dataset: Id, chunks: tuple[int, ...]) -> ChunkIndex:
    """Let HDF5 list the index."""
    found: list[Any] = []
    # The method of the list itself is the fastest callback that there is: it gives None, which means "go on".
    dataset.chunk_iter(found.append)
    shape = dataset.shape
    if not found:
        nothing = np.zeros(0, np.uint64)
        return ChunkIndex(nothing, nothing, nothing, np.zeros(0, np.uint32))
    starts, masks, offsets, lengths = zip(*found, strict=True)
    places = np.array(starts, np.uint64).reshape(len(found), len(shape))
    if (places >= np.array(shape, np.uint64)).any():
        raise CorruptError(f"its index has chunks outside of its shape {shape}")
    numbers = chunk_numbers(places, chunks, grid_counts(shape, chunks))
    rows = ChunkIndex(numbers, np.array(offsets, np.uint64), np.array(lengths, np.uint64), np.array(masks, np.uint32))
    if not (numbers[1:] > numbers[:-1]).all():
        order = np.argsort(numbers, kind="stable")
        rows = ChunkIndex(rows.numbers[order], rows.offsets[order], rows.lengths[order], rows.masks[order])
        if (rows.numbers[1:] == rows.numbers[:-1]).any():
            raise CorruptError("its index has a chunk twice")
    return rows


def is_complete(rows: ChunkIndex, counts: tuple[int, ...]) -> bool:
    """Whether there is a row for every chunk of a grid."""
    return len(rows.numbers) == prod(counts)
