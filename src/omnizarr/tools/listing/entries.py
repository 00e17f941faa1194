"""What a listing says of a node, without NumPy: a command that only lists shall not wait for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from math import prod
from typing import Literal, NamedTuple, TypeAlias

from omnizarr.model.jsonvalue import JSON

Lengths: TypeAlias = int | tuple[int, ...]


class Layout(NamedTuple):
    """How an array is stored."""

    dtype: str
    itemsize: int | None
    """Bytes of an element; `None` where elements have any length."""

    chunks: tuple[Lengths, ...]
    chunks_text: str
    """The same in a few words where chunks differ: "((10, 3×20, …), 5)"."""

    shards: tuple[Lengths, ...] | None
    shards_text: str | None
    codecs: tuple[str, ...]
    """Names of the codecs in the order of writing; where sharded, of those that encode the inner chunks."""


class Entry(NamedTuple):
    """A node of a listing."""

    path: str
    """Path within the node that was listed; empty for that one itself."""

    kind: Literal["array", "group", "unreadable"]
    format: str = ""
    shape: tuple[int, ...] = ()
    dims: tuple[str | None, ...] | None = None
    layout: Layout | None = None
    """For arrays alone."""

    attributes: Mapping[str, JSON] = {}
    error: str | None = None
    """Why it cannot be read, if so."""

    nbytes_stored: int | None = None
    """Bytes of all stored chunks, where that was asked for."""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def depth(self) -> int:
        """How many levels it lies below the node that was listed."""
        return self.path.count("/") + 1 if self.path else 0

    @property
    def nbytes(self) -> int | None:
        """Bytes of all elements in memory; `None` for groups, and where elements have any length."""
        item = None if self.layout is None else self.layout.itemsize
        return None if item is None else prod(self.shape) * item

    @property
    def shape_text(self) -> str:
        """The shape with the names of dimensions where there are any: "(time: 3, 4)"."""
        return _shape_text(self.shape, self.dims)


@lru_cache(maxsize=1024)  # many arrays of a dataset have the same
def _shape_text(shape: tuple[int, ...], dims: tuple[str | None, ...] | None) -> str:
    if not dims or not any(dims):
        return str(shape)
    parts = (f"{name}: {size}" if name else str(size) for name, size in zip(dims, shape, strict=True))
    return f"({', '.join(parts)})"


def matching(entries: Sequence[Entry], patterns: Sequence[str]) -> list[Entry]:
    """Return the entries that match a pattern, those below them, and those above them; all if there is no pattern."""
    if not patterns:
        return list(entries)
    matches = import_module("omnizarr.tools.patterns").matches  # which most listings have no need of
    chosen = {entry.path for entry in entries if entry.path and matches(entry.path, patterns)}
    above = {path[:at] for path in chosen for at in range(len(path)) if path[at] == "/"} | {""}
    return [entry for entry in entries if entry.path in chosen or entry.path in above]
