"""Values that move between arrays of different chunks: what comes out, and in how much memory."""

from __future__ import annotations

import subprocess
import sys
from math import prod
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import omnizarr as oz
from omnizarr.array.io import Access
from omnizarr.errors import LimitError, ShapeError
from omnizarr.hierarchy.array import Array
from omnizarr.model.grid import RectilinearGrid, RegularGrid
from omnizarr.store.memory import MemoryStore
from omnizarr.store.observe import CountingStore
from omnizarr.tools.nodes import context_of
from omnizarr.tools.transfer.effort import unit_of
from omnizarr.tools.transfer.regions import Cut, amplification, choose, overlaps
from omnizarr.tools.transfer.transfer import Plan, plan_transfer, run_transfer

_CODECS = [
    [{"name": "bytes"}],
    [{"name": "bytes"}, {"name": "zstd", "configuration": {"level": 1}}],
    [{"name": "transpose", "configuration": {"order": "F"}}, {"name": "bytes"}, {"name": "gzip"}],
    None,
]


def access(array: Array, **options: bool) -> Access:
    return Access(context_of(array).store, array.path, array.metadata, **options)


def move(source: Array, target: Array, memory: int, **options: int) -> Plan:
    plan = plan_transfer(source.metadata, target.metadata, memory=memory, **options)
    run_transfer(plan, access(source), access(target), scratch=MemoryStore())
    return plan


@st.composite
def grids(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    chunks = tuple(draw(st.integers(1, size + 2)) for size in shape)
    if draw(st.booleans()):
        return chunks, None
    return chunks, tuple(chunk * draw(st.integers(1, 3)) for chunk in chunks)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Array, Array, int]:
    shape = tuple(draw(st.lists(st.integers(0, 12), max_size=3)))
    made = []
    for _ in range(2):
        chunks, shards = draw(grids(shape))
        codecs = None if shards else draw(st.sampled_from(_CODECS))
        if codecs and codecs[0]["name"] == "transpose":
            order = list(reversed(range(len(shape))))
            codecs = [{"name": "transpose", "configuration": {"order": order}}, *codecs[1:]]
        made.append(oz.create_array({}, shape=shape, dtype="<i2", chunks=chunks, shards=shards, codecs=codecs))
    return made[0], made[1], draw(st.integers(100, 20_000))


@given(cases(), st.randoms())
@settings(max_examples=150, deadline=None)
def test_values_arrive_within_the_memory(case, random) -> None:  # type: ignore[no-untyped-def]
    source, target, memory = case
    values = np.array([random.randrange(-9, 9) for _ in range(source.size)], "<i2").reshape(source.shape)
    source[...] = values
    target[...] = 7
    try:
        plan = move(source, target, memory, threads=1)
    except LimitError as error:
        assert "MiB" in (error.hint or "")  # noqa: PT017 - either outcome is right
        return
    assert np.array_equal(target[...], values)
    assert plan.peak <= memory
    for stage in plan.stages:
        lengths = [[length for _, length in region] for region in stage.cut.regions()]
        assert all(prod(region) * 2 <= memory for region in lengths)
        assert sum(map(prod, lengths)) == source.size


def bulk(dtype: str = "<f4", codecs: object = None) -> tuple[Array, Array]:
    """Chunks of whole planes and chunks of columns, such as no region has room for at once."""
    source = oz.create_array({}, shape=(64, 64, 64), dtype=dtype, chunks=(1, 64, 64), codecs=codecs)
    target = oz.create_array({}, shape=(64, 64, 64), dtype=dtype, chunks=(64, 4, 4))
    source[...] = np.arange(64**3).reshape(64, 64, 64)
    return source, target


def test_planes_into_columns_take_two_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omnizarr.tools.transfer.transfer._FILE", 100)
    source, target = bulk()
    plan = move(source, target, 250_000, threads=2)
    assert len(plan.stages) == 2
    assert plan.peak <= 250_000
    assert plan.stages[0].amplification == 1
    assert np.array_equal(target[...], source[...])


