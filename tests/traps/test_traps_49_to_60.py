"""Traps 49 to 60: bits and small types, lengths that lie, shrinking, drafts, pickles, versions."""

from __future__ import annotations

import gzip
import json
import pickle
import struct

import numcodecs
import numpy as np
import pytest

import omnizarr as oz

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
BITS = [True, False, False, False, False, False, False, False, True]


def test_trap_49_packbits_of_numcodecs_begins_with_the_high_bit(v2):
    store = {".zarray": v2(shape=[9], chunks=[9], dtype="|b1", filters=[{"id": "packbits"}]), "0": b"\x07\x80\x80"}
    assert oz.open(store)[...].tolist() == BITS


@pytest.mark.parametrize(
    ("padding", "chunk"), [("none", b"\x01\x01"), ("first_byte", b"\x07\x01\x01"), ("last_byte", b"\x01\x01\x07")]
)
def test_trap_49_packbits_of_the_registry_begins_with_the_low_bit(v3, padding, chunk):
    codec = {"name": "packbits", "configuration": {"padding_encoding": padding}}
    meta = v3(shape=[9], chunks=[9], data_type="bool", fill_value=False, codecs=[codec])
    store = {"zarr.json": meta, "c/0": chunk}
    assert oz.open(store)[...].tolist() == BITS
    oz.open_array(store, "r+")[...] = BITS
    assert bytes(store["c/0"]) == chunk


@pytest.mark.parametrize(
    "codec", [numcodecs.Zlib(), numcodecs.BZ2(), numcodecs.LZ4(), numcodecs.Zstd(), numcodecs.Blosc()]
)
def test_trap_50_what_numcodecs_leaves_out_has_its_default(v3, codec):
    values = np.arange(4, dtype="<i4")
    codecs = [LITTLE, {"name": f"numcodecs.{codec.codec_id}", "configuration": {}}]
    store = {"zarr.json": v3(chunks=[4], codecs=codecs), "c/0": bytes(codec.encode(values.tobytes()))}
    assert oz.open(store)[...].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("spelling", ["<f8", "float64"])
def test_trap_50_types_within_numcodecs_are_spelt_either_way(v3, spelling):
    configuration = {"offset": 10, "scale": 2, "dtype": spelling, "astype": "uint8" if spelling == "float64" else "|u1"}
    codecs = [{"name": "numcodecs.fixedscaleoffset", "configuration": configuration}, LITTLE]
    meta = v3(shape=[3], chunks=[3], data_type="float64", fill_value=10.0, codecs=codecs)
    assert oz.open({"zarr.json": meta, "c/0": b"\x00\x01\x03"})[...].tolist() == [10.0, 10.5, 11.5]


@pytest.mark.parametrize("encoded", ["|u1", "uint8"])
def test_trap_50_astype_changes_what_later_codecs_see(v3, encoded):
    configuration = {"encode_dtype": encoded, "decode_dtype": "<i4"}
    codecs = [{"name": "numcodecs.astype", "configuration": configuration}, LITTLE]
    assert oz.open({"zarr.json": v3(chunks=[4], codecs=codecs), "c/0": b"\1\2\3\4"})[...].tolist() == [1, 2, 3, 4]


def framed(*items, count=None):
    """The framing of variable length: a count, then each item behind its length."""
    body = b"".join(struct.pack("<I", len(item)) + item for item in items)
    return struct.pack("<I", len(items) if count is None else count) + body


@pytest.mark.parametrize(
    "chunk",
    [
        framed(b"a"),
        framed(b"a", b"b", b"c"),
        framed(b"a", b"b", count=2**32 - 1),
        framed(b"a", b"b") + b"?",
        framed(b"a", b"b")[:-1],
        struct.pack("<III", 2, 2**32 - 1, 0),
        b"\2\0\0",
    ],
)
def test_trap_51_counts_and_lengths_are_checked(v2, v3, chunk):
    text = v3(data_type="string", fill_value="", codecs=[{"name": "vlen-utf8"}])
    for store in (
        {".zarray": v2(dtype="|O", fill_value="", filters=[{"id": "vlen-utf8"}]), "0": chunk},
        {"zarr.json": text, "c/0": chunk},
    ):
        with pytest.raises(oz.errors.CorruptError):
            oz.open(store)[...]


