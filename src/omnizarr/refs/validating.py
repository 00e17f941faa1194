"""A set against its sources as they are now: whether they are there, unchanged, and hold what the set says."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import prod
from typing import Final, Literal, NamedTuple

import numpy as np

from omnizarr import native
from omnizarr.array.io import Access
from omnizarr.array.selection import Selection
from omnizarr.errors import OmnizarrError
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.grid import start_of
from omnizarr.refs.rewriting import absolute
from omnizarr.refs.taking import AnySet, taken
from omnizarr.refset.grids import array_metas
from omnizarr.refset.model import INLINE, MISSING, WHOLE, Chunks, References, Stamp
from omnizarr.refset.store import ReferenceStore, store_of
from omnizarr.store.cloud.opening import is_cloud
from omnizarr.store.cloud.servers import Given, for_set, named_servers
from omnizarr.store.file import local_path
from omnizarr.store.remote import Remote
from omnizarr.store.uri import scheme

_THREADS: Final = 32
_SET_RULES: Final = ("document", "grid")
_SOURCE_RULES: Final = ("changed", "unreachable", "refused")


class Finding(NamedTuple):
    """Something about a set that its reader should know."""

    rule: str
    severity: Literal["error", "warning", "note"]
    message: str
    path: str | None = None
    """The array, if it is about one."""
    url: str | None = None
    """The source, if it is about one."""
    times: int = 1
    """How many references it stands for."""


def validate(
    references: AnySet,
    *,
    base: str = "",
    allow: Sequence[str] | None = None,
    sample: int = 3,
    sources: bool = True,
    seed: int = 0,
    limits: Limits = DEFAULT_LIMITS,
) -> list[Finding]:
    """Compare a set with its sources.

    Args:
        references: The set, or its place.
        base: What relative URLs of a set in memory are relative to.
        allow: For a set in memory, which places are looked at, by default all; for one that is named by its place,
            which ones besides its own folder and public servers.
        sample: How many chunks of each array are read and decoded: the first, the last, and others by chance.
        sources: Whether to look at the sources at all, and not only at the set.
        seed: What chance begins with.
        limits: Bounds on what documents may claim.

    Returns:
        What was found; nothing if all is well. Missing chunks are a note: they read as the fill value.

    Raises:
        MetadataError: If this is no reference set.
    """
    place = references
    references, allow = taken(references, allow, limits)
    servers = named_servers(place, allow)
    references = absolute(references, base) if base else references
    found = list(_grids(references, limits))
    sizes = np.full(len(references.urls), WHOLE, np.uint64)
    if sources:
        found += _sources(references, sizes, allow, for_set(servers))
    found += _ranges(references, sizes)
    found += _overlaps(references)
    broken = {one.path for one in found if one.severity == "error" and one.rule in _SET_RULES}
    if sources and sample:
        # What is known to be another, or not there, need not be told of its chunks again.
        known = {one.url for one in found if one.rule in _SOURCE_RULES}
        found += _decoded(_without(references, known), broken, (allow, servers), (sample, seed), limits)
    return found


def _grids(references: References, limits: Limits) -> Iterator[Finding]:
    refused: dict[str, OmnizarrError] = {}
    metas = dict(array_metas(references.documents, limits, refused))
    for path, error in refused.items():
        yield Finding("document", "error", error.message, path)
    for path, chunks in references.arrays.items():
        if path in refused:
            continue
        meta = metas.get(path)
        if meta is None:
            yield Finding("grid", "error", "there are chunks but no document of an array", path)
            continue
        counts = meta.grid.counts(meta.shape)
        if counts != chunks.counts:
            yield Finding("grid", "error", f"references for {chunks.counts} chunks where the grid has {counts}", path)
            continue
        if chunks.numbers is not None and len(chunks):
            outside = int(np.count_nonzero(chunks.numbers >= np.uint64(prod(counts))))
            if outside or not bool((chunks.numbers[1:] > chunks.numbers[:-1]).all()):
                yield Finding("grid", "error", "references outside the grid, or not in its order", path, None, outside)
                continue
        nowhere = (chunks.urls < INLINE) & (chunks.urls >= np.uint32(len(references.urls)))
        if bool(nowhere.any()):
            times = int(np.count_nonzero(nowhere))
            yield Finding("grid", "error", "references to a URL that the set does not have", path, None, times)
            continue
        missing = prod(counts) - len(chunks) + int(np.count_nonzero(chunks.urls == MISSING))
        if missing:
            yield Finding("missing", "note", f"{missing} of {prod(counts)} chunks are missing", path, None, missing)
    for path, meta in metas.items():
        count = prod(meta.grid.counts(meta.shape))
        if path not in references.arrays and count:
            yield Finding("missing", "note", f"all {count} chunks are missing", path, None, count)


def _sources(
    references: References,
    sizes: np.ndarray[tuple[int], np.dtype[np.uint64]],
    allow: Sequence[str],
    headers: Given | None,
) -> list[Finding]:
    """Look at each source; its size goes into `sizes`."""
    states = _states(references.urls, allow, headers)
    found: list[Finding] = []
    kinds: Counter[str | None] = Counter()
    for number, (url, state) in enumerate(zip(references.urls, states, strict=True)):
        if isinstance(state, Finding):
            if state.rule == "unchecked":
                kinds[scheme(url)] += 1
            else:
                found.append(state)
            continue
        if state.size is not None:
            sizes[number] = state.size
        known = references.stamps.get(url)
        if known is None:
            continue
        if change := _change(known, state):
            found.append(Finding("changed", "error", f"it has changed since it was scanned: {change}", None, url))
    for kind, count in kinds.items():
        message = f"{count:,} sources of the kind {kind!r} are not looked at"
        found.append(Finding("unchecked", "note", message, None, None, count))
    found += _taken_whole(references, allow, headers)
    unknown = sum(url not in references.stamps for url in references.urls)
    if unknown:
        message = f"of {unknown} of {len(references.urls)} sources nothing is known by which a change would be noticed"
        found.append(Finding("unstamped", "note", message, None, None, unknown))
    return found


def _taken_whole(references: References, allow: Sequence[str], headers: Given | None) -> Iterator[Finding]:
    """Look at sources of which everything is in the set itself: what is read is what was, whatever they are now."""
    named = set(references.urls)
    others = [url for url in references.stamps if url not in named]
    for url, state in zip(others, _states(others, allow, headers), strict=True):
        if isinstance(state, Stamp) and (change := _change(references.stamps[url], state)):
            message = f"it has changed since its chunks were taken into the set, which keeps the old ones: {change}"
            yield Finding("changed", "warning", message, None, url)


def _change(before: Stamp, now: Stamp) -> str:
    """Say in which way a source is another by now; empty if it is not."""
    for what, old, new in zip(Stamp._fields, before, now, strict=True):
        if old is not None and new is not None and old != new:
            texts = [_moment(int(one)) if what == "modified" else str(one) for one in (old, new)]
            return f"{what} was {texts[0]}, is {texts[1]}"
    return ""


def _moment(nanoseconds: int) -> str:
    return f"{np.datetime64(nanoseconds, 'ns')}Z"


def _without(references: References, urls: Collection[str | None]) -> References:
    """Return a set as if it had no chunks in these files."""
    gone = [number for number, url in enumerate(references.urls) if url in urls]
    if not gone:
        return references
    arrays = {
        path: replace(chunks, urls=np.where(np.isin(chunks.urls, gone), np.uint32(MISSING), chunks.urls))
        for path, chunks in references.arrays.items()
    }
    return replace(references, arrays=arrays)


def _states(urls: Sequence[str], allow: Sequence[str], headers: Given | None) -> list[Stamp | Finding]:
    """Look at sources, many at once: on servers it is the waiting that takes the time."""
    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(lambda url: _state(url, allow, headers), urls))


def _state(url: str, allow: Sequence[str], headers: Given | None) -> Stamp | Finding:
    kind = scheme(url)
    try:
        if kind in ("http", "https"):
            return Stamp(*native.RemoteFile(url, list(allow), head=1, headers=headers).stamp())
        if kind is None or kind == "file":
            path = os.path.abspath(local_path(url))  # noqa: PTH100 - text
            if "*" not in allow and not any(f"{path}/".startswith(one.rstrip("/") + "/") for one in allow):
                return Finding("refused", "error", "this place is not allowed", None, url)
            state = os.stat(path)  # noqa: PTH116 - text
            return Stamp(state.st_size, state.st_mtime_ns)
        if is_cloud(url):
            folders = [one.rstrip("/") + "/" for one in allow if not one.endswith("://")]
            named = "*" in allow or any(url.startswith(one) for one in folders)
            return Stamp(*Remote(url, head=1, options=None if named else {"anon": True}).stamp())
    except (OmnizarrError, OSError) as error:
        why = error.message if isinstance(error, OmnizarrError) else f"it cannot be reached: {error.strerror or error}"
        return Finding("unreachable", "error", why, None, url)
    return Finding("unchecked", "note", f"sources of the kind {kind!r} are not looked at", None, url)


def _ranges(references: References, sizes: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> Iterator[Finding]:
    """Find references past the end of their source, or of what is in the set."""
    for path, chunks in references.arrays.items():
        ends = chunks.offsets + chunks.lengths
        inside = (chunks.urls == INLINE) & ((ends > np.uint64(len(chunks.inline))) | (ends < chunks.offsets))
        if bool(inside.any()):
            times = int(np.count_nonzero(inside))
            yield Finding("range", "error", "chunks in the set reach past what is there", path, None, times)
        there = (chunks.urls < np.uint32(len(sizes))) & (chunks.lengths != np.uint64(WHOLE))
        urls = chunks.urls[there]
        past = (ends[there] > sizes[urls]) | (ends[there] < chunks.offsets[there])
        for number in np.unique(urls[past]).tolist()[:100]:
            times = int(np.count_nonzero(urls[past] == number))
            end = int(ends[there][past & (urls == number)].max())
            message = f"references up to byte {end} of a source of {int(sizes[number])} bytes"
            yield Finding("range", "error", message, path, references.urls[number], times)


def _overlaps(references: References) -> Iterator[Finding]:
    """Find references that share some of their bytes, but not all."""
    rows = [
        (chunks.urls[there], chunks.offsets[there], chunks.lengths[there])
        for chunks in references.arrays.values()
        for there in ((chunks.urls < INLINE) & (chunks.lengths != np.uint64(WHOLE)) & (chunks.lengths > 0),)
    ]
    if not rows:
        return
    urls, offsets, lengths = (np.concatenate(columns) for columns in zip(*rows, strict=True))
    order = np.lexsort((lengths, offsets, urls))
    urls, offsets, lengths = urls[order], offsets[order], lengths[order]
    beside = urls[1:] == urls[:-1]
    same = (offsets[1:] == offsets[:-1]) & (lengths[1:] == lengths[:-1])
    over = beside & ~same & (offsets[1:] < offsets[:-1] + lengths[:-1])
    for number in np.unique(urls[1:][over]).tolist()[:100]:
        mine = over & (urls[1:] == number)
        first = int(np.argmax(mine))
        message = f"references overlap, first at byte {int(offsets[first + 1])}"
        url = references.urls[number] if number < len(references.urls) else None
        yield Finding("overlap", "warning", message, None, url, int(np.count_nonzero(mine)))


def _decoded(
    references: References,
    broken: set[str | None],
    reach: tuple[Sequence[str], Sequence[str]],
    chance: tuple[int, int],
    limits: Limits,
) -> Iterator[Finding]:
    """Read some chunks of each array."""
    sample, seed = chance
    arrays = {path: chunks for path, chunks in references.arrays.items() if path not in broken}
    sound = References(references.documents, arrays, references.urls, references.stamps)
    store = store_of(sound, uri="references", allow=reach[0], limits=limits, servers=reach[1])
    rng = np.random.default_rng(seed)
    for path, meta in array_metas(references.documents, limits, {}):
        if path not in arrays or path in broken:
            continue
        try:
            access = Access(store, path, meta, limits=limits)
        except OmnizarrError as error:
            yield Finding("undecodable", "error", error.message, path)
            continue
        for number in _picked(arrays[path], sample, rng):
            finding = _chunk(access, meta, path, number, store)
            if finding is not None:
                yield finding


def _picked(chunks: Chunks, sample: int, rng: np.random.Generator) -> list[int]:
    there = np.flatnonzero(chunks.urls != MISSING)
    if not len(there):
        return []
    rows = {int(there[0]), int(there[-1])} if sample > 1 else {int(there[0])}
    rows |= set(rng.choice(there, min(max(sample - 2, 0), len(there)), replace=False).tolist())
    numbers = chunks.numbers
    return sorted(row if numbers is None else int(numbers[row]) for row in rows)


def _chunk(access: Access, meta: ArrayMeta, path: str, number: int, store: ReferenceStore) -> Finding | None:
    counts = meta.grid.counts(meta.shape)
    index = [int(i) for i in np.unravel_index(number, counts)] if counts else []
    places = list(zip(meta.grid.edges, index, meta.shape, strict=True))
    starts = [start_of(edges, i) for edges, i, _ in places]
    lengths = tuple(
        min(start_of(edges, i + 1), size) - start for (edges, i, size), start in zip(places, starts, strict=True)
    )
    try:
        access.read(Selection([(start, 1, n) for start, n in zip(starts, lengths, strict=True)], lengths, lengths))
    except OmnizarrError as error:
        key = meta.keys.key(tuple(index))
        return Finding("undecodable", "error", f"chunk {key} cannot be read: {error.message}", path)
    del store
    return None
