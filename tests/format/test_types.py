"""Element types in documents: names, layouts, byte orders and the fill values of each."""

from __future__ import annotations

import base64
import math
import struct
import warnings
from typing import Any

import numpy as np
import pytest

from omnizarr.errors import MetadataError, OmnizarrWarning, UnsupportedError
from omnizarr.format import fill_json, v2, v2_dtype, v3, v3_dtype
from omnizarr.model.dtype import DType
from omnizarr.model.fill import Fill
from omnizarr.model.small import PAIRS, SMALL

ml_dtypes = pytest.importorskip("ml_dtypes")

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
BIG = {"name": "bytes", "configuration": {"endian": "big"}}
FIELDS = [
    {"name": "a", "data_type": "int32"},
    {"name": "t", "data_type": {"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}},
    {"name": "n", "data_type": {"name": "struct", "configuration": {"fields": [
        {"name": "x", "data_type": "uint8"}, {"name": "y", "data_type": "float64"},
    ]}}},
]  # fmt: skip
STRUCT = {"name": "struct", "configuration": {"fields": FIELDS}}
NUMPY = np.dtype([("a", "<i4"), ("t", "<U2"), ("n", [("x", "u1"), ("y", "<f8")])])
FILL = {"a": -7, "t": "é", "n": {"x": 255, "y": "0x7ff8000000000123"}}
VALUE = struct.pack("<i8sBQ", -7, "é\0".encode("utf-32-le"), 255, 0x7FF8000000000123)


def document(data_type: Any, fill: Any, codecs: Any = (LITTLE,)) -> dict[str, Any]:
    return {
        "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": data_type, "fill_value": fill,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}}, "codecs": list(codecs),
        "chunk_key_encoding": {"name": "default"},
    }  # fmt: skip


def old(dtype: Any, fill: Any = None) -> dict[str, Any]:
    return {
        "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": dtype, "fill_value": fill, "order": "C",
        "filters": None, "compressor": None,
    }  # fmt: skip


def test_a_structure_and_its_fill_value():
    meta = v3.parse_array(document(STRUCT, FILL), "k")
    assert (meta.dtype.name, meta.dtype.numpy, meta.fill.bits) == ("struct", NUMPY, VALUE)
    rendered = v3.render_array(meta)
    assert (rendered["data_type"], rendered["fill_value"], rendered["codecs"]) == (STRUCT, FILL, [LITTLE])


@pytest.mark.parametrize("name", ["struct", "structured"])
@pytest.mark.parametrize("pairs", [True, False])
def test_both_names_take_both_forms_of_fields(name, pairs):
    fields: Any = [["a", "int16"], ["b", "bool"]] if pairs else [
        {"name": "a", "data_type": "int16"}, {"name": "b", "data_type": "bool"},
    ]  # fmt: skip
    for fill in ("AQIB", {"a": 0x201, "b": True}):
        meta = v3.parse_array(document({"name": name, "configuration": {"fields": fields}}, fill), "k")
        assert meta.dtype.numpy == np.dtype([("a", "<i2"), ("b", "?")])
        assert meta.fill.bits == b"\1\2\1"
        again = v3.render_array(meta)
        assert again["data_type"]["name"] == name
        assert again["fill_value"] == ("AQIB" if name == "structured" else {"a": 0x201, "b": True})
        assert v3.parse_array(again, "k") == meta


def sharded(codec: Any) -> list[Any]:
    index = [LITTLE, {"name": "crc32c"}]
    return [{"name": "sharding_indexed", "configuration": {"chunk_shape": [1], "codecs": codec, "index_codecs": index}}]


@pytest.mark.parametrize("codecs", [[BIG], sharded([BIG]), sharded(sharded([BIG]))])
def test_the_fields_have_the_byte_order_of_the_codec(codecs):
    meta = v3.parse_array(document(STRUCT, FILL, codecs), "k")
    assert meta.dtype.numpy == NUMPY.newbyteorder(">")
    assert meta.dtype.byteorder == "big"
    assert meta.fill.bits == struct.pack(">i8sBQ", -7, "é\0".encode("utf-32-be"), 255, 0x7FF8000000000123)
    assert v3.parse_array(v3.render_array(meta), "k") == meta
    assert v3.render_array(meta)["fill_value"] == FILL
    assert [step["name"] for step in v3.render_array(meta)["codecs"]] == [step["name"] for step in codecs]


