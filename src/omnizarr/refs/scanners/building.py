"""Putting a set together: what every scanner does with the groups and arrays that it finds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, Unpack

from omnizarr.hierarchy.create import ArrayOptions, array_meta
from omnizarr.hierarchy.nodes import documents
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.refs.scanners.small import with_inline
from omnizarr.refs.scanners.source import SourceFile
from omnizarr.refset.grids import grid_of
from omnizarr.refset.model import Chunks, References

Dialect = Literal["zarr2", "zarr3"]

_FEW: Final = 8
"""Places of a file on a server that small chunks of an array are read from; more would take longer than they save."""


class Builder:
    """A set that grows as a scanner walks through a file.

    Args:
        source: The file; it becomes URL number 0 of the set.
        dialect: The format of the documents. Zarr v2 is what every reader of reference sets knows.
        inline: Chunks of fewer bytes are taken into the set; by default all stay where they are.
    """

    def __init__(self, source: SourceFile, dialect: Dialect = "zarr2", inline: int = 0) -> None:
        self.dialect: Dialect = dialect
        self._source, self._inline = source, inline
        self.references = References(urls=[source.url], stamps={source.url: source.stamp()})

    def group(self, path: str = "", attrs: Mapping[str, JSON] | None = None) -> None:
        """Add a group."""
        self._add(path, documents(GroupMeta(format=self.dialect, attributes=dict(attrs or {}))))

    def array(self, path: str, rows: Chunks | None = None, **options: Unpack[ArrayOptions]) -> None:
        """Add an array.

        Args:
            path: Where in the hierarchy.
            rows: Its references; none: everything is the fill value.
            options: What the array is, in the words of `omnizarr.create_array`: shape, chunks, dtype, codecs …

        Raises:
            MetadataError: If the parts contradict each other, or have no form in the dialect.
        """
        meta = array_meta(options, self.dialect)
        self._add(path, documents(meta))
        if rows is None:
            rows = Chunks.ranges(grid_of(meta).counts, 0, [], [], numbers=[])
        self.references.arrays[path] = self._with_inline(rows) if self._inline else rows

    def _with_inline(self, rows: Chunks) -> Chunks:
        def read(offset: int, length: int) -> bytes:
            with self._source.open() as file:  # what a server gave of it is kept
                file.seek(offset)
                return file.read(length)

        few = None if self._source.remote is None else _FEW
        end = self.references.stamps[self._source.url].size
        return with_inline(rows, self._inline, read, end=end, most_reads=few)

    def _add(self, path: str, texts: Mapping[str, bytes]) -> None:
        prefix = path + "/" if path else ""
        self.references.documents.update({prefix + name: text for name, text in texts.items()})
