"""Stored values from key to key on a cluster: each piece of work is a batch of keys."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from omnizarr.native import copy_keys
from omnizarr.store.protocol import Store, kernel_target
from omnizarr.tools.cluster.crew import Crew

Found: TypeAlias = "tuple[int, int, int, Sequence[int], Sequence[int]]"
"""What the kernel says of a batch: values done, their bytes, values kept, those missing and those that differ."""

Places: TypeAlias = "tuple[tuple[Store, str], tuple[Store, str]]"
"""Two stores, each with what the keys in it begin with."""

_MOST = 512
_ROUNDS = 8


class _Batch(NamedTuple):
    places: bytes
    """Pickled: workers keep the stores that they know open."""

    keys: tuple[str, ...]
    task: Any
    """As the kernel has it."""

    new_keys: tuple[str, ...] | None = None

    def __repr__(self) -> str:  # Dask may log it, and stores may hold credentials
        return f"{self.task} of {len(self.keys)} keys"


def _size(crew: Crew, count: int) -> int:
    return max(1, min(_MOST, count // (crew.slots * _ROUNDS)))


def task_on(crew: Crew, places: Places, keys: Sequence[str], task: str) -> Iterator[tuple[Sequence[str], Found]]:
    """Do a task with each key, and yield batches with what came of them; see `omnizarr.tools.copy.batches`."""
    size, both = _size(crew, len(keys)), pickle.dumps(places)
    batches = [_Batch(both, tuple(keys[at : at + size]), task) for at in range(0, len(keys), size)]
    for number, found in crew.results(_do, batches):
        yield batches[number].keys, found


def copy_on(
    crew: Crew,
    places: Places,
    pairs: Sequence[tuple[str, str]],
    done: int,
    on_keys: Callable[[int, int], None],
) -> None:
    """Copy values to keys of other names.

    Args:
        crew: The workers.
        places: Where values are, and where they go.
        pairs: Keys in the one and the other.
        done: How many of them an earlier run has copied.
        on_keys: Told how many are copied without a gap from the first on, and the bytes of the latest.
    """
    size, both = _size(crew, len(pairs) - done), pickle.dumps(places)
    starts = range(done, len(pairs), size)

    def batch(start: int) -> _Batch:
        some = pairs[start : start + size]
        return _Batch(both, tuple(old for old, _ in some), "copy", tuple(new for _, new in some))

    ended: set[int] = set()
    reached = 0
    target, start = places[1]
    for number, found in crew.results(_do, map(batch, starts)):
        for i in found[3]:  # a value that is gone is erased in the target, too
            target.erase(start + pairs[starts[number] + i][1])
        ended.add(number)
        while reached in ended:
            ended.remove(reached)
            reached += 1
        on_keys(min(done + reached * size, len(pairs)), found[1])


def _do(batch: _Batch) -> Found:
    """Do a batch; on a worker. A value that was copied before is copied once more, and is the same."""
    source, target = _opened(batch.places)
    if batch.new_keys is None:
        return copy_keys(source, target, batch.keys, batch.task)
    return copy_keys(source, target, batch.keys, batch.task, batch.new_keys)


@lru_cache(maxsize=16)
def _opened(places: bytes) -> tuple[tuple[object, str], tuple[object, str]]:
    source, target = pickle.loads(places)  # noqa: S301 - made by the same program, and brought by Dask, which pickles all
    return kernel_target(*source), kernel_target(*target)
