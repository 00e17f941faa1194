"""Traps 1 to 13: tokens that are no JSON, pickles, orders, and what compressors really wrote."""

from __future__ import annotations

import bz2
import gzip
import json
import math
import pickle
import struct
import zlib
from contextlib import suppress

import numcodecs
import numpy as np
import pytest

import omnizarr as oz

RAMP = np.arange(6, dtype="<i4").reshape(2, 3)


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity"])
def test_trap_01_bare_tokens_in_fill_values(v0, v1, v2, token):
    expected = np.full(4, float(token), "<f8")
    bare = float(token)  # json.dumps writes the bare token
    for store in (
        {"__zmeta__": v0(dtype="<f8", fill_value=bare)},
        {"meta": v1(dtype="<f8", fill_value=bare), "attrs": b"{}"},
        {".zarray": v2(dtype="<f8", fill_value=bare)},
    ):
        assert token.encode() in b"".join(store.values())
        assert oz.open(store)[...].tobytes() == expected.tobytes()


def test_trap_01_bare_tokens_in_attributes(v2, v3):
    for store in (
        {".zarray": v2(), ".zattrs": b'{"x": NaN, "y": -Infinity}'},
        {"zarr.json": v3(attributes={"x": math.nan, "y": -math.inf})},
    ):
        attributes = dict(oz.open(store).attrs)
        assert math.isnan(attributes["x"])
        assert attributes["y"] == -math.inf


@pytest.mark.parametrize("fmt", ["zarr2", "zarr3"])
def test_trap_01_bare_tokens_are_not_written(fmt):
    def refuse(token):
        raise AssertionError(token)

    store: dict[str, bytes] = {}
    oz.create_array(store, shape=(2,), dtype="f8", fill_value=math.nan, format=fmt)
    for text in store.values():
        json.loads(text, parse_constant=refuse)


def pickled(**changes):
    """Metadata as zarr 0.3.0 wrote it: a pickle of protocol 0."""
    meta = {
        "shape": (16,),
        "chunks": (8,),
        "dtype": np.dtype("<i4"),
        "fill_value": 7,
        "cname": b"blosclz",
        "clevel": 5,
        "shuffle": 1,
    }
    return pickle.dumps({**meta, **changes}, protocol=0)


def test_trap_02_pickled_metadata():
    chunk = numcodecs.Blosc("blosclz").encode(np.arange(8, dtype="<i4"))
    array = oz.open({"__zmeta__": pickled(), "__zdata__/0.blosc": chunk})
    assert (array.shape, array.chunks, array.dtype, array.fill_value) == ((16,), (8,), np.dtype("<i4"), 7)
    assert array[...].tolist() == [*range(8), *[7] * 8]


@pytest.mark.parametrize("fill", [None, 2.5, np.float64(2.5), np.int16(3)])
@pytest.mark.parametrize("module", [b"numpy._core.multiarray", b"numpy.core.multiarray"])
def test_trap_02_pickled_fill_values(fill, module):
    meta = pickled(dtype=np.dtype("<f8"), fill_value=fill).replace(b"numpy._core.multiarray", module)
    array = oz.open({"__zmeta__": meta})
    assert array.fill_value == fill
    assert array[...].tolist() == [0.0 if fill is None else float(fill)] * 16


@pytest.mark.parametrize(
    "attack",
    [
        b"cos\nsystem\n(Vtouch {}\ntR.",
        b"cbuiltins\neval\n(Vopen('{}', 'w')\ntR.",
        b"c__builtin__\ngetattr\n(cos\npath\nVsep\ntR.",
        b"(dVshape\ncsubprocess\ncall\n((lp0\nVtouch\naV{}\natRs.",
    ],
)
def test_trap_02_pickles_run_nothing(tmp_path, attack):
    mark = tmp_path / "mark"
    with pytest.raises(oz.OmnizarrError):
        oz.open({"__zmeta__": attack.replace(b"{}", str(mark).encode())})
    assert not mark.exists()


