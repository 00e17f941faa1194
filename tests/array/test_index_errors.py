"""Selections that are refused, and the words of the refusal; the edges that must not be."""

import numpy as np
import pytest

from omnizarr.array.index import basic, blocks, mask, orthogonal, points
from omnizarr.array.selection import span
from omnizarr.errors import SelectionError
from omnizarr.model.grid import RegularGrid


@pytest.mark.parametrize(
    ("select", "index", "words"),
    [
        (basic, 4, "index 4 is out of bounds for axis 0 with size 4"),
        (basic, (0, -6), "index -6 is out of bounds for axis 1 with size 5"),
        (basic, (0, [0, 9, 2]), "index 9 is out of bounds for axis 1 with size 5"),
        (basic, np.array([2**63 + 5], np.uint64), "index 9223372036854775813 is out of bounds for axis 0"),
        (basic, (0, 0, 0), r"3 indices for an array of shape \(4, 5\)"),
        (basic, (0, 0, [0]), r"3 indices for an array of shape \(4, 5\)"),
        (basic, (..., 0, ...), "only one ellipsis"),
        (basic, (..., [0], ...), "only one ellipsis"),
        (basic, ([0], [1], ..., ...), "only one ellipsis"),
        (basic, ([0, -5], [0, 1]), "index -5 is out of bounds for axis 0 with size 4"),
        (basic, True, "boolean True is not an index"),
        (basic, (0, np.True_), "boolean True is not an index"),
        (basic, np.array(True), "not an index"),
        (basic, "x", "'x' is not an index"),
        (basic, 1.5, "1.5 is not an index"),
        (basic, [1.5], "float64, not integers"),
        (basic, np.array([]), "float64, not integers"),
        (basic, [[1], [2, 3]], "not a regular array"),
        (basic, slice("a", None), "slice for axis 0"),
        (basic, (0, slice(None, None, 0)), "slice for axis 1"),
        (basic, np.ones(3, bool), r"mask of shape \(3,\) does not fit axis 0"),
        (basic, (0, np.ones(4, bool)), r"mask of shape \(4,\) does not fit axis 1"),
        (basic, np.ones((5, 4), bool), r"does not fit axes 0 to 1"),
        (basic, np.ones((4, 5, 1), bool), "3 indices"),
        (basic, ([0, 1], [0, 1, 2]), r"shapes \(2,\), \(3,\) do not broadcast"),
        (orthogonal, ([[0, 1]],), "oindex takes one dimension per array"),
        (orthogonal, ([0], [0], [0]), "3 indices"),
        (orthogonal, ([0], [7]), "index 7 is out of bounds for axis 1"),
        (orthogonal, ([True, False],), "mask of shape"),
        (points, ([0, 1],), "coordinates for 1 of the 2 dimensions"),
        (points, ([0, 1], slice(None)), "vindex takes an integer array for each dimension"),
        (points, ([0, 1], np.ones(5, bool)), "vindex takes an integer array"),
        (points, ([0, 1], [5, 5]), "index 5 is out of bounds for axis 1"),
        (points, ([0, 1], [0, 1, 2]), "do not broadcast"),
        (mask, [1, 0], "a mask holds booleans"),
        (mask, np.ones((4, 4), bool), r"mask of shape \(4, 4\) does not fit"),
        (lambda index, shape: blocks(index, shape, RegularGrid((2, 2))), 2, r"no such block in a grid of \(2, 3\)"),
        (lambda index, shape: blocks(index, shape, RegularGrid((2, 2))), slice(None, None, 2), "slices of step 1"),
        (lambda index, shape: blocks(index, shape, RegularGrid((2, 2))), [0], "blocks takes integers"),
        (lambda index, shape: blocks(index, shape, RegularGrid((2, 2))), None, "blocks takes integers"),
    ],
)
def test_a_bad_selection_is_refused_in_words(select, index, words):
    with pytest.raises(SelectionError, match=words):
        select(index, (4, 5))


def test_an_empty_dimension_has_no_element():
    with pytest.raises(SelectionError, match="axis 0 with size 0"):
        basic(0, (0,))
    with pytest.raises(SelectionError, match="axis 0 with size 0"):
        basic([0], (0,))
    assert blocks(slice(None), (0,), RegularGrid((4,))).shape == (0,)
    assert blocks(slice(None), (7,), RegularGrid((0,))).shape == (0,)


def test_huge_dimensions_do_not_overflow():
    size = 2**63 - 1
    assert basic((-1, slice(-3, None)), (size, size)).dims == [(size - 1, 1, 1), (size - 3, 1, 3)]
    assert basic([-1, 0], (size,)).dims[0].tolist() == [size - 1, 0]


def test_refusals_say_what_to_do():
    hints = []
    for select, index in ((basic, 4), (basic, (0, "x")), (points, ([0],)), (points, (0, slice(1))), (basic, True)):
        with pytest.raises(SelectionError) as caught:
            select(index, (4, 5))
        hints.append(caught.value.hint)
    assert hints == [
        "Valid indices are -4 to 3.",
        "Use integers, slices, ..., None, or arrays of integers or booleans.",
        "Give one integer or integer array for each dimension.",
        "Slices mix with arrays in a[...] by NumPy's rules, and in .oindex dimension by dimension.",
        "Use None to add an axis, an integer to pick an element, or a boolean array as a mask.",
    ]
    with pytest.raises(SelectionError) as caught:
        basic(0, (0,))
    assert caught.value.hint == "The axis is empty: only slices select from it."


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (slice(3, 2, -1), (3, 1, 1, False)),
        (slice(3, 1, -1), (2, 1, 2, True)),
        (slice(3, 0, -2), (1, 2, 2, True)),
        (slice(2, 3, -1), (0, 1, 0, False)),
        (slice(2, 2, -1), (0, 1, 0, False)),
        (slice(2, 3, 5), (2, 1, 1, False)),
        (slice(0, 4, 3), (0, 3, 2, False)),
        (slice(3, 3), (0, 1, 0, False)),
        (slice(3, 2), (0, 1, 0, False)),
    ],
)
def test_slices_as_start_step_count_and_direction(item, expected):
    assert span(item, 4, 0) == expected
    start, step, count, backwards = expected
    found = list(range(start, start + step * count, step))
    assert (found[::-1] if backwards else found) == list(range(4))[item]
