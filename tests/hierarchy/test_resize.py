"""Changing the shape: what is cut off is gone for good, what is new is the fill value."""

from __future__ import annotations

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ShapeError, StoreError
from omnizarr.store.mapping import DictStore


@pytest.mark.parametrize("shards", [None, (4, 6)])
def test_what_is_cut_off_does_not_come_back(shards):
    array = oz.create_array({}, shape=(10, 9), dtype="i4", chunks=(4, 3), shards=shards, fill_value=7)
    array[...] = 1
    array.resize((5, 4))
    assert array[...].tolist() == [[1] * 4] * 5
    array.resize((10, 9))
    expected = np.full((10, 9), 7)
    expected[:5, :4] = 1
    np.testing.assert_array_equal(array[...], expected)


def test_chunks_outside_are_erased():
    store: dict[str, bytes] = {}
    array = oz.create_array(store, shape=(10,), dtype="i4", chunks=2)
    array[...] = 1
    assert array.nchunks_stored == 5
    array.resize(3)
    assert sorted(key for key in store if key.startswith("c")) == ["c/0", "c/1"]
    array.resize(0)
    assert sorted(store) == ["zarr.json"]
    assert array[...].shape == (0,)


def test_refilling_creates_no_chunks():
    store: dict[str, bytes] = {}
    array = oz.create_array(store, shape=(10,), dtype="i4", chunks=4, write_empty=True)
    array.resize(3)
    assert sorted(store) == ["zarr.json"]


def test_one_dimension_may_grow_while_another_shrinks():
    array = oz.create_array({}, data=np.ones((4, 4), "i4"), chunks=3)
    array.resize((6, 2))
    assert array[...].tolist() == [[1, 1]] * 4 + [[0, 0]] * 2


@pytest.mark.parametrize("shape", [(3,), (3, 3, 3), (-1, 3), 5])
def test_wrong_shapes_are_refused(shape):
    array = oz.create_array({}, shape=(2, 2), dtype="i4")
    with pytest.raises(ShapeError):
        array.resize(shape)
    assert array.shape == (2, 2)


class Twelve:
    def __index__(self):
        return 12


@pytest.mark.parametrize(
    "shape", [12, np.int64(12), np.uint8(12), np.array(12), np.array([12]), [np.int16(12)], Twelve(), iter([12])]
)
def test_whatever_is_a_whole_number_is_a_length(shape):
    array = oz.create_array({}, shape=(10,), dtype="i4")
    array.resize(shape)
    assert array.shape == (12,)
    assert all(type(length) is int for length in array.shape)


@pytest.mark.parametrize(
    "shape", [12.0, None, [12.5], "12", b"\x0c", np.array(12.0), [None], {12: 1}, [[12]], object()]
)
def test_what_is_no_whole_number_is_said(shape, tmp_path):
    array = oz.create_array(tmp_path, shape=(10,), dtype="i4")
    with pytest.raises(ShapeError, match="whole numbers") as caught:
        array.resize(shape)
    assert repr(shape) in str(caught.value)
    assert caught.value.path == tmp_path.as_uri()
    if shape is not None:
        with pytest.raises(ShapeError, match="whole numbers"):
            oz.create_array({}, shape=shape, dtype="i4")


@pytest.mark.parametrize("length", [2**63, 10**6000, -(10**6000)], ids=range(3))
def test_lengths_that_no_array_has(length):
    array = oz.create_array({}, shape=(10,), dtype="i4")
    for use in (array.resize, lambda shape: oz.create_array({}, shape=shape, dtype="i4")):
        for shape in (length, [length]):
            with pytest.raises(ShapeError, match="64 bits"):
                use(shape)


@pytest.mark.parametrize("axis", ["x", None, 0.5])
def test_an_axis_is_a_whole_number(axis):
    array = oz.create_array({}, shape=(2, 3), dtype="i4")
    with pytest.raises(ShapeError, match="whole number"):
        array.append([[1, 2, 3]], axis=axis)
    assert array.shape == (2, 3)


def test_appending_along_any_axis():
    array = oz.create_array({}, shape=(0, 3), dtype="i4", chunks=(2, 2))
    assert array.append([[1, 2, 3]]) == (1, 3)
    assert array.append(np.full((2, 3), 9)) == (3, 3)
    assert array.append([[7], [8], [9]], axis=-1) == (3, 4)
    assert array[...].tolist() == [[1, 2, 3, 7], [9, 9, 9, 8], [9, 9, 9, 9]]
    assert array.append(np.empty((0, 4))) == (3, 4)
    for wrong in ([1, 2, 3, 4], [[1, 2, 3]], [[[1]]]):
        with pytest.raises(ShapeError):
            array.append(wrong)
    with pytest.raises(ShapeError):
        array.append([[1]], axis=2)


def test_two_handles_append_one_after_the_other(tmp_path):
    first = oz.create_array(tmp_path, shape=(0,), dtype="i4", chunks=4)
    second = oz.open_array(tmp_path, "r+")
    for i in range(5):
        first.append([i])
        second.append([i + 100])
    assert oz.open_array(tmp_path)[...].tolist() == [0, 100, 1, 101, 2, 102, 3, 103, 4, 104]


def test_a_failed_append_leaves_the_old_array():
    class Full(DictStore):
        """Has no room for chunks."""

        def put(self, key, data):
            if key.startswith("c/1"):
                raise OSError(28, "no space")
            super().put(key, data)

    store = Full({})
    array = oz.create_array(store, shape=(0,), dtype="i4", chunks=2)
    array.append([1, 2])
    with pytest.raises((StoreError, OSError)):
        array.append([3, 4])
    assert array[...].tolist() == [1, 2]
    assert oz.open_array(store)[...].tolist() == [1, 2]


def test_text_can_be_appended_and_cut():
    array = oz.create_array({}, data=["a", "b", "c"], chunks=2, fill_value="-")
    array.append(["d"])
    array.resize(3)
    array.resize(5)
    assert array[...].tolist() == ["a", "b", "c", "-", "-"]