V1_CODECS = {
    "zlib": (1, zlib.compress),
    "bz2": (1, bz2.compress),
    "none": (None, bytes),
    "lzma": ({"check": 0, "filters": None, "format": 1, "preset": 1}, lambda raw: numcodecs.LZMA(preset=1).encode(raw)),
}


@pytest.mark.parametrize("name", V1_CODECS)
def test_trap_03_v1_order_f_is_c_without_blosc(v1, name):
    options, encode = V1_CODECS[name]
    meta = v1(shape=[2, 3], chunks=[2, 3], order="F", compression=name, compression_opts=options)
    array = oz.open({"meta": meta, "attrs": b"{}", "0.0": encode(RAMP.tobytes("C"))})
    assert array[...].tolist() == RAMP.tolist()


def test_trap_03_v1_order_f_is_f_with_blosc(v1):
    options = {"clevel": 5, "cname": "lz4", "shuffle": 1}
    meta = v1(shape=[2, 3], chunks=[2, 3], order="F", compression="blosc", compression_opts=options)
    chunk = numcodecs.Blosc().encode(RAMP.tobytes("F"))
    assert oz.open({"meta": meta, "attrs": b"{}", "0.0": chunk})[...].tolist() == RAMP.tolist()


def test_trap_03_migrated_arrays_can_be_told_apart_by_the_user(v2):
    meta = v2(shape=[2, 3], chunks=[2, 3], order="F", compressor={"id": "zlib", "level": 1})
    store = {".zarray": meta, "0.0": zlib.compress(RAMP.tobytes("C"))}
    assert oz.open(store)[...].tolist() != RAMP.tolist()
    assert oz.open_array(store, stored_order="C")[...].tolist() == RAMP.tolist()


def test_trap_04_snappy_in_blosc(v0, v2, blosc_container):
    # 40 bytes: a literal of four, then a copy of 36 from four bytes back.
    snappy = b"\x28\x0c\x07\x00\x00\x00\x8e\x04\x00"
    chunk = blosc_container(snappy, 40, codec=2)
    compressor = {"id": "blosc", "cname": "snappy", "clevel": 5, "shuffle": 0}
    for store in (
        {".zarray": v2(shape=[10], chunks=[10], compressor=compressor), "0": chunk},
        {"__zmeta__": v0(shape=[10], chunks=[10], cname="snappy"), "__zdata__/0.blosc": chunk},
    ):
        assert oz.open(store)[...].tolist() == [7] * 10


def test_trap_05_bit_shuffle_that_was_not_done():
    values = np.repeat(np.arange(32, dtype="u1"), 64)
    plain = numcodecs.Blosc("lz4", shuffle=0).encode(values)
    flagged = bytearray(plain)
    assert not flagged[2] & 0x02  # compressed, not stored as it is
    flagged[2] |= 0x04
    meta = pickled(shape=(2048,), chunks=(2048,), dtype=np.dtype("u1"), cname=b"lz4", shuffle=2)
    assert oz.open({"__zmeta__": meta, "__zdata__/0.blosc": bytes(flagged)})[...].tobytes() == values.tobytes()


def test_trap_05_bit_shuffle_that_was_done(v0):
    values = np.repeat(np.arange(32, dtype="u1"), 64)
    chunk = numcodecs.Blosc("lz4", shuffle=2).encode(values)
    assert chunk[2] & 0x04
    meta = v0(shape=[2048], chunks=[2048], dtype="|u1", shuffle=2)
    assert oz.open({"__zmeta__": meta, "__zdata__/0.blosc": chunk})[...].tobytes() == values.tobytes()
    wide = np.repeat(np.arange(32, dtype="<i4"), 64)
    wide_meta = pickled(shape=(2048,), chunks=(2048,), cname=b"lz4", shuffle=2)
    wide_chunk = numcodecs.Blosc("lz4", shuffle=2).encode(wide)
    assert oz.open({"__zmeta__": wide_meta, "__zdata__/0.blosc": wide_chunk})[...].tobytes() == wide.tobytes()


