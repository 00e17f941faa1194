"""Values to be written: how they are cast, and which are refused."""

from __future__ import annotations

import numpy as np
import pytest

from omnizarr.array.values import as_values, broadcast, without_padding
from omnizarr.errors import LimitError, ShapeError
from omnizarr.model.dtype import STRING_NUMPY

PAIR = np.dtype([("real", "e"), ("imag", "e")])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, [(3, 0)]),
        (1 + 2j, [(1, 2)]),
        (True, [(1, 0)]),
        ([1.5, 2], [(1.5, 0), (2, 0)]),
        ((1, 2), [(1, 0), (2, 0)]),
        (np.array([(1, 2)], PAIR.newbyteorder(">")), [(1, 2)]),
        (np.array([(1, 2)], [("a", "f8"), ("b", "f8")]), [(1, 2)]),
        (np.array([(3, 4)], object), [(3, 3), (4, 4)]),
    ],
    ids=repr,
)
def test_complex_numbers_that_are_pairs(value, expected):
    made = as_values(value, PAIR, "", "/x")
    assert made.dtype == PAIR
    assert made.reshape(-1).tolist() == expected


@pytest.mark.parametrize("value", ["text", [b"x"]])
def test_what_is_no_complex_number(value):
    with pytest.raises(ShapeError, match="cannot be stored as") as caught:
        as_values(value, PAIR, "", "/x")
    assert caught.value.path == "/x"


def test_numbers_become_text_where_the_type_can():
    text = ["1", "2"] if STRING_NUMPY.kind == "T" else [1, 2]
    assert as_values(np.array([1, 2]), STRING_NUMPY, "string", "/x").tolist() == text
    assert as_values(np.array(["a", "b"]), STRING_NUMPY, "string", "/x").tolist() == ["a", "b"]
    assert as_values("a\0", STRING_NUMPY, "string", "/x")[()] == "a\0"


def test_byte_strings():
    assert as_values(b"a\0", np.dtype(object), "bytes", "/x")[()] == b"a\0"
    assert as_values(np.array([b"a", b"bc"]), np.dtype(object), "bytes", "/x").tolist() == [b"a", b"bc"]
    raw = np.array([[b"a\0"], [b"\0b"]], "V2")
    assert as_values(raw, np.dtype(object), "bytes", "/x").tolist() == [[b"a\0"], [b"\0b"]]
    with pytest.raises(ShapeError, match="int64 is not bytes") as caught:
        as_values(np.array([1]), np.dtype(object), "bytes", "/x")
    assert caught.value.path == "/x"


@pytest.mark.parametrize("value", [8, -9, [0, 8], 2**70])
def test_small_integers_must_fit(value):
    int4 = np.dtype(pytest.importorskip("ml_dtypes").int4)
    with pytest.raises(ShapeError, match="int4"):
        as_values(value, int4, "", "/x")
    assert as_values([-8, 7], int4, "", "/x").astype("i1").tolist() == [-8, 7]
    # Arrays wrap around, as among NumPy's own types.
    assert as_values(np.array([8]), int4, "", "/x").astype("i1").tolist() == [-8]


def test_between_fields_there_are_zeros():
    dtype = np.dtype([("a", "u1"), ("b", "<u2")], align=True)
    dirty = np.full((2, 4), 255, "u1").view(dtype).reshape(2)
    clean = without_padding(dirty)
    assert clean.view("u1").tolist() == [255, 0, 255, 255] * 2
    assert dirty.view("u1").tolist() == [255] * 8


@pytest.mark.parametrize(
    ("given", "shape"),
    [((), (2, 3)), ((3,), (2, 3)), ((1, 1, 3), (2, 3)), ((1, 1), (4,)), ((1,), ()), ((1, 1), ()), ((2, 3), (2, 3))],
)
@pytest.mark.parametrize("dtype", ["i4", object])
def test_shapes_that_fit(given, shape, dtype):
    values = np.arange(int(np.prod(given))).reshape(given).astype(dtype)
    target = np.zeros(shape, dtype)
    target[...] = values
    made = broadcast(values, shape, "/x")
    assert made.shape == shape
    assert made.tolist() == target.tolist()


@pytest.mark.parametrize(("given", "shape"), [((2,), (3,)), ((2, 3), (3,)), ((2, 1, 3), (2, 3)), ((0,), (2,))])
def test_shapes_that_do_not_fit(given, shape):
    with pytest.raises(ShapeError, match="do not broadcast") as caught:
        broadcast(np.zeros(given), shape, "/x")
    assert caught.value.path == "/x"


def test_more_than_any_array_can_have():
    for values in (np.zeros(()), np.zeros(1), np.array(None, object)):
        with pytest.raises(LimitError, match="more than an array can have") as caught:
            broadcast(values, (2**62, 2), "/x")
        assert (caught.value.path, caught.value.hint) == ("/x", "Write less at a time.")


@pytest.mark.parametrize(
    ("name", "low", "high"), [("int2", -2, 1), ("uint2", 0, 3), ("int4", -8, 7), ("uint4", 0, 15), ("int8", -128, 127)]
)
def test_fractions_are_cut_off_and_what_is_near_to_no_integer_is_refused(name, low, high):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    kept = as_values(np.array([low - 0.5, low, high, high + 0.5]), dtype, "", "/x")
    assert kept.astype(int).tolist() == [low, low, high, high]
    for wrong in (low - 1.0, high + 1.0, np.nan):
        with pytest.raises(ShapeError, match=f"{wrong} is no number of that type"):
            as_values(np.array([0.0, wrong]), dtype, "", "/x")
