"""Inputs that are places: files are scanned, many of them in several processes, and sets are read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple

from omnizarr.refs.combining.inputs import Given, Loader, Place, named
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


def bring(where: str) -> References:
    """Read a set, or scan a file."""
    if not _is_set(where):
        return scan(where)
    from omnizarr.refs.files import read  # noqa: PLC0415 - files that are scanned need nothing of it

    return read(where)


def bring_all(
    sets: Iterable[Given] | Mapping[str, References],
    how: Scanning = Scanning(),  # noqa: B008 - it never changes
) -> list[tuple[str, References]]:
    """Bring all inputs.

    Raises:
        ScanError: If some places cannot be scanned; it names all of them.
    """
    return [(name, one() if callable(one) else one) for name, one in with_files(sets, how)]


def with_files(
    sets: Iterable[Given] | Mapping[str, References],
    how: Scanning = Scanning(),  # noqa: B008 - it never changes
) -> list[tuple[str, References | Loader]]:
    """Scan the files among the inputs, each once; sets stay where they are until they are asked for.

    Raises:
        ScanError: If some files cannot be scanned; it names all of them.
    """
    given = list(named(sets))
    files = [one.where for _, one in given if isinstance(one, Place) and not _is_set(one.where)]
    known: dict[str, References] = {}
    if files:
        results = scan_all(files, how.options, workers=how.workers, cache=how.cache, progress=how.progress)
        checked(results, how.on_error)
        known = {one.where: one.references for one in results if one.references is not None}
    found: list[tuple[str, References | Loader]] = []
    for name, one in given:
        if not isinstance(one, Place) or _is_set(one.where):
            found.append((name, one))
        elif one.where in known:
            found.append((name, known[one.where]))
    return found


def _is_set(where: str) -> bool:
    return where.rstrip("/").endswith(_SETS)
