"""The element types of the model."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

from omnizarr.errors import UnsupportedError
from omnizarr.model.dtype import BYTES, STRING, VLEN_ITEMSIZE, DType

NATIVE = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]


@pytest.mark.parametrize("text", NATIVE)
def test_core_types_have_the_names_of_numpy(text):
    dtype = DType.of(text)
    assert dtype.name == np.dtype(text).name
    assert dtype.numpy == np.dtype(text)
    assert dtype.itemsize == np.dtype(text).itemsize
    assert not dtype.is_vlen


@pytest.mark.parametrize(
    ("what", "name", "itemsize", "unit"),
    [
        ("S5", "null_terminated_bytes", 5, 1),
        ("U5", "fixed_length_utf32", 20, 4),
        ("V5", "raw_bytes", 5, 1),
        ("M8[ns]", "numpy.datetime64", 8, 8),
        ("m8[25s]", "numpy.timedelta64", 8, 8),
        ("?", "bool", 1, 1),
        ("c16", "complex128", 16, 8),
        ("f2", "float16", 2, 2),
        ("string", "string", VLEN_ITEMSIZE, 1),
        (bytes, "bytes", VLEN_ITEMSIZE, 1),
    ],
)
def test_names_and_sizes(what, name, itemsize, unit):
    dtype = DType.of(what)
    assert (dtype.name, dtype.itemsize, dtype.swap_unit) == (name, itemsize, unit)


@pytest.mark.parametrize("what", [str, "str", "string", STRING, STRING.numpy])
def test_every_word_for_strings_of_any_length(what):
    if what is STRING.numpy and STRING.numpy == np.dtype(object):
        pytest.skip("NumPy 1 has no type for them")
    assert DType.of(what) == STRING
    assert STRING.is_vlen


def test_bytes_is_not_a_fixed_type():
    assert DType.of(bytes) is DType.of("bytes") is BYTES


@pytest.mark.parametrize("what", [object, "S", "U0", np.dtype(("i4", (2,))), "no such", "r7", "complex_int4"])
def test_what_cannot_be_stored_is_refused_by_name(what):
    with pytest.raises(UnsupportedError):
        DType.of(what)


def test_byte_order():
    assert DType.of("<i4").byteorder == "little"
    assert DType.of(">i4").byteorder == "big"
    assert DType.of("=i4").byteorder == sys.byteorder
    assert DType.of("u1").byteorder == DType.of("S3").byteorder == STRING.byteorder == ""
    assert DType.of(">U3").with_byteorder("little").numpy == np.dtype("<U3")
    assert DType.of(">i4").with_byteorder("native").numpy == np.dtype("=i4")
    assert DType.of("S3").with_byteorder("big").numpy == np.dtype("S3")


def test_types_are_values():
    assert DType.of("<i4") == DType.of(np.int32).with_byteorder("little")
    assert hash(DType.of("f8")) == hash(DType.of(float))
    for dtype in (DType.of(">f4"), STRING, BYTES):
        assert pickle.loads(pickle.dumps(dtype)) == dtype
