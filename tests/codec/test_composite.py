"""Codecs that hold other codecs: conditional and n5_default."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.errors import ChecksumError, CodecError, CorruptError, LimitError, MetadataError
from omnizarr.model.codec import Codec

BIG = {"name": "bytes", "configuration": {"endian": "big"}}
NOISE = np.random.default_rng(1).integers(0, 2**32, 500, dtype="u4")


def conditional(**options):
    return oz.codec.conditional([oz.codec.shuffle(4), oz.codec.zlib(5)], **options)


def test_compressors_run_only_where_they_help():
    values = np.concatenate([np.zeros(500, "u4"), NOISE])
    array = oz.create_array({}, data=values, chunks=500, codecs=[conditional()], write_empty=True)
    first, second = array.store.get("c/0"), array.store.get("c/1")
    assert (first[0], second[0]) == (3, 1)
    assert len(first) < 100
    assert len(second) == 2001
    assert zlib.decompress(first[1:]) == bytes(2000)
    np.testing.assert_array_equal(oz.open_array(array.store)[...], values)


def test_conditional_in_the_document():
    array = oz.create_array({}, data=NOISE, codecs=[conditional(header_bits=16), "crc32c"])
    codec = json.loads(array.store.get("zarr.json"))["codecs"][1]
    assert codec["name"] == "conditional"
    assert codec["configuration"]["header_bits"] == 16
    assert [one["name"] for one in codec["configuration"]["codecs"]] == ["numcodecs.shuffle", "numcodecs.zlib"]
    assert array.store.get("c/0")[:2] == b"\1\0"
    np.testing.assert_array_equal(oz.open_array(array.store)[...], NOISE)


@pytest.mark.parametrize("mask", [0, 1, 2, 3])
def test_any_choice_of_codecs_can_be_read(mask):
    data = np.arange(500, dtype="<u4")
    array = oz.create_array({}, shape=500, chunks=500, dtype="<u4", codecs=[conditional()])
    raw = data.tobytes()
    if mask & 1:
        raw = data.view("u1").reshape(-1, 4).T.tobytes()
    if mask & 2:
        raw = zlib.compress(raw)
    array.store.put("c/0", bytes([mask]) + raw)
    np.testing.assert_array_equal(array[...], data)


def test_conditional_in_shards():
    values = np.arange(200, dtype="u4").reshape(10, 20)
    array = oz.create_array({}, data=values, chunks=(5, 5), shards=(10, 10), codecs=[conditional()])
    np.testing.assert_array_equal(oz.open_array(array.store)[3:8, 4:9], values[3:8, 4:9])


def test_damaged_headers():
    array = oz.create_array({}, data=NOISE, chunks=500, codecs=[conditional()])
    raw = array.store.get("c/0")
    for broken in (b"", b"\4" + raw[1:], b"\2" + raw[1:], raw[:-1]):
        array.store.put("c/0", broken)
        with pytest.raises(CorruptError):
            array[...]


@pytest.mark.parametrize(
    "options",
    [
        {"codecs": [{"name": "transpose", "configuration": {"order": [0]}}]},
        {"codecs": [{"name": "zstd"}], "header_bits": 4},
        {"codecs": [{"name": "zstd"}] * 9, "header_bits": 8},
        {"codecs": "zstd"},
        {},
    ],
)
def test_wrong_conditions(options):
    codec = {"name": "conditional", "configuration": options}
    with pytest.raises(MetadataError):
        oz.create_array({}, shape=3, dtype="u1", codecs=[codec])
    array = oz.create_array({}, shape=3, dtype="u1", codecs=[])
    document = json.loads(array.store.get("zarr.json"))
    document["codecs"].append(codec)
    with pytest.raises(MetadataError):
        oz.open_array({"zarr.json": json.dumps(document).encode()})[...]


def test_nesting_has_a_limit():
    codec = Codec("zstd")
    for _ in range(100):
        codec = oz.codec.conditional([codec])
    with pytest.raises(LimitError):
        oz.create_array({}, shape=3, dtype="u1", codecs=[codec])
    array = oz.create_array({}, shape=3, dtype="u1", codecs=[])
    document = json.loads(array.store.get("zarr.json"))
    document["codecs"].append(codec.to_json())
    with pytest.raises((LimitError, MetadataError)):
        oz.open_array({"zarr.json": json.dumps(document).encode()})


def n5(*compressor, ndim=2, turned=True):
    order = {"name": "transpose", "configuration": {"order": list(range(ndim))[::-1]}}
    chain = [*([order] if turned else []), BIG, *compressor]
    return Codec("n5_default", {"codecs": chain})


def block(values, payload=None):
    """An N5 block of an array whose first dimension is N5's first, which changes fastest."""
    header = struct.pack(f">HH{values.ndim}I", 0, values.ndim, *values.shape)
    raw = values.astype(values.dtype.newbyteorder(">")).tobytes("F")
    return header + (raw if payload is None else payload(raw))


