"""The element types of the model."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

from omnizarr.errors import UnsupportedError
from omnizarr.model import small
from omnizarr.model.dtype import BYTES, STRING, VLEN_ITEMSIZE, DType, field_type, optional_of
from omnizarr.model.small import PAIRS, SMALL

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


@pytest.mark.parametrize("name", [*SMALL, *PAIRS])
def test_types_that_numpy_does_not_have(name):
    pytest.importorskip("ml_dtypes")
    dtype = DType.of(name)
    assert dtype.name == name
    assert dtype.family == ("pair" if name in PAIRS else "small")
    part = PAIRS.get(name, name)
    assert dtype.bits == {"float16": 16, **SMALL}[part]
    assert dtype.components == (2 if name in PAIRS else 1)
    assert dtype.itemsize == dtype.components * (2 if "16" in part else 1)
    assert dtype.swap_unit == dtype.itemsize // dtype.components
    assert dtype.with_byteorder("big") is dtype
    assert pickle.loads(pickle.dumps(dtype)) == dtype
    if name not in PAIRS:
        assert DType.of(dtype.numpy) == dtype
        assert DType.of(dtype.numpy.type) == dtype


@pytest.mark.parametrize(
    ("what", "family", "bits", "components"),
    [
        ("?", "bool", 1, 1),
        ("<i4", "int", 32, 1),
        ("u1", "uint", 8, 1),
        (">f2", "float", 16, 1),
        ("c16", "complex", 64, 2),
        ("M8[s]", "time", 64, 1),
        ("U3", "text", 32, 3),
        ("S3", "fixed", 8, 3),
        ("V3", "raw", 8, 3),
        ("r24", "raw", 8, 3),
        ("g", "float", 8 * np.dtype("g").itemsize, 1),
        ([("a", "u1"), ("b", "<i4")], "struct", 8, 5),
        ("string", "string", 128, 1),
        ("complex_float32", "complex", 32, 2),
    ],
)
def test_families(what, family, bits, components):
    dtype = DType.of(what)
    assert (dtype.family, dtype.bits, dtype.components) == (family, bits, components)


def test_without_the_package_the_types_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    for made in (small.small_numpy, small.pair_numpy):
        made.cache_clear()
    for name in ("bfloat16", "complex_float8_e5m2"):
        with pytest.raises(UnsupportedError, match=r"omnizarr\[ml\]"):
            DType.of(name)
    assert DType.of("complex_float16").itemsize == 4
    small.pair_numpy.cache_clear()


def test_structures_keep_their_layout():
    aligned = np.dtype([("a", "u1"), ("b", "<i4"), ("n", [("x", ">f8"), ("y", "S3", (2, 2))])], align=True)
    dtype = DType.of(aligned)
    assert (dtype.name, dtype.numpy, dtype.itemsize) == ("struct", aligned, aligned.itemsize)
    assert dtype.has_order
    assert dtype.byteorder == ""  # the fields differ
    big = dtype.with_byteorder("big")
    assert big.byteorder == "big"
    assert (big.numpy["b"], big.numpy["n"]["x"]) == (np.dtype(">i4"), np.dtype(">f8"))
    assert DType.of([("a", "u1"), ("b", "S2")]).has_order is False
    assert DType.of(np.dtype([("a", "<u2")])).byteorder == "little"


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (np.dtype([("a", object)]), "'a'"),
        (np.dtype([("n", [("x", "<i4"), ("y", object, (2,))])]), "'n.y'"),
        (np.dtype([(("title", "a"), "<i4")]), "title"),
        (np.dtype([("a", "S0")]), "no bytes"),
        (np.dtype([]), "at least one"),
        (np.dtype({"names": ["a", "b"], "formats": ["<u4", "u1"], "offsets": [0, 0]}), "'b' lies over"),
        (np.dtype({"names": ["a", "b"], "formats": ["<u4", "u1"], "offsets": [1, 0]}), "'b' lies over"),
    ],
)
def test_structures_that_are_refused(what, words):
    with pytest.raises(UnsupportedError, match=words):
        DType.of(what)


def test_long_labels_are_cut():
    assert DType.of("f4").label == "float32"
    assert DType.of("string").label == "string"
    assert DType.of("complex_float16").label == "complex_float16"
    label = DType.of([(f"field{i}", "f4") for i in range(20)]).label
    assert len(label) == 80
    assert label.endswith("…")


def test_a_field_of_two_small_floats_is_a_complex_number():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    pair = [("real", ml_dtypes.bfloat16), ("imag", ml_dtypes.bfloat16)]
    assert field_type(np.dtype(pair)).name == "complex_bfloat16"
    assert field_type(np.dtype([("real", "f2"), ("imag", "f2")])).name == "struct"
    assert DType.of(np.dtype(pair)).name == "struct"


def test_no_byte_order_but_the_machine_s_for_numbers_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    other = "big" if sys.byteorder == "little" else "little"
    with pytest.raises(UnsupportedError, match="endian"):
        DType.of([("a", ml_dtypes.bfloat16), ("b", "i4")]).with_byteorder(other)
    assert DType.of([("a", ml_dtypes.int4), ("b", "i4")]).with_byteorder(other).byteorder == other


def test_a_type_of_the_package_that_is_not_known_is_refused(monkeypatch):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    monkeypatch.delitem(SMALL, "int2")
    with pytest.raises(UnsupportedError, match="the element type int2 is not supported") as caught:
        DType.of(ml_dtypes.int2)
    assert caught.value.hint is None or "complex_bfloat16" in caught.value.hint


def test_byte_order_of_types_that_only_the_machine_has():
    pytest.importorskip("ml_dtypes")
    assert DType.of("complex_bfloat16").byteorder == sys.byteorder
    assert DType.of("bfloat16").byteorder == sys.byteorder
    for name in ("complex_float8_e5m2", "float8_e5m2", "int4", "?", "S3", "string", "bytes"):
        assert DType.of(name).byteorder == ""
        assert not DType.of(name).has_order


def test_byte_order_is_changed_only_where_it_is_another():
    big = DType.of(">i4")
    assert big.with_byteorder("native").byteorder == sys.byteorder
    assert big.with_byteorder("big") is big
    struct = DType.of([("a", ">i4"), ("b", "u1")])
    assert struct.with_byteorder("big") is struct
    assert struct.with_byteorder("native").byteorder == sys.byteorder


def test_raw_types_of_odd_sizes():
    assert DType.of("r8").itemsize == 1
    with pytest.raises(UnsupportedError, match="a whole number of bytes"):
        DType.of("r12")
    with pytest.raises(UnsupportedError, match="'r17179869184' is not an element type"):
        DType.of(f"r{8 * 2**31}")


@pytest.mark.parametrize(
    ("what", "hint"),
    [
        (np.dtype(("i4", (2,))), "Make the array larger"),
        (np.dtype(object), 'dtype="string"'),
        (np.dtype("S0"), 'as in "S10"'),
        (np.dtype([("a", object)]), 'as in "U10"'),
        (np.dtype({"names": ["a", "b"], "formats": ["<u4", "u1"], "offsets": [0, 0]}), "repack_fields"),
    ],
)
def test_refusals_say_what_to_do(what, hint):
    with pytest.raises(UnsupportedError) as caught:
        DType.of(what)
    assert hint in caught.value.hint


def test_objects_are_called_so():
    assert optional_of(DType.of("u1")).label == "object"
    assert DType.of(bytes).label == "bytes"