def test_a_structure_without_a_byte_order_is_little_endian():
    with pytest.warns(OmnizarrWarning, match="little-endian is assumed"):
        meta = v3.parse_array(document(STRUCT, FILL, [{"name": "bytes"}]), "k")
    assert v3.render_array(meta)["codecs"] == [LITTLE]
    legacy = {"name": "structured", "configuration": {"fields": [["a", "int32"]]}}
    with pytest.warns(OmnizarrWarning, match="little-endian is assumed"):
        meta = v3.parse_array(document(legacy, "AQAAAA==", [{"name": "bytes"}]), "k")
    assert meta.dtype.numpy == np.dtype([("a", "<i4")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bytes_only = {"name": "struct", "configuration": {"fields": [["a", "int8"]]}}
        assert v3.render_array(v3.parse_array(document(bytes_only, {"a": 1}, [{"name": "bytes"}]), "k"))["codecs"] == [
            {"name": "bytes"}
        ]


@pytest.mark.parametrize(
    ("fill", "words"),
    [
        ({"a": 1, "t": ""}, "'n' is missing"),
        ({**FILL, "z": 1}, "no field 'z'"),
        ({**FILL, "a": 1.5}, "field 'a'"),
        ({**FILL, "a": 2**31}, "out of the range"),
        ({**FILL, "n": {"x": 256, "y": 0}}, "out of the range"),
        ({**FILL, "n": {"x": 1, "y": []}}, "field 'n': field 'y'"),
        ("AAAA", "3 bytes where 21"),
        (None, "base64"),
        (0, "base64"),
    ],
)
def test_fill_values_of_structures_that_are_refused(fill, words):
    with pytest.raises(MetadataError, match=words) as caught:
        v3.parse_array(document(STRUCT, fill), "k")
    assert caught.value.pointer == "/fill_value"


@pytest.mark.parametrize(
    ("dtype", "words"),
    [
        ([("a", "<i4"), ("b", ">i4")], "one byte order"),
        ([("a", "<i4", (2,))], "arrays"),
        (np.dtype([("a", "u1"), ("b", "<i4")], align=True), "padding"),
        ("g", "no data type"),
        ("G", "no data type"),
    ],
)
def test_what_v3_cannot_say(dtype, words):
    with pytest.raises(UnsupportedError, match=words):
        v3_dtype.render_dtype(DType.of(dtype))


@pytest.mark.parametrize("name", [*SMALL, *PAIRS])
def test_names_that_numpy_does_not_know(name):
    dtype = DType.of(name)
    fill = {"float8_e8m0fnu": 1.0}.get(name.removeprefix("complex_"), 0)
    meta = v3.parse_array(document(name, [fill, fill] if name in PAIRS else fill), "k")
    assert meta.dtype == dtype
    assert v3.render_array(meta)["data_type"] == name
    assert v3.parse_array(v3.render_array(meta), "k") == meta
    in_tensorstore = name in SMALL and name not in ("float8_e4m3", "float8_e8m0fnu", "uint2", "uint4")
    in_tensorstore &= "float6" not in name
    if not in_tensorstore:
        with pytest.raises(UnsupportedError):
            v2_dtype.render_dtype(dtype, "")
    if name in SMALL:
        other = v2.parse_array(old(name), None, "k")
        assert other.dtype == dtype
        if in_tensorstore:
            assert v2.render_array(other)[0]["dtype"] == name


@pytest.mark.parametrize(
    ("dtype", "numpy"),
    [
        ([["a", "<i4"], ["b", ">f8"]], [("a", "<i4"), ("b", ">f8")]),
        ([["a", "<f4", [2, 2]], ["n", [["x", "|u1"], ["y", "|S2"]]]],
         [("a", "<f4", (2, 2)), ("n", [("x", "u1"), ("y", "S2")])]),
        ([["a", "|u1"], ["", "|V3"], ["b", "<i4"], ["c", "|u1"], ["", "|V3"]],
         np.dtype([("a", "u1"), ("b", "<i4"), ("c", "u1")], align=True)),
        ([["a", "bfloat16"], ["b", "|b1"]], [("a", ml_dtypes.bfloat16), ("b", "?")]),
        ([["a", "<M8[10s]"], ["b", ">U2"]], [("a", "<M8[10s]"), ("b", ">U2")]),
        ([["a", "<f4", [2]]], [("a", "<f4", (2,))]),
    ],
)  # fmt: skip
def test_structures_in_v2(dtype, numpy):
    meta = v2.parse_array(old(dtype), None, "k")
    assert meta.dtype.numpy == np.dtype(numpy)
    rendered = v2.render_array(meta)[0]
    assert rendered["dtype"] == dtype
    assert v2.parse_array(rendered, None, "k") == meta


@pytest.mark.parametrize(
    ("dtype", "numpy"),
    [
        ([["", "|V4"]], "V4"),
        ([["", "<i4"], ["b", "<i4"]], [("f0", "<i4"), ("b", "<i4")]),
        ([["a", "<f4", 3]], [("a", "<f4", (3,))]),
        ([["a", "i4"], ["b", "float32"]], [("a", "<i4"), ("b", "<f4")]),
    ],
)
def test_loose_structures(dtype, numpy):
    assert v2.parse_array(old(dtype), None, "k").dtype.numpy == np.dtype(numpy)


@pytest.mark.skipif(np.dtype("g").itemsize != 16, reason="long doubles have another size here")
@pytest.mark.parametrize("dtype", ["<f16", "<c32", ">f16", ">c32"])
def test_long_doubles(dtype):
    meta = v2.parse_array(old(dtype, 1.5), None, "k")
    assert meta.fill.value(meta.dtype) == 1.5
    assert v2.render_array(meta)[0]["dtype"] == dtype
    assert v2.render_array(meta)[0]["fill_value"] == (1.5 if "f" in dtype else [1.5, 0.0])
    for fill in ("NaN", "-Infinity", -0.0):
        whole = [fill, fill] if "c" in dtype else fill
        meta = v2.parse_array(old(dtype, whole), None, "k")
        assert v2.render_array(meta)[0]["fill_value"] == whole
    with pytest.raises(UnsupportedError, match="double precision"):
        fill_json.render_v2(Fill.of(np.longdouble(1) / 3, meta.dtype), meta.dtype)


@pytest.mark.parametrize(
    ("value", "bits"),
    [
        (base64.b64encode(VALUE).decode(), VALUE),
        (0, bytes(21)),
        ([-7, "é", [255, "0x7ff8000000000123"]], VALUE),
        (FILL, VALUE),
        (None, None),
    ],
)
def test_fill_values_of_structures_in_v2(value, bits):
    fill = fill_json.parse_v2(value, DType.of(NUMPY), "k")
    assert fill == Fill(bits)
    expected = None if bits is None else base64.b64encode(bits).decode()
    assert fill_json.render_v2(fill, DType.of(NUMPY)) == expected


def test_fill_values_of_fields_that_are_arrays():
    dtype = DType.of([("a", "<i2", (2, 2)), ("b", "u1")])
    for value in ([[[1, 2], [3, 4]], 5], {"a": [[1, 2], [3, 4]], "b": 5}):
        assert fill_json.parse_v2(value, dtype, "k").bits == struct.pack("<4hB", 1, 2, 3, 4, 5)
    assert fill_json.parse_v2([7, 5], dtype, "k").bits == struct.pack("<4hB", 7, 7, 7, 7, 5)
    for bad in ([[1, 2, 3, 4], 5], [[[1, 2]], 5], [1]):
        with pytest.raises(MetadataError):
            fill_json.parse_v2(bad, dtype, "k")


@pytest.mark.parametrize(
    ("value", "kind", "bits"),
    [
        ("0xff", "i1", b"\xff"),
        ("0xFF", "<i2", b"\xff\0"),
        ("0b00000001", "?", b"\1"),
        ("0x00", "?", b"\0"),
        ("0b1111111100000000", ">u2", b"\xff\0"),
        ("0b" + "0" * 31 + "1", "<f4", b"\1\0\0\0"),
        ("0xffffffffffffffff", "<M8[s]", b"\xff" * 8),
        ("0x616263", "V3", b"abc"),
        ("inf", "<f4", struct.pack("<f", math.inf)),
        ("-inf", "<f4", struct.pack("<f", -math.inf)),
        ("nan", "<f2", b"\0\x7e"),
        ("nan(0x7)", "<f4", b"\7\0\x80\x7f"),
        ("-nan(0x400001)", ">f4", b"\xff\xc0\0\1"),
        ("NaN(0x200)", ">f2", b"\x7e\0"),
        ("0x7fc1", "bfloat16", b"\xc1\x7f"),
        ("NaN", "bfloat16", b"\xc0\x7f"),
        (1e39, "bfloat16", b"\x80\x7f"),
        (1 + 2**-8 + 2**-40, "bfloat16", b"\x81\x3f"),
        (-0.0, "float8_e5m2", b"\x80"),
        ("NaN", "float8_e4m3fnuz", b"\x80"),
        ("-Infinity", "float8_e4m3", b"\xf8"),
        ("0xff", "float8_e4m3", b"\xff"),
        (-8, "int4", b"\x08"),
        (7.0, "int4", b"\x07"),
        ("0xf", "int4", b"\x0f"),
        (3, "uint2", b"\x03"),
        (-6, "float4_e2m1fn", b"\x0f"),
        ([1, "NaN"], "complex_float8_e5m2", b"\x3c\x7e"),
        (2, "complex_float16", b"\0\x40\0\0"),
        (["0x7e01", -0.0], "complex_float16", b"\1\x7e\0\x80"),
    ],
)
def test_spellings_of_numbers(value, kind, bits):
    assert fill_json.parse_v3(value, DType.of(kind), "k").bits == bits
    assert fill_json.parse_v2(value, DType.of(kind), "k").bits == bits


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        *((value, "i1") for value in ("0x1ff", "0b1", "0b0111111111", "0x", "0xg")),
        *((value, "f4") for value in ("nan(0x0)", "nan(0x800000)", "nan()", "nan(7)", "0b1")),
        *((value, "int4") for value in (8, -9, 1.5, "0x1f", "x", True)),
        *((value, "uint2") for value in (4, -1)),
        *((value, "float8_e4m3fn") for value in (1e39, "Infinity", "0x1ff", "x")),
        *((value, "float4_e2m1fn") for value in ("NaN", 7, "0x1f")),
        *((value, "float8_e8m0fnu") for value in (-1, "Infinity", 1e-50)),
        *((value, "complex_bfloat16") for value in ([1], [1, 2, 3], "x", [True, 1])),
        *((value, "V3") for value in ("0x6162", "0x61626364", "0b1")),
        ("0x02", "?"),
    ],
)
def test_spellings_of_numbers_that_are_refused(value, kind):
    with pytest.raises(MetadataError):
        fill_json.parse_v3(value, DType.of(kind), "k")


