"""What is combined: sets with names for messages, and what their documents say, each distinct text read once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, TypeAlias, cast

from omnizarr.errors import MetadataError, NodeTypeError, OmnizarrError
from omnizarr.format.dialects import DIALECTS
from omnizarr.format.parsed import Meta
from omnizarr.hierarchy.nodes import parse
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.refset.model import Chunks, References

Loader: TypeAlias = Callable[[], References]
"""Something that brings a set, whenever it is asked: the same one each time."""

Plain: TypeAlias = "References | str | os.PathLike[str] | Mapping[str, Any]"
"""A set in memory, the place of a file or set, or a mapping as JSON has it."""

Given: TypeAlias = "Plain | tuple[str, Plain | Loader]"
"""A set as callers give it: alone, or with the name that messages call it by."""

Sets: TypeAlias = "Iterable[Given] | Mapping[str, Plain]"
"""Sets as callers give them."""


@dataclass(frozen=True, slots=True)
class Place:
    """A file or a set that is brought when it is asked for."""

    where: str
    given: Mapping[str, Any] | None = None
    """A set that is a mapping, and lies nowhere."""

    def __call__(self) -> References:
        """Read the set, or scan the file."""
        # Who gives sets in memory needs no scanners, and what lies below them may combine sets.
        if self.given is not None:
            found: References = import_module("omnizarr.refs.taking").references_of(self.given)
            return found
        bring: Callable[[str], References] = import_module("omnizarr.refs.combining.bringing").bring
        return bring(self.where)


MEMORY: Final = "memory:references"
"""The place of what lies nowhere."""

_LIST = "Give a list; sorted(glob.glob(…)) makes one of a pattern."
_NAMES = frozenset(name for one in DIALECTS.values() for name in one.documents)


@dataclass(slots=True)
class Input:
    """One of the sets that are combined."""

    name: str
    references: References
    arrays: dict[str, ArrayMeta]
    groups: dict[str, GroupMeta]
    load: Loader | None = None
    """What brings the set again, where some of its arrays are not kept."""
    dropped: frozenset[str] = frozenset()
    """The arrays whose chunks are not kept."""

    def chunks(self, path: str) -> Chunks:
        """Return the references of an array; one without any has only missing chunks."""
        if path in self.dropped and self.load is not None:
            found = self.load().arrays.get(path)
        else:
            found = self.references.arrays.get(path)
        if found is not None:
            return found
        meta = self.arrays[path]
        return Chunks.ranges(meta.grid.counts(meta.shape), 0, [], [], numbers=[])


def formats_of(one: Input) -> Iterator[str]:
    """Go through the formats of the nodes of a set."""
    yield from (group.format for group in one.groups.values())
    yield from (meta.format for meta in one.arrays.values())


class Reader:
    """Reads the documents of sets, most of which say the same as those of the set before.

    Args:
        limits: Bounds on what documents may claim.
    """

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._known: dict[tuple[str, frozenset[tuple[str, bytes]]], Meta | None] = {}
        self._split: dict[str, tuple[str, str] | None] = {}

    def read(self, name: str, references: References) -> Input:
        """Return a set with what its documents say.

        Raises:
            MetadataError: If one of them breaks its specification, or the set has chunks of no array.
        """
        nodes: dict[str, list[tuple[str, bytes]]] = {}
        for key, data in references.documents.items():
            place = self._place(key)
            if place is not None:
                nodes.setdefault(place[0], []).append((place[1], data))
        arrays: dict[str, ArrayMeta] = {}
        groups: dict[str, GroupMeta] = {}
        for path, texts in nodes.items():
            meta = self._meta(name, path, texts)
            if isinstance(meta, ArrayMeta):
                arrays[path] = meta
            elif meta is not None:
                groups[path] = meta
        for path, chunks in references.arrays.items():
            if path not in arrays:
                raise MetadataError(f"{name}: there are chunks but no document of an array", path=path)
            counts = arrays[path].grid.counts(arrays[path].shape)
            if counts != chunks.counts:
                message = f"{name}: references for a grid of {chunks.counts} chunks where it has {counts}"
                raise MetadataError(message, path=path)
        return Input(name, references, arrays, groups)

    def _place(self, key: str) -> tuple[str, str] | None:
        try:
            return self._split[key]
        except KeyError:
            path, _, document = key.rpartition("/")
            found = self._split[key] = (path, document) if document in _NAMES else None
            return found

    def _meta(self, name: str, path: str, texts: list[tuple[str, bytes]]) -> Meta | None:
        key = (path, frozenset(texts))
        if key in self._known:
            return self._known[key]
        try:
            meta = parse(path, dict(texts), self._limits)
        except OmnizarrError as error:
            error.message = f"{name}: {error.message}"
            raise
        self._known[key] = meta
        return meta


def named(sets: Sets) -> Iterator[tuple[str, References | Loader]]:
    """Give each set a name: its own, or that of the first file that it refers to."""
    if isinstance(sets, (str, os.PathLike)):
        raise NodeTypeError(f"{os.fspath(sets)!r} is one place, and a list of them is combined", hint=_LIST)
    if isinstance(sets, Mapping) and "refs" in sets and "version" in sets:
        raise NodeTypeError("this is one set, and a list of them is combined")
    pairs = cast("Mapping[str, Plain]", sets).items() if isinstance(sets, Mapping) else None
    for number, one in enumerate(sets if pairs is None else pairs):
        if isinstance(one, tuple) and len(one) == 2:
            yield one[0], _loader(one[1])
        elif isinstance(one, References):
            yield one.urls[0] if one.urls else f"set {number}", one
        else:
            found = _loader(one)
            yield found.where if isinstance(found, Place) and found.given is None else f"set {number}", found


def _loader(one: object) -> References | Loader:
    if isinstance(one, References):
        return one
    if isinstance(one, (str, os.PathLike)):
        return Place(os.fspath(cast("str | os.PathLike[str]", one)))
    if isinstance(one, Mapping):
        return Place(MEMORY, cast("Mapping[str, Any]", one))
    if callable(one):
        return cast("Loader", one)
    raise NodeTypeError(f"sets are combined, or pairs of a name and a set, not {type(one).__name__}")
