"""Writing reference sets in parquet, as kerchunk and fsspec do; the metadata comes last: a set that opens is whole.

Nothing but pages of a record file tells it from one of fastparquet: those of ours have 16,384 rows, so that one row is
found without decoding all. What the sources were when they were scanned goes into a file that others pass over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from types import TracebackType
from typing import Self

import numpy as np

from omnizarr import native
from omnizarr.errors import ExistsError, MetadataError, ReadOnlyError, UnsupportedError
from omnizarr.refset.grids import grids
from omnizarr.refset.model import INLINE, Chunks, Ids, References, Stamp
from omnizarr.refset.parquet_metadata import NAME, make_metadata
from omnizarr.refset.parquet_place import Place, Where, is_record, place_of

RECORD_SIZE = 100_000
"""How many references a record file has unless the caller says otherwise; as in kerchunk."""

THRESHOLD = 10
"""Paths become categories where each of them is there more often than this, as in kerchunk."""


class ParquetWriter:
    """A set that is written as its references come, in bounded memory.

    Args:
        where: The folder, or an archive, or a store.
        record_size: How many references a record file has.
        categorical_threshold: How often a path must be in a file, on average, to be stored as a category.
        overwrite: Whether to replace a set that is there.

    Raises:
        ExistsError: If something is there.

    >>> from omnizarr.refset.model import Chunks
    >>> store = {}
    >>> with ParquetWriter(store, record_size=10) as writer:
    ...     with writer.array("a") as array:
    ...         array.append(Chunks.ranges((2,), 0, [0, 8], 8), writer.numbers(["x.bin"]))
    ...     document = b'{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<f4","order":"C"}'
    ...     writer.finish({"a/.zarray": document})
    >>> sorted(store)
    ['.zmetadata', 'a/refs.0.parq']
    """

    def __init__(
        self,
        where: Where,
        *,
        record_size: int = RECORD_SIZE,
        categorical_threshold: float = THRESHOLD,
        overwrite: bool = False,
    ) -> None:
        self._place = place_of(where)
        self._record_size = record_size
        self._counts: dict[str, int] = {}
        if self._place.store.read_only:
            raise ReadOnlyError("a set cannot be written here", path=self._place.uri)
        target, prefix = self._place.target()
        self._native = native.ParquetWriter(target, prefix, record_size, categorical_threshold)
        make_room(self._place, overwrite=overwrite)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Do nothing: without `finish`, there is no set."""

    def numbers(self, urls: Sequence[str]) -> Ids:
        """Return the numbers of URLs in this set, to be handed to `ArrayWriter.append`."""
        return self._native.numbers(urls)

    def array(self, path: str) -> ArrayWriter:
        """Begin an array. Several may be written at once."""
        if path in self._counts:
            raise MetadataError("the array is written already", path=path)
        self._counts[path] = 0
        return ArrayWriter(self._native.array(path, 0), path, self._counts)

    def finish(self, documents: Mapping[str, bytes], stamps: Mapping[str, Stamp] | None = None) -> None:
        """Write the metadata: from now on, there is a set.

        Args:
            documents: Every document of the hierarchy.
            stamps: What the sources were when they were scanned, by URL.

        Raises:
            MetadataError: If an array has not as many chunks as its document says, or has no document.
        """
        known = grids(documents)
        for path, count in self._counts.items():
            if path not in known:
                raise MetadataError("there are chunks but no document of an array", path=path)
            if prod(known[path].counts) != count:
                raise MetadataError(
                    f"there are references for {count} chunks where the grid is {known[path].counts}", path=path
                )
        data = make_metadata(documents, self._record_size)
        self._native.stamps({url: (stamp.size, stamp.modified, stamp.etag) for url, stamp in (stamps or {}).items()})
        self._place.store.put(self._place.prefix + NAME, data)


class ArrayWriter:
    """An array that is written chunk after chunk, in C order of its grid."""

    def __init__(self, inner: native.ParquetArray, path: str, counts: dict[str, int]) -> None:
        self._native = inner
        self._path = path
        self._counts = counts

    def append(self, chunks: Chunks, urls: Ids) -> None:
        """Add references of the chunks that follow on those before.

        Args:
            chunks: The references; together, the pieces are those of the whole grid in C order.
            urls: The numbers in the set of the URLs that `chunks` numbers from 0 on; see `ParquetWriter.numbers`.
        """
        self._native.append(
            prod(chunks.counts),
            None if chunks.numbers is None else np.ascontiguousarray(chunks.numbers),
            renumbered(chunks.urls, urls),
            np.ascontiguousarray(chunks.offsets),
            np.ascontiguousarray(chunks.lengths),
            chunks.inline,
        )

    def finish(self) -> None:
        """Write what is left."""
        self._counts[self._path] = self._native.finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()


def renumbered(column: Ids, numbers: Ids) -> Ids:
    """Return a column of URLs whose numbers are those of another table."""
    column = np.ascontiguousarray(column)
    if len(numbers) == 0 or np.array_equal(numbers, np.arange(len(numbers), dtype=np.uint32)):
        return column
    special = column >= INLINE
    if not special.any():
        return numbers[column]
    return np.where(special, column, numbers[np.where(special, 0, column)])


def write_parquet(
    references: References,
    where: Where,
    *,
    record_size: int = RECORD_SIZE,
    categorical_threshold: float = THRESHOLD,
    overwrite: bool = False,
) -> None:
    """Write a set in parquet, as `kerchunk.df.refs_to_dataframe` does.

    Args:
        references: The set.
        where: The folder, or an archive, or a store.
        record_size: How many references a record file has.
        categorical_threshold: How often a path must be in a file, on average, to be stored as a category.
        overwrite: Whether to replace a set that is there.

    Raises:
        ExistsError: If something is there.
        UnsupportedError: If the set has references that are of no array.
    """
    documents = {**references.documents, **_inline(references)}
    writer = ParquetWriter(
        where, record_size=record_size, categorical_threshold=categorical_threshold, overwrite=overwrite
    )
    numbers = writer.numbers(references.urls)
    for path, chunks in references.arrays.items():
        with writer.array(path) as array:
            array.append(chunks, numbers)
    writer.finish(documents, references.stamps)


def _inline(references: References) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for key, value in references.others.items():
        if not isinstance(value, bytes):
            raise UnsupportedError(
                "parquet has no place for a reference that is no chunk of an array",
                key=key,
                hint="Write the set as JSON.",
            )
        found[key] = value
    return found


def make_room(place: Place, *, overwrite: bool) -> None:
    """See to it that there is no set at a place.

    Raises:
        ExistsError: If there is one that may not be replaced, or something else.
    """
    keys = list(place.store.list_prefix(place.prefix))
    if not keys:
        return
    if not overwrite:
        raise ExistsError("something is there already", path=place.uri, hint="Pass overwrite=True to replace a set.")
    name = place.prefix + NAME
    if name not in keys and not all(map(is_record, keys)):
        raise ExistsError("what is there is no reference set, and is not replaced", path=place.uri)
    if name in keys:
        place.metadata()
    # First what makes it a set: from here on there is none until the new one is whole.
    place.store.erase(name)
    for key in keys:
        if is_record(key):
            place.store.erase(key)