def test_a_stopped_transfer_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omnizarr.tools.transfer.transfer._FILE", 100)
    source, target = bulk()
    plan = plan_transfer(source.metadata, target.metadata, memory=250_000, threads=2)
    assert len(plan.stages) == 2
    for stop in (1, plan.stages[0].cut.total, plan.total - 1):
        scratch = MemoryStore()
        target[...] = 0

        def give_up(done: int, _nbytes: int, stop: int = stop) -> None:
            if done == stop:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run_transfer(plan, access(source), access(target), scratch=scratch, on_region=give_up)
        told: list[int] = []
        run_transfer(
            plan,
            access(source),
            access(target),
            scratch=scratch,
            done=stop,
            on_region=lambda n, _, told=told: told.append(n),
        )
        assert told == list(range(stop + 1, plan.total + 1))
        assert np.array_equal(target[...], source[...])
        assert list(scratch.list_prefix(""))  # for whoever goes on from an older note


@pytest.mark.parametrize("done", [0, 3])
def test_without_a_place_for_scratch_a_temporary_one_is_used(done: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omnizarr.tools.transfer.transfer._FILE", 100)
    source, target = bulk()
    plan = plan_transfer(source.metadata, target.metadata, memory=250_000, threads=2)
    assert plan.scratch is not None
    run_transfer(plan, access(source), access(target), done=done)
    assert np.array_equal(target[...], source[...])


def test_missing_chunks_stay_missing() -> None:
    source = oz.create_array({}, shape=(40, 40), dtype="f8", chunks=(4, 40), fill_value=np.nan)
    target = oz.create_array({}, shape=(40, 40), dtype="f8", chunks=(8, 8), fill_value=np.nan)
    source[:8] = 1.0
    move(source, target, 1 << 20)
    assert access(target).kernel.stored()[0] == 5
    assert np.array_equal(target[...], source[...], equal_nan=True)


def test_no_key_is_written_twice() -> None:
    source, target = bulk()
    store = CountingStore(MemoryStore())
    counted = Access(store, "", target.metadata)
    plan = plan_transfer(source.metadata, target.metadata, memory=400_000, threads=2)
    assert plan.stages[-1].cut.total > 1
    run_transfer(plan, access(source), counted)
    assert store.operations["put"] == 256
    assert "get" not in store.operations


@pytest.mark.parametrize(("one", "other"), [("<f4", ">f4"), ("<i2", "<i4"), ("S3", "S5")])
def test_types_may_differ(one: str, other: str) -> None:
    source = oz.create_array({}, shape=(30, 20), dtype=one, chunks=(5, 20))
    target = oz.create_array({}, shape=(30, 20), dtype=other, chunks=(30, 4))
    source[...] = (np.arange(600) % 100).reshape(30, 20).astype(one)
    move(source, target, 8000, threads=1)
    assert np.array_equal(target[...], source[...].astype(other))


def test_strings_move_in_small_regions() -> None:
    source = oz.create_array({}, shape=(100, 30), dtype=str, chunks=(10, 30))
    target = oz.create_array({}, shape=(100, 30), dtype=str, chunks=(100, 5))
    source[...] = np.array([f"word {i}" for i in range(3000)], object).reshape(100, 30)
    plan = move(source, target, 1 << 20, threads=1)
    assert plan.total > 1
    assert np.array_equal(target[...], source[...])


def test_too_little_memory_is_refused_and_the_right_amount_named() -> None:
    source, target = bulk()
    with pytest.raises(LimitError, match=r"needs (\d+) bytes") as caught:
        plan_transfer(source.metadata, target.metadata, memory=1000)
    needed = int(str(caught.value).split("needs ")[1].split()[0])
    assert plan_transfer(source.metadata, target.metadata, memory=needed).peak <= needed


def test_shapes_must_agree() -> None:
    one = oz.create_array({}, shape=(3,), dtype="i4")
    with pytest.raises(ShapeError):
        plan_transfer(one.metadata, one.metadata._replace(shape=(4,)))


MEASURED = """
import resource, sys
import numpy as np
import omnizarr as oz
from omnizarr.array.io import Access
from omnizarr.tools.nodes import context_of
from omnizarr.tools.transfer.transfer import plan_transfer, run_transfer

codec = {"name": sys.argv[2], "configuration": {"level": 1} if sys.argv[2] == "zstd" else {"typesize": 4}}
options = {"shape": (96, 512, 512), "dtype": "<f4", "codecs": [{"name": "bytes"}, codec]}
source = oz.create_array(sys.argv[1] + "/a", chunks=(1, 512, 512), **options)
target = oz.create_array(sys.argv[1] + "/b", chunks=(96, 16, 16), **options)
plane = np.random.default_rng(0).integers(0, 999, (512, 512)).astype("f4")
for i in range(96):
    source[i] = plane + i
memory = 24 << 20
plan = plan_transfer(source.metadata, target.metadata, memory=memory)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
run_transfer(plan, *(Access(context_of(a).store, a.path, a.metadata) for a in (source, target)))
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert np.array_equal(target[:, :20, :20], source[:, :20, :20])
print(len(plan.stages), plan.total, (after - before) * 1024, memory)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the size of memory is told in other units")
@pytest.mark.parametrize(("codec", "stages"), [("zstd", 2), ("blosc", 1)])
def test_a_process_keeps_within_the_memory(tmp_path: Path, codec: str, stages: int) -> None:
    command = [sys.executable, "-c", MEASURED, str(tmp_path), codec]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    number, regions, grown, memory = map(int, told.split())
    assert (number, regions > 3) == (stages, True)
    # What the codecs' own states and the allocator take comes on top.
    assert grown <= memory + (8 << 20)


@given(st.integers(1, 60), st.integers(1, 20), st.integers(1, 20))
def test_overlaps_are_counted_right(size: int, one: int, other: int) -> None:
    pairs = {(i // one, i // other) for i in range(size)}
    assert overlaps(size, one, other) == len(pairs)


def test_uneven_chunks_are_never_cut() -> None:
    grid = RectilinearGrid((((10, 2), (25, 1), (1, 4)), 7))
    cut = Cut((49, 20), grid.edges, (2, 1))
    starts = sorted({region[0][0] for region in cut.regions()})
    assert starts == [0, 20, 46, 48]
    assert sum(a * b for (_, a), (_, b) in cut.regions()) == 49 * 20
    assert choose((49, 20), grid, (1, 20), 24 * 7, 10) is None
    assert choose((49, 20), grid, (1, 20), 25 * 20, 10) == Cut((49, 20), grid.edges, (1, 3))


def test_regions_grow_where_that_saves_reading() -> None:
    found = choose((512, 1024, 1024), RegularGrid((512, 16, 16)), (1, 1024, 1024), 50 << 20, 1 << 20)
    assert found is not None
    assert found.largest == (512, 96, 1024)
    assert amplification((512, 1024, 1024), found.largest, (1, 1024, 1024)) == 11


@pytest.mark.parametrize(
    ("codecs", "unit"),
    [
        (_CODECS[0], (1, 4, 1024)),
        (_CODECS[1], (1, 256, 1024)),
        ([{"name": "bytes"}, {"name": "blosc", "configuration": {"cname": "lz4"}}], (1, 64, 1024)),
    ],
)
def test_what_can_be_decoded_in_part(codecs: object, unit: tuple[int, ...]) -> None:
    array = oz.create_array({}, shape=(4, 256, 1024), dtype="f4", chunks=(1, 256, 1024), codecs=codecs)
    assert unit_of(array.metadata) == unit
