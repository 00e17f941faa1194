"""Bits without a value: booleans are mended, text is refused."""

from __future__ import annotations

import numpy as np
import pytest

from omnizarr.array.legal import has_illegal, legalise
from omnizarr.errors import CorruptError


@pytest.mark.parametrize(
    ("dtype", "illegal"),
    [
        ("?", True),
        ("<U3", True),
        ("S3", False),
        ("f8", False),
        ([("a", "i4"), ("b", "f8")], False),
        ([("a", "i4"), ("b", [("c", "?")])], True),
        ([("a", "?", (2, 2))], True),
        ([("a", "u1", (2,))], False),
    ],
)
def test_types_that_have_such_bits(dtype, illegal):
    assert has_illegal(np.dtype(dtype)) is illegal


def test_what_is_not_zero_is_true():
    stored = np.array([0, 1, 2, 255], "u1")
    legalise(stored.view("?"), "/x")
    assert stored.tolist() == [0, 1, 1, 1]


def test_fields_are_looked_at_one_by_one():
    dtype = np.dtype([("a", "u1"), ("b", [("c", "?", (2,)), ("d", "u1")])])
    stored = np.array([[7, 3, 0, 9], [8, 1, 2, 9]], "u1")
    legalise(stored.view(dtype), "/x")
    assert stored.tolist() == [[7, 1, 0, 9], [8, 1, 1, 9]]


@pytest.mark.parametrize("order", "<>")
def test_text_is_compared_with_the_last_character_of_unicode(order):
    good = np.array([0x10FFFF, 0], f"{order}u4")
    legalise(good.view(f"{order}U2"), "/x")
    assert good.tolist() == [0x10FFFF, 0]
    bad = np.array([0, 0x110000], f"{order}u4")
    with pytest.raises(CorruptError, match="the character 0x110000, which is not in Unicode") as caught:
        legalise(bad.view(f"{order}U2"), "/x")
    assert caught.value.path == "/x"


def test_a_view_with_steps_is_looked_at_where_it_is():
    stored = np.array([0x110000, 65, 0x110000, 66], "<u4").view("<U1")
    legalise(stored[1::2], "/x")
    with pytest.raises(CorruptError):
        legalise(stored[::2], "/x")


def test_nothing_has_nothing_illegal():
    legalise(np.empty((0, 2), "<U2"), "/x")
    legalise(np.empty(0, "?"), "/x")
    legalise(np.empty(0, [("a", "?")]), "/x")


def test_text_of_no_length_is_left_alone():
    legalise(np.empty(3, "<U0"), "/x")
