"""Looking at stored chunks on a cluster: each piece of work is a range of them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple
from uuid import uuid4

from omnizarr.errors import ConflictError
from omnizarr.native import Survey
from omnizarr.store.protocol import place_name
from omnizarr.tools.cluster.crew import Crew
from omnizarr.tools.cluster.moving import Side

_MOST = 4096
_ROUNDS = 8


class CheckedThere(NamedTuple):
    """What a look at some chunks has shown, as it comes from a worker; see the kernel's `Checked`."""

    nbytes: int
    cells: int
    cells_present: int
    filled: int
    faults: list[tuple[str, str, str]]


class _Range(NamedTuple):
    job: bytes
    """Pickled: workers keep the listing for as long as it is looked at."""

    start: int
    stop: int
    decode: bool
    present: int

    def __repr__(self) -> str:  # Dask may log it, and a job may hold credentials
        return f"chunks {self.start} to {self.stop} of {self.present}"


def check_on(
    crew: Crew, side: Side, survey: tuple[tuple[str, ...], int], present: int, *, decode: bool
) -> Iterator[tuple[int, int, CheckedThere]]:
    """Look at all stored chunks of an array.

    Args:
        crew: The workers.
        side: The array.
        survey: What the kernel's survey takes.
        present: How many chunks are stored.
        decode: Whether to decode them.

    Yields:
        The first chunk of a range, the one after its last, and what was seen, in the order of the chunks.
    """
    size = max(1, min(_MOST, present // (crew.slots * _ROUNDS)))
    # Never the same twice: what workers have listed for an earlier look is of no use for this one.
    job = pickle.dumps((uuid4().hex, side, survey))
    ranges = [_Range(job, at, min(at + size, present), decode, present) for at in range(0, present, size)]
    early: dict[int, CheckedThere] = {}
    reached = 0
    for number, found in crew.results(_check, ranges):
        early[number] = found
        while reached in early:
            yield ranges[reached].start, ranges[reached].stop, early.pop(reached)
            reached += 1


def _check(some: _Range) -> CheckedThere:
    """Look at a range of chunks; on a worker."""
    place, survey = _surveyed(some.job)
    if survey.present != some.present:
        raise ConflictError(
            f"chunks come or go meanwhile: {some.present} were stored, and {survey.present} are now",
            path=place,
            hint="Look again when nobody writes to it.",
        )
    found = survey.check(some.start, some.stop, some.decode)
    return CheckedThere(found.nbytes, found.cells, found.cells_present, found.filled, list(found.faults))


@lru_cache(maxsize=4)
def _surveyed(job: bytes) -> tuple[str, Survey]:
    _, side, (own, most) = pickle.loads(job)  # noqa: S301 - made by the same program, and brought by Dask
    found: Survey = side.opened().kernel.survey(own, most)
    return place_name(side.store, side.path), found
