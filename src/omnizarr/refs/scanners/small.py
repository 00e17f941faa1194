"""Chunks that are so small that the set itself is the better place for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from omnizarr.refset.model import INLINE, Chunks

MOST_INLINE: Final = 1 << 20
"""Chunks of an array whose small ones have more bytes than this together stay where they are."""

_GAP: Final = 4096
"""Bytes between two chunks that are read along rather than skipped."""


def with_inline(
    rows: Chunks,
    below: int,
    read: Callable[[int, int], bytes],
    *,
    end: int | None = None,
    most_reads: int | None = None,
) -> Chunks:
    """Take chunks of the scanned file of fewer bytes than given into the set, unless they are many.

    Args:
        rows: The references of an array; URL number 0 is the file.
        below: How small.
        read: Gives bytes of the file, by offset and length.
        end: Where the file ends: what it does not have stays a reference, for whoever reads it to complain of.
        most_reads: How many places of the file may be read; if it would be more, all chunks stay where they are.
    """
    small = np.flatnonzero((rows.urls == 0) & (rows.lengths < below) & (rows.lengths > 0))
    if end is not None:
        small = small[rows.offsets[small] + rows.lengths[small] <= np.uint64(end)]
    if not len(small) or int(rows.lengths[small].sum()) + len(rows.inline) > MOST_INLINE:
        return rows
    small = small[np.argsort(rows.offsets[small], kind="stable")]
    starts = rows.offsets[small].astype(np.int64)
    ends = starts + rows.lengths[small].astype(np.int64)
    breaks = np.flatnonzero(starts[1:] > np.maximum.accumulate(ends)[:-1] + _GAP) + 1
    if most_reads is not None and len(breaks) >= most_reads:
        return rows
    parts: list[bytes] = [rows.inline]
    for run in np.split(np.arange(len(small)), breaks):
        first, last = int(starts[run[0]]), int(ends[run].max())
        data = read(first, last - first)
        parts += [data[start - first : end - first] for start, end in zip(starts[run], ends[run], strict=True)]
    urls, offsets = rows.urls.copy(), rows.offsets.copy()
    urls[small] = INLINE
    offsets[small] = len(rows.inline) + np.concatenate([[0], np.cumsum(rows.lengths[small])[:-1]]).astype(np.uint64)
    return Chunks(rows.counts, urls, offsets, rows.lengths, rows.numbers, b"".join(parts))
