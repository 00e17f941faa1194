"""The chunks of a dataset of HDF5, read from the file's own index by the kernel rather than told by the library."""

from __future__ import annotations

import io
from threading import Lock
from typing import Any, BinaryIO, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from omnizarr.native import hdf5_chunks
from omnizarr.nc.files.hdf5_library import load_h5py, place_of
from omnizarr.refset.model import Numbers

Id: TypeAlias = Any
"""A dataset of h5py's lower layer."""


_UNLIMITED: Final = (1 << 64) - 1


class ChunkIndex(NamedTuple):
    """Where the chunks of a dataset are, by number; those that were never written are not among them."""

    numbers: Numbers
    """The number of each in C order of the grid, rising."""

    offsets: Numbers
    """Where each begins in the file."""

    lengths: Numbers
    """How many bytes each has there."""

    masks: npt.NDArray[np.uint32]
    """Which filters were left out, one bit for each, the lowest for the first.

    All bits are set for chunks at the edge of datasets that HDF5 was told not to filter there.
    """


class _Places:
    """A file of Python as the kernel reads it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._lock = Lock()

    def size(self) -> int:
        with self._lock:
            return self._file.seek(0, io.SEEK_END)

    def read_at(self, offset: int, length: int) -> bytes:
        with self._lock:
            self._file.seek(offset)
            return self._file.read(length)


def chunk_index(file: str | BinaryIO, dataset: Id) -> ChunkIndex | None:
    """Find the chunks of a chunked dataset.

    Args:
        file: The file that the dataset is in, by its path or open for reading.
        dataset: The dataset.

    Returns:
        The chunks; `None` where the index is of a kind that is not known here. What h5py's `chunk_iter` tells is no
        replacement where `is_misread`.

    Raises:
        StoreError: The file cannot be read.
    """
    h5py = load_h5py(file if isinstance(file, str) else "the file")
    chunks = tuple(dataset.get_create_plist().get_chunk())
    base = int(h5py.h5i.get_file_id(dataset).get_create_plist().get_userblock())
    _, address = place_of(h5py, dataset)
    place: object = file if isinstance(file, str) else _Places(file)
    found = hdf5_chunks(place, address, base, tuple(dataset.shape), chunks)
    return None if found is None else ChunkIndex(*found)


def is_misread(dataset: Id) -> bool:
    """Whether `chunk_iter` may tell the wrong places of chunks.

    HDF5 2.0, and others before it, mixes them up in the newer indexes of datasets of which one dimension alone is
    unlimited, and not the first: such an index has that dimension in front, and the listing forgets it.
    """
    most = dataset.get_space().get_simple_extent_dims(True)
    return bool(most.count(_UNLIMITED) == 1 and most[0] != _UNLIMITED)


def chunk_starts(numbers: Numbers, shape: tuple[int, ...], chunks: tuple[int, ...]) -> npt.NDArray[np.uint64]:
    """Return the first element of each chunk along each dimension, one row for each.

    >>> chunk_starts(np.array([2, 3], np.uint64), (10, 30), (5, 10)).tolist()
    [[0, 20], [5, 0]]
    """
    counts = tuple(-(-length // chunk) for length, chunk in zip(shape, chunks, strict=True))
    starts = np.empty((len(numbers), len(shape)), np.uint64)
    rest = numbers
    for axis in range(len(shape) - 1, -1, -1):
        count = np.uint64(counts[axis])
        starts[:, axis] = rest % count * np.uint64(chunks[axis])
        rest = rest // count
    return starts
