"""Fill values as bits."""

from __future__ import annotations

import datetime as dt
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from omnizarr.errors import ShapeError
from omnizarr.model.dtype import BYTES, STRING, DType
from omnizarr.model.fill import Fill, pack_float, pack_small

SCALARS = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?"),
    hnp.complex_number_dtypes(endianness="?"),
    hnp.byte_string_dtypes(min_len=1, max_len=6),
    hnp.unicode_string_dtypes(endianness="?", min_len=1, max_len=6),
    hnp.datetime64_dtypes(endianness="?"),
    hnp.timedelta64_dtypes(endianness="?"),
).filter(lambda dtype: dtype.itemsize <= 64 and dtype.str[1:] not in ("f16", "f12", "c32", "c24"))


@given(st.data())
def test_every_scalar_survives(data):
    dtype = DType.of(data.draw(SCALARS))
    array = data.draw(hnp.arrays(dtype.numpy, 1))
    fill = Fill.of(array[0], dtype)
    assert fill.bits == array.tobytes()
    assert np.array([fill.value(dtype)], dtype.numpy).tobytes() == array.tobytes()


@pytest.mark.parametrize("kind", ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8"])
def test_the_payload_of_a_nan_survives(kind):
    size = int(kind[2])
    bits = int.from_bytes(b"\x7f\xf9" + b"\x12" * (size - 2)) if size > 2 else 0x7E21
    scalar = np.array(bits, f"u{size}").view(f"f{size}")[()]
    dtype = DType.of(kind)
    assert Fill.of(scalar, dtype).bits == bits.to_bytes(size, dtype.byteorder)
    both = DType.of(f"{kind[0]}c{2 * size}") if size > 2 else None
    if both is not None:
        value = np.array([bits, 1], f"u{size}").view(f"c{2 * size}")[0]
        assert Fill.of(value, both).bits == bits.to_bytes(size, dtype.byteorder) + (1).to_bytes(size, dtype.byteorder)


@pytest.mark.parametrize(
    ("value", "kind", "bits"),
    [
        (-0.0, "<f4", b"\0\0\0\x80"),
        (float("nan"), ">f2", b"\x7e\0"),
        (float("nan"), "<f4", b"\0\0\xc0\x7f"),
        (float("inf"), ">f4", b"\x7f\x80\0\0"),
        (-np.inf, ">f4", b"\xff\x80\0\0"),
        (np.float64("inf"), ">f2", b"\x7c\0"),
        (65519, ">f2", b"\x7b\xff"),
        (complex(float("inf"), 1), ">c8", struct.pack(">ff", float("inf"), 1)),
        (2**63 - 1, ">i8", b"\x7f" + b"\xff" * 7),
        (2**64 - 1, "u8", b"\xff" * 8),
        (3.0, "u1", b"\x03"),
        (True, "?", b"\x01"),
        (0, "?", b"\x00"),
        (1 + 2j, ">c8", struct.pack(">ff", 1, 2)),
        (3, "<c8", struct.pack("<ff", 3, 0)),
        (b"ab", "S4", b"ab\0\0"),
        ("ab", "S4", b"ab\0\0"),
        ("aé", ">U3", "aé\0".encode("utf-32-be")),
        ("\ud800", "<U1", b"\0\xd8\0\0"),
        (0, "V3", bytes(3)),
        (b"abc", "V3", b"abc"),
        (np.void(b"abc"), "V3", b"abc"),
        (5, ">M8[s]", (5).to_bytes(8, "big")),
        ("NaT", "<M8[s]", (2**63).to_bytes(8, "little")),
        ("1970-01-02", "<M8[s]", (86400).to_bytes(8, "little")),
        (dt.datetime(1970, 1, 2), "<M8[s]", (86400).to_bytes(8, "little")),  # noqa: DTZ001
        (dt.timedelta(seconds=7), "<m8[s]", (7).to_bytes(8, "little")),
        (np.timedelta64(2, "m"), "<m8[s]", (120).to_bytes(8, "little")),
    ],
)
def test_values_become_these_bits(value, kind, bits):
    assert Fill.of(value, DType.of(kind)).bits == bits


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (256, "u1"),
        (-1, "u8"),
        (2**63, "i8"),
        (1.5, "i4"),
        ("1", "i4"),
        (float("nan"), "i4"),
        (float("inf"), "i4"),
        ("x", "f4"),
        (object(), "f4"),
        (1j, "f8"),
        (1e300, "f4"),
        (-1e300, ">f4"),
        (np.float64(1e39), "f4"),
        (65520, "f2"),
        (2**1000, "f4"),
        (10**400, "f8"),
        (complex(1e300, 0), "c8"),
        (complex(float("inf"), 1e300), "c8"),
        (2, "?"),
        (0.0, "?"),
        (b"abcd", "S3"),
        ("é", "S3"),
        (1, "S3"),
        ("abcd", "U3"),
        (b"a", "U3"),
        (b"ab", "V3"),
        (1.5, "M8[s]"),
        ("never", "M8[s]"),
        (np.timedelta64(1, "ms"), "m8[s]"),
        (np.datetime64(1, "s"), "m8[s]"),
        ([1, 2], "M8[s]"),
        ([1, 2], "i4"),
        (2**63, "M8[s]"),
        ("x", "c8"),
        ("1", "f4"),
        (5, "V3"),
        (0.0, "V3"),
        (b"ab", [("a", "u1"), ("b", "<u2")]),
        ((1,), [("a", "u1"), ("b", "<u2")]),
        ({"a": 1}, [("a", "u1"), ("b", "<u2")]),
        ({"a": 1, "b": 2, "c": 3}, [("a", "u1"), ("b", "<u2")]),
        ("ab", [("a", "u1"), ("b", "u1")]),
        (1, [("a", "u1"), ("b", "<u2")]),
        (256, [("a", "u1", (2,))]),
        (1e39, "bfloat16"),
        (-1e39, "bfloat16"),
        ("1", "bfloat16"),
        (np.complex64(1), "bfloat16"),
        (8, "int4"),
        (1.5, "int4"),
        ("1", "complex_bfloat16"),
        ((1, 2, 3), "complex_float16"),
        (np.zeros((), [("a", "f2"), ("b", "f2")])[()], "complex_float16"),
    ],
)
def test_values_that_do_not_fit_are_refused(value, kind):
    with pytest.raises(ShapeError):
        Fill.of(value, DType.of(kind))