def test_tensorstore_writes_zero_for_the_smallest_power_of_two():
    dtype = DType.of("float8_e8m0fnu")
    with pytest.warns(OmnizarrWarning, match="no zero"):
        fill = fill_json.parse_v3(0.0, dtype, "k")
    assert fill == Fill.zero(dtype)
    assert fill_json.render_v3(fill, dtype) == "0x00"
    assert fill_json.parse_v3(2.0**-127, dtype, "k") == fill


def test_tensorstore_writes_one_type_in_base64():
    dtype = DType.of("float4_e2m1fn")
    for value in ("AQ==", 0.5):
        assert fill_json.parse_v2(value, dtype, "k") == Fill(b"\1")
    assert fill_json.render_v2(Fill(b"\1"), dtype) == "AQ=="
    assert fill_json.render_v3(Fill(b"\1"), dtype) == 0.5


@pytest.mark.parametrize("name", [*SMALL, *PAIRS])
def test_every_bit_pattern_is_written_and_read_back(name):
    dtype = DType.of(name)
    part = DType.of(PAIRS.get(name, name))
    for code in range(0, 1 << part.bits, 1 if part.bits < 16 else 97):
        one = code.to_bytes(part.itemsize, "little")
        bits = one + one[::-1] if name in PAIRS and part.itemsize > 1 else one * dtype.components
        written = fill_json.render_v3(Fill(bits), dtype)
        assert fill_json.parse_v3(written, dtype, "k").bits == bits


