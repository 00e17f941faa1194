"""Traps 14 to 26: fill values to the bit, keys of scalars, and the edges of arrays."""

from __future__ import annotations

import base64
import json
import struct

import numcodecs
import numpy as np
import pytest

import omnizarr as oz


def test_trap_14_a_fill_value_of_null_is_undefined(v2):
    store = {".zarray": v2(fill_value=None)}
    array = oz.open_array(store, "r+")
    assert array.fill_value is None
    assert array[...].tolist() == [0, 0, 0, 0]
    array[:2] = 0
    assert bytes(store["0"]) == bytes(8)  # zeros that were written are not the same as nothing written
    assert "1" not in store
    assert json.loads(store[".zarray"])["fill_value"] is None


STRUCT = [["a", "<i2"], ["b", "|S2"]]


@pytest.mark.parametrize(
    ("dtype", "text", "expected"),
    [
        ("|S3", "YWJj", b"abc"),
        ("|S3", "YWI=", b"ab"),
        ("|S3", "", b""),
        ("|S3", "ab!", b"ab!"),
        ("|S3", "0", b"0"),
        ("|V3", "AQID", np.void(b"\1\2\3")),
    ],
)
def test_trap_15_fill_values_of_bytes_are_base64(v2, dtype, text, expected):
    array = oz.open({".zarray": v2(dtype=dtype, fill_value=text)})
    assert array.fill_value == expected
    assert array[...].tobytes() == np.full(4, expected, dtype).tobytes()


@pytest.mark.parametrize(
    ("fill", "expected"), [(base64.b64encode(struct.pack("<h2s", 5, b"xy")).decode(), (5, b"xy")), (0, (0, b""))]
)
def test_trap_15_fill_values_of_structures(v2, fill, expected):
    array = oz.open({".zarray": v2(dtype=STRUCT, fill_value=fill)})
    assert array[...].tolist() == [expected] * 4


def test_trap_15_number_zero_for_bytes(v2):
    for dtype in ("|S3", "|V3"):
        assert oz.open({".zarray": v2(dtype=dtype, fill_value=0)})[...].tobytes() == bytes(12)


def test_trap_16_fill_values_of_text_are_text(v2):
    array = oz.open({".zarray": v2(dtype="<U4", fill_value="YWJj")})
    assert array[...].tolist() == ["YWJj"] * 4


@pytest.mark.parametrize(("codec", "empty"), [("vlen-utf8", ""), ("vlen-bytes", b"")])
@pytest.mark.parametrize("fill", [0, None])
def test_trap_17_zero_stands_for_empty_text(v2, codec, empty, fill):
    array = oz.open({".zarray": v2(dtype="|O", fill_value=fill, filters=[{"id": codec}])})
    assert array[...].tolist() == [empty] * 4


