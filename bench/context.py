"""Where things are, and the random choices that every engine gets alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.data import Values
from bench.layout import Layout
from bench.sizes import Sizes
from bench.workloads import Workload

Selection = tuple[slice, ...]


class WrongData(AssertionError):  # noqa: N818 - read as a verdict
    """An engine returned values that are not the right ones."""


class Context:
    """One engine's view of the folder of the race."""

    def __init__(self, root: Path, engine: str, sizes: Sizes, *, own_format: bool = False) -> None:
        self.sizes = sizes
        self.values = Values(root, sizes)
        self.verify = True
        self._inputs = root / (f"in-{engine}" if own_format else "in")
        self.out = root / "out" / engine
        self.out.mkdir(parents=True, exist_ok=True)

    def base(self, layout: Layout) -> Path:
        """The folder of a prepared array."""
        return self._inputs / layout.name

    def group(self, version: int, *, consolidated: bool) -> Path:
        """The folder of a prepared group."""
        return self._inputs / f"group-v{version}{'-consolidated' if consolidated else ''}"

    def check(self, got: object, expected: object) -> None:
        """Compare, in the rounds that verify; never while the clock runs."""
        if self.verify and not np.array_equal(np.asarray(got), np.asarray(expected)):
            raise WrongData("wrong data")


def box_origins(workload: Workload) -> list[tuple[int, ...]]:
    """Random corners of boxes, on the grid if the box is a whole chunk."""
    layout = _layout(workload)
    box: tuple[int, ...] = workload.options["box"]
    rng = np.random.default_rng(7)
    if box == layout.chunks:
        return _aligned(layout, workload.options["n"], rng)
    return [
        tuple(int(rng.integers(0, size - b + 1)) for size, b in zip(layout.shape, box, strict=True))
        for _ in range(workload.options["n"])
    ]


def inner_origins(workload: Workload) -> list[tuple[int, ...]]:
    """Random corners of chunks inside shards."""
    return _aligned(_layout(workload), workload.options["n"], np.random.default_rng(8))


def thread_boxes(workload: Workload) -> list[list[Selection]]:
    """For each of eight threads, random cubes of 64."""
    height = _layout(workload).shape[1] - 64
    rng = np.random.default_rng(11)
    return [
        [
            tuple(slice(start, start + 64) for start in (0, *rng.integers(0, height + 1, 2).tolist()))
            for _ in range(workload.options["n"])
        ]
        for _ in range(8)
    ]


def box_at(origin: tuple[int, ...], box: tuple[int, ...]) -> Selection:
    """The slices of a box."""
    return tuple(slice(start, start + size) for start, size in zip(origin, box, strict=True))


def _aligned(layout: Layout, count: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    return [
        tuple(int(rng.integers(0, size // c)) * c for size, c in zip(layout.shape, layout.chunks, strict=True))
        for _ in range(count)
    ]


def _layout(workload: Workload) -> Layout:
    if workload.layout is None:
        raise ValueError(f"{workload.name} has no layout")
    return workload.layout
