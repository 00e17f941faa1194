"""The values of small arrays of many sets, read in one go: they are put together first, and that is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from omnizarr.array.io import Access
from omnizarr.array.selection import Selection
from omnizarr.errors import OmnizarrError, UnsupportedError
from omnizarr.hierarchy.nodes import documents
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import Codec, canonical, transpose_order
from omnizarr.refs.combining.blocks import Part, UrlTable, placed
from omnizarr.refs.combining.conflicts import decoding, listed
from omnizarr.refs.combining.grids import Cut, count, cuts_of, grid_of_cuts, joined, reach
from omnizarr.refs.combining.inputs import Input
from omnizarr.refs.combining.options import Options
from omnizarr.refs.taking import EVERYTHING
from omnizarr.refs.translating import as_v3
from omnizarr.refset.model import Chunks, References, Stamp
from omnizarr.refset.store import store_of

Values: TypeAlias = npt.NDArray[Any]

_SHAPED = frozenset(
    ("reshape", "zarrs.squeeze", "sharding_indexed", "zfp", "numcodecs.zfpy", "n5_default", "numcodecs.pcodec")
)
"""Codecs that another dimension would change, even if its length is one."""


class Wanted(NamedTuple):
    """An array of one input."""

    input: Input
    path: str

    @property
    def meta(self) -> ArrayMeta:
        """What the array is."""
        return self.input.arrays[self.path]

    @property
    def chunks(self) -> Chunks:
        """Its references."""
        return self.input.chunks(self.path)


def read_joined(wanted: Sequence[Wanted], options: Options) -> list[Values]:
    """Read arrays of at least one dimension, whatever their lengths along the first.

    Raises:
        OmnizarrError: If one cannot be read; it names the files.
    """
    return _read(wanted, options, stack=False)


def read_stacked(wanted: Sequence[Wanted], options: Options) -> list[Values]:
    """Read arrays of any number of dimensions.

    Raises:
        OmnizarrError: If one cannot be read; it names the files.
    """
    return _read(wanted, options, stack=True)


def _read(wanted: Sequence[Wanted], options: Options, *, stack: bool) -> list[Values]:
    kinds: dict[tuple[str, int], tuple[str, ...]] = {}
    groups: dict[tuple[object, ...], list[int]] = {}
    for number, one in enumerate(wanted):
        meta = one.meta
        known = (one.path, id(meta))
        if known not in kinds:
            kinds[known] = (*decoding(meta).values(), repr(cuts_of(meta)[0 if stack else 1 :]))
        groups.setdefault(kinds[known], []).append(number)
    found: dict[int, Values] = {}
    for numbers in groups.values():
        some = [wanted[number] for number in numbers]
        try:
            values = read_array(*_put_together(some, stack=stack), options)
        except OmnizarrError as error:
            error.message = f"{listed([one.input.name for one in some])}: {error.message}"
            error.path = some[0].path
            raise
        at = 0
        for number, one in zip(numbers, some, strict=True):
            end = at + (1 if stack else one.meta.shape[0])
            found[number] = values[at] if stack else values[at:end]
            at = end
    return [found[number] for number in range(len(wanted))]


def _put_together(some: Sequence[Wanted], *, stack: bool) -> tuple[ArrayMeta, Chunks, References]:
    first = some[0].meta
    table = UrlTable()
    stamps: dict[str, Stamp] = {}
    parts: list[Part] = []
    cuts: list[Cut] = []
    at = 0
    for one in some:
        chunks = raised(one.chunks, 1) if stack else one.chunks
        parts.append(Part((at, *(0 for _ in chunks.counts[1:])), chunks, table.add(one.input.references.urls)))
        cuts.append(((1, 1, 1),) if stack else cuts_of(one.meta)[0])
        at += chunks.counts[0]
        stamps.update(one.input.references.stamps)
    outer = joined(cuts)
    rest = cuts_of(first) if stack else cuts_of(first)[1:]
    grid = grid_of_cuts((outer, *rest), (1, *first.grid.longest) if stack else first.grid.longest)
    meta = first._replace(
        shape=(reach(outer), *(first.shape if stack else first.shape[1:])),
        grid=grid,
        codecs=raised_codecs(first.codecs, first.ndim, 1) if stack else first.codecs,
    )
    return meta, placed((count(outer), *map(count, rest)), parts), References(urls=table.urls, stamps=stamps)


def read_array(meta: ArrayMeta, chunks: Chunks, sources: References, options: Options) -> Values:
    """Read a whole array.

    Args:
        meta: What it is.
        chunks: Its references.
        sources: The URLs that these are of.
        options: What may be reached.

    Raises:
        OmnizarrError: If it cannot be read.
    """
    meta = as_v3(meta._replace(attributes={}, dims=None))
    if 0 in meta.shape:
        return np.empty(meta.shape, meta.dtype.numpy)
    made = References(documents(meta), {"": chunks}, sources.urls, sources.stamps)
    allow = EVERYTHING if options.allow is None else options.allow
    store = store_of(
        made, uri="references", base=options.base, allow=allow, limits=options.limits, servers=options.servers
    )
    whole = Selection([(0, 1, size) for size in meta.shape], meta.shape, meta.shape)
    return np.asarray(Access(store, "", meta, limits=options.limits).read(whole))


def raised(chunks: Chunks, more: int) -> Chunks:
    """Put dimensions of one chunk before those of the grid."""
    return replace(chunks, counts=(*(1,) * more, *chunks.counts)) if more else chunks


def raised_codecs(codecs: tuple[Codec, ...], ndim: int, more: int) -> tuple[Codec, ...]:
    """Return the codecs of chunks that have got dimensions of length one before their own.

    Raises:
        UnsupportedError: If a codec stores the chunk's shape, or depends on it.

    >>> raised_codecs((Codec("transpose", {"order": [1, 0]}), Codec("bytes")), 2, 1)[0].configuration
    {'order': [2, 1, 0]}
    """
    if not more:
        return codecs
    found: list[Codec] = []
    for codec in codecs:
        name = canonical(codec.name)
        if name in _SHAPED:
            raise UnsupportedError("chunks cannot get a new dimension", codec=codec.name)
        if name == "transpose":
            order = transpose_order(codec)
            # Where a dimension of length one goes changes nothing; reversed orders stay so, as v2 writes only these.
            turned = tuple(reversed(range(ndim)))
            new = list(reversed(range(ndim + more))) if order == turned else [*range(more), *(n + more for n in order)]
            found.append(codec._replace(configuration={"order": new}))
        else:
            found.append(codec)
    return tuple(found)
