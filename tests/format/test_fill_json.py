"""Fill values in documents."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.format import fill_json, v3_dtype
from omnizarr.model.dtype import BYTES, STRING, DType, arrays_of, optional_of
from omnizarr.model.fill import Fill

NAN16, NAN32, NAN64 = 0x7E00, 0x7FC00000, 0x7FF8000000000000


def of(kind: object) -> DType:
    return DType.of(kind)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "kind", "bits"),
    [
        (True, "?", b"\1"),
        (0, "?", b"\0"),
        (-(2**63), ">i8", b"\x80" + bytes(7)),
        (2**64 - 1, "<u8", b"\xff" * 8),
        (2**53 + 1, "<u8", (2**53 + 1).to_bytes(8, "little")),
        (7.0, "<i2", b"\7\0"),
        ("-12", "i1", b"\xf4"),
        (1, "<f4", struct.pack("<f", 1)),
        (0.1, ">f4", struct.pack(">f", 0.1)),
        (-0.0, "<f8", struct.pack("<d", -0.0)),
        ("-0.0", "<f8", struct.pack("<d", -0.0)),
        (1e39, "<f4", struct.pack("<f", math.inf)),
        (10**400, "<f8", struct.pack("<d", math.inf)),
        (-(10**400), "<f8", struct.pack("<d", -math.inf)),
        ("NaN", "<f2", NAN16.to_bytes(2, "little")),
        ("NaN", ">f4", NAN32.to_bytes(4, "big")),
        (math.nan, "<f8", NAN64.to_bytes(8, "little")),
        ("nan", "<f8", NAN64.to_bytes(8, "little")),
        ("Infinity", "<f4", struct.pack("<f", math.inf)),
        ("+Infinity", "<f4", struct.pack("<f", math.inf)),
        ("-Infinity", "<f4", struct.pack("<f", -math.inf)),
        ("1.5", "<f4", struct.pack("<f", 1.5)),
        ("1e400", "<f8", struct.pack("<d", math.inf)),
        ("0x7e21", "<f2", b"\x21\x7e"),
        ("0x7fc00001", ">f4", b"\x7f\xc0\0\1"),
        ("0xFFF8000000000123", "<f8", 0xFFF8000000000123.to_bytes(8, "little")),
        ("0x1", "<f4", b"\1\0\0\0"),
        ([1.5, "NaN"], "<c8", struct.pack("<f", 1.5) + NAN32.to_bytes(4, "little")),
        (["0x7fc00001", -0.0], ">c8", b"\x7f\xc0\0\1\x80\0\0\0"),
        (3, "<c16", struct.pack("<dd", 3, 0)),
        ("YWI=", "S3", b"ab\0"),
        ("", "S3", bytes(3)),
        ("YWJj", "V3", b"abc"),
        ([97, 98, 99], "V3", b"abc"),
        ("aé", "<U3", "aé\0".encode("utf-32-le")),
        ("", ">U3", bytes(12)),
        (5, "<M8[s]", b"\5" + bytes(7)),
        ("NaT", ">m8[s]", b"\x80" + bytes(7)),
        ("é", "string", "é".encode()),
        ("YWI=", "bytes", b"ab"),
        ([97, 98], "bytes", b"ab"),
        ("", "bytes", b""),
    ],
)
def test_both_read(value, kind, bits):
    assert fill_json.parse_v3(value, of(kind), "k") == Fill(bits)
    assert fill_json.parse_v2(value, of(kind), "k") == Fill(bits)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        *((value, "?") for value in (2, "true", 1.0, [], {})),
        *((value, "u1") for value in (256, -1, 1.5, True, "x", "1.0", "1_0", " 1", [1, 1], math.inf, math.nan)),
        *((value, "i8") for value in (2**63, -(2**63) - 1, 1e30)),
        *((value, "f4") for value in (True, "x", "", "0x", "0x123456789", "1_0", " 1", "0x1.8p1", [1, 1], {}, "0b1")),
        *((value, "c8") for value in ([1], [1, 2, 3], [True, 1], ["x", 1], "x", {})),
        *((value, "S3") for value in (1, [256], [1.0], "YWJjZA==", {})),
        *((value, "V3") for value in ("YWI=", "YWJjZA==", 1, [1, 2])),
        *((value, "U3") for value in (1, "abcd", [], b"x")),
        *((value, "M8[s]") for value in ("2000-01-01", 2**63, 1.5, True, "nat")),
        *((value, "string") for value in (1, [], True, "\ud800")),
        *((value, "bytes") for value in (1, [256], ["a"], True)),
    ],
)
def test_both_refuse(value, kind):
    for parse in (fill_json.parse_v3, fill_json.parse_v2):
        with pytest.raises(MetadataError) as caught:
            parse(value, of(kind), "a/k")
        assert caught.value.pointer == "/fill_value"
        assert caught.value.key == "a/k"


@pytest.mark.parametrize(
    ("value", "kind", "bits"),
    [
        *((None, kind, None) for kind in ("i4", "f4", "S3", "string", "bytes", "?")),
        ([7], "u1", b"\7"),
        (["NaN"], "<f4", NAN32.to_bytes(4, "little")),
        (0, "S3", bytes(3)),
        (0, "V3", bytes(3)),
        (0, "U3", bytes(12)),
        (0, "string", b""),
        (0, "bytes", b""),
        ("0", "S3", b"0\0\0"),
        ("x y", "V3", b"x y"),
        ("not base64", "bytes", b"not base64"),
    ],
)
def test_what_only_v2_writers_wrote(value, kind, bits):
    assert fill_json.parse_v2(value, of(kind), "k") == Fill(bits)
    with pytest.raises(MetadataError):
        fill_json.parse_v3(value, of(kind), "k")


@pytest.mark.parametrize(
    ("bits", "kind", "value"),
    [
        (b"\1", "?", True),
        (b"\xff", "i1", -1),
        (b"\xff" * 8, "u8", 2**64 - 1),
        (struct.pack(">f", 0.1), ">f4", 0.10000000149011612),
        (NAN16.to_bytes(2, "big"), ">f2", "NaN"),
        (struct.pack("<d", -math.inf), "<f8", "-Infinity"),
        (struct.pack("<dd", 1, math.inf), "<c16", [1.0, "Infinity"]),
        (b"abc", "V3", "YWJj"),
        ("aé\0".encode("utf-32-be"), ">U3", "aé"),
        (b"\5" + bytes(7), "<M8[s]", 5),
        (b"\x80" + bytes(7), ">M8[s]", -(2**63)),
        (b"\x80" + bytes(7), ">M8", "NaT"),
        ("é".encode(), "string", "é"),
        (b"ab", "bytes", "YWI="),
    ],
)
def test_both_write(bits, kind, value):
    for render in (fill_json.render_v3, fill_json.render_v2):
        assert render(Fill(bits), of(kind)) == value


def test_signs_of_zero_are_written():
    assert math.copysign(1, fill_json.render_v3(Fill(struct.pack("<f", -0.0)), of("<f4"))) == -1  # type: ignore[arg-type]


def test_strings_of_bytes_are_padded_in_v2_alone():
    assert fill_json.render_v3(Fill(b"ab\0"), of("S3")) == "YWI="
    assert fill_json.render_v2(Fill(b"ab\0"), of("S3")) == "YWIA"


def test_nan_payloads_are_written_in_v3_and_refused_in_v2():
    for bits, kind, value in (
        (b"\x21\x7e", "<f2", "0x7e21"),
        (b"\xff\xc0\0\0", ">f4", "0xffc00000"),
        (b"\0\0\0\0\x7f\xc0\0\1", ">c8", [0.0, "0x7fc00001"]),
    ):
        assert fill_json.render_v3(Fill(bits), of(kind)) == value
        with pytest.raises(UnsupportedError):
            fill_json.render_v2(Fill(bits), of(kind))


def test_undefined():
    assert fill_json.render_v2(Fill(None), STRING) is None
    with pytest.raises(UnsupportedError):
        fill_json.render_v3(Fill(None), BYTES)


@pytest.mark.parametrize(
    ("value", "dtype", "bits"),
    [
        (None, optional_of(DType.of("u1")), b""),
        ([7], optional_of(DType.of("u1")), b"\1\7"),
        ([None], optional_of(optional_of(DType.of("u1"))), b"\1"),
        ([[7]], optional_of(optional_of(DType.of("u1"))), b"\1\1\7"),
        (["é"], optional_of(STRING), b"\1\xc3\xa9"),
        ([1, 2], arrays_of(DType.of("<u2")), b"\1\0\2\0"),
        (0, arrays_of(DType.of("<u2")), b""),
    ],
    ids=repr,
)
def test_objects(value, dtype, bits):
    assert fill_json.parse_v3(value, dtype, "k").bits == bits
    assert fill_json.render_v3(Fill(bits), dtype) == value


@pytest.mark.parametrize(
    ("value", "dtype", "words"),
    [
        (7, optional_of(DType.of("u1")), "null, or a list of one value, is needed"),
        ([], optional_of(DType.of("u1")), "null, or a list of one value, is needed"),
        ([1, 2], optional_of(DType.of("u1")), "null, or a list of one value, is needed"),
        ([256], optional_of(DType.of("u1")), "out of the range"),
        ("x", arrays_of(DType.of("u1")), "a list is needed"),
        ([[1]], arrays_of(DType.of("u1")), "an array of one dimension is needed, not of 2"),
        ([256], arrays_of(DType.of("u1")), "cannot be"),
    ],
    ids=repr,
)
def test_objects_that_are_refused(value, dtype, words):
    with pytest.raises(MetadataError, match=words) as caught:
        fill_json.parse_v3(value, dtype, "k")
    assert (caught.value.key, caught.value.pointer) == ("k", "/fill_value")


PAIR = np.dtype([("a", "<i2"), ("b", "S2")])


@pytest.mark.parametrize("parse", [fill_json.parse_v2, fill_json.parse_v3])
def test_structures(parse):
    dtype = of(PAIR)
    for value in ({"a": 1, "b": "YWI="}, {"b": "YWI=", "a": 1}, "AQBhYg=="):
        assert parse(value, dtype, "k") == Fill(b"\1\0ab")
    for value, words in (
        ({"a": 1}, "the field 'b' is missing"),
        ({"a": 1, "b": "YWI=", "c": 0}, "there is no field 'c'"),
        ("!!", "base64"),
        ([1], "needed"),
    ):
        with pytest.raises(MetadataError, match=words):
            parse(value, dtype, "k")


def test_structures_as_lists_in_v2_alone():
    assert fill_json.parse_v2([1, "YWI="], of(PAIR), "k") == Fill(b"\1\0ab")
    with pytest.raises(MetadataError, match="2 values are needed"):
        fill_json.parse_v2([1, "YWI=", 2], of(PAIR), "k")
    with pytest.raises(MetadataError, match="base64"):
        fill_json.parse_v3([1, "YWI="], of(PAIR), "k")


@pytest.mark.parametrize(
    ("value", "kind", "bits"),
    [
        (0, "S3", bytes(3)),
        (0, "V3", bytes(3)),
        (0, "string", b""),
        (0, "bytes", b""),
        ("a!", "S2", b"a!"),
        ("a!", "S3", b"a!\0"),
        ("!!", "V2", b"!!"),
        (False, "S3", None),
        (1, "S3", None),
        (0.0, "S3", None),
        ("a!b", "S2", None),
        ("!", "V2", None),
        ("!!!", "V2", None),
        (5, "V2", None),
        (False, "string", None),
        (1, "string", None),
        (0.0, "string", None),
    ],
)
def test_zero_and_text_that_is_no_base64_in_v2_alone(value, kind, bits):
    if bits is None:
        with pytest.raises(MetadataError):
            fill_json.parse_v2(value, of(kind), "k")
    else:
        assert fill_json.parse_v2(value, of(kind), "k") == Fill(bits)
    with pytest.raises(MetadataError):
        fill_json.parse_v3(value, of(kind), "k")


@pytest.mark.parametrize("text", ["0x123456789", "0x00000000001"])
def test_more_digits_than_bits(text):
    with pytest.raises(MetadataError, match="out of the range of float32"):
        fill_json.parse_v3(text, of("f4"), "k")


def test_bytes_in_a_list_are_any_bytes():
    dtype = DType.of("V3")
    assert fill_json.parse_v3([0, 1, 255], dtype, "k").bits == b"\0\1\xff"
    for wrong in ([0, 1, 256], [-1, 0, 1], [0, 1, True]):
        with pytest.raises(MetadataError):
            fill_json.parse_v3(wrong, dtype, "k")


def test_numbers_of_four_bits_are_read_however_they_are_spelled_in_v2():
    pytest.importorskip("ml_dtypes")
    dtype = v3_dtype.parse_dtype("float4_e2m1fn", "k")
    for value in (1.5, "AQ==", "0x3"):
        assert len(fill_json.parse_v2(value, dtype, "k").bits) == 1
    assert fill_json.parse_v2("0x3", dtype, "k") == fill_json.parse_v2(1.5, dtype, "k")
