"""What lies where in a structure."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from omnizarr.model.structs import Field, fields_of, has_padding, in_order, leaves, packed, padding, struct_order

ALIGNED = np.dtype([("a", "u1"), ("b", "<i4"), ("n", [("x", "u1"), ("y", "<f8")], (2,))], align=True)

STRUCTS = hnp.nested_dtypes(max_itemsize=200).filter(lambda dtype: dtype.names is not None and dtype.itemsize)


def test_fields():
    inner = ALIGNED["n"].base
    assert fields_of(ALIGNED) == [
        Field("a", np.dtype("u1"), (), 0),
        Field("b", np.dtype("<i4"), (), 4),
        Field("n", inner, (2,), 8),
    ]
    assert fields_of(np.dtype("i4")) == []
    assert [leaf.str for leaf in leaves(ALIGNED)] == ["|u1", "<i4", "|u1", "<f8"]


def test_padding():
    assert np.flatnonzero(padding(ALIGNED)).tolist() == [1, 2, 3, *range(9, 16), *range(25, 32)]
    assert has_padding(ALIGNED)
    assert packed(ALIGNED) == np.dtype([("a", "u1"), ("b", "<i4"), ("n", [("x", "u1"), ("y", "<f8")], (2,))])
    assert not has_padding(packed(ALIGNED))
    assert not padding(packed(ALIGNED)).any()


@given(STRUCTS, st.booleans())
def test_packing_loses_no_value(dtype, align):
    if align:
        try:
            dtype = np.dtype(dtype.descr, align=True)
        except (TypeError, ValueError):  # NumPy cannot align what has titles or gaps
            return
    tight = packed(dtype)
    assert tight.names == dtype.names
    assert padding(dtype).sum() + tight.itemsize == dtype.itemsize
    assert not has_padding(tight)


@pytest.mark.parametrize(
    ("fields", "order"),
    [
        ([("a", "u1"), ("b", "S3")], ""),
        ([("a", "u1"), ("b", "<f4")], "little"),
        ([("a", ">U2"), ("n", [("x", ">M8[s]")])], "big"),
        ([("a", ">i2"), ("b", "<i2")], "mixed"),
    ],
)
def test_byte_order(fields, order):
    dtype = np.dtype(fields)
    assert struct_order(dtype) == order
    for wanted in ("little", "big"):
        assert struct_order(in_order(dtype, wanted)) == (wanted if order else "")


def test_another_byte_order_moves_nothing():
    swapped = in_order(ALIGNED, "big")
    assert (swapped.names, swapped.itemsize) == (ALIGNED.names, ALIGNED.itemsize)
    assert [field._replace(numpy=None) for field in fields_of(swapped)] == [
        field._replace(numpy=None) for field in fields_of(ALIGNED)
    ]
    assert [leaf.str for leaf in leaves(swapped)] == ["|u1", ">i4", "|u1", ">f8"]


def test_padding_of_what_is_inside():
    inner = ALIGNED["n"].base
    outer = np.dtype([("n", inner), ("m", "u1")])
    assert has_padding(outer)
    assert packed(outer) == np.dtype([("n", packed(inner)), ("m", "u1")])
    assert packed(np.dtype("<i4")) == np.dtype("<i4")
    tight = np.dtype([("a", "u1"), ("b", "<i4")])
    assert packed(tight) is tight
    assert has_padding(np.dtype("<i4")) is False