# Frames of zstd 0.7: magic, descriptor, size 40, then one block and the end.
OLD_ZSTD = bytes.fromhex("27b52ffd202880002807c00000")  # a run of one byte


def test_trap_06_zstd_frames_of_version_0_7(v1, v2, blosc_container):
    chunk = blosc_container(OLD_ZSTD, 40, codec=4)
    migrated = v2(shape=[10], chunks=[10], compressor={"id": "blosc", "cname": "zstd", "clevel": 1, "shuffle": 0})
    assert oz.open({".zarray": migrated, "0": chunk})[...].tolist() == [0x07070707] * 10
    options = {"clevel": 1, "cname": "zstd", "shuffle": 0}
    meta = v1(shape=[10], chunks=[10], compression="blosc", compression_opts=options)
    assert oz.open({"meta": meta, "attrs": b"{}", "0": chunk})[...].tolist() == [0x07070707] * 10


def test_trap_07_blosc_decodes_by_its_header(v2, v3):
    values = np.arange(1000, dtype="<i4")
    chunk = numcodecs.Blosc("lz4", clevel=9, shuffle=1).encode(values)
    wrong = {"cname": "zstd", "clevel": 1, "shuffle": "bitshuffle", "typesize": 8, "blocksize": 64}
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "blosc", "configuration": wrong}]
    compressor = {"id": "blosc", "cname": "zlib", "clevel": 1, "shuffle": 2, "blocksize": 0}
    for store in (
        {"zarr.json": v3(shape=[1000], chunks=[1000], codecs=codecs), "c/0": chunk},
        {".zarray": v2(shape=[1000], chunks=[1000], compressor=compressor), "0": chunk},
    ):
        assert oz.open(store)[...].tolist() == values.tolist()


@pytest.mark.parametrize(
    ("dtype", "filters", "typesize"),
    [("<i4", [], 4), ("<i4", [oz.codec.delta(astype="<i2")], 2), ("S255", [], 255), ("S300", [], 1)],
)
def test_trap_08_blosc_typesize_is_that_of_what_it_compresses(dtype, filters, typesize):
    store: dict[str, bytes] = {}
    codecs = [*filters, oz.codec.blosc("lz4", 5, "shuffle")]
    array = oz.create_array(store, shape=(64,), chunks=(64,), dtype=dtype, codecs=codecs, format="zarr2")
    array[...] = np.arange(1, 65).astype(dtype)
    assert bytes(store["0"])[3] == typesize


@pytest.mark.parametrize(
    ("dtype", "shuffle", "flags"),
    [("|u1", -1, 0x04), ("<i4", -1, 0x01), ("<i4", 0, 0), ("<i4", 1, 0x01), ("<i4", 2, 0x04)],
)
def test_trap_09_v2_shuffle_is_a_number(v2, dtype, shuffle, flags):
    compressor = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": shuffle, "blocksize": 0}
    store = {".zarray": v2(shape=[64], chunks=[64], dtype=dtype, compressor=compressor)}
    values = np.repeat(np.arange(1, 9), 8).astype(dtype)
    oz.open_array(store, "r+")[...] = values
    assert bytes(store["0"])[2] & 0x05 == flags
    assert oz.open(store)[...].tolist() == values.tolist()


def test_trap_09_each_format_spells_shuffle_its_own_way(v3):
    codec = oz.codec.blosc("lz4", 5, "bitshuffle")
    new: dict[str, bytes] = {}
    old: dict[str, bytes] = {}
    oz.create_array(new, shape=(8,), dtype="i2", codecs=[codec])
    oz.create_array(old, shape=(8,), dtype="i2", codecs=[codec], format="zarr2")
    configuration = json.loads(new["zarr.json"])["codecs"][-1]["configuration"]
    assert (configuration["shuffle"], configuration["typesize"]) == ("bitshuffle", 2)
    assert json.loads(old[".zarray"])["compressor"]["shuffle"] == 2
    bad = {"name": "blosc", "configuration": {**configuration, "shuffle": 2}}
    with pytest.raises(oz.errors.MetadataError):
        oz.open({"zarr.json": v3(codecs=[{"name": "bytes", "configuration": {"endian": "little"}}, bad])})