def test_nan_payloads_of_small_floats_are_refused_in_v2():
    for name, bits in (("bfloat16", b"\xc1\x7f"), ("float8_e5m2", b"\xff")):
        assert str(fill_json.render_v3(Fill(bits), DType.of(name))).startswith("0x")
        with pytest.raises(UnsupportedError):
            fill_json.render_v2(Fill(bits), DType.of(name))


def test_units_of_time_count_single_ones_unless_they_say_otherwise():
    def parsed(**configuration):
        return v3_dtype.parse_dtype({"name": "numpy.datetime64", "configuration": configuration}, "k").numpy

    assert parsed(unit="s") == np.dtype("M8[s]")
    assert parsed(unit="s", scale_factor=1) == np.dtype("M8[s]")
    assert parsed(unit="s", scale_factor=2) == np.dtype("M8[2s]")
    with pytest.raises(MetadataError):
        parsed(unit="s", scale_factor=0)


def test_fields_of_one_element_keep_their_shape():
    assert v2_dtype.parse_dtype([["a", "<i4", [1]]], "/dtype", "k").numpy == np.dtype([("a", "<i4", (1,))])
    with pytest.raises(MetadataError):
        v2_dtype.parse_dtype([["a", "<i4", [0]]], "/dtype", "k")


def test_a_wrong_size_is_wrong_and_not_merely_unsupported():
    with pytest.raises(MetadataError, match="whole number of bytes") as caught:
        v3_dtype.parse_dtype("r7", "k")
    assert not isinstance(caught.value, UnsupportedError)