def test_a_block_of_n5():
    values = np.arange(12, dtype="<i2").reshape(3, 4)
    array = oz.create_array({}, data=values, chunks=(3, 4), codecs=[n5()])
    assert array.store.get("c/0/0") == block(values)
    np.testing.assert_array_equal(oz.open_array(array.store)[...], values)


def test_a_block_of_an_array_in_c_order():
    values = np.arange(12, dtype="<i2").reshape(3, 4)
    array = oz.create_array({}, data=values, chunks=(3, 4), codecs=[n5(turned=False)])
    assert array.store.get("c/0/0") == block(values.T)
    np.testing.assert_array_equal(oz.open_array(array.store)[...], values)


COMPRESSORS = [
    ({"name": "gzip", "configuration": {"level": 1}}, gzip.compress),
    ({"name": "zlib", "configuration": {"level": 1}}, zlib.compress),
    ({"name": "bz2", "configuration": {"level": 1}}, bz2.compress),
    ({"name": "lzma", "configuration": {"format": 1}}, lzma.compress),
]


@pytest.mark.parametrize(
    ("codec", "peer"), COMPRESSORS, ids=lambda value: value["name"] if isinstance(value, dict) else ""
)
def test_blocks_by_other_programs(codec, peer):
    values = np.arange(24, dtype="<f4").reshape(4, 6)
    array = oz.create_array({}, shape=(4, 6), chunks=(4, 6), dtype="f4", codecs=[n5(codec)])
    array.store.put("c/0/0", block(values, peer))
    np.testing.assert_array_equal(array[...], values)
    array[...] = values + 1
    np.testing.assert_array_equal(oz.open_array(array.store)[...], values + 1)


@pytest.mark.parametrize("name", ["zstd", "blosc", "n5.lz4"])
@given(shape=st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9)), data=st.data())
def test_round_trip(name, shape, data):
    chunks = tuple(data.draw(st.integers(1, n)) for n in shape)
    values = np.arange(np.prod(shape), dtype="u2").reshape(shape)
    compressor = {"name": name, "configuration": {"typesize": 2} if name == "blosc" else {}}
    array = oz.create_array({}, data=values, chunks=chunks, codecs=[n5(compressor, ndim=3)])
    np.testing.assert_array_equal(oz.open_array(array.store)[...], values)


def test_blocks_cut_short_at_the_edge():
    values = np.arange(35, dtype="u2").reshape(5, 7)
    array = oz.create_array({}, shape=(5, 7), chunks=(3, 4), dtype="u2", codecs=[n5()], fill_value=0)
    for i in range(2):
        for j in range(2):
            array.store.put(f"c/{i}/{j}", block(values[3 * i : 3 * i + 3, 4 * j : 4 * j + 4]))
    np.testing.assert_array_equal(array[...], values)
    array[4, 6] = 99
    assert array[4, 6] == 99
    assert struct.unpack(">HHII", array.store.get("c/1/1")[:12]) == (0, 2, 3, 4)


def test_blocks_that_are_not_so():
    values = np.arange(12, dtype="u2").reshape(3, 4)
    array = oz.create_array({}, shape=(3, 4), chunks=(3, 4), dtype="u2", codecs=[n5()])
    good = block(values)
    for bad in (b"", good[:11], good[:-1], good + b"\0", block(values.reshape(4, 3)), block(values.ravel())):
        array.store.put("c/0/0", bad)
        with pytest.raises(CorruptError, match=r"n5_default|bytes"):
            array[...]
    for mode in (1, 2):
        array.store.put("c/0/0", struct.pack(">H", mode) + good[2:])
        with pytest.raises(CodecError, match="not supported"):
            array[...]


def test_blocks_of_lz4_java():
    # 64 zeros, made with the format of lz4-java: a block, and the mark of the end.
    array = oz.create_array({}, data=np.ones(64, "u1"), chunks=64, codecs=[n5(Codec("n5.lz4").to_json(), ndim=1)])
    raw = array.store.get("c/0")[8:]
    assert raw[:8] == b"LZ4Block"
    assert raw[8] == 0x26
    packed, size, checksum = struct.unpack("<III", raw[9:21])
    assert checksum < 1 << 28
    assert size == 64
    assert raw[21 + packed :] == b"LZ4Block\x16" + bytes(12)
    broken = bytearray(array.store.get("c/0"))
    broken[8 + 17] ^= 1
    array.store.put("c/0", bytes(broken))
    with pytest.raises(ChecksumError, match=r"n5\.lz4"):
        array[...]


@pytest.mark.parametrize(
    "chain",
    [
        [],
        [{"name": "bytes", "configuration": {"endian": "little"}}],
        [
            {"name": "transpose", "configuration": {"order": [0, 1]}},
            {"name": "bytes", "configuration": {"endian": "big"}},
        ],
        [BIG, {"name": "zstd"}, {"name": "crc32c"}],
    ],
)
def test_chains_that_are_not_those_of_n5(chain):
    with pytest.raises(MetadataError):
        oz.create_array({}, shape=(3, 4), dtype="u2", codecs=[Codec("n5_default", {"codecs": chain})])