def test_trap_51_text_that_is_not_utf8_is_damage(v3):
    text = v3(data_type="string", fill_value="", codecs=[{"name": "vlen-utf8"}])
    with pytest.raises(oz.errors.CorruptError):
        oz.open({"zarr.json": text, "c/0": framed(b"\xff\xfe", b"b")})[...]


def test_trap_52_runs_are_value_then_count(v3):
    # Read the wrong way round, three edges of two fit the length just as well.
    grid = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[[3, 2], 1]]}}
    store = {"zarr.json": v3(shape=[7], chunk_grid=grid), "c/1": struct.pack("<3i", 1, 2, 3)}
    assert oz.open(store)[...].tolist() == [0, 0, 0, 1, 2, 3, 0]


@pytest.mark.parametrize(
    ("name", "raw", "expected"),
    [
        ("int4", [0x18, 0xF7, 0x0F, 0x80], [-8, 7, -1, 0]),
        ("uint4", [0x18, 0xF7, 0x0F, 0x80], [8, 7, 15, 0]),
        ("int2", [0x06, 0xFD, 0x03, 0x80], [-2, 1, -1, 0]),
        ("uint2", [0x06, 0xFD, 0x03, 0x80], [2, 1, 3, 0]),
    ],
)
def test_trap_53_upper_bits_of_small_integers_are_ignored(v3, name, raw, expected):
    store = {"zarr.json": v3(chunks=[4], data_type=name, codecs=[{"name": "bytes"}]), "c/0": bytes(raw)}
    assert oz.open(store)[...].astype("i4").tolist() == expected


@pytest.mark.parametrize(
    ("name", "raw", "expected"),
    [
        ("bfloat16", struct.pack("<HH", 0x3FC0, 0xC000), [1.5, -2.0]),
        ("float8_e4m3", b"\x78\x38", [np.inf, 1.0]),
        ("float8_e4m3fn", b"\x78\x38", [256.0, 1.0]),
        ("float8_e5m2", b"\x7c\x3c", [np.inf, 1.0]),
        ("float8_e3m4", b"\x70\x30", [np.inf, 1.0]),
        ("float8_e4m3fnuz", b"\x40\x48", [1.0, 2.0]),
        ("float4_e2m1fn", b"\x07\x02", [6.0, 1.0]),
    ],
)
def test_trap_54_small_floats_are_what_their_names_say(v3, name, raw, expected):
    codecs = [LITTLE] if name == "bfloat16" else [{"name": "bytes"}]
    store = {"zarr.json": v3(shape=[2], data_type=name, fill_value=1.0, codecs=codecs), "c/0": raw}
    array = oz.open(store)
    assert array.dtype.name == name
    assert array[...].astype("f4").tolist() == expected


@pytest.mark.parametrize(("unit", "numpy"), [("μs", "us"), ("µs", "us"), ("us", "us"), ("ns", "ns"), ("W", "W")])
@pytest.mark.parametrize("kind", ["datetime64", "timedelta64"])
def test_trap_55_units_of_time(v3, unit, numpy, kind):
    name = {"name": f"numpy.{kind}", "configuration": {"unit": unit, "scale_factor": 10}}
    array = oz.open({"zarr.json": v3(data_type=name, fill_value="NaT")})
    assert array.dtype == np.dtype(f"{kind}[10{numpy}]")
    assert np.isnat(array[...]).all()


def test_trap_55_times_without_a_unit(v3):
    name = {"name": "numpy.timedelta64", "configuration": {"unit": "generic", "scale_factor": 1}}
    array = oz.open({"zarr.json": v3(data_type=name, fill_value=3)})
    assert array.dtype == np.dtype("m8")
    assert array[...].view("i8").tolist() == [3] * 4


