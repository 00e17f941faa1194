"""Samples of the limit kernel: the same files and selections, with no library in between."""

from __future__ import annotations

import ctypes
import itertools
import json
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bench.context import Context, box_origins, inner_origins, thread_boxes
from bench.engines.base import Unsupported, array_path
from bench.layout import Layout, small_array
from bench.limit import build
from bench.workloads import Workload

THREADS = 2
_CODECS = {"none": 0, "blosc": 1, "zstd": 2, "gzip": 3, "zlib": 4}
_LEVELS = {"gzip": 5, "zlib": 5}
Box = tuple[tuple[int, ...], tuple[int, ...]]
"""Origin and extent."""


class LimitSamples:
    """What the race asks of an engine, answered by the kernel where it can."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._kernel = build.load()

    def version(self) -> str:
        """What the table prints."""
        return f"C kernel, {THREADS} threads"

    def forget(self) -> None:
        """Nothing is kept open."""

    def take(self, workload: Workload) -> float:
        """One sample."""
        run: Callable[[Workload, Any], float] | None = getattr(self, workload.run, None)
        if run is None:
            raise Unsupported
        return run(workload, workload.layout)

    def cold(self, layout: Layout) -> str:
        """A program that starts Python, imports NumPy and reads one document."""
        return f"import json, numpy; json.load(open({str(array_path(self._context.base(layout)) / 'zarr.json')!r}))"

    # --- arrays ---

    def full_read(self, _: Workload, layout: Layout) -> float:
        start = perf_counter()
        out = np.empty(layout.shape, np.float32)
        self._array(str(array_path(self._context.base(layout))), layout, out, write=False)
        taken = perf_counter() - start
        self._context.check(out, self._context.values.mapped(layout.shape))
        return taken

    def full_write(self, _: Workload, layout: Layout) -> float:
        base = self._context.out / "written"
        shutil.rmtree(base, ignore_errors=True)
        base.mkdir()
        values = self._context.values.held(layout.shape)
        start = perf_counter()
        self._array(str(array_path(base)), layout, values, write=True)
        taken = perf_counter() - start
        if self._context.verify:
            back = np.empty_like(values)
            self._array(str(array_path(base)), layout, back, write=False)
            self._context.check(back, values)
        return taken

    def touch_all(self, _: Workload, layout: Layout) -> float:
        """Selections that touch nearly every chunk: decode each once into memory that is there; selecting is free."""
        out = np.full(layout.shape, 0, np.float32)
        start = perf_counter()
        self._array(str(array_path(self._context.base(layout))), layout, out, write=False)
        return perf_counter() - start

    strided = oindex_rows = row_mask = nd_mask = vindex = touch_all

    def read_unwritten(self, _: Workload, layout: Layout) -> float:
        start = perf_counter()
        np.empty(layout.shape, np.float32).fill(0)
        return perf_counter() - start

    def boxes(self, workload: Workload, layout: Layout) -> float:
        box: tuple[int, ...] = workload.options["box"]
        return self._boxes(layout, [(origin, box) for origin in box_origins(workload)], threads=1)

    def plane(self, workload: Workload, layout: Layout) -> float:
        depth, _, width = layout.shape
        return self._boxes(layout, [((0, at, 0), (depth, 1, width)) for at in workload.options["at"]], THREADS)

    def threads(self, workload: Workload, layout: Layout) -> float:
        boxes = [box for share in thread_boxes(workload) for box in share]
        return self._boxes(layout, [(tuple(part.start for part in box), (64, 64, 64)) for box in boxes], THREADS)

    def inner_chunks(self, workload: Workload, layout: Layout) -> float:
        origins = inner_origins(workload)
        out = np.empty(layout.chunks, np.float32)
        with _Integers() as ints:
            return _seconds(
                self._kernel.limit_inner(
                    str(array_path(self._context.base(layout))).encode(),
                    len(layout.shape),
                    ints(layout.shape),
                    ints(layout.grid),
                    ints(layout.chunks),
                    _CODECS[layout.codec],
                    len(origins),
                    ints(origins),
                    _address(out),
                )
            )

    # --- metadata ---

    def open(self, workload: Workload, layout: Layout) -> float:
        document = array_path(self._context.base(layout)) / ("zarr.json" if layout.version == 3 else ".zarray")
        return _seconds(self._kernel.limit_open(str(document).encode(), workload.options["n"]))

    def group_list(self, workload: Workload, _: None) -> float:
        version, consolidated = workload.options["version"], workload.options["consolidated"]
        base = self._context.group(version, consolidated=consolidated)
        if consolidated:
            document = base / ("zarr.json" if version == 3 else ".zmetadata")
            return _seconds(self._kernel.limit_scan(str(document).encode()))
        count = ctypes.c_int64()
        document_name = b"zarr.json" if version == 3 else b".zarray"
        taken = _seconds(self._kernel.limit_list(str(base).encode(), document_name, ctypes.byref(count)))
        self._context.check(count.value, self._context.sizes.arrays)
        return taken

    def group_create(self, _: Workload, __: None) -> float:
        base = self._context.out / "group"
        shutil.rmtree(base, ignore_errors=True)
        document = json.dumps(small_array(3).v3_document(), indent=2).encode()
        chunk = np.arange(10, dtype=np.float32).tobytes()
        create = self._kernel.limit_create
        sizes = ctypes.c_int64(len(document)), ctypes.c_int64(len(chunk))
        return _seconds(create(str(base).encode(), self._context.sizes.arrays, document, sizes[0], chunk, sizes[1]))

    # --- the machine ---

    def memory_speed(self) -> dict[str, float]:
        """GB/s of copying and of touching fresh memory: what no reader can beat."""
        source = self._context.values.held(self._context.sizes.cube)
        target = np.full_like(source, 0)
        size = ctypes.c_size_t(source.nbytes)
        kernel, gigabytes = self._kernel, source.nbytes / 1e9
        speeds = {
            f"memcpy, {n} thread{'s' if n > 1 else ''}": gigabytes
            / min(kernel.limit_memcpy(_address(target), _address(source), size, n) for _ in range(9))
            for n in (1, THREADS)
        }
        for name, huge in (("touch fresh memory, 4 KB pages", 0), ("touch fresh memory, 2 MB pages", 1)):
            speeds[name] = gigabytes / min(kernel.limit_fault(size, huge) for _ in range(5))
        return speeds

    # --- shared ---

    def _array(self, path: str, layout: Layout, array: NDArray[np.float32], *, write: bool) -> None:
        if layout.order == "F":
            raise Unsupported
        with _Integers() as ints:
            error = self._kernel.limit_array(
                path.encode(),
                layout.version,
                len(layout.shape),
                ints(layout.shape),
                ints(layout.grid),
                ints(layout.chunks) if layout.shards else None,
                _CODECS[layout.codec],
                _LEVELS.get(layout.codec, 3),
                THREADS,
                int(layout.endian == "big"),
                _address(array),
                int(write),
            )
        if error:
            raise RuntimeError(f"the limit kernel failed with {error}")

    def _boxes(self, layout: Layout, boxes: list[Box], threads: int) -> float:
        """Read boxes, cut along the borders of chunks."""
        pieces = [piece for box in boxes for piece in _cut(box, layout.chunks)]
        path = str(array_path(self._context.base(layout))).encode()

        def read(share: list[Box]) -> float:
            out = np.empty(layout.chunks, np.float32)
            with _Integers() as ints:
                return _seconds(
                    self._kernel.limit_boxes(
                        path,
                        layout.version,
                        len(layout.shape),
                        ints(layout.shape),
                        ints(layout.chunks),
                        _CODECS[layout.codec],
                        len(share),
                        ints([origin for origin, _ in share]),
                        ints([extent for _, extent in share]),
                        _address(out),
                    )
                )

        if threads == 1:
            return read(pieces)
        with ThreadPoolExecutor(threads) as pool:
            return max(pool.map(read, [pieces[i::threads] for i in range(threads)]))


class _Integers:
    """Arrays of int64 for C, kept alive until the call is over."""

    def __enter__(self) -> Self:
        self._kept: list[NDArray[np.int64]] = []
        return self

    def __exit__(self, *_: object) -> None:
        self._kept.clear()

    def __call__(self, values: Sequence[Any]) -> Any:
        array = np.ascontiguousarray(values, dtype=np.int64)
        self._kept.append(array)
        return array.ctypes.data_as(ctypes.POINTER(ctypes.c_int64))


def _address(array: NDArray[np.float32]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _seconds(taken: float) -> float:
    if taken < 0:
        raise RuntimeError(f"the limit kernel failed with {taken}")
    return taken


def _cut(box: Box, chunks: tuple[int, ...]) -> list[Box]:
    per_axis = []
    for start, size, chunk in zip(*box, chunks, strict=True):
        borders = [start, *range((start // chunk + 1) * chunk, start + size, chunk), start + size]
        per_axis.append([(low, high - low) for low, high in itertools.pairwise(borders)])
    return [
        (tuple(low for low, _ in parts), tuple(extent for _, extent in parts)) for parts in itertools.product(*per_axis)
    ]
