"""Scanning files on a cluster: each piece of work is some files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from omnizarr.refs.scanners.many import Scanned, scan_one
from omnizarr.refs.scanners.source import Options
from omnizarr.tools.cluster.crew import Crew

_MOST = 16
_ROUNDS = 8


class _Files(NamedTuple):
    names: tuple[str, ...]
    options: Options


def scan_on(
    cluster: object, names: Sequence[str], left: Sequence[int], options: Options
) -> Iterator[tuple[int, Scanned]]:
    """Scan some of many places, and yield the number of each with what became of it.

    Args:
        cluster: Where, as `Crew` takes it.
        names: All places.
        left: The numbers of those to scan.
        options: What is wanted of each.
    """
    with Crew(cluster) as crew:
        size = max(1, min(_MOST, len(left) // (crew.slots * _ROUNDS)))
        some = [left[at : at + size] for at in range(0, len(left), size)]
        pieces = (_Files(tuple(names[i] for i in numbers), options) for numbers in some)
        for number, found in crew.results(_scan, pieces):
            yield from zip(some[number], found, strict=True)


def _scan(files: _Files) -> list[Scanned]:
    """Scan some files; on a worker. What goes wrong with one is noted."""
    return [scan_one(name, files.options) for name in files.names]
