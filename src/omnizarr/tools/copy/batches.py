"""Values of many keys from one store to another, in batches of the kernel's, with word on how far it is."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from omnizarr.native import copy_keys
from omnizarr.store.protocol import Store, kernel_target
from omnizarr.tools.cluster.crew import Crew
from omnizarr.tools.cluster.keys import Found, task_on
from omnizarr.tools.progress import Progress, silent

Task: TypeAlias = Literal["copy", "resume", "compare", "measure"]

_FIRST: Final = 64
_MOST: Final = 16384
_SHORT, _LONG = 0.1, 0.5
"""Seconds that a batch should take: long enough to keep all threads busy, short enough for progress to be seen."""


class Moved(NamedTuple):
    """What came of it."""

    done: int = 0
    """Values that were copied, or found equal."""

    nbytes: int = 0
    """Their bytes."""

    kept: int = 0
    """Values that were there already, of the right size."""

    missing: tuple[str, ...] = ()
    """Keys that the source does not have."""

    different: tuple[str, ...] = ()
    """Keys whose values differ."""

    def plus(self, batch: Sequence[str], found: Found) -> Moved:
        """Add what came of a batch of keys, as the kernel tells it."""
        done, nbytes, kept, missing, different = found
        return Moved(
            self.done + done,
            self.nbytes + nbytes,
            self.kept + kept,
            (*self.missing, *(batch[i] for i in missing)),
            (*self.different, *(batch[i] for i in different)),
        )


class Mover:
    """Two stores, what the keys of each begin with, and who is told how far it is.

    Args:
        source: Where values come from.
        start: What their keys begin with: empty, or a path and "/".
        target: Where they go.
        new_start: What their keys begin with there.
        progress: Told after each batch.
        crew: Workers that do it, if this process does not.
    """

    def __init__(
        self,
        source: Store,
        start: str,
        target: Store,
        new_start: str,
        progress: Progress | None = None,
        *,
        crew: Crew | None = None,
    ) -> None:
        self._crew = crew
        self._places = (source, start), (target, new_start)
        self._source = kernel_target(source, start)
        self._target = kernel_target(target, new_start)
        self._progress = progress or silent
        self._batch = _FIRST
        self._finished = self._nbytes = 0
        self.total = 0
        """The number of keys that all tasks together will have worked on; set it before the first."""

    def __call__(self, keys: Sequence[str], task: Task) -> Moved:
        """Do a task with each key; they follow what the keys of each store begin with."""
        if self._crew is not None:
            return self._spread(self._crew, keys, task)
        total = Moved()
        at = 0
        while at < len(keys):
            batch = keys[at : at + self._batch]
            began = time.monotonic()
            done, nbytes, kept, missing, different = copy_keys(self._source, self._target, batch, task)
            total = total.plus(batch, (done, nbytes, kept, missing, different))
            at += len(batch)
            self._told(len(batch), nbytes, time.monotonic() - began)
        return total

    def _spread(self, crew: Crew, keys: Sequence[str], task: Task) -> Moved:
        total = Moved()
        for batch, found in task_on(crew, self._places, keys, task):
            total = total.plus(batch, found)
            self._told(len(batch), found[1], 0.0)
        return total

    def _told(self, keys: int, nbytes: int, seconds: float) -> None:
        self._finished += keys
        self._nbytes += nbytes
        self._progress(self._finished, max(self.total, self._finished), self._nbytes)
        if seconds < _SHORT:
            self._batch = min(_MOST, self._batch * 2)
        elif seconds > _LONG:
            self._batch = max(_FIRST // 8, self._batch // 2)
