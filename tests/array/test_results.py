"""Large results: their memory is used again, and never while anybody can see it."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import omnizarr as oz

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
