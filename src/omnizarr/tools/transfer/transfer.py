"""Moving values from one array into another of the same shape, with no more memory than was granted.

The target is filled in regions made of whole keys of its own, so that no key is read back or written twice. Where that
would decode the chunks of the source again and again, the values take two steps: first in regions made of whole chunks
of the source into uncompressed chunks of a scratch array, then from there into the target. A scratch chunk is what a
region of the first step and one of the second have in common.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from omnizarr.array.index import Selection
from omnizarr.array.io import Access
from omnizarr.errors import LimitError, ShapeError
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import Codec
from omnizarr.model.dtype import DType
from omnizarr.model.grid import RegularGrid
from omnizarr.model.keys import default_keys
from omnizarr.native import Block
from omnizarr.store.file import FileStore
from omnizarr.store.protocol import Store
from omnizarr.tools.transfer.effort import decode_cost, reader_bytes, unit_of, writer_bytes
from omnizarr.tools.transfer.regions import Cut, Region, amplification, choose

if TYPE_CHECKING:
    import numpy.typing as npt

MEMORY = 512 << 20
"""The memory that a transfer may use unless it is told otherwise."""

_ENOUGH = 64 << 20
"""A region of so many bytes keeps all threads busy; larger ones pay only where they save reading."""

_VARIABLE_BYTES = 256
"""What one value of variable length is taken to need, where nothing better is known."""

_TRIP = 1.4
"""The cost of a byte's way through the scratch array; decoding one of zstd costs 1."""

_FILE = 100_000
"""The cost of a scratch chunk beyond that of its bytes, in bytes."""

SCRATCH = "scratch"
"""The path of the scratch array in its store."""


class Stage(NamedTuple):
    """One pass over all values."""

    cut: Cut
    peak: int
    """The memory that it needs at most, in bytes, about."""

    amplification: float
    """How many bytes are decoded for one that is moved."""


class Plan(NamedTuple):
    """How values will be moved."""

    stages: tuple[Stage, ...]
    scratch: ArrayMeta | None
    """The array between the two stages, if there are two."""

    dtype: DType
    element: int
    """Bytes of an element in memory, about."""

    @property
    def total(self) -> int:
        """The number of regions of all stages."""
        return sum(stage.cut.total for stage in self.stages)

    @property
    def nbytes(self) -> int:
        """The bytes that all regions hold: those of the array, once for each stage."""
        return sum(prod(stage.cut.shape) * self.element for stage in self.stages)

    @property
    def peak(self) -> int:
        """The memory that moving needs at most, in bytes, about."""
        return max(stage.peak for stage in self.stages)


def plan_transfer(
    source: ArrayMeta,
    target: ArrayMeta,
    *,
    memory: int = MEMORY,
    threads: int | None = None,
    element_bytes: int | None = None,
) -> Plan:
    """Plan how to move all values of one array into another.

    Args:
        source: The array to read.
        target: The array to write, of the same shape.
        memory: Bytes that regions and the kernel's buffers may take up together, beyond what the process has now.
        threads: How many threads the kernel works with; None stands for one on each processor.
        element_bytes: The average size of a value of variable length.

    Raises:
        ShapeError: The shapes differ.
        LimitError: Not even one key of the target can be made with so little memory.
    """
    if source.shape != target.shape:
        raise ShapeError(f"an array of shape {source.shape} cannot be moved into one of {target.shape}")
    room = _Room(source, target, memory, threads or _processors(), element_bytes)
    direct = room.direct()
    if direct is None:
        needed = room.needed()
        raise LimitError(
            f"one key of the target needs {needed} bytes of memory, and {memory} are granted",
            hint=f"Grant {(needed >> 20) + 1} MiB, or choose smaller chunks or shards.",
        )
    if direct.amplification > 1 and not source.dtype.vlen:
        through = room.through()
        if through is not None and through[1] < room.cost(direct.cut):
            return through[0]
    return Plan((direct,), None, source.dtype, room.element)


