"""The set that a function works on: in memory, or wherever it is; and what it may reach.

A set that is named by its place is text that others may have written, and is guarded as `omnizarr.open` guards it: it
leads to its own folder, to public servers, and to what the caller allows. Columns in memory are the caller's own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple, TypeAlias

from omnizarr.errors import NodeTypeError
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.refset.guard import allowed, base_of, defaults, spelled
from omnizarr.refset.model import References

AnySet: TypeAlias = References | str | os.PathLike[str] | Mapping[str, Any]
"""A set in memory; the place of a set, which is read, or of a file, which is scanned; or a mapping, as JSON has it."""

EVERYTHING: Final = ("*",)
_MEMORY: Final = "memory:references"


class Taken(NamedTuple):
    """A set, and what it may reach."""

    references: References
    allow: tuple[str, ...]


def taken(given: AnySet, allow: Sequence[str] | None = None, limits: Limits = DEFAULT_LIMITS) -> Taken:
    """Bring a set, if it is not there yet.

    Args:
        given: The set, or its place, or a mapping.
        allow: For a set in memory, what it may reach, by default everything; for others, what they may besides.
        limits: What the caller allows to all sets.

    Raises:
        NotFoundError: If nothing is at the place.
        MetadataError: If it is no reference set.
        NodeTypeError: If this is nothing of that kind.

    >>> taken(References()).allow, "*" in taken({"version": 1, "refs": {}}).allow
    (('*',), False)
    """
    if isinstance(allow, str):
        raise TypeError("allow is a list of places, not one")
    if isinstance(given, References):
        return Taken(given, EVERYTHING if allow is None else tuple(spelled(allow)))
    # Whoever has a set in memory needs neither readers nor scanners.
    if isinstance(given, Mapping):
        json_reading = import_module("omnizarr.refset.json_reading")
        found: References = json_reading.references_of(json_reading.load_mapping(given, expand=True))
        return Taken(found, (*defaults(_MEMORY, limits)[1], *spelled(allow or ())))
    if isinstance(given, (str, os.PathLike)):
        where = os.fspath(given)
        bring: Callable[[str], References] = import_module("omnizarr.refs.combining.bringing").bring
        return Taken(bring(where), (*defaults(where, limits)[1], *spelled(allow or ())))
    raise NodeTypeError(
        f"a reference set is wanted, not {type(given).__name__}",
        hint="Give References, the place of a set or of a file, or a mapping as JSON has it.",
    )


def references_of(given: AnySet) -> References:
    """Bring a set of which nothing is read but what it says itself."""
    return taken(given).references


def reach(
    places: Iterable[str], sets: Iterable[References], allow: Sequence[str] | None, limits: Limits = DEFAULT_LIMITS
) -> tuple[str, ...]:
    """Say what several sets may reach together.

    Args:
        places: The places of those that were named by them.
        sets: Those that are in memory: with the others they may reach the folders of their files.
        allow: What the caller allows.
        limits: What the caller allows to all sets.
    """
    named = list(places)
    if not named:
        return EVERYTHING if allow is None else tuple(spelled(allow))
    files = (url for one in sets for url in one.urls)
    return (*allowed(map(base_of, [*named, *files]), limits), *spelled(allow or ()))
