"""A reference set as columns: what scanners make, what is combined, what is written, and what a store reads from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from omnizarr.errors import MetadataError

Numbers: TypeAlias = npt.NDArray[np.uint64]
Ids: TypeAlias = npt.NDArray[np.uint32]

MISSING: Final = 0xFFFFFFFF
"""In place of a URL's number: there is no such chunk."""

INLINE: Final = 0xFFFFFFFE
"""In place of a URL's number: the bytes are in `Chunks.inline`, offset and length say where."""

WHOLE: Final = 0xFFFFFFFFFFFFFFFF
"""In place of a length: everything that the URL names."""


class Stamp(NamedTuple):
    """What a source was when it was scanned, as far as that is known; whoever reads it later compares."""

    size: int | None = None
    modified: int | None = None
    """Nanoseconds since 1970."""
    etag: str | None = None


@dataclass(slots=True, frozen=True)
class Chunks:
    """The references of the chunks of one array, one row for each chunk.

    Rows are in C order of the grid. All arrays are one-dimensional and of one length.

    >>> rows = Chunks.ranges((2, 2), url=0, offsets=[8, 108, 208, 308], lengths=[100] * 4)
    >>> len(rows), rows.counts
    (4, (2, 2))
    """

    counts: tuple[int, ...]
    """How many chunks there are along each dimension."""

    urls: Ids
    """Numbers into `References.urls`, or `MISSING`, or `INLINE`."""

    offsets: Numbers
    """Where each chunk begins in its URL, or in `inline`."""

    lengths: Numbers
    """How many bytes each has, or `WHOLE`."""

    numbers: Numbers | None = None
    """Which chunk each row is, ascending: its number in C order. None: all of the grid, one row each."""

    inline: bytes = b""
    """The bytes of those chunks that are in the set itself."""

    def __post_init__(self) -> None:
        n = len(self.urls)
        if len(self.offsets) != n or len(self.lengths) != n:
            raise MetadataError(f"columns of references have {n}, {len(self.offsets)} and {len(self.lengths)} rows")
        if n != (prod(self.counts) if self.numbers is None else len(self.numbers)):
            raise MetadataError(f"{n} references for a grid of {self.counts} chunks")

    def __len__(self) -> int:
        return len(self.urls)

    @classmethod
    def ranges(
        cls,
        counts: tuple[int, ...],
        url: npt.ArrayLike,
        offsets: npt.ArrayLike,
        lengths: npt.ArrayLike,
        *,
        numbers: npt.ArrayLike | None = None,
        inline: bytes = b"",
    ) -> Chunks:
        """Make the columns out of whatever NumPy takes for them; a single URL stands for all rows."""
        starts = np.ascontiguousarray(offsets, np.uint64)
        return cls(
            counts,
            np.ascontiguousarray(np.broadcast_to(np.asarray(url, np.uint32), starts.shape)),
            starts,
            np.ascontiguousarray(np.broadcast_to(np.asarray(lengths, np.uint64), starts.shape)),
            None if numbers is None else np.ascontiguousarray(numbers, np.uint64),
            inline,
        )

    @classmethod
    def of_bytes(cls, counts: tuple[int, ...], values: Mapping[int, bytes]) -> Chunks:
        """Make the columns of chunks that are all in the set itself, by their numbers."""
        order = sorted(values)
        sizes = np.array([len(values[number]) for number in order], np.uint64)
        starts = np.concatenate([np.zeros(1, np.uint64), np.cumsum(sizes)[:-1]]) if order else sizes
        data = b"".join(values[number] for number in order)
        return cls.ranges(counts, np.uint32(INLINE), starts.astype(np.uint64), sizes, numbers=order, inline=data)


@dataclass(slots=True)
class References:
    """A reference set in memory."""

    documents: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """Metadata documents, and whatever else has its bytes in the set and is no chunk, by key."""

    arrays: dict[str, Chunks] = field(default_factory=dict[str, Chunks])
    """The chunks of each array, by the array's path without a slash at either end."""

    urls: list[str] = field(default_factory=list[str])
    """Where chunks are; each once. Relative ones are relative to where the set is stored."""

    stamps: dict[str, Stamp] = field(default_factory=dict[str, Stamp])
    """What the sources were when they were scanned, by URL."""

    others: dict[str, bytes | tuple[str] | tuple[str, int, int]] = field(
        default_factory=dict[str, "bytes | tuple[str] | tuple[str, int, int]"]
    )
    """References under keys that are no chunks of any array of the set."""