def test_trap_10_gzip_of_v1_is_zlib(v1):
    values = np.arange(4, dtype="<i4")
    for name in ("gzip", "zlib"):
        meta = v1(chunks=[4], compression=name, compression_opts=1)
        assert oz.open({"meta": meta, "attrs": b"{}", "0": zlib.compress(values)})[...].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("name", "magic", "decode"), [("gzip", b"\x1f\x8b", gzip.decompress), ("zlib", b"\x78", zlib.decompress)]
)
def test_trap_10_gzip_and_zlib_of_v2_differ(name, magic, decode):
    store: dict[str, bytes] = {}
    array = oz.create_array(store, shape=(64,), chunks=(64,), dtype="<i4", codecs=[name], format="zarr2")
    array[...] = 5
    assert bytes(store["0"]).startswith(magic)
    assert decode(bytes(store["0"])) == np.full(64, 5, "<i4").tobytes()


def test_trap_10_the_wrong_one_is_never_taken_for_something_else(v2):
    values = np.arange(4, dtype="<i4")
    for name, chunk in (("gzip", zlib.compress(values)), ("zlib", gzip.compress(values))):
        store = {".zarray": v2(chunks=[4], compressor={"id": name, "level": 1}), "0": chunk}
        with suppress(oz.errors.CorruptError):  # right or loud
            assert oz.open(store)[...].tolist() == [0, 1, 2, 3]


def test_trap_11_lz4_has_a_size_before_a_raw_block(v2):
    values = np.repeat(np.arange(8, dtype="<i4"), 8)
    chunk = numcodecs.LZ4().encode(values)
    assert struct.unpack("<I", chunk[:4]) == (256,)
    store = {".zarray": v2(shape=[64], chunks=[64], compressor={"id": "lz4", "acceleration": 1}), "0": bytes(chunk)}
    assert oz.open(store)[...].tolist() == values.tolist()
    oz.open_array(store, "r+")[...] = values[::-1]
    assert np.frombuffer(numcodecs.LZ4().decode(store["0"]), "<i4").tolist() == values[::-1].tolist()


def test_trap_11_a_frame_of_lz4_is_refused(v2):
    frame = b"\x04\x22\x4d\x18\x60\x40\x82" + struct.pack("<I", 0x80000000 | 16) + bytes(16) + bytes(4)
    with pytest.raises(oz.errors.CorruptError):
        oz.open({".zarray": v2(chunks=[4], compressor={"id": "lz4", "acceleration": 1}), "0": frame})[...]


def test_trap_12_filters_see_the_order_in_memory(v2):
    values = np.array([[1, 5, 2], [9, 3, 30]], "<i4")
    delta = numcodecs.Delta("<i4")
    chunk = delta.encode(values.ravel("F")).tobytes()
    assert chunk != delta.encode(values.ravel("C")).tobytes()
    meta = v2(shape=[2, 3], chunks=[2, 3], order="F", filters=[{"id": "delta", "dtype": "<i4", "astype": "<i4"}])
    store = {".zarray": meta, "0.0": chunk}
    assert oz.open(store)[...].tolist() == values.tolist()
    oz.open_array(store, "r+")[...] = values + 1
    assert bytes(store["0.0"]) == delta.encode((values + 1).ravel("F")).tobytes()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("codec", [numcodecs.JSON(), numcodecs.MsgPack()])
def test_trap_13_nested_objects_are_not_reordered(v2, codec, order):
    values = np.array([["a", "b", "c"], ["d", "e", "f"]], object)
    meta = v2(shape=[2, 3], chunks=[2, 3], dtype="|O", order=order, filters=[codec.get_config()])
    store = {".zarray": meta, "0.0": bytes(codec.encode(values))}
    assert oz.open(store)[...].tolist() == values.tolist()
