"""Inputs that are places: files are scanned, many of them in several processes, and sets are read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from omnizarr.refs.combining.inputs import Loader, Place, Sets, named
from omnizarr.refs.scanners.dispatch import finished
from omnizarr.refs.scanners.many import Progress, checked, scan, scan_all
from omnizarr.refs.scanners.source import DEFAULTS, Options
from omnizarr.refset.model import References

_SETS: Final = (".json", ".json.gz", ".json.zst", ".parq", ".parquet")


class Scanning(NamedTuple):
    """How files are scanned."""

    options: Options = DEFAULTS
    workers: int | None = None
    cache: str | os.PathLike[str] | None = None
    on_error: Literal["raise", "skip"] = "raise"
    progress: Progress | None = None
    cluster: object = None


class Brought(NamedTuple):
    """All inputs with their names, in the order that they were given in."""

    inputs: list[tuple[str, References | Loader]]
    places: list[str]
    """Those that were named by their places."""
    own: list[int]
    """Which of the inputs the caller has in memory."""

    def loaded(self) -> list[tuple[str, References]]:
        """Return the inputs, each of them in memory."""
        return [(name, one() if callable(one) else one) for name, one in self.inputs]


def bring(where: str) -> References:
    """Read a set, or scan a file."""
    if not _named_so(where):
        return scan(where)
    from omnizarr.refs.files import read  # noqa: PLC0415 - files that are scanned need nothing of it

    return read(where)


def with_files(
    sets: Sets,
    how: Scanning = Scanning(),  # noqa: B008 - it never changes
) -> Brought:
    """Scan the files among the inputs, each once; sets stay where they are until they are asked for.

    Raises:
        ScanError: If some files cannot be scanned; it names all of them.
    """
    given = list(named(sets))
    files = [one.where for _, one in given if isinstance(one, Place) and not _is_set(one)]
    known: dict[str, References] = {}
    if files:
        results = scan_all(
            files, how.options, workers=how.workers, cluster=how.cluster, cache=how.cache, progress=how.progress
        )
        checked(results, how.on_error)
        known = {one.where: one.references for one in results if one.references is not None}
    found = Brought([], [one.where for _, one in given if isinstance(one, Place)], [])
    for name, one in given:
        if not isinstance(one, Place):
            found.own.append(len(found.inputs))
            found.inputs.append((name, one))
        elif _is_set(one):
            found.inputs.append((name, _Part(one, how.options) if _chooses(how.options) else one))
        elif one.where in known:
            found.inputs.append((name, known[one.where]))
    return found


@dataclass(frozen=True, slots=True)
class _Part:
    """Brings of a set what is wanted, as scanners do of files."""

    place: Place
    options: Options

    def __call__(self) -> References:
        return finished(self.place(), self.options, self.place.where)


def _chooses(options: Options) -> bool:
    return options._replace(inline=DEFAULTS.inline, on_error=DEFAULTS.on_error) != DEFAULTS


def _is_set(place: Place) -> bool:
    return place.given is not None or _named_so(place.where)


def _named_so(where: str) -> bool:
    return where.rstrip("/").endswith(_SETS)
