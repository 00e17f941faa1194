"""A dataset's nodes as their documents describe them, before anything of netCDF is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from omnizarr.errors import OmnizarrError
from omnizarr.format.v2_netcdf import Writer
from omnizarr.model.array import ArrayMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.nc.zarr.generations import Generation, Mark, find_mark


@dataclass(slots=True)
class Node:
    """A group or an array.

    Attributes:
        name: Its own name; empty for the root.
        path: Its path in the store.
        attributes: What its document of attributes holds.
        extra: Members of the main document that Zarr does not know.
        is_array: What it is.
        meta: Of an array, what it is like; `None` if that cannot be told, and then `error` says why.
        error: Why the array cannot be read.
        shape: Of an array, its shape, even if nothing else can be told.
        dtype: Of an array of Zarr v2, its type as the document spells it.
        codecs: Of an array, filters and compressor as the document spells them.
        document: Where the array was described by a copy: the copy, to be compared with the document before reading.
        dim_names: Of an array, the names of its dimensions, once they have been looked for.
        arrays: Of a group, the arrays in it.
        groups: Of a group, those in it.
    """

    name: str
    path: str
    attributes: dict[str, JSON]
    extra: Mapping[str, JSON] = field(default_factory=dict[str, JSON])
    is_array: bool = False
    meta: ArrayMeta | None = None
    error: OmnizarrError | None = None
    shape: tuple[int, ...] = ()
    dtype: JSON = None
    codecs: list[JSON] = field(default_factory=list)
    document: bytes | None = None
    dim_names: list[str | None] | Literal[False] | None = False
    arrays: list[Node] = field(default_factory=list)
    groups: list[Node] = field(default_factory=list)

    def mark(self, mark: Mark) -> dict[str, JSON] | None:
        """Return a mark of NCZarr, if the node has it."""
        return find_mark(mark, self.attributes, self.extra)


@dataclass(slots=True)
class Hierarchy:
    """A whole dataset: its root, and what is known of who wrote it."""

    root: Node
    form: str
    generation: Generation = ""
    writer: Writer = ""
