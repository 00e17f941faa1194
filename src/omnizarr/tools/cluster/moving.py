"""Values from one array into another on a cluster: what `transfer` plans, each region a piece of work."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import NamedTuple

from omnizarr.array.io import Access
from omnizarr.errors import LimitError
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.sizes import human_bytes
from omnizarr.store.protocol import Store
from omnizarr.tools.cluster.crew import Crew
from omnizarr.tools.transfer.transfer import SCRATCH, Plan, move_region, plan_transfer

_ROUNDS = 3
"""Regions for each slot of the cluster, so that none waits long for the last one."""


class Side(NamedTuple):
    """An array, as a worker opens it."""

    store: Store
    path: str
    meta: ArrayMeta
    limits: Limits = DEFAULT_LIMITS

    def opened(self) -> Access:
        """Open it."""
        return Access(self.store, self.path, self.meta, limits=self.limits)


class _Job(NamedTuple):
    """One stage of a transfer."""

    plan: Plan
    stage: int
    source: Side
    target: Side


class _Piece(NamedTuple):
    job: bytes
    """A pickled job: workers keep those that they know open."""

    region: int

    def __repr__(self) -> str:  # Dask may log it, and a job may hold credentials
        return f"region {self.region}"


def plan_for(crew: Crew, source: ArrayMeta, target: ArrayMeta, memory: int | None = None) -> Plan:
    """Plan a transfer so that its regions fit into the memory of each worker, and there is one for every worker.

    Args:
        crew: The workers.
        source: The array to read.
        target: The array to write.
        memory: Bytes for one piece of work; what workers have if not given.

    Raises:
        LimitError: A worker has no room for one key of the target.
    """
    granted = memory or crew.memory()
    threads = crew.processors
    settings = {} if granted is None else {"memory": granted}
    plan = plan_transfer(source, target, threads=threads, **settings)
    least = crew.slots * _ROUNDS
    room = plan.peak
    while plan.stages[-1].cut.total < least and room > 1 << 20:
        room = room * 3 // 4
        try:
            finer = plan_transfer(source, target, threads=threads, memory=room)
        except LimitError:
            break
        # Never at the price of reading more, or of a second pass.
        if len(finer.stages) != len(plan.stages) or finer.stages[-1].amplification > plan.stages[-1].amplification:
            break
        plan = finer
    return plan


def describe(plan: Plan) -> list[str]:
    """Say in words how values will be moved."""
    lines = [
        f"pass {number} of {len(plan.stages)}: {stage.cut.total} regions of up to {_shape(stage.cut.largest)}, "
        f"{human_bytes(prod(stage.cut.largest) * plan.element)} each, at most {human_bytes(stage.peak)} of memory"
        for number, stage in enumerate(plan.stages, 1)
    ]
    if plan.scratch is not None:
        lines.insert(1, f"between them: scratch chunks of {_shape(plan.scratch.grid.longest)}, not compressed")
    return lines


def _shape(lengths: tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, lengths)) + ")"


def run_on(
    crew: Crew,
    plan: Plan,
    sides: tuple[Side, Side],
    *,
    scratch: Store,
    done: int,
    on_region: Callable[[int, int], None],
) -> None:
    """Move all values as planned, as `run_transfer` does.

    Args:
        crew: The workers.
        plan: What `plan_for` made for these two arrays.
        sides: The array to read, and the one to write.
        scratch: Where the scratch array is kept if the plan has two stages.
        done: How many regions, counted from the first, an earlier run has finished.
        on_region: Called after each region with the number of regions that are done without a gap from the first on,
            and the bytes that it held.
    """
    source, target = sides
    steps = [(source, target)]
    if plan.scratch is not None:
        between = Side(scratch, SCRATCH, plan.scratch, source.limits)
        steps = [(source, between), (between, target)]
    before = 0
    for number, (one, other) in enumerate(steps):
        total = plan.stages[number].cut.total
        first = min(total, max(0, done - before))
        job = pickle.dumps(_Job(plan, number, one, other))
        ended: set[int] = set()
        reached = first
        pieces = (_Piece(job, region) for region in range(first, total))
        for at, nbytes in crew.results(_move, pieces):
            ended.add(first + at)
            while reached in ended:
                ended.remove(reached)
                reached += 1
            on_region(before + reached, nbytes)
        before += total


def _move(piece: _Piece) -> int:
    """Move one region; on a worker. It writes whole keys, so that it can be done any number of times."""
    plan, stage, source, target = _opened(piece.job)
    return move_region(plan, stage, source, target, piece.region)


@lru_cache(maxsize=16)
def _opened(job: bytes) -> tuple[Plan, int, Access, Access]:
    found: _Job = pickle.loads(job)  # noqa: S301 - made by the same program, and brought by Dask, which pickles all
    return found.plan, found.stage, found.source.opened(), found.target.opened()
