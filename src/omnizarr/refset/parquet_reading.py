"""Reading reference sets in parquet: as a store that reads records when they are needed, or whole, as columns.

The layout is that of fsspec's `LazyReferenceMapper`: `.zmetadata` has all documents, and chunk number n of an array, in
C order of its grid, is row `n % record_size` of `<array>/refs.<n // record_size>.parq`. A row with `raw` is that data;
one with `path` is a part of that URL, or all of it where offset and size are both 0; one with neither is missing, as
are rows and files that are not there. Data in `raw` that begins with `base64:` is decoded, as fsspec does on reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

from omnizarr import native
from omnizarr.errors import LimitError, UnsafeError
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.refset.grids import grids
from omnizarr.refset.guard import defaults, spelled
from omnizarr.refset.model import Chunks, References, Stamp
from omnizarr.refset.parquet_metadata import Metadata
from omnizarr.refset.parquet_place import Place, Where, place_of
from omnizarr.refset.store import ReferenceStore, connecting, new_identity
from omnizarr.store.cloud import servers
from omnizarr.store.cloud.at import Hidden
from omnizarr.store.keys import is_key

_MOST_CHUNKS = 1 << 63


def open_parquet(
    where: Where,
    *,
    allow: Sequence[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    options: Mapping[str, Any] | None = None,
) -> ReferenceStore:
    """Open a reference set in parquet as a store. Records are read when a chunk in them is.

    Args:
        where: The folder of the set, an archive of it, or a store that holds it.
        allow: Places that its references may lead to besides its own folder and what is public; "*" allows all.
        limits: Bounds on what the set may claim.
        options: Credentials and settings for the object stores that references lead to; headers as for `open_set`.

    Raises:
        NotFoundError: If there is no such set.
        MetadataError: If it is no reference set.
    """
    place = place_of(where, read_only=True, limits=limits)
    metadata = place.metadata(limits)
    records = records_of(place, metadata, limits)
    made = records.references()
    for key, data in metadata.documents.items():
        made.add_document(key, data)
    for path, (counts, keys) in grids(metadata.documents, limits).items():
        _check(path, counts)
        records.add_to(made, path, (keys.prefix, keys.separator, keys.suffix, keys.scalar, keys.reversed), counts)
    base, allowed = defaults(place.uri, limits)
    allowed += spelled(allow)
    headers = servers.for_set(servers.named_servers(place.uri, allowed), options)
    inner = made.store(base, allowed, {}, new_identity(), connecting(options), headers)
    again = partial(open_parquet, where, allow=tuple(allow), limits=limits, options=options and Hidden(options))
    return ReferenceStore(inner, place.uri, again, keep=place.store)


def read_parquet(where: Where, *, limits: Limits = DEFAULT_LIMITS) -> References:
    """Read a whole set into memory, as columns.

    Args:
        where: The folder of the set, an archive of it, or a store that holds it.
        limits: Bounds on what the set may claim.

    Raises:
        NotFoundError: If there is no such set.
        MetadataError: If it is no reference set.
        CorruptError: If a record file is damaged, or no such file at all.
    """
    place = place_of(where, read_only=True, limits=limits)
    metadata = place.metadata(limits)
    records = records_of(place, metadata, limits)
    arrays = {
        path: rows_between(records, path, counts) for path, (counts, _) in grids(metadata.documents, limits).items()
    }
    stamps = {url: Stamp(*parts) for url, parts in records.stamps().items()}
    return References(metadata.documents, arrays, records.urls(), stamps)


def rows_between(
    records: native.ParquetSet, path: str, counts: tuple[int, ...], first: int = 0, last: int = _MOST_CHUNKS
) -> Chunks:
    """Read the references of an array from one record up to another."""
    _check(path, counts)
    total = prod(counts)
    numbers, urls, offsets, lengths, inline = records.gather(path, total, first, last)
    return Chunks(counts, urls, offsets, lengths, None if len(numbers) == total else numbers, inline)


def records_of(place: Place, metadata: Metadata, limits: Limits = DEFAULT_LIMITS) -> native.ParquetSet:
    """Return the record files of a set."""
    target, prefix = place.target()
    return native.ParquetSet(target, prefix, metadata.record_size, limits.max_entry_bytes)


def _check(path: str, counts: tuple[int, ...]) -> None:
    if path and not is_key(path):
        raise UnsafeError("a reference set has an array that lies outside it", path=path)
    if prod(counts) >= _MOST_CHUNKS:
        raise LimitError(f"a grid of {counts} chunks", path=path)
