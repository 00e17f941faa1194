"""Faults that are no input but an event: what changes while it is read, and writers that meet."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ConflictError, OmnizarrError, StoreError
from omnizarr.store.fault import Fault, FaultStore

VALUES = np.arange(64, dtype="i4")


@pytest.fixture
def shard(tmp_path):
    """One shard of eight chunks, compressed, so that another has its chunks at other places."""
    array = oz.create_array(tmp_path / "a", shape=(64,), chunks=(8,), shards=(64,), dtype="i4", codecs="zstd")
    array[...] = VALUES
    return tmp_path / "a"


def test_f15_a_shard_that_is_rewritten_between_its_index_and_its_chunks(shard):
    reader = oz.open_array(shard)
    assert reader[0] == 0  # the index is known from here on
    for turn in range(1, 20):
        oz.open_array(shard, "r+")[...] = np.random.default_rng(turn).integers(0, 1 << turn, 64).astype("i4")
        np.testing.assert_array_equal(reader[8:16], oz.open_array(shard)[8:16])
    (shard / "c/0").unlink()
    np.testing.assert_array_equal(reader[8:16], np.zeros(8, "i4"))


def test_f15_a_shard_that_is_always_rewritten(shard):
    """Each read is of one state, or an error that says so."""
    states = [np.full(64, value, "i4") for value in range(2)]
    stop = threading.Event()

    def write() -> None:
        writer = oz.open_array(shard, "r+")
        while not stop.is_set():
            for state in states:
                writer[...] = state

    writing = threading.Thread(target=write)
    oz.open_array(shard, "r+")[...] = states[0]
    writing.start()
    try:
        reader = oz.open_array(shard)
        for _ in range(300):
            try:
                got = reader[...]
            except ConflictError:
                continue
            assert len(set(got.tolist())) == 1
    finally:
        stop.set()
        writing.join()


@pytest.mark.parametrize("op", ["put", "get", "read", "write"])
@pytest.mark.parametrize(
    "number", [28, 122, 5, 24, 13, 30], ids=["ENOSPC", "EDQUOT", "EIO", "EMFILE", "EACCES", "EROFS"]
)
def test_f32_a_failure_of_the_system_is_told_and_leaves_what_was(tmp_path, op, number):
    """The system's number arrives with the key, and old values stay."""
    oz.create_array(tmp_path / "a", shape=(8,), chunks=(4,), dtype="i4")[...] = 7
    inner = oz.FileStore(tmp_path / "a")
    for nth in range(1, 4):
        store = FaultStore(inner, Fault(kind=op, at=nth, errno=number))
        raised = None
        try:
            oz.open_array(store, "r+")[...] = 9
        except OmnizarrError as error:
            raised = error
        if store.fired:
            assert isinstance(raised, StoreError)
            assert raised.errno == number
            assert raised.key
        got = set(oz.open_array(tmp_path / "a")[...].tolist())
        assert got <= {7, 9}
        oz.open_array(tmp_path / "a", "r+")[...] = 7
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.name not in ("zarr.json", "0", "1")]


def test_f35_writers_that_meet_in_one_shard(tmp_path):
    place = tmp_path / "a"
    oz.create_array(place, shape=(32,), chunks=(4,), shards=(32,), dtype="i4")[...] = 0

    def add(at: int) -> None:
        array = oz.open_array(place, "r+")
        for turn in range(20):
            array[at] = turn + 1

    threads = [threading.Thread(target=add, args=(at,)) for at in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(oz.open_array(place)[...], np.full(32, 20))


def test_f36_a_reader_meets_no_half_a_chunk(tmp_path):
    place = tmp_path / "a"
    writer = oz.create_array(place, shape=(50_000,), chunks=(50_000,), dtype="i4", codecs=None)
    writer[...] = 0
    stop = threading.Event()

    def write() -> None:
        value = 0
        while not stop.is_set():
            value += 1
            writer[...] = value

    writing = threading.Thread(target=write)
    writing.start()
    try:
        reader = oz.open_array(place)
        for _ in range(200):
            got = reader[...]
            assert got[0] == got[-1]
            assert (got == got[0]).all()
    finally:
        stop.set()
        writing.join()