@pytest.mark.parametrize("fmt", ["zarr2", "zarr3", "zarr0", "zarr1"])
def test_trap_56_what_was_cut_off_does_not_come_back(fmt):
    store: dict[str, bytes] = {}
    array = oz.create_array(store, shape=(8,), chunks=(3,), dtype="i4", fill_value=-1, format=fmt)
    array[...] = range(8)
    array.resize(4)
    array.resize(8)
    assert oz.open(store)[...].tolist() == [0, 1, 2, 3, -1, -1, -1, -1]


DRAFT = {
    "zarr.json": {
        "zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0",
        "metadata_encoding": "https://purl.org/zarr/spec/protocol/core/3.0",
        "metadata_key_suffix": ".json",
        "extensions": [],
    },
    "meta/root/x.array.json": {
        "shape": [4],
        "data_type": "<i4",
        "chunk_grid": {"type": "regular", "chunk_shape": [4], "separator": "/"},
        "chunk_memory_layout": "C",
        "fill_value": 0,
        "extensions": [],
        "attributes": {"filters": [{"id": "delta", "dtype": "<i4", "astype": "<i4"}], "units": "m"},
    },
}


def test_trap_57_filters_of_the_draft_hide_in_attributes():
    store = {key: json.dumps(document).encode() for key, document in DRAFT.items()}
    store["data/root/x/c0"] = struct.pack("<4i", 5, 1, 1, 1)
    array = oz.open(store)["x"]
    assert array[...].tolist() == [5, 6, 7, 8]
    assert dict(array.attrs) == {"units": "m"}


class Attack:
    def __init__(self, place):
        self.place = str(place)

    def __reduce__(self):
        return (open, (self.place, "w"))


def test_trap_58_pickles_are_not_opened(v2, tmp_path):
    mark = tmp_path / "mark"
    objects = np.array([Attack(mark), None], object)
    meta = v2(dtype="|O", fill_value=None, filters=[{"id": "pickle", "protocol": 4}])
    with pytest.raises(oz.OmnizarrError, match="pickle"):
        oz.open({".zarray": meta, "0": pickle.dumps(objects)})[...]
    assert not mark.exists()


@pytest.mark.parametrize("fmt", ["zarr2", "zarr3"])
def test_trap_59_gzip_may_have_several_members(v2, v3, fmt):
    values = np.arange(4, dtype="<i4").tobytes()
    chunk = gzip.compress(values[:7]) + gzip.compress(b"") + gzip.compress(values[7:])
    codecs = [LITTLE, {"name": "gzip", "configuration": {"level": 1}}]
    key, store = {
        "zarr2": ("0", {".zarray": v2(chunks=[4], compressor={"id": "gzip", "level": 1})}),
        "zarr3": ("c/0", {"zarr.json": v3(chunks=[4], codecs=codecs)}),
    }[fmt]
    assert oz.open({**store, key: chunk})[...].tolist() == [0, 1, 2, 3]
    for bad in (chunk + b"garbage", chunk[:-3], gzip.compress(values[:7]), chunk + gzip.compress(b"more")):
        with pytest.raises(oz.errors.CorruptError):
            oz.open({**store, key: bad})[...]


def test_trap_60_three_is_a_number(v3):
    assert oz.open({"zarr.json": v3(zarr_format=3.0)})[...].tolist() == [0] * 4
    for version in ("3", True, 4, 2, None, [3], "https://example.org/3"):
        with pytest.raises(oz.errors.MetadataError, match="zarr_format"):
            oz.open({"zarr.json": v3(zarr_format=version)})


@pytest.mark.parametrize(
    "uri",
    ["https://purl.org/zarr/spec/protocol/core/3.0", "https://purl.org/zarr/spec/core/3.0", "https://zarr.dev/v3"],
)
def test_trap_60_texts_choose_a_draft(uri):
    documents = {**DRAFT, "zarr.json": {**DRAFT["zarr.json"], "zarr_format": uri}}
    group = oz.open({key: json.dumps(document).encode() for key, document in documents.items()})
    assert group.format == "zarr3-draft"
    assert list(group) == ["x"]
