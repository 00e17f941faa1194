"""What a set refers to, in figures."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from omnizarr.refs.taking import AnySet, references_of
from omnizarr.refset.grids import array_metas
from omnizarr.refset.model import INLINE, MISSING, WHOLE, Chunks


class ArraySummary(NamedTuple):
    """The references of one array."""

    path: str
    shape: tuple[int, ...]
    dtype: str
    chunks: int
    """How many the grid has."""
    references: int
    """How many of these lie in other files."""
    inline: int
    """How many are in the set itself."""
    missing: int
    """How many are nowhere, and so read as the fill value."""
    bytes: int
    """How many the references cover, as far as they say."""


class Summary(NamedTuple):
    """A set in figures."""

    arrays: list[ArraySummary]
    files: int
    stamped: int
    """Of how many files it is known what they were when they were scanned."""

    @property
    def references(self) -> int:
        """How many chunks lie in other files."""
        return sum(one.references for one in self.arrays)

    @property
    def inline(self) -> int:
        """How many chunks are in the set itself."""
        return sum(one.inline for one in self.arrays)


def summary(references: AnySet) -> Summary:
    """Count what a set refers to.

    Args:
        references: The set, or its place.

    >>> from omnizarr.refset.model import References
    >>> summary(References()).references
    0
    """
    references = references_of(references)
    metas = dict(array_metas(references.documents))
    arrays = [_array(path, metas[path].shape, metas[path].dtype.name, rows) for path, rows in references.arrays.items()]
    # A source of which everything was taken into the set has a stamp, and no reference.
    urls = set(references.urls)
    return Summary(arrays, len(urls), len(urls & references.stamps.keys()))


def _array(path: str, shape: tuple[int, ...], dtype: str, rows: Chunks) -> ArraySummary:
    there = rows.urls < INLINE
    inline, count = int(np.count_nonzero(rows.urls == INLINE)), int(np.count_nonzero(there))
    chunks = prod(rows.counts)
    sized = there & (rows.lengths != WHOLE)
    missing = chunks - len(rows) + int(np.count_nonzero(rows.urls == MISSING))
    return ArraySummary(path, shape, dtype, chunks, count, inline, missing, int(rows.lengths[sized].sum()))