def test_types_of_variable_length():
    assert Fill.of("é", STRING).bits == "é".encode()
    assert Fill.of("é", STRING).value(STRING) == "é"
    assert Fill.of(b"\xff", BYTES).value(BYTES) == b"\xff"
    for value, dtype in ((b"a", STRING), (0, STRING), ("a", BYTES), (0, BYTES), ("\ud800", STRING)):
        with pytest.raises(ShapeError):
            Fill.of(value, dtype)


def test_undefined_and_zero():
    dtype = DType.of("<i4")
    assert Fill.of(None, dtype) == Fill(None)
    assert Fill(None).value(dtype) is None
    assert Fill.zero(dtype).bits == bytes(4)
    assert Fill.zero(STRING).value(STRING) == ""
    assert Fill.of(np.array(7), dtype).value(dtype) == 7


STRUCT = [("a", "u1"), ("b", "<u2")]


@pytest.mark.parametrize(
    ("value", "kind", "bits"),
    [
        ((1, 2), STRUCT, b"\1\2\0"),
        ([1, 2], STRUCT, b"\1\2\0"),
        ({"b": 2, "a": 1}, STRUCT, b"\1\2\0"),
        (b"abc", STRUCT, b"abc"),
        (0, STRUCT, bytes(3)),
        (np.array((1, 2), [("x", ">u4"), ("y", "u1")])[()], STRUCT, b"\1\2\0"),
        (np.void(b"abc"), STRUCT, b"abc"),
        ((7,), [("a", "u1", (2, 2))], b"\7\7\7\7"),
        (([1, 2],), [("a", "u1", (2, 2))], b"\1\2\1\2"),
        (([(1, 2), (3, 4)],), [("n", STRUCT, (2,))], b"\1\2\0\3\4\0"),
        (0, "V3", bytes(3)),
    ],
    ids=repr,
)
def test_structures(value, kind, bits):
    assert Fill.of(value, DType.of(np.dtype(kind) if isinstance(kind, list) else kind)).bits == bits


