"""Chunks that reach beyond the array: what somebody else has put there, who knows that it has got longer, stays."""

from __future__ import annotations

import multiprocessing
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.errors import CorruptError

LAYOUTS = {
    "plain": {"chunks": (10,), "codecs": []},
    "compressed": {"chunks": (10,)},
    "shards": {"chunks": (2,), "shards": (10,)},
    "odd shards": {"chunks": (5,), "shards": (20,)},
    "v2": {"chunks": (10,), "format": "zarr2"},
    "order F": {"chunks": (10,), "format": "zarr2", "order": "F"},
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("where", ["folder", "memory"])
def test_what_was_appended_outlives_writers_of_the_old_shape(layout, where, tmp_path):
    place = tmp_path / "a" if where == "folder" else oz.MemoryStore()
    array = oz.create_array(place, shape=(15,), dtype="i4", **LAYOUTS[layout])
    array[...] = 1
    old = oz.open_array(place, "r+")
    array.append(np.full(5, 7, "i4"))
    old[10:15] = 2
    old[...] = 3
    assert oz.open(place)[...].tolist() == [3] * 15 + [7] * 5
    old[...] = 0  # all fill, but for what it does not know
    assert oz.open(place)[...].tolist() == [0] * 15 + [7] * 5


def test_strings(tmp_path):
    array = oz.create_array(tmp_path / "a", shape=(3,), chunks=(5,), dtype="str")
    array[...] = "a"
    old = oz.open_array(tmp_path / "a", "r+")
    array.append(["b", "c"])
    old[...] = "d"
    assert oz.open(tmp_path / "a")[...].tolist() == ["d", "d", "d", "b", "c"]


def test_a_last_chunk_that_does_not_decode_can_be_written_over(tmp_path):
    for name, options in (("chunk", {"chunks": (10,)}), ("shard", {"chunks": (5,), "shards": (10,)})):
        array = oz.create_array(tmp_path / name, shape=(15,), dtype="i4", **options)
        array[...] = 1
        (tmp_path / name / "c" / "1").write_bytes(b"damaged")
        with pytest.raises(CorruptError):
            array[12] = 2  # the others of the chunk would be lost
        array[10:] = 2
        assert array[...].tolist() == [1] * 10 + [2] * 5


def test_a_chunk_that_holds_nothing_any_more_goes(tmp_path):
    array = oz.create_array(tmp_path / "a", shape=(15,), chunks=(10,), dtype="i4")
    array[...] = 1
    array[...] = 0
    assert not list(tmp_path.rglob("c/*"))


def _append(place, count):
    array = oz.open_array(place, "r+")
    for _ in range(count):
        array.append(np.ones(1, "i4"))


@pytest.mark.parametrize("options", [{}, {"shards": (50,), "chunks": (10,)}, {"format": "zarr2"}])
def test_one_process_appends_while_another_writes_all_that_it_knows(options, tmp_path):
    place, count = tmp_path / "a", 300
    array = oz.create_array(place, shape=(1,), dtype="i4", **{"chunks": (50,), **options})
    array[...] = 1
    process = multiprocessing.get_context("fork").Process(target=partial(_append, place, count))
    process.start()
    while process.is_alive():
        array.refresh()
        array[len(array) // 50 * 50 :] = 1
    process.join()
    assert process.exitcode == 0
    assert oz.open(place)[...].tolist() == [1] * (count + 1)


@given(
    lengths=st.lists(st.integers(1, 12), min_size=2, max_size=2),
    grown=st.lists(st.integers(0, 9), min_size=2, max_size=2),
    chunks=st.lists(st.integers(1, 7), min_size=2, max_size=2),
    sharded=st.booleans(),
    data=st.data(),
)
def test_two_handles_of_different_shapes(lengths, grown, chunks, sharded, data):
    store = oz.MemoryStore()
    shards = tuple(2 * n for n in chunks) if sharded else None
    old = oz.create_array(store, shape=lengths, chunks=tuple(chunks), shards=shards, dtype="i2")
    new = oz.open_array(store, "r+")
    new.resize([n + more for n, more in zip(lengths, grown, strict=True)])
    model = np.zeros(new.shape, "i2")
    for value in range(1, 6):
        array = data.draw(st.sampled_from([old, new]))
        box = tuple(slice(*sorted((data.draw(st.integers(0, n)), data.draw(st.integers(0, n))))) for n in array.shape)
        array[box] = value
        model[box] = value
    assert (oz.open(store)[...] == model).all()
