"""What a comparison finds, as values."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

from omnizarr.model.jsonvalue import JSON

Side: TypeAlias = Literal["a", "b"]
Span: TypeAlias = tuple[int, int]
"""Neighbouring indices along one dimension: the first, and the one after the last."""


class Change(NamedTuple):
    """One property of a node that differs."""

    what: str
    """`kind`, `shape`, `dtype`, `dims` or `fill_value`; of encodings also `format`, `chunks`, `codecs` and others."""

    a: Any
    b: Any


class AttributeChange(NamedTuple):
    """One attribute, or one value inside it, that differs."""

    name: str
    """The attribute; of a value inside it the way there, as in `flags.levels[2]`."""

    change: Literal["removed", "added", "changed"]
    """`removed` is only in A, `added` only in B."""

    a: JSON
    b: JSON


class Pair(NamedTuple):
    """An element that differs."""

    at: tuple[int, ...]
    a: Any
    b: Any


class Extreme(NamedTuple):
    """The element at which a difference is largest."""

    difference: Any
    at: tuple[int, ...]
    a: Any
    b: Any


class FieldDifference(NamedTuple):
    """How the values of one field of a structure differ."""

    name: str
    differing: int
    nan_only_a: int
    nan_only_b: int
    max_abs: Extreme | None
    max_rel: Extreme | None


class ValueDifference(NamedTuple):
    """How the values of two arrays differ, and where."""

    compared: tuple[int, ...]
    """The shape of what was compared: of both arrays, or of the part that they have in common."""

    differing: int
    """How many elements differ, as far as the comparison went; 0 where the shapes differ, and no value in common."""

    total: int
    """How many elements were compared."""

    nan_only_a: int = 0
    """Elements that are not a number (or not a time) in A, but are one in B."""

    nan_only_b: int = 0
    max_abs: Extreme | None = None
    """The largest |a - b|; `None` for types without differences, and where only NaNs differ."""

    max_rel: Extreme | None = None
    """The largest |a - b| / |b| where b is not zero and both are finite."""

    first: tuple[Pair, ...] = ()
    """The first elements that differ, in C order."""

    box: tuple[Span, ...] = ()
    """The smallest box that holds all differences, a span for each dimension."""

    spans: tuple[tuple[Span, ...] | None, ...] = ()
    """For each dimension, at which indices something differs; `None` if these are too many spans to list."""

    chunks: tuple[tuple[int, ...], ...] = ()
    """The first chunks of A that hold a difference, by their place in the grid."""

    chunk_count: int | None = None
    """How many chunks of A hold a difference; `None` where the grid is too large to say."""

    chunk_total: int | None = None
    fields: tuple[FieldDifference, ...] = ()
    """Of structures, the fields that differ."""

    dims: tuple[str | None, ...] | None = None
    """The names of the dimensions."""

    not_compared: str = ""
    """Why values could not be compared at all."""


class NodeDifference(NamedTuple):
    """How a node that is in both differs."""

    path: str
    changes: tuple[Change, ...] = ()
    attributes: tuple[AttributeChange, ...] = ()
    values: ValueDifference | None = None


class OneSided(NamedTuple):
    """A node that is only in one of the two, with all that lies below it."""

    path: str
    kind: Literal["array", "group"]
    text: str
    """A few words about it: shape and type."""

    nodes: int
    """How many nodes that is, itself included."""


class Rename(NamedTuple):
    """A guess: what is only in A and what is only in B look the same but for their paths."""

    a: str
    b: str


class Problem(NamedTuple):
    """A node that could not be compared because it cannot be read."""

    path: str
    side: Side
    message: str


class Difference(NamedTuple):
    """All that differs between two locations."""

    a: str
    """Where A is."""

    b: str
    nodes: tuple[NodeDifference, ...] = ()
    only_a: tuple[OneSided, ...] = ()
    only_b: tuple[OneSided, ...] = ()
    renames: tuple[Rename, ...] = ()
    problems: tuple[Problem, ...] = ()
    compared: int = 0
    """How many nodes are in both."""

    nbytes: int = 0
    """How many bytes of values were compared, of each side."""

    stopped: bool = False
    """Whether the comparison ended at the first difference, as it was asked to."""

    @property
    def same(self) -> bool:
        """Whether nothing differs, and everything could be read."""
        return not (self.nodes or self.only_a or self.only_b or self.problems)
