"""Every cell of the race: what is measured, on which layout, in which unit, and the ratio to reach."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from bench.layout import Codec, Layout
from bench.sizes import ITEMSIZE, Sizes

Unit = Literal["GB/s", "µs", "ms", "×"]

CHUNK_1M = (16, 128, 128)
CHUNK_64K = (4, 64, 64)
SHARD_8M = (32, 256, 256)
ROWS = (256, 1024)
GROWTH_CHUNK = (8, 64)


@dataclass(frozen=True, slots=True)
class Target:
    """The ratio to the best peer that a cell has to reach, or the value that it may not exceed."""

    reach: float | None = None
    against: dict[str, float] = field(default_factory=dict)
    """Ratios to single engines, beside the one to the best."""
    at_most: float | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """One cell. `work` is the bytes moved (GB/s) or the number of operations (times)."""

    name: str
    unit: Unit
    run: str
    """Method of `bench.samples.Samples` that takes one sample."""
    layout: Layout | None = None
    work: float = 1.0
    options: dict[str, Any] = field(default_factory=dict)
    only: frozenset[str] | None = None
    """Engines that take part, if not all."""
    target: Target | None = None

    def value(self, seconds: float) -> float:
        """What a sample of this length means in the unit of the cell."""
        if self.unit == "GB/s":
            return self.work / seconds / 1e9
        return seconds / self.work * {"µs": 1e6, "ms": 1e3, "×": 1.0}[self.unit]

    def ratio(self, ours: float, theirs: float) -> float:
        """How many times better `ours` is."""
        return ours / theirs if self.unit == "GB/s" else theirs / ours


def all_workloads(sizes: Sizes) -> list[Workload]:
    """The whole race, in the order in which it is run and printed."""
    targets = _targets()
    cells = [*_full(sizes), *_small_reads(sizes), *_selections(sizes), *_writes(sizes), *_memory(sizes)]
    cells += [*_metadata(sizes), *_process(sizes), *_growth(sizes)]
    unknown = targets.keys() - {cell.name for cell in cells}
    if unknown:
        raise ValueError(f"targets.toml names cells that do not exist: {sorted(unknown)}")
    return [Workload(c.name, c.unit, c.run, c.layout, c.work, c.options, c.only, targets.get(c.name)) for c in cells]


def _targets() -> dict[str, Target]:
    table = tomllib.loads(Path(__file__).with_name("targets.toml").read_text(encoding="utf-8"))
    return {name: Target(**entry) if isinstance(entry, dict) else Target(entry) for name, entry in table.items()}


def _both_ways(label: str, layout: Layout, sizes: Sizes) -> Iterator[Workload]:
    yield Workload(f"read all, {label}", "GB/s", "full_read", layout, sizes.nbytes)
    yield Workload(f"write all, {label}", "GB/s", "full_write", layout, sizes.nbytes)


def _full(sizes: Sizes) -> Iterator[Workload]:
    shape = sizes.cube
    v3: tuple[Codec, ...] = ("none", "blosc", "zstd", "gzip")
    v2: tuple[Codec, ...] = ("none", "blosc", "zstd", "zlib")
    for codec in v3:
        yield from _both_ways(f"v3 1 MB {codec}", Layout(shape, CHUNK_1M, codec), sizes)
    for codec in v3:
        yield from _both_ways(f"v3 64 KB {codec}", Layout(shape, CHUNK_64K, codec), sizes)
    for codec in v2:
        yield from _both_ways(f"v2 1 MB {codec}", Layout(shape, CHUNK_1M, codec, 2), sizes)
    yield from _both_ways("v3 transpose blosc", Layout(shape, CHUNK_1M, order="F"), sizes)
    yield from _both_ways("v2 order F blosc", Layout(shape, CHUNK_1M, version=2, order="F"), sizes)
    yield from _both_ways("v3 big-endian blosc", Layout(shape, CHUNK_1M, endian="big"), sizes)
    yield from _both_ways("v2 big-endian none", Layout(shape, CHUNK_1M, "none", 2, endian="big"), sizes)
    for codec in v3[:3]:
        layout = Layout(shape, CHUNK_64K, codec, shards=SHARD_8M)
        yield from _both_ways(f"sharded 8 MB of 64 KB {codec}", layout, sizes)
        yield Workload(f"random inner chunk {codec}", "µs", "inner_chunks", layout, 1000, {"n": 1000})
    yield Workload("read all, never written", "GB/s", "read_unwritten", Layout(shape, CHUNK_64K), sizes.nbytes)


def _small_reads(sizes: Sizes) -> Iterator[Workload]:
    element = (1, 1, 1)
    codecs: tuple[Codec, ...] = ("none", "blosc")
    for codec in codecs:
        layout = Layout(sizes.cube, CHUNK_1M, codec)
        yield Workload(f"one element, 1 MB {codec}", "µs", "boxes", layout, 300, {"n": 300, "box": element})
        yield Workload(f"box 10×10×10, 1 MB {codec}", "µs", "boxes", layout, 300, {"n": 300, "box": (10, 10, 10)})
    layout = Layout(sizes.cube, CHUNK_64K)
    yield Workload("one element, 64 KB blosc", "µs", "boxes", layout, 500, {"n": 500, "box": element})
    yield Workload("one aligned chunk, 64 KB blosc", "µs", "boxes", layout, 500, {"n": 500, "box": CHUNK_64K})


def _selections(sizes: Sizes) -> Iterator[Workload]:
    big = Layout(sizes.cube, CHUNK_1M)
    yield Workload("strided [::7, ::3], 1 MB blosc", "ms", "strided", big)
    planes = [sizes.cube[1] * k // 1024 for k in (3, 301, 555, 1001)]
    yield Workload("plane [:, k, :], 64 KB blosc", "ms", "plane", Layout(sizes.cube, CHUNK_64K), 4, {"at": planes})
    table = Layout(sizes.table, ROWS)
    yield Workload("oindex, 1,000 random rows", "ms", "oindex_rows", table, options={"n": 1000})
    yield Workload("row mask, 10 %", "ms", "row_mask", table)
    part = Layout((4096, 1024), ROWS)
    yield Workload("n-d mask, 1 % of 16 MB", "ms", "nd_mask", part)
    yield Workload("vindex, 10,000 points", "ms", "vindex", part, options={"n": 10_000})
    moved = 8 * 16 * 64**3 * ITEMSIZE
    yield Workload("8 threads, random 64³ boxes, 1 MB blosc", "GB/s", "threads", big, moved, {"n": 16})


def _writes(sizes: Sizes) -> Iterator[Workload]:
    options = {"n": 40, "box": (10, 100, 100)}
    yield Workload(
        "write box 10×100×100 into 1 MB blosc", "ms", "box_writes", Layout(sizes.cube, CHUNK_1M), 40, options
    )
    plain = Layout(sizes.cube, CHUNK_1M, "none")
    yield Workload("write box 10×100×100 into 1 MB none", "ms", "box_writes", plain, 40, options)
    sharded = Layout(sizes.cube, CHUNK_64K, shards=SHARD_8M)
    yield Workload("write one inner chunk into 8 MB shard blosc", "ms", "inner_writes", sharded, 10, {"n": 10})
    rows = Layout((0, 256, 256), (1, 256, 256), "none")
    yield Workload("append row of 256 KB, v3", "ms", "append", rows, 100, {"n": 100})
    rows = Layout((0, 256, 256), (1, 256, 256), "none", 2)
    yield Workload("append row of 256 KB, v2", "ms", "append", rows, 100, {"n": 100})


def _memory(sizes: Sizes) -> Iterator[Workload]:
    layout = Layout((16, 256, 256), CHUNK_64K)
    yield Workload("memory store, one element", "µs", "memory_boxes", layout, 300, {"n": 300, "box": (1, 1, 1)})
    n, h, w = 16, *sizes.cube[1:]
    yield Workload("memory store, read all", "GB/s", "memory_read", Layout((n, h, w), CHUNK_64K), n * h * w * ITEMSIZE)


def _metadata(sizes: Sizes) -> Iterator[Workload]:
    yield Workload("open array, v3", "µs", "open", Layout(sizes.cube, CHUNK_1M), 100, {"n": 100})
    yield Workload("open array, v2", "µs", "open", Layout(sizes.cube, CHUNK_1M, version=2), 100, {"n": 100})
    for version in (3, 2):
        plain = {"version": version, "consolidated": False}
        yield Workload(f"open and list many arrays, v{version}", "ms", "group_list", options=plain)
        consolidated = {"version": version, "consolidated": True}
        name = f"open and list many arrays, v{version} consolidated"
        yield Workload(name, "ms", "group_list", options=consolidated)
        yield Workload(f"create many arrays, v{version}", "ms", "group_create", options={"version": version})


def _process(sizes: Sizes) -> Iterator[Workload]:
    yield Workload("cold start: import, open, one element", "ms", "cold", Layout(sizes.cube, CHUNK_1M))
    yield Workload("peak memory of reading all, 1 MB blosc", "×", "peak", Layout(sizes.cube, CHUNK_1M))
    yield Workload("peak memory of reading all, 64 KB zstd", "×", "peak", Layout(sizes.cube, CHUNK_64K, "zstd"))


def _growth(sizes: Sizes) -> Iterator[Workload]:
    """Nobody else is asked: the question is whether our own time stays in proportion."""
    ours = frozenset({"omnizarr"})
    for count in sizes.chunk_counts:
        layout = Layout((count // 100 * GROWTH_CHUNK[0], 100 * GROWTH_CHUNK[1]), GROWTH_CHUNK, "none")
        yield Workload(f"read all of {count:,} chunks, per chunk", "µs", "full_read", layout, count, {}, ours)
        yield Workload(f"open and repr with {count:,} chunks", "µs", "open_repr", layout, 100, {"n": 100}, ours)
