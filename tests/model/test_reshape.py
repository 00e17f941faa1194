"""Shapes of which dimensions are joined or parted."""

from __future__ import annotations

import pytest

from omnizarr.model.reshape import reshaped


@pytest.mark.parametrize(
    ("lengths", "shape", "made"),
    [
        ([[0, 1], 4], (2, 3, 4), (6, 4)),
        ([2, [1, 2]], (2, 3, 4), (2, 12)),
        ([-1, [2]], (2, 3, 4), (6, 4)),
        ([24], (2, 3, 4), (24,)),
        ([[], 6], (2, 3), (1, 6)),
    ],
)
def test_dimensions_that_are_named_are_joined(lengths, shape, made):
    assert reshaped(lengths, shape) == (made, "")


@pytest.mark.parametrize(
    ("lengths", "shape", "problem"),
    [
        ("x", (2, 3), "a list"),
        ([0, 6], (2, 3), "positive numbers, -1 and lists of dimensions"),
        ([-2, 6], (2, 3), "positive numbers, -1 and lists of dimensions"),
        ([True, 6], (2, 3), "positive numbers, -1 and lists of dimensions"),
        (["x"], (2, 3), "positive numbers, -1 and lists of dimensions"),
        ([[0], [-1]], (2, 3), "dimensions from 0 to 1"),
        ([[0], [2]], (2, 3), "dimensions from 0 to 1"),
        ([-1, -1], (2, 3), "a list with one -1 at most"),
        ([4, 2], (2, 3), "a shape of 6 elements"),
        ([3, [0, 2]], (2, 3, 4), "lists of dimensions that stay in place"),
        ([[0, 2], 3], (2, 3, 4), "lists of dimensions that stay in place"),
        ([[1], [0]], (2, 2), "lists of dimensions that stay in place"),
    ],
)
def test_what_is_wrong_is_said(lengths, shape, problem):
    assert reshaped(lengths, shape) == (None, problem)