@pytest.mark.parametrize("fmt", ["zarr2", "zarr3"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8"])
def test_trap_18_minus_zero_is_not_the_fill_value(fmt, dtype):
    store: dict[str, bytes] = {}
    array = oz.create_array(store, shape=(4,), chunks=(2,), dtype=dtype, format=fmt)
    array[:2] = -0.0
    array[2:] = 0.0
    assert array.nchunks_stored == 1
    assert np.signbit(oz.open(store)[...].real).tolist() == [True, True, False, False]


@pytest.mark.parametrize("fmt", ["zarr2", "zarr3"])
def test_trap_18_minus_zero_as_fill_value(fmt):
    store: dict[str, bytes] = {}
    array = oz.create_array(store, shape=(4,), chunks=(2,), dtype="f8", fill_value=-0.0, format=fmt)
    array[:2] = 0.0
    array[2:] = -0.0
    assert array.nchunks_stored == 1
    assert np.signbit(oz.open(store)[...]).tolist() == [False, False, True, True]


@pytest.mark.parametrize(("kind", "bits"), [("f2", 0x7E01), ("f4", 0x7FC00001), ("f8", 0xFFF8000000000000)])
def test_trap_19_nan_is_empty_only_with_the_same_bits(kind, bits):
    odd = np.array([bits], f"u{kind[1]}").view(kind)
    store: dict[str, bytes] = {}
    array = oz.create_array(store, shape=(4,), chunks=(2,), dtype=kind, fill_value=np.nan)
    array[:2] = odd[0]
    array[2:] = np.nan
    assert array.nchunks_stored == 1
    assert oz.open(store)[...].view(f"u{kind[1]}")[:2].tolist() == [bits, bits]


QUIET = {"float16": 0x7E00, "float32": 0x7FC00000, "float64": 0x7FF8000000000000}


@pytest.mark.parametrize("name", QUIET)
def test_trap_20_nan_is_one_pattern_and_hex_is_any(v3, name):
    unsigned = name.replace("float", "uint")
    plain = oz.open({"zarr.json": v3(data_type=name, fill_value="NaN")})
    assert plain[...].view(unsigned).tolist() == [QUIET[name]] * 4
    odd = QUIET[name] + 1
    digits = int(name[5:]) // 4
    store = {"zarr.json": v3(data_type=name, fill_value=f"0x{odd:0{digits}x}")}
    array = oz.open_array(store, "r+")
    assert array[...].view(unsigned).tolist() == [odd] * 4
    array.attrs["x"] = 1  # written again
    assert json.loads(store["zarr.json"])["fill_value"] == f"0x{odd:0{digits}x}"


@pytest.mark.parametrize(
    ("number", "expected"),
    [(1e39, np.inf), (-1e39, -np.inf), (16777217, 16777216.0), (16777219, 16777220.0), (0.1, 0.10000000149011612)],
)
@pytest.mark.filterwarnings("ignore::omnizarr.OmnizarrWarning")
def test_trap_21_fill_values_round_half_to_even(v2, v3, number, expected):
    for store in (
        {"zarr.json": v3(data_type="float32", fill_value=number)},
        {".zarray": v2(dtype="<f4", fill_value=number)},
    ):
        assert oz.open(store)[...].tolist() == [expected] * 4


@pytest.mark.parametrize(
    ("dtype", "number"), [("<i8", 2**53 + 1), ("<i8", -(2**63)), ("<u8", 2**64 - 1), ("<u8", 2**63 + 1)]
)
def test_trap_22_whole_numbers_stay_exact(v2, v3, dtype, number):
    name = {"i": "int64", "u": "uint64"}[dtype[1]]
    for key, text in (
        ("zarr.json", v3(data_type=name, fill_value=number)),
        (".zarray", v2(dtype=dtype, fill_value=number)),
    ):
        store = {key: text}
        array = oz.open_array(store, "r+")
        assert array[...].tolist() == [number] * 4
        array.attrs["x"] = 1
        assert json.loads(store[key])["fill_value"] == number


@pytest.mark.parametrize(
    ("name", "dtype", "number"), [("uint8", "|u1", 256), ("uint8", "|u1", -1), ("int64", "<i8", 2**63)]
)
def test_trap_22_numbers_out_of_range_are_refused(v2, v3, name, dtype, number):
    for store in (
        {"zarr.json": v3(data_type=name, fill_value=number)},
        {".zarray": v2(dtype=dtype, fill_value=number)},
    ):
        with pytest.raises(oz.errors.MetadataError, match="fill"):
            oz.open(store)


FIVE = struct.pack("<i", 5)


@pytest.mark.parametrize("key", ["0", ""])
def test_trap_23_scalars_of_v2(v2, key):
    meta = v2(shape=[], chunks=[])
    assert oz.open({".zarray": meta, key: FIVE})[()] == 5
    assert oz.open({".zgroup": b'{"zarr_format": 2}', "x/.zarray": meta, f"x/{key}": FIVE})["x"][()] == 5


@pytest.mark.parametrize(("encoding", "key"), [("default", "c"), ("v2", "0")])
def test_trap_23_scalars_of_v3(v3, encoding, key):
    meta = v3(shape=[], chunks=[], chunk_key_encoding={"name": encoding})
    store = {"zarr.json": meta, key: FIVE}
    array = oz.open_array(store, "r+")
    assert array[()] == 5
    array[()] = 6
    assert bytes(store[key]) == struct.pack("<i", 6)
    assert set(store) == {"zarr.json", key}


DRAFT_ENTRY = json.dumps(
    {
        "zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0",
        "metadata_encoding": "https://purl.org/zarr/spec/protocol/core/3.0",
        "metadata_key_suffix": ".json",
        "extensions": [],
    }
).encode()


def test_trap_23_scalars_of_the_draft():
    meta = {
        "shape": [],
        "data_type": "<i4",
        "chunk_grid": {"type": "regular", "chunk_shape": [], "separator": "/"},
        "chunk_memory_layout": "C",
        "fill_value": 0,
        "extensions": [],
        "attributes": {},
    }
    store = {"zarr.json": DRAFT_ENTRY, "meta/root.array.json": json.dumps(meta).encode(), "data/root/c0": FIVE}
    assert oz.open(store)[()] == 5


@pytest.mark.filterwarnings("ignore::omnizarr.OmnizarrWarning")
def test_trap_24_chunks_of_no_length(v2, v3):
    for store in (
        {".zarray": v2(shape=[0, 3], chunks=[0, 3])},
        {".zarray": v2(shape=[0, 3], chunks=[1, 3])},
        {"zarr.json": v3(shape=[0, 3], chunks=[0, 3])},
        {"zarr.json": v3(shape=[0, 3], chunks=[2, 3])},
    ):
        array = oz.open(store)
        assert (array.shape, array.nchunks, array[...].shape) == ((0, 3), 0, (0, 3))


@pytest.mark.parametrize("fmt", ["zarr2", "zarr3"])
def test_trap_25_chunks_at_the_edge_are_whole(v2, fmt):
    store: dict[str, bytes] = {}
    array = oz.create_array(store, shape=(5,), chunks=(3,), dtype="<i4", codecs=None, fill_value=9, format=fmt)
    array[...] = range(5)
    key = "1" if fmt == "zarr2" else "c/1"
    assert np.frombuffer(store[key], "<i4").tolist() == [3, 4, 9]
    store[key] = bytes(store[key])[:8]
    with pytest.raises(oz.errors.CorruptError):
        oz.open(store)[...]


def test_trap_25_blocks_of_n5_are_cut():
    attributes = {"dimensions": [5], "blockSize": [3], "dataType": "int32", "compression": {"type": "raw"}}
    store = {
        "attributes.json": json.dumps(attributes).encode(),
        "0": struct.pack(">HHI3i", 0, 1, 3, 0, 1, 2),
        "1": struct.pack(">HHI2i", 0, 1, 2, 3, 4),
    }
    assert oz.open(store)[...].tolist() == [0, 1, 2, 3, 4]


def test_trap_25_chunks_of_bounded_grids_are_cut(v3):
    grid = {"name": "zarrs.regular_bounded", "configuration": {"chunk_shape": [3]}}
    store = {"zarr.json": v3(shape=[5], chunk_grid=grid), "c/1": struct.pack("<2i", 3, 4)}
    assert oz.open(store)[...].tolist() == [0, 0, 0, 3, 4]


def test_trap_25_chunks_of_rectilinear_grids_are_as_declared(v3):
    grid = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[3, 4]]}}
    store = {"zarr.json": v3(shape=[5], chunk_grid=grid), "c/1": struct.pack("<4i", 3, 4, -1, -1)}
    array = oz.open_array(store, "r+")
    assert array[...].tolist() == [0, 0, 0, 3, 4]
    array[...] = [5, 6, 7, 8, 9]
    assert len(store["c/1"]) == 16
    store["c/1"] = struct.pack("<2i", 3, 4)
    with pytest.raises(oz.errors.CorruptError):
        oz.open(store)[...]


@pytest.mark.parametrize("compressor", [None, numcodecs.Zlib().get_config(), numcodecs.Blosc().get_config()])
def test_trap_26_an_empty_value_is_no_missing_value(v2, compressor):
    with pytest.raises(oz.errors.CorruptError) as caught:
        oz.open({".zarray": v2(compressor=compressor), "0": b""})[...]
    assert caught.value.key == "0"
