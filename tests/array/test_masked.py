"""Values that an array cannot hold as they are: masked ones, and floats that are no integers of its type."""

from __future__ import annotations

import array as arrays

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ShapeError

RECORD = np.dtype([("x", "<i4"), ("y", "<f8")])


@pytest.mark.parametrize(
    ("dtype", "fill", "values", "expected"),
    [
        ("i4", -1, np.ma.array([1, 2, 3], "i4", mask=[0, 1, 0]), [1, -1, 3]),
        ("i4", -1, np.ma.array([1, np.nan, 3], mask=[0, 1, 0]), [1, -1, 3]),
        ("f4", np.nan, np.ma.array([1, 2, 3], mask=[0, 1, 0]), [1, np.nan, 3]),
        ("i4", -1, np.ma.masked, [-1, -1, -1]),
        ("i4", -1, np.ma.array([1, 2, 3]), [1, 2, 3]),
        ("i4", None, np.ma.array([1, 2, 3], "i4", mask=[0, 0, 0]), [1, 2, 3]),
        (str, "none", np.ma.array(["a", "bb", "c"], mask=[0, 1, 0]), ["a", "none", "c"]),
        (bytes, b"none", np.ma.array([b"a", b"bb", b"c"], mask=[0, 1, 0]), [b"a", b"none", b"c"]),
        ("U4", "none", np.ma.array(["a", "b", "c"], mask=[0, 1, 0]), ["a", "none", "c"]),
        ("c8", 7, np.ma.array([1, 2, 3j], mask=[0, 1, 0]), [1, 7, 3j]),
        (RECORD, (9, -1), np.ma.array([(1, 2.0)], RECORD, mask=[(0, 1)]), [(1, -1)] * 3),
        (RECORD, (9, -1), np.ma.array([(1, 2.0)], RECORD, mask=[(0, 0)]), [(1, 2)] * 3),
    ],
    ids=repr,
)
def test_what_is_masked_becomes_the_fill_value(dtype, fill, values, expected):
    a = oz.create_array({}, shape=(3,), dtype=dtype, fill_value=fill, format="zarr2" if fill is None else "zarr3")
    a[...] = values
    np.testing.assert_array_equal(a[...], np.array(expected, a.dtype))


def test_masks_by_every_way_of_writing():
    masked = np.ma.array([1, 2, 3], mask=[0, 1, 0])
    a = oz.create_array({}, data=masked, fill_value=-1)
    assert a.append(masked) == (6,)
    assert a[...].tolist() == [1, -1, 3, 1, -1, 3]
    a.oindex[[0, 1]] = np.ma.array([8, 8], mask=[1, 0])
    a[np.array([0, 0, 0, 0, 1, 1], bool)] = np.ma.array([7, 7], mask=[0, 1])
    assert a[...].tolist() == [-1, 8, 3, 1, 7, -1]


def test_nothing_to_write_in_place_of_what_is_masked():
    a = oz.create_array({}, shape=(2,), dtype="i4", fill_value=None, format="zarr2")
    with pytest.raises(ShapeError, match=r"masked, and the array has no fill value(.|\n)*filled") as caught:
        a[...] = np.ma.array([1, 2], mask=[0, 1])
    assert caught.value.path
    records = oz.create_array({}, shape=(1,), dtype=RECORD, format="zarr2", fill_value=None)
    with pytest.raises(ShapeError, match="no fill value"):
        records[...] = np.ma.array([(1, 2)], RECORD, mask=[(0, 1)])
    with pytest.raises(ShapeError, match=r"for 'x' are masked(.|\n)*filled"):
        records["x"] = np.ma.array([1], mask=[1])
    records["x"] = np.ma.array([1])
    with pytest.raises(ShapeError, match="cannot be stored as"):
        oz.create_array({}, shape=(1,), dtype="i4")[...] = np.ma.array([(1, 2)], RECORD, mask=[(0, 1)])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e30, -1e30])
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "u4", "i8", "u8", "int4", "uint2"])
def test_floats_that_are_no_integers_of_the_type_are_refused(dtype, bad):
    if "int" in dtype:
        pytest.importorskip("ml_dtypes")
    a = oz.create_array({}, shape=(2,), dtype=dtype)
    sources = [np.array([1, bad]), np.array([1, bad], "f4"), np.float64(bad), bad, [1, np.float64(bad)]]
    sources += [arrays.array("d", [1, bad]), np.array([1, bad], complex), oz.create_array({}, data=np.array([1, bad]))]
    sources.append(np.ma.array([1, bad], mask=[1, 0]))
    for source in sources:
        with pytest.raises(ShapeError, match="cannot be stored as") as caught:
            a[...] = source
        assert caught.value.path
    with pytest.raises(ShapeError, match="cannot be stored as"):
        a.append(np.array([bad]))
    assert a[...].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("dtype", "low", "high"), [("i1", -128.9, 127.9), ("u8", -0.9, 2**64 - 2**12), ("i8", -(2**63), 2**63 - 2**11)]
)
def test_fractions_are_cut_off_up_to_the_ends_of_the_range(dtype, low, high):
    a = oz.create_array({}, shape=(2,), dtype=dtype)
    a[...] = np.array([low, high])
    assert a[...].tolist() == [int(low), int(high)]


def test_fields_of_integers_take_no_nan():
    a = oz.create_array({}, shape=(2,), dtype=RECORD)
    with pytest.raises(ShapeError, match="cannot be stored in 'x': nan") as caught:
        a["x"] = np.array([1, np.nan])
    assert caught.value.path
    a["y"] = np.array([1, np.nan])
    assert np.isnan(a["y"][1])


def test_no_values_at_all():
    a = oz.create_array({}, shape=(0,), dtype="i4")
    a[...] = np.empty(0)
    assert a.append(np.empty(0)) == (0,)
