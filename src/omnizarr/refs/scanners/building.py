"""Putting a set together: what every scanner does with the groups and arrays that it finds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Unpack

from omnizarr.hierarchy.create import ArrayOptions, array_meta
from omnizarr.hierarchy.nodes import documents
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.refs.scanners.source import SourceFile
from omnizarr.refset.grids import grid_of
from omnizarr.refset.model import Chunks, References

Dialect = Literal["zarr2", "zarr3"]


class Builder:
    """A set that grows as a scanner walks through a file.

    Args:
        source: The file; it becomes URL number 0 of the set.
        dialect: The format of the documents. Zarr v2 is what every reader of reference sets knows.
    """

    def __init__(self, source: SourceFile, dialect: Dialect = "zarr2") -> None:
        self.dialect: Dialect = dialect
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
        if options.get("dims") == [] and self.dialect == "zarr2":
            # xarray insists on the attribute even where there is nothing to name.
            options["attrs"] = {**(options.get("attrs") or {}), "_ARRAY_DIMENSIONS": []}
        meta = array_meta(options, self.dialect)
        self._add(path, documents(meta))
        self.references.arrays[path] = rows or Chunks.ranges(grid_of(meta).counts, 0, [], [], numbers=[])

    def _add(self, path: str, texts: Mapping[str, bytes]) -> None:
        prefix = path + "/" if path else ""
        self.references.documents.update({prefix + name: text for name, text in texts.items()})
