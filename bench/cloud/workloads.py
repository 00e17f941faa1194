"""What is raced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from bench.cloud.contenders import Contender, url
from bench.cloud.data import ARRAYS, BUCKET, DISTINCT, LARGE, SHARDS, SMALL, Grid, check, plane, whole
from bench.cloud.server import Server
from bench.references.stage import Figures, Stages
from bench.touching import touch

_MEMORY: Final = 2_600_000_000
"""As many bytes as reading needs."""
_LITTLE: Final = 400_000_000
"""The same where the result is small, or there before the clock starts."""


class Workload(NamedTuple):
    """A piece of work."""

    what: str
    data: str
    """What must lie on the server."""
    delay: int
    """Milliseconds that each answer takes."""
    goal: float
    figure: str
    """What is compared: the less, the better."""
    work: Callable[[Contender], Figures]
    apart: tuple[str, ...] = ()
    """Who does not do the same, and is not compared with."""
    without: tuple[str, ...] = ()
    """Who has nothing of the kind, and takes no part."""


def _done(stages: Stages, server: Server) -> Figures:
    figures = stages.done()
    counted = server.counted()
    return {**figures, "requests": counted["requests"]}


def reading(grid: Grid) -> Callable[[Contender], Figures]:
    """Read a whole array; what was opened is warm, its chunks are not."""

    def work(contender: Contender) -> Figures:
        server = Server(url())
        array = contender.open(grid.name)
        server.forget()
        touch(_MEMORY)
        stages = Stages()
        values = contender.read(array)
        stages.lap("seconds")
        figures = _done(stages, server)
        check(grid, values)
        return {**figures, "of array": figures["MB"] / (values.nbytes / 1e6)}

    return work


def inner_chunks(contender: Contender) -> Figures:
    """Read one element each of a thousand chunks that lie in shards, by one selection."""
    server, grid = Server(url()), SHARDS
    per = grid.edge // grid.inner
    picked = np.random.default_rng(7).choice(grid.planes * per * per, 1000, replace=False)
    shard, y, x = np.unravel_index(picked, (grid.planes, per, per))
    where = (shard, y * grid.inner + 5, x * grid.inner + 9)
    array = contender.open(grid.name)
    server.forget()
    touch(_LITTLE)
    stages = Stages()
    values = contender.points(array, where)
    stages.lap("seconds")
    figures = _done(stages, server)
    planes = np.stack([plane(grid, i) for i in range(DISTINCT)])
    np.testing.assert_array_equal(np.asarray(values), planes[where[0] % DISTINCT, where[1], where[2]])
    return figures


def opening(contender: Contender) -> Figures:
    """Open a group and all arrays in it."""
    server = Server(url())
    contender.open("tree/a000")  # imports, and the first connection
    server.forget()
    stages = Stages()
    count = contender.tree("tree")
    stages.lap("seconds")
    assert count == ARRAYS, count
    return _done(stages, server)


def writing(contender: Contender) -> Figures:
    """Write a whole array, all of it in memory before."""
    server, grid = Server(url()), LARGE
    values = whole(grid)
    array = contender.create("written", grid)
    server.forget()
    touch(_LITTLE)
    stages = Stages()
    contender.write(array, values)
    stages.lap("seconds")
    figures = _done(stages, server)
    server.delay(0)
    again: Any = contender.open("written")
    np.testing.assert_array_equal(np.asarray(contender.read(again[7:9])), values[7:9])
    for prefix in ("written", "icechunk-written"):
        server.drop(f"{BUCKET}/{prefix}/")
    return figures


WORKLOADS: Final = {
    "read": Workload("read 2,000 chunks of 1 MB, at 20 ms", "large", 20, 1.5, "seconds", reading(LARGE)),
    "read-small": Workload("read 20,000 chunks of 64 KB, at 20 ms", "small", 20, 2.0, "seconds", reading(SMALL)),
    "shards": Workload("1,000 random inner chunks of 100 shards, at 20 ms", "shards", 20, 2.0, "seconds", inner_chunks),
    "open": Workload(
        "open 500 arrays, not consolidated, at 20 ms",
        "tree",
        20,
        3.0,
        "seconds",
        opening,
        apart=("tensorstore",),
        without=("icechunk",),
    ),
    "write": Workload("write 2,000 chunks of 1 MB, at 20 ms", "", 20, 1.2, "seconds", writing),
    "read-near": Workload("read 2,000 chunks of 1 MB, without delay", "large", 0, 1.3, "seconds", reading(LARGE)),
    "memory": Workload("peak memory of reading 2,000 chunks of 1 MB", "large", 20, 0.0, "of array", reading(LARGE)),
}
