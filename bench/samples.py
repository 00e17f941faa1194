"""One timed sample of every kind of workload, on any engine. Only the engine's own work is inside the clock."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

import numpy as np

from bench.context import Context, Selection, WrongData, box_at, box_origins, inner_origins, thread_boxes
from bench.data import Floats
from bench.engines.base import Engine, Handle
from bench.layout import Layout
from bench.workloads import Workload


class Samples:
    """Takes samples with one engine; every method of a workload's name returns seconds."""

    def __init__(self, engine: Engine, context: Context) -> None:
        self._engine = engine
        self._context = context
        self._kept: tuple[str, Handle] | None = None

    def take(self, workload: Workload) -> float:
        """One sample."""
        run: Callable[[Workload, Any], float] = getattr(self, workload.run)
        return run(workload, workload.layout)

    def forget(self) -> None:
        """Close the array that was kept open between samples."""
        if self._kept is not None:
            self._engine.close(self._kept[1])
            self._kept = None

    # --- preparation, outside of all samples ---

    def prepare(self, layout: Layout) -> None:
        """Make the array that reading workloads read, once."""
        base = self._context.base(layout)
        done = base.with_name(base.name + ".done")
        if done.exists():
            return
        array = self._engine.create(base, layout)
        self._engine.set(array, Ellipsis, self._values(layout))
        self._engine.finish(array)
        self._engine.close(array)
        done.touch()

    def prepare_group(self, version: int, *, consolidated: bool) -> None:
        """Make the group that the listing workloads list, once."""
        base = self._context.group(version, consolidated=consolidated)
        done = base.with_name(base.name + ".done")
        if done.exists():
            return
        self._engine.group_create(base, self._context.sizes.arrays, version)
        if consolidated:
            self._engine.group_consolidate(base, version)
        done.touch()

    # --- reading ---

    def full_read(self, _: Workload, layout: Layout) -> float:
        array = self._opened(layout)
        start = perf_counter()
        got = self._engine.get(array, Ellipsis)
        taken = perf_counter() - start
        self._context.check(got, self._context.values.mapped(layout.shape))
        return taken

    def boxes(self, workload: Workload, layout: Layout) -> float:
        return self._read_boxes(self._opened(layout), layout, box_origins(workload), workload.options["box"])

    def inner_chunks(self, workload: Workload, layout: Layout) -> float:
        return self._read_boxes(self._opened(layout), layout, inner_origins(workload), layout.chunks)

    def strided(self, _: Workload, layout: Layout) -> float:
        selection = (slice(None, None, 7), slice(None, None, 3))
        return self._read_once(self._engine.get, layout, selection)

    def plane(self, workload: Workload, layout: Layout) -> float:
        array = self._opened(layout)
        got: Floats | None = None
        start = perf_counter()
        for at in workload.options["at"]:
            got = self._engine.get(array, (slice(None), at, slice(None)))
        taken = perf_counter() - start
        self._context.check(got, self._context.values.mapped(layout.shape)[:, workload.options["at"][-1], :])
        return taken

    def oindex_rows(self, workload: Workload, layout: Layout) -> float:
        rows = np.random.default_rng(3).integers(0, layout.shape[0], workload.options["n"])
        return self._read_once(self._engine.oindex, layout, (rows, slice(None)))

    def row_mask(self, _: Workload, layout: Layout) -> float:
        mask = np.random.default_rng(4).random(layout.shape[0]) < 0.1
        return self._read_once(self._engine.oindex, layout, (mask, slice(None)))

    def nd_mask(self, _: Workload, layout: Layout) -> float:
        return self._read_once(self._engine.mask, layout, np.random.default_rng(5).random(layout.shape) < 0.01)

    def vindex(self, workload: Workload, layout: Layout) -> float:
        rng = np.random.default_rng(6)
        points = tuple(rng.integers(0, size, workload.options["n"]) for size in layout.shape)
        return self._read_once(self._engine.vindex, layout, points)

    def threads(self, workload: Workload, layout: Layout) -> float:
        array = self._opened(layout)
        shares = thread_boxes(workload)

        def read(boxes: list[Selection]) -> Floats:
            for box in boxes[:-1]:
                self._engine.get(array, box)
            return self._engine.get(array, boxes[-1])

        with ThreadPoolExecutor(len(shares)) as pool:
            start = perf_counter()
            got = list(pool.map(read, shares))
            taken = perf_counter() - start
        for values, boxes in zip(got, shares, strict=True):
            self._context.check(values, self._context.values.mapped(layout.shape)[boxes[-1]])
        return taken

    def read_unwritten(self, _: Workload, layout: Layout) -> float:
        array = self._once("unwritten", lambda: self._engine.create(self._context.out / "unwritten", layout))
        start = perf_counter()
        got = self._engine.get(array, Ellipsis)
        taken = perf_counter() - start
        self._context.check(got[::9, ::9, ::9].any(), expected=False)
        return taken

    # --- writing ---

    def full_write(self, _: Workload, layout: Layout) -> float:
        base, values = self._context.out / "written", self._values(layout)
        array = self._engine.create(base, layout)
        start = perf_counter()
        self._engine.set(array, Ellipsis, values)
        self._engine.finish(array)
        taken = perf_counter() - start
        if self._context.verify:
            self._context.check(self._engine.get(self._engine.open(base, layout), Ellipsis), values)
        return taken

    def box_writes(self, workload: Workload, layout: Layout) -> float:
        box: tuple[int, ...] = workload.options["box"]
        values = np.full(box, 1.5, np.float32)
        return self._write_boxes(layout, [box_at(origin, box) for origin in box_origins(workload)], values)

    def inner_writes(self, workload: Workload, layout: Layout) -> float:
        values = np.random.default_rng(1).random(layout.chunks).astype(np.float32)
        return self._write_boxes(layout, [box_at(o, layout.chunks) for o in inner_origins(workload)], values)

    def append(self, workload: Workload, layout: Layout) -> float:
        count = workload.options["n"]
        block = np.ones((1, *layout.shape[1:]), np.float32)
        array = self._engine.create(self._context.out / "appended", layout)
        start = perf_counter()
        for _ in range(count):
            array = self._engine.append(array, block)
        taken = perf_counter() - start
        self._context.check(array.shape, (count, *layout.shape[1:]))
        return taken

    # --- in memory ---

    def memory_boxes(self, workload: Workload, layout: Layout) -> float:
        return self._read_boxes(self._in_memory(layout), layout, box_origins(workload), workload.options["box"])

    def memory_read(self, _: Workload, layout: Layout) -> float:
        array = self._in_memory(layout)
        start = perf_counter()
        got = self._engine.get(array, Ellipsis)
        taken = perf_counter() - start
        self._context.check(got, self._context.values.mapped(layout.shape))
        return taken

    # --- metadata ---

    def open(self, workload: Workload, layout: Layout) -> float:
        base = self._context.base(layout)
        start = perf_counter()
        for _ in range(workload.options["n"]):
            self._engine.open(base, layout)
        return perf_counter() - start

    def open_repr(self, workload: Workload, layout: Layout) -> float:
        base = self._context.base(layout)
        start = perf_counter()
        for _ in range(workload.options["n"]):
            repr(self._engine.open(base, layout))
        return perf_counter() - start

    def group_list(self, workload: Workload, _: None) -> float:
        version, consolidated = workload.options["version"], workload.options["consolidated"]
        base = self._context.group(version, consolidated=consolidated)
        start = perf_counter()
        shapes = self._engine.group_list(base, version, consolidated=consolidated)
        taken = perf_counter() - start
        if len(shapes) != self._context.sizes.arrays or set(map(tuple, shapes.values())) != {(10,)}:
            raise WrongData(f"listed {len(shapes)} arrays")
        return taken

    def group_create(self, workload: Workload, _: None) -> float:
        base = self._context.out / "group"
        shutil.rmtree(base, ignore_errors=True)
        start = perf_counter()
        self._engine.group_create(base, self._context.sizes.arrays, workload.options["version"])
        return perf_counter() - start

    # --- shared ---

    def _values(self, layout: Layout) -> Floats:
        values = self._context.values.held(layout.shape)
        return values.astype(layout.dtype, copy=False) if layout.version == 2 else values

    def _once(self, name: str, make: Callable[[], Handle]) -> Handle:
        if self._kept is None or self._kept[0] != name:
            self.forget()
            self._kept = (name, make())
        return self._kept[1]

    def _opened(self, layout: Layout) -> Handle:
        return self._once(layout.name, lambda: self._engine.open(self._context.base(layout), layout))

    def _in_memory(self, layout: Layout) -> Handle:
        values = self._context.values
        return self._once(
            f"memory {layout.name}",
            lambda: self._engine.memory(layout, np.ascontiguousarray(values.mapped(layout.shape))),
        )

    def _writable(self, layout: Layout) -> Handle:
        """A copy that only this engine writes to."""

        def make() -> Handle:
            array = self._engine.create(self._context.out / "rewritten", layout)
            self._engine.set(array, Ellipsis, self._values(layout))
            return array

        return self._once(f"rewritten {layout.name}", make)

    def _read_once(self, read: Callable[[Handle, Any], Floats], layout: Layout, selection: Any) -> float:
        array = self._opened(layout)
        start = perf_counter()
        got = read(array, selection)
        taken = perf_counter() - start
        self._context.check(got, self._context.values.mapped(layout.shape)[selection])
        return taken

    def _read_boxes(
        self, array: Handle, layout: Layout, origins: Sequence[tuple[int, ...]], box: tuple[int, ...]
    ) -> float:
        read = self._engine.get
        # One element is asked for by its indices, as people do.
        selections = [origin if set(box) == {1} else box_at(origin, box) for origin in origins]
        for selection in selections[:3] if self._context.verify else []:
            self._context.check(read(array, selection), self._context.values.mapped(layout.shape)[selection])
        start = perf_counter()
        for selection in selections:
            read(array, selection)
        return perf_counter() - start

    def _write_boxes(self, layout: Layout, selections: list[Selection], values: Floats) -> float:
        array = self._writable(layout)
        start = perf_counter()
        for selection in selections:
            self._engine.set(array, selection, values)
        taken = perf_counter() - start
        self._context.check(self._engine.get(array, selections[-1]), values)
        return taken
