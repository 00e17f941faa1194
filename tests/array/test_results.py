"""Large results: their memory is used again, and never while anybody can see it."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import LimitError, ShapeError
from omnizarr.native import Block

SHAPE = (1100, 1000)  # of eight-byte elements: above the size from which memory is used again


@pytest.fixture
def array():
    array = oz.create_array(oz.MemoryStore(), shape=SHAPE, dtype="i8", chunks=(100, 1000))
    array[:500] = np.arange(500 * 1000).reshape(500, 1000)
    return array


def test_missing_chunks_are_fill_in_memory_that_was_used_before(array):
    for value in (3, 5):
        first = array[...]
        first[...] = value
        del first
        gc.collect()
        again = array[...]
        assert (again[500:] == 0).all()
        assert (again[:500].reshape(-1) == np.arange(500 * 1000)).all()


def test_results_do_not_share_memory(array):
    first, second = array[...], array[...]
    assert not np.shares_memory(first, second)
    first[...] = -1
    assert (second[499] == np.arange(499_000, 500_000)).all()


def test_a_view_keeps_its_memory(array):
    view = array[...][499, ::2]
    for _ in range(3):
        other = array[...]
        other[...] = -1
    assert (view == np.arange(499_000, 500_000, 2)).all()


def test_results_are_ordinary_arrays(array):
    result = array[...]
    assert type(result) is np.ndarray
    assert result.flags.writeable
    assert result.flags.c_contiguous
    assert np.array_equal(np.copy(result), result)


def test_a_fill_value_that_is_not_zero(array):
    other = oz.create_array(oz.MemoryStore(), shape=SHAPE, dtype="f8", chunks=(100, 1000), fill_value=np.nan)
    for _ in range(2):
        assert np.isnan(other[...]).all()
    # Also in memory that nobody has used before, which is there once all that waits for its next use is taken.
    taken = [Block(other.nbytes)]
    while not taken[-1].fresh:
        taken.append(Block(other.nbytes))
    assert np.isnan(other[...]).all()


def test_objects_are_never_in_memory_that_is_used_again():
    array = oz.create_array(oz.MemoryStore(), shape=600_000, dtype="bytes", chunks=100_000, fill_value=b"a")
    found = array[...]
    assert found.dtype == object
    assert found.flags.owndata  # so that NumPy lets go of each
    assert (found == b"a").all()


def test_many_texts_are_read_as_few_are():
    array = oz.create_array(oz.MemoryStore(), shape=600_000, dtype="string", chunks=100_000, fill_value="a")
    array[5] = "b"
    found = array[...]
    assert found[4:7].tolist() == ["a", "b", "a"]
    assert (found[100_000:] == "a").all()


@pytest.mark.parametrize("dtype", ["i4", "string"])
@pytest.mark.parametrize("shape", [(2**62,), (2**31, 2**31)])
def test_what_no_array_can_hold_is_refused(dtype, shape):
    huge = oz.create_array({}, shape=shape, dtype=dtype)
    with pytest.raises(LimitError, match=r"a result of \d+ bytes does not fit into memory"):
        huge[...]
    with pytest.raises(LimitError, match="bytes"):
        huge[...] = 1 if dtype == "i4" else "a"
    with pytest.raises(LimitError, match="bytes"):
        huge[...] = np.ones(1, "i4") if dtype == "i4" else ["a"]


def test_a_result_larger_than_memory_is_refused():
    words = r"a result of 4611686018427387904 bytes does not fit into memory"
    array = oz.create_array({}, shape=(2**60,), dtype="i4")
    with pytest.raises(LimitError, match=words) as caught:
        array[...]
    assert (caught.value.path, caught.value.hint) == (array.store.uri, "Select less at a time.")


@pytest.mark.parametrize("out", [[0] * 5, bytearray(20), 0])
def test_out_must_be_an_array(out):
    with pytest.raises(ShapeError, match="NumPy array"):
        oz.create_array({}, shape=(5, 5), dtype="i4").read(0, out=out)


@pytest.mark.parametrize("value", ["a\ud800", ["a", "\ud800"], np.array(["a", "\udfff"])])
def test_text_that_has_no_utf8_is_refused(value):
    array = oz.create_array({}, shape=(2,), dtype="string")
    with pytest.raises(ShapeError, match="string") as caught:
        array[...] = value
    assert isinstance(caught.value.__cause__, UnicodeEncodeError)


@pytest.mark.parametrize("dtype", ["i2", "f4", "f8", "c16", ">f4"])
@pytest.mark.parametrize("side", [250, 1000])  # chunks that lie there in pieces, and as a whole
def test_results_larger_than_the_caches_are_written_as_others_are(dtype, side):
    length = (33 << 20) // np.dtype(dtype).itemsize // 1000
    values = np.random.default_rng(1).integers(0, 1000, (length, 1000)).astype(dtype)
    codec = {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 1, "shuffle": "shuffle", "typesize": 4}}
    codec["configuration"]["typesize"] = np.dtype(dtype).itemsize
    store = oz.create_array(oz.MemoryStore(), data=values, chunks=(333, side), codecs=[codec])
    assert np.array_equal(store[...], values)
    memory = np.full(values.nbytes + 64, 7, "u1")
    for offset in (0, 16, 7, 63):  # NumPy's own memory begins 16 bytes after a line of the cache
        out = memory[offset : offset + values.nbytes].view(store.dtype).reshape(values.shape)
        out[...] = 0
        store.read(out=out)
        assert np.array_equal(out, values)