class _Room:
    """What the choices of one plan have in common."""

    def __init__(
        self, source: ArrayMeta, target: ArrayMeta, memory: int, threads: int, element_bytes: int | None
    ) -> None:
        self.source = source
        self.target = target
        self.memory = memory
        self.threads = threads
        dtype = source.dtype
        self.element = (element_bytes or _VARIABLE_BYTES) + 64 if dtype.vlen else dtype.itemsize
        # What has to be cast, or freed of padding, is in memory twice.
        same = dtype.numpy == target.dtype.numpy and dtype.numpy.names is None
        self.copies = 1 if same or dtype.vlen else 2
        self.cells = source.cells.longest
        self.unit = unit_of(source)

    def direct(self) -> Stage | None:
        """Regions of the target, read from the source."""
        buffers = self._buffers(reader_bytes(self.source, self.element), writer_bytes(self.target, self.element))
        return self._stage(self.target, self.unit, buffers)

    def through(self) -> tuple[Plan, float] | None:
        """Two stages and what they cost; None if there is no room, or the source is cut unevenly."""
        if not isinstance(self.source.cells, RegularGrid):
            return None
        cells = self.source._replace(grid=self.source.cells)
        reading, writing = reader_bytes(self.source, self.element), writer_bytes(self.target, self.element)
        size = prod(self.source.shape) * self.element
        for share in range(7, 0, -1):
            most = self.memory * share // 8 // (self.element * self.copies)
            last = choose(self.target.shape, self.target.grid, self.cells, most, most)
            first = last and choose(cells.shape, cells.grid, last.largest, most, most)
            if last is None or first is None:
                return None
            chunk = _scratch_chunk(first, last.largest)
            piece = prod(chunk) * self.element
            peaks = (
                self._region(first) + self._buffers(reading, piece),
                self._region(last) + self._buffers(max(reading, piece), max(piece, writing)),
            )
            if max(peaks) <= self.memory:
                grid = RegularGrid(chunk)
                stages = (Stage(first, peaks[0], 1.0), Stage(last, peaks[1], 1.0))
                cost = size * (decode_cost(self.source) + _TRIP) + prod(grid.counts(cells.shape)) * _FILE
                scratch = ArrayMeta(cells.shape, cells.dtype, grid, default_keys(), cells.fill, (_PLAIN,))
                return Plan(stages, scratch, cells.dtype, self.element), cost
        return None

    def cost(self, cut: Cut) -> float:
        """What reading the source in such regions costs."""
        size = prod(self.source.shape) * self.element
        whole = amplification(cut.shape, cut.largest, self.cells)
        part = amplification(cut.shape, cut.largest, self.unit)
        # Even where a chunk is decoded in part, what is stored of it is mostly read as a whole.
        fetch = 0.1 if self.unit != self.cells and decode_cost(self.source) > decode_cost(None) else 0.0
        return size * (part * decode_cost(self.source) + whole * fetch)

    def needed(self) -> int:
        """The memory that the smallest region takes."""
        key = prod(map(min, self.target.grid.longest, self.target.shape)) * self.element * self.copies
        return key + self._buffers(reader_bytes(self.source, self.element), writer_bytes(self.target, self.element))

    def _stage(self, made_of: ArrayMeta, chunks: tuple[int, ...], buffers: int) -> Stage | None:
        element = self.element * self.copies
        cut = choose(made_of.shape, made_of.grid, chunks, max(0, self.memory - buffers) // element, _ENOUGH // element)
        if cut is None:
            return None
        if 0 in cut.shape:
            return Stage(cut, 0, 1.0)
        return Stage(cut, self._region(cut) + buffers, amplification(cut.shape, cut.largest, chunks))

    def _region(self, cut: Cut) -> int:
        return prod(cut.largest) * self.element * self.copies

    def _buffers(self, reading: int, writing: int) -> int:
        # A thread reads first and writes later, and keeps the buffers of both.
        return self.threads * (reading + writing)


_PLAIN = Codec("bytes", {"endian": "little"})


def _scratch_chunk(cut: Cut, region: tuple[int, ...]) -> tuple[int, ...]:
    """Give scratch chunks of which regions of the first stage are made, no longer than those of the second."""
    chunk: list[int] = []
    for size, one, other in zip(cut.shape, cut.largest, region, strict=True):
        if one >= size or one <= other:
            chunk.append(max(1, min(one, other)))
            continue
        parts = next(parts for parts in range(-(-one // other), one + 1) if one % parts == 0)
        # Lengths that cannot be divided well are kept: scratch chunks can be read in part.
        chunk.append(one if one // parts * 4 < other else one // parts)
    return tuple(chunk)


def _processors() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def run_transfer(
    plan: Plan,
    source: Access,
    target: Access,
    *,
    scratch: Store | None = None,
    done: int = 0,
    on_region: Callable[[int, int], None] | None = None,
) -> None:
    """Move all values as planned.

    Args:
        plan: What `plan_transfer` made for these two arrays.
        source: The array to read.
        target: The array to write.
        scratch: Where the scratch array is kept if the plan has two stages; whoever gives it erases it, once nobody
            will go on from an earlier region. None stands for a temporary directory, in which nothing is left for a
            transfer that is resumed.
        done: How many regions an earlier run has finished.
        on_region: Called after each region with the number of regions that are done and the bytes that it held.
    """
    move = _Mover(plan, done, on_region)
    if plan.scratch is None:
        move(0, source, target, done)
        return
    first = plan.stages[0].cut.total
    if done >= plan.total:
        return
    with _temporary() if scratch is None else nullcontext(scratch) as place:
        between = Access(place, SCRATCH, plan.scratch)
        if done < first or scratch is None:
            move(0, source, between, done if scratch is not None else 0)
        move(1, between, target, max(0, done - first))


@contextmanager
def _temporary() -> Generator[FileStore]:
    """Lend a store in a temporary directory, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="omnizarr-") as folder:
        yield FileStore(folder)


class _Mover:
    """Moves the values of a stage, in memory that all regions share."""

    def __init__(self, plan: Plan, done: int, on_region: Callable[[int, int], None] | None) -> None:
        self._plan = plan
        self._done = done
        self._tell = on_region
        largest = max(prod(stage.cut.largest) for stage in plan.stages)
        # Large pages, where the system has them, and none that is faulted in again for each region.
        self._block = None if plan.dtype.vlen else Block(largest * plan.dtype.itemsize)

    def __call__(self, number: int, source: Access, target: Access, first: int) -> None:
        cut = self._plan.stages[number].cut
        before = sum(stage.cut.total for stage in self._plan.stages[:number])
        for index, region in enumerate(cut.regions(first), first + 1):
            found = _selection(region)
            target.write(found, self._values(source, found))
            if self._tell is not None:
                self._tell(max(self._done, before + index), prod(found.counts) * self._plan.element)

    def _values(self, source: Access, found: Selection) -> object:
        if self._block is None:
            values: object = source.read(found)
            return values
        # NumPy's stubs list the types with a buffer that they know of.
        out: npt.NDArray[Any] = np.ndarray(found.shape, self._plan.dtype.numpy, cast("memoryview", self._block))
        source.read_into(found, out)
        return out


def move_region(plan: Plan, stage: int, source: Access, target: Access, number: int) -> int:
    """Move one region of a stage by its number, and return the bytes that it held.

    Whole keys are written, so this can be done any number of times, and regions in any order.
    """
    found = _selection(plan.stages[stage].cut.region(number))
    target.write(found, source.read(found))
    return prod(found.counts) * plan.element


def _selection(region: Region) -> Selection:
    counts = tuple(length for _, length in region)
    return Selection([(start, 1, length) for start, length in region], counts, counts, (), None)
