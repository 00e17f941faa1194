"""Appending to a reference set in parquet, in place.

Rows are numbered in C order of the grid, so that an array which grows along its first dimension keeps the numbers of
its chunks: all that changes is its last record file, and new ones follow. Whoever reads with the old metadata never
asks for what is new, so record files may be replaced at any time, and the metadata comes last: a reader sees the old
set or the new one. What an append that was stopped has left is out of sight, and is gone with the next.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import prod

from omnizarr import native
from omnizarr.errors import ConflictError, MetadataError, ReadOnlyError, UnsupportedError
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.refset.grids import array_metas, grid_of
from omnizarr.refset.model import Chunks, References, Stamp
from omnizarr.refset.parquet_metadata import NAME, Metadata, make_metadata
from omnizarr.refset.parquet_place import Place, Where, is_record, place_of
from omnizarr.refset.parquet_reading import records_of, rows_between
from omnizarr.refset.parquet_writing import THRESHOLD, renumbered


def append_parquet(
    where: Where,
    added: References,
    *,
    rewrite: Collection[str] = (),
    categorical_threshold: float = THRESHOLD,
    limits: Limits = DEFAULT_LIMITS,
) -> None:
    """Add references behind those of a set, along the first dimension of its arrays.

    Args:
        where: The folder of the set, or an archive, or a store.
        added: What is new. `documents` has those documents that change, with the new shapes; `arrays` the new chunks
            alone, whose grid lies behind the old one. New arrays are given as they are.
        rewrite: Arrays of `added` that are given whole, in place of what is there. Whoever reads with the old documents
            sees their new chunks, which should therefore be such that they can be read with those, too.
        categorical_threshold: How often a path must be in a file, on average, to be stored as a category.
        limits: Bounds on what the set may claim.

    Raises:
        MetadataError: If an array would not fit to what is there.
        UnsupportedError: If an array grows along another dimension: its rows would have to move.
        ConflictError: If someone else has changed the set meanwhile.
    """
    place = place_of(where, limits=limits)
    if place.store.read_only:
        raise ReadOnlyError("the set cannot be changed here", path=place.uri)
    before = place.store.get(place.prefix + NAME)
    metadata = place.metadata(limits)
    documents = {**metadata.documents, **added.documents}
    old, new = dict(array_metas(metadata.documents, limits)), dict(array_metas(documents, limits))
    _check(old, new, added.arrays, rewrite)
    target, prefix = place.target()
    writer = native.ParquetWriter(target, prefix, metadata.record_size, categorical_threshold)
    records = records_of(place, metadata, limits)
    # What is given whole comes last: what it replaces is missed by whoever has the old documents, if anything is.
    for path, chunks in sorted(added.arrays.items(), key=lambda one: one[0] in rewrite):
        meta = None if path in rewrite else old.get(path)
        _grow(_Target(place, metadata, records, writer), path, meta, (chunks, added.urls))
    if added.stamps:
        parts = records.stamps()
        parts.update({url: _parts(stamp) for url, stamp in added.stamps.items()})
        writer.stamps(parts)
    data = make_metadata(documents, metadata.record_size)
    if place.store.get(place.prefix + NAME) != before:
        raise ConflictError("someone else has changed the set meanwhile", path=place.uri)
    place.store.put(place.prefix + NAME, data)
    for path in rewrite:
        if path in new:
            _erase_from(place, path, -(-prod(grid_of(new[path]).counts) // metadata.record_size))


def _parts(stamp: Stamp) -> tuple[int | None, int | None, str | None]:
    return stamp.size, stamp.modified, stamp.etag


class _Target:
    """What is written to."""

    def __init__(
        self, place: Place, metadata: Metadata, records: native.ParquetSet, writer: native.ParquetWriter
    ) -> None:
        self.place = place
        self.record_size = metadata.record_size
        self.records = records
        self.writer = writer


def _grow(target: _Target, path: str, meta: ArrayMeta | None, piece: tuple[Chunks, list[str]]) -> None:
    counts = (0,) if meta is None else grid_of(meta).counts
    first, tail = divmod(prod(counts), target.record_size)
    if meta is not None:
        _erase_from(target.place, path, first + (tail > 0))
    array = target.writer.array(path, first)
    if tail:
        found = rows_between(target.records, path, counts, first, first + 1)
        start = first * target.record_size
        numbers = found.numbers
        if numbers is not None:
            numbers = numbers - start
        held = Chunks((tail,), found.urls, found.offsets, found.lengths, numbers, found.inline)
        _append(target.writer, array, held, target.records.urls())
    _append(target.writer, array, *piece)
    array.finish()


def _append(writer: native.ParquetWriter, array: native.ParquetArray, chunks: Chunks, urls: list[str]) -> None:
    column = renumbered(chunks.urls, writer.numbers(urls))
    array.append(prod(chunks.counts), chunks.numbers, column, chunks.offsets, chunks.lengths, chunks.inline)


def _erase_from(place: Place, path: str, record: int) -> None:
    """Erase record files that no metadata knows, which an append that was stopped has left."""
    folder = place.prefix + (path + "/" if path else "")
    keys, _ = place.store.list_dir(folder)
    for key in keys:
        if is_record(key) and int(key.rpartition("refs.")[2].removesuffix(".parq")) >= record:
            place.store.erase(key)


def _check(
    old: Mapping[str, ArrayMeta], new: Mapping[str, ArrayMeta], arrays: Mapping[str, Chunks], rewrite: Collection[str]
) -> None:
    for path, chunks in arrays.items():
        if path not in new:
            raise MetadataError("there are chunks but no document of an array", path=path)
        counts = grid_of(new[path]).counts
        if path not in old or path in rewrite:
            if chunks.counts != counts:
                raise MetadataError(f"references for a grid of {chunks.counts} chunks where it has {counts}", path=path)
            continue
        before = grid_of(old[path]).counts
        if len(before) != len(counts) or not counts or before[1:] != counts[1:]:
            raise UnsupportedError(
                f"the grid was {before} and is to be {counts}: only the first dimension grows in place",
                path=path,
                hint="Read the set, combine, and write it anew.",
            )
        if chunks.counts[1:] != counts[1:] or before[0] + chunks.counts[0] != counts[0]:
            raise MetadataError(f"a grid of {before} and {chunks.counts} chunks do not make {counts}", path=path)
        _check_border(path, old[path], new[path])
    for path in old.keys() - arrays.keys():
        if path in new and grid_of(old[path]).counts != grid_of(new[path]).counts:
            raise MetadataError("the grid is to change, but there are no references for it", path=path)


def _check_border(path: str, old: ArrayMeta, new: ArrayMeta) -> None:
    """Check that the new chunks begin where the old array ends."""
    size, edges = old.shape[0], new.grid.edges[0]
    count = grid_of(old).counts[0]
    if isinstance(edges, int):
        end = edges * count
    else:
        end, left = 0, count
        for length, times in edges:
            end += length * min(times, left)
            left -= min(times, left)
    if end != size:
        raise MetadataError(
            f"the last chunk holds values up to {end} along the first dimension, of which the array has {size}",
            path=path,
            hint="An array can be appended to in place where its last chunk is full.",
        )
