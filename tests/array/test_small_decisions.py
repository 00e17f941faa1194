"""Single decisions of selections and of reading into a buffer, each against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import SelectionError, ShapeError

VALUES = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
MASK = np.array([[True, False, True], [False, True, False]])


@pytest.fixture(scope="module")
def array():
    return oz.create_array({}, data=VALUES, chunks=(1, 2, 3, 2))


@pytest.mark.parametrize(
    "selection",
    [
        np.s_[0, ..., 1],
        np.s_[0, ..., 1, 2],
        np.s_[..., 1, 2],
        np.s_[0, 1, ..., 2],
        np.s_[0, 1, 2, 3, ...],
        np.s_[0, ..., None, 1:3],
        np.s_[MASK],
        np.s_[MASK, ...],
        np.s_[..., [[0, 1], [2, 3]]],
        np.s_[MASK, ..., 1],
        np.s_[MASK, :, [0, 1, 2]],
        np.s_[:, [0, 1], [1, 0]],
        np.s_[:, [0, 1], None, [1, 0]],
        np.s_[:, [0, 1], :, [1, 0]],
        np.s_[None, [0, 1], [1, 0]],
        np.s_[[0, 1], None, [1, 0]],
        np.s_[[0, 1], ..., [1, 0]],
        np.s_[0, :, [1, 0]],
        np.s_[0, :, [[0, 1, 2]]],  # as many of each as were selected, and yet in another order
        np.s_[:, 0, [1, 0]],
        np.s_[:, [1, 0], 0],
        np.s_[[True, False]],
        np.s_[:, [True, False, True]],
    ],
    ids=str,
)
def test_as_numpy_does(array, selection):
    wanted = VALUES[selection]
    found = array[selection]
    assert found.shape == wanted.shape
    np.testing.assert_array_equal(found, wanted)


def test_points_that_are_broadcast(array):
    for coords in (([0, 1], [[0], [2]], 1, 2), ([0, 1], 1, 1, [0, 4]), (0, 1, 2, 3), ([[0]], [1], 2, 3)):
        np.testing.assert_array_equal(array.vindex[coords], VALUES[coords])
    with pytest.raises(SelectionError) as caught:
        array[np.ones((2, 2), bool)]
    assert caught.value.hint == "The mask needs the shape (2, 3)."


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<i4", ">i4", "string", [("a", "<i2"), ("b", "i1")]], ids=str)
@pytest.mark.parametrize(
    "selection",
    [np.s_[1:, ::2], np.s_[...], np.s_[::-1], np.s_[[1, 0], 1:], np.s_[1], np.s_[[[0, 1], [2, 0]]]],
    ids=str,
)
def test_reading_into_buffers_of_every_layout(dtype, order, selection):
    numbers = np.arange(12).reshape(3, 4)
    values = numbers.astype(str).astype(object) if dtype == "string" else numbers.astype(dtype)
    stored = oz.create_array({}, data=values, dtype=dtype, chunks=(2, 3), format="zarr2")
    wanted = stored[selection]
    out = np.empty(wanted.shape, wanted.dtype, order)
    stored.read(selection, out=out)
    np.testing.assert_array_equal(out, wanted)
    wide = np.zeros((*wanted.shape[:-1], 2 * wanted.shape[-1]), wanted.dtype)
    stored.read(selection, out=wide[..., ::2])
    np.testing.assert_array_equal(wide[..., ::2], wanted)


def test_reading_one_element_and_points_into_buffers(array):
    one = np.empty((), VALUES.dtype)
    array.read((1, 2, 3, 4), out=one)
    assert one == VALUES[1, 2, 3, 4]
    points = np.zeros((2, 4), VALUES.dtype)[:, ::2]
    array.read(np.s_[:, [0, 1], [1, 0], 3], out=points)
    np.testing.assert_array_equal(points, VALUES[:, [0, 1], [1, 0], 3])


def test_errors_name_the_array():
    group = oz.create_group({})
    made = group.create_array("a", shape=(2,), dtype="i4")
    with pytest.raises(ShapeError) as caught:
        made.read(..., out=[0, 0])
    assert caught.value.path == f"{group.store.uri}/a"
    with pytest.raises(ShapeError) as caught:
        made.read(..., out=np.zeros(2, "i8"))
    assert caught.value.path == f"{group.store.uri}/a"


@pytest.mark.parametrize("chunks", [None, True, "auto"])
def test_chunks_that_are_left_open(chunks):
    assert oz.create_array({}, shape=(10, 20), dtype="i4", chunks=chunks).chunks == (10, 20)


def test_shards_hold_whole_chunks():
    with pytest.raises(ShapeError) as caught:
        oz.create_array({}, shape=(10,), dtype="i4", chunks=(3,), shards=(5,))
    assert caught.value.hint == "A shard holds a whole number of chunks."