@pytest.mark.parametrize(
    ("value", "kind", "bits"),
    [
        (1, "bfloat16", b"\x80\x3f"),
        (float("inf"), "bfloat16", b"\x80\x7f"),
        (np.float32(1), "bfloat16", b"\x80\x3f"),
        (-1, "int4", b"\x0f"),
        (True, "uint2", b"\1"),
        (1, "complex_float16", b"\0\x3c\0\0"),
        (1 + 1j, "complex_float16", b"\0\x3c\0\x3c"),
        ((0, 1), "complex_float16", b"\0\0\0\x3c"),
        (np.complex64(1j), "complex_bfloat16", b"\0\0\x80\x3f"),
        (np.array((0, 1), [("real", "f8"), ("imag", "f8")])[()], "complex_float16", b"\0\0\0\x3c"),
    ],
    ids=repr,
)
def test_numbers_that_numpy_does_not_have(value, kind, bits):
    pytest.importorskip("ml_dtypes")
    assert Fill.of(value, DType.of(kind)).bits == bits


def test_numbers_of_one_small_type_fit_another():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert Fill.of(ml_dtypes.float8_e5m2(2), DType.of("bfloat16")).bits == b"\0\x40"
    assert Fill.of(ml_dtypes.int4(-1), DType.of("int4")).bits == b"\x0f"
    assert Fill.of(ml_dtypes.int4(-1), DType.of("int2")).bits == b"\x03"
    assert Fill.of(ml_dtypes.bfloat16(1), DType.of("complex_bfloat16")).bits == b"\x80\x3f\0\0"


@pytest.mark.skipif(np.dtype("g").itemsize <= 8, reason="long doubles are doubles here")
def test_long_doubles_have_zeros_where_they_have_no_bits():
    exact = np.longdouble(1) / 3
    for kind, value in (("g", exact), ("G", np.clongdouble(exact)), ("g", 0.5), ("G", 0.5j)):
        dtype = DType.of(kind)
        fill = Fill.of(value, dtype)
        assert fill.value(dtype) == value
        if np.finfo(np.longdouble).nmant == 63:
            assert fill.bits[10:16] == bytes(6)
        swapped = Fill.of(value, dtype.with_byteorder("big"))
        assert swapped.value(dtype.with_byteorder("big")) == value


@pytest.mark.parametrize(
    ("value", "kind", "bits"),
    [
        (np.int64(1), ">f8", struct.pack(">d", 1)),
        (np.float32(2), "<i4", struct.pack("<i", 2)),
        (1j, "<c16", struct.pack("<dd", 0, 1)),
        (1 + 2j, ">c8", struct.pack(">ff", 1, 2)),
        (np.complex128(1 + 2j), ">c16", struct.pack(">dd", 1, 2)),
    ],
)
def test_kinds_and_byte_orders_may_differ(value, kind, bits):
    assert Fill.of(value, DType.of(kind)).bits == bits


@pytest.mark.parametrize(("size", "infinite"), [(2, 0x7C00), (4, 0x7F800000), (8, 0x7FF0000000000000)])
def test_what_is_too_large_for_a_float_is_infinite(size, infinite):
    huge = 1e300 if size < 8 else float("inf")
    assert pack_float(huge, size, "big") == infinite.to_bytes(size, "big")
    assert pack_float(-huge, size, "little") == (infinite | 1 << (8 * size - 1)).to_bytes(size, "little")


def test_small_numbers_in_either_byte_order():
    pytest.importorskip("ml_dtypes")
    assert pack_small(1, "bfloat16", "little") == b"\x80\x3f"
    assert pack_small(1, "bfloat16", "big") == b"\x3f\x80"


def test_numbers_of_ml_dtypes_have_no_bits_beyond_their_own():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert Fill.of(ml_dtypes.int4(-1), DType.of(ml_dtypes.int4)).bits == b"\x0f"
    assert Fill.of(ml_dtypes.int2(-1), DType.of(ml_dtypes.int2)).bits == b"\x03"
    one = ml_dtypes.bfloat16(1.5)
    assert Fill.of(one, DType.of(ml_dtypes.bfloat16)).bits == one.tobytes()
