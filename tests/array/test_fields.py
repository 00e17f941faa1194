"""Names of fields in selections."""

from __future__ import annotations

import numpy as np
import pytest

from omnizarr.array.fields import split_fields
from omnizarr.errors import SelectionError, ShapeError

DTYPE = np.dtype([("x", "<i4"), ("y", "<f8"), ("n", [("a", "u1"), ("b", "u1")])])
VALUES = np.array([(1, 1.5, (1, 2)), (2, 2.5, (3, 4))], DTYPE)


@pytest.mark.parametrize(
    ("selection", "rest", "names"),
    [
        ("x", ..., "x"),
        (["x"], ..., ["x"]),
        (["x", "y"], ..., ["x", "y"]),
        ((0, "x"), (0,), "x"),
        (("x", slice(2), 3), (slice(2), 3), "x"),
        (("x", "y"), ..., ["x", "y"]),
        ((["x"], "y", 0), (0,), ["x", "y"]),
    ],
)
def test_names_are_taken_out(selection, rest, names):
    found = split_fields(selection, DTYPE)
    assert found is not None
    assert (found.rest, found.names) == (rest, names)


@pytest.mark.parametrize("selection", [0, ..., (0, slice(None)), [], [0, 1], (["x", 0],)])
def test_selections_without_names(selection):
    assert split_fields(selection, DTYPE) is None


def test_types_without_fields_have_no_names():
    assert split_fields("x", np.dtype("i4")) is None


@pytest.mark.parametrize("selection", ["z", ["x", "z"], (0, "z")])
def test_fields_that_are_not_there(selection):
    with pytest.raises(SelectionError, match="there is no field 'z'") as caught:
        split_fields(selection, DTYPE)
    assert caught.value.hint == "The fields are 'x', 'y', 'n'."


@pytest.mark.parametrize("selection", [["x", "x"], ("x", "x"), ("x", ["y", "x"])])
def test_fields_that_are_named_twice(selection):
    with pytest.raises(SelectionError, match="a field is named twice"):
        split_fields(selection, DTYPE)


def test_fields_are_picked_without_the_memory_of_the_others():
    one = split_fields("y", DTYPE).pick(VALUES)
    assert one.tolist() == [1.5, 2.5]
    assert one.base is None
    several = split_fields(["y", "x"], DTYPE).pick(VALUES)
    assert several.dtype == np.dtype([("y", "<f8"), ("x", "<i4")])
    assert several.tolist() == [(1.5, 1), (2.5, 2)]
    scalar = split_fields(["x"], DTYPE).pick(VALUES[1])
    assert isinstance(scalar, np.void)
    assert scalar.tolist() == (2,)
    assert split_fields("x", DTYPE).pick(VALUES[1]) == 2


def test_fields_are_put_beside_the_others():
    put = split_fields("x", DTYPE).put(VALUES, [7, 8], "/x")
    assert put["x"].tolist() == [7, 8]
    assert put["y"].tolist() == [1.5, 2.5]
    assert VALUES["x"].tolist() == [1, 2]
    with pytest.raises(ShapeError, match="cannot be stored in 'x'"):
        split_fields("x", DTYPE).put(VALUES, "text", "/x")
    with pytest.raises(ShapeError, match=r"cannot be stored in \['x', 'y'\]"):
        split_fields(["x", "y"], DTYPE).put(VALUES, [1, 2, 3], "/x")
