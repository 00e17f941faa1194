"""Small chunks taken into the set itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from omnizarr.errors import NotFoundError
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import Codec
from omnizarr.model.dtype import DType
from omnizarr.model.fill import Fill
from omnizarr.model.grid import RectilinearGrid, RegularGrid
from omnizarr.model.keys import default_keys
from omnizarr.refs.combining.options import Options
from omnizarr.refs.combining.reading import read_array
from omnizarr.refs.taking import AnySet, taken
from omnizarr.refset.model import INLINE, WHOLE, Chunks, Ids, Numbers, References
from omnizarr.store.cloud.servers import named_servers

_AT_ONCE = 100_000
"""So many chunks are read at a time."""


def inline(
    references: AnySet,
    threshold: int = 500,
    *,
    only: Iterable[str] | None = None,
    base: str = "",
    allow: Sequence[str] | None = None,
) -> References:
    """Take the bytes of small chunks into a set.

    Args:
        references: The set, which stays as it is, or its place.
        threshold: Chunks of fewer bytes are taken.
        only: The arrays to look at; by default all.
        base: What relative URLs of a set in memory are relative to.
        allow: For a set in memory, which places may be read, by default all; for one that is named by its place,
            which ones besides its own folder and public servers.

    Raises:
        NotFoundError: If there is no such array, or a file is not there.
    """
    place = references
    references, allow = taken(references, allow)
    options = Options(base=base, allow=allow, servers=tuple(named_servers(place, allow)))
    paths = list(references.arrays) if only is None else [path.strip("/") for path in only]
    result = replace(references, arrays=dict(references.arrays))
    for path in paths:
        if path not in references.arrays:
            raise NotFoundError("there is no such array in the set", path=path)
        chunks = references.arrays[path]
        small = (chunks.urls < INLINE) & (chunks.lengths < np.uint64(threshold)) & (chunks.lengths != np.uint64(WHOLE))
        if bool(small.any()):
            result.arrays[path] = _inlined(chunks, np.flatnonzero(small), references, options)
    return result


def _inlined(
    chunks: Chunks, rows: np.ndarray[tuple[int], np.dtype[np.int64]], sources: References, options: Options
) -> Chunks:
    urls, offsets = chunks.urls.copy(), chunks.offsets.copy()
    parts = [chunks.inline]
    at = len(chunks.inline)
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        lengths = chunks.lengths[some]
        parts.append(read_ranges(chunks.urls[some], chunks.offsets[some], lengths, sources, options))
        ends = np.cumsum(lengths)
        offsets[some] = np.uint64(at) + ends - lengths
        at += int(ends[-1])
        urls[some] = INLINE
    return replace(chunks, urls=urls, offsets=offsets, inline=b"".join(parts))


def read_ranges(urls: Ids, offsets: Numbers, lengths: Numbers, sources: References, options: Options) -> bytes:
    """Return the bytes of many ranges, one after the other, read in one go.

    They are the chunks of one array of bytes, each as long as it is.
    """
    some = lengths > 0
    sizes = lengths[some]
    if not len(sizes):
        return b""
    total = int(sizes.sum())
    borders = np.flatnonzero(np.diff(sizes)) + 1
    starts = np.concatenate([[0], borders, [len(sizes)]])
    runs = tuple(zip(sizes[starts[:-1]].tolist(), np.diff(starts).tolist(), strict=True))
    dtype = DType.of("u1")
    grid = RectilinearGrid((runs,)) if len(runs) > 1 else RegularGrid((int(sizes[0]),))
    meta = ArrayMeta((total,), dtype, grid, default_keys(), Fill.zero(dtype), (Codec("bytes"),))
    chunks = Chunks((len(sizes),), urls[some], offsets[some], sizes)
    return read_array(meta, chunks, sources, options).tobytes()
