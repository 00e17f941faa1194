"""What is written as v0 and v1: documents and keys to the byte, chunks that their own libraries decode."""

from __future__ import annotations

import bz2
import json
import lzma
import zlib
from pathlib import Path

import blosc
import numcodecs
import numpy as np
import pytest

import omnizarr as oz

pytestmark = pytest.mark.peers

V0_META = b"""{
    "chunks": [
        10000,
        100
    ],
    "clevel": 3,
    "cname": "lz4",
    "dtype": "<i4",
    "fill_value": 42,
    "shape": [
        1000000,
        1000
    ],
    "shuffle": 1
}"""
V0_ATTRIBUTES = b"""{
    "bar": 4.2,
    "baz": "quux",
    "foo": 42
}"""


@pytest.fixture
def example(tmp_path):
    """The array of the description of v0."""
    where = tmp_path / "example.zarr"
    array = oz.create_array(
        where,
        shape=(1000000, 1000),
        chunks=(10000, 100),
        dtype="i4",
        fill_value=42,
        cname="lz4",
        clevel=3,
        shuffle=1,
        format="zarr0",
    )
    return array, where


def test_v0_metadata_to_the_byte(example):
    _, where = example
    assert (where / "__zmeta__").read_bytes() == V0_META
    assert not (where / "__zattr__").exists()  # until an attribute is set


def test_v0_attributes_to_the_byte(example):
    array, where = example
    array.attrs["foo"] = 42
    array.attrs["bar"] = 4.2
    array.attrs["baz"] = "quux"
    assert (where / "__zattr__").read_bytes() == V0_ATTRIBUTES
    assert (where / "__zmeta__").read_bytes() == V0_META
    assert dict(oz.open(where).attrs) == {"foo": 42, "bar": 4.2, "baz": "quux"}


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_v0_keys(example):
    array, where = example
    assert names(where / "__zdata__") == []
    array[:10000, :500] = 0
    assert names(where / "__zdata__") == [f"0.{n}.blosc" for n in range(5)]
    array[40000, 200] = 7
    assert (where / "__zdata__/4.2.blosc").is_file()
    assert names(where) == ["__zdata__", "__zmeta__"]


def test_v0_without_the_short_words(tmp_path, example):
    codecs = [oz.codec.blosc("lz4", 3, "shuffle")]
    options = {"shape": (1000000, 1000), "chunks": (10000, 100), "dtype": "i4", "fill_value": 42, "codecs": codecs}
    oz.create_array(tmp_path / "other.zarr", **options, format="zarr0")
    assert (tmp_path / "other.zarr/__zmeta__").read_bytes() == V0_META


def header(chunk: bytes) -> tuple[int, int, int]:
    """The compressor, the flags of shuffling and the item size in the header of a Blosc container."""
    return chunk[2] >> 5, chunk[2] & 0x05, chunk[3]


COMPRESSORS = {"blosclz": 0, "lz4": 1, "lz4hc": 1, "zlib": 3}


@pytest.mark.parametrize("shuffle", [0, 1, 2])
@pytest.mark.parametrize("cname", COMPRESSORS)
@pytest.mark.parametrize("dtype", ["<i4", ">i2", "|u1", "<f8", "|S3", "<U2", "<M8[s]", "|b1"])
def test_v0_chunks_decode_with_python_blosc(dtype, cname, shuffle):
    values = np.arange(1, 1201).astype("i8").astype("<U2" if dtype == "<U2" else dtype).reshape(40, 30)
    store: dict[str, bytes] = {}
    options = {"shape": (40, 30), "chunks": (16, 30), "dtype": dtype, "cname": cname, "clevel": 5, "shuffle": shuffle}
    array = oz.create_array(store, **options, fill_value=None, format="zarr0")
    array[...] = values
    for row in range(3):
        chunk = bytes(store[f"__zdata__/{row}.0.blosc"])
        codec, flags, typesize = header(chunk)
        assert codec == COMPRESSORS[cname]
        assert flags & ~{0: 0, 1: 1, 2: 4}[shuffle] == 0
        assert typesize == values.itemsize
        decoded = np.frombuffer(blosc.decompress(chunk), dtype).reshape(16, 30)  # whole at the edge, too
        part = values[row * 16 : row * 16 + 16]
        assert decoded[: len(part)].tolist() == part.tolist()
    assert oz.open(store)[...].tolist() == values.tolist()


@pytest.mark.parametrize("cname", COMPRESSORS)
def test_v0_chunks_of_python_blosc_are_read(cname):
    values = np.arange(100, dtype="<i4")
    store: dict[str, bytes] = {}
    oz.create_array(store, shape=(100,), chunks=(100,), dtype="<i4", cname=cname, format="zarr0")
    store["__zdata__/0.blosc"] = blosc.compress(values.tobytes(), typesize=4, clevel=9, cname=cname)
    assert oz.open(store)[...].tolist() == values.tolist()


@pytest.mark.parametrize("fill", [np.nan, np.inf, -np.inf, -0.0, 1.5, None])
def test_v0_fill_values_come_back(fill):
    store: dict[str, bytes] = {}
    oz.create_array(store, shape=(3,), chunks=(2,), dtype="f8", fill_value=fill, format="zarr0")
    assert json.loads(store["__zmeta__"])["fill_value"] is None or fill is not None
    expected = np.full(3, 0.0 if fill is None else fill)
    assert oz.open(store)[...].tobytes() == expected.tobytes()


def v1_decoded(compression: str | None, chunk: bytes) -> bytes:
    if compression == "blosc":
        return bytes(numcodecs.Blosc().decode(chunk))
    decode = {"zlib": zlib.decompress, "bz2": bz2.decompress, "lzma": lzma.decompress, "none": bytes}
    return decode[compression or "none"](chunk)


V1_OPTIONS = {
    "blosc": [oz.codec.blosc("lz4", 5, "shuffle")],
    "zlib": [oz.codec.zlib(1)],
    "bz2": [oz.codec.bz2(1)],
    "lzma": [oz.codec.lzma(1)],
    "none": None,
}


@pytest.mark.parametrize("compression", V1_OPTIONS)
@pytest.mark.parametrize("dtype", ["<i4", ">f8", "|S3"])
def test_v1_documents_and_chunks(dtype, compression):
    values = np.arange(35).astype(dtype).reshape(5, 7)
    store: dict[str, bytes] = {}
    options = {"shape": (5, 7), "chunks": (2, 3), "dtype": dtype, "codecs": V1_OPTIONS[compression]}
    array = oz.create_array(store, **options, fill_value=None, attrs={"units": "m"}, format="zarr1")
    array[...] = values
    meta = json.loads(store["meta"])
    assert meta.keys() == {
        "zarr_format",
        "shape",
        "chunks",
        "dtype",
        "compression",
        "compression_opts",
        "fill_value",
        "order",
    }
    assert (meta["zarr_format"], meta["shape"], meta["chunks"], meta["dtype"]) == (1, [5, 7], [2, 3], dtype)
    assert (meta["compression"], meta["order"], meta["fill_value"]) == (compression, "C", None)
    assert json.loads(store["attrs"]) == {"units": "m"}
    assert set(store) == {"meta", "attrs", *(f"{i}.{j}" for i in range(3) for j in range(3))}
    for i in range(3):
        for j in range(3):
            decoded = np.frombuffer(v1_decoded(compression, bytes(store[f"{i}.{j}"])), dtype).reshape(2, 3)
            part = values[2 * i : 2 * i + 2, 3 * j : 3 * j + 3]
            assert decoded[: part.shape[0], : part.shape[1]].tolist() == part.tolist()
    assert oz.open(store)[...].tolist() == values.tolist()


@pytest.mark.parametrize(
    ("compression", "options"),
    [
        ("blosc", {"clevel": 5, "cname": "lz4", "shuffle": 1}),
        ("zlib", 1),
        ("bz2", 1),
        ("lzma", {"check": 0, "filters": None, "format": 1, "preset": 1}),
        ("none", None),
    ],
)
def test_v1_options_have_the_forms_of_zarr_1(compression, options):
    codecs = [oz.codec.lzma(1)._replace(configuration={"format": 1, "check": 0, "preset": 1, "filters": None})]
    store: dict[str, bytes] = {}
    chosen = codecs if compression == "lzma" else V1_OPTIONS[compression]
    oz.create_array(store, shape=(4,), chunks=(4,), dtype="i4", codecs=chosen, format="zarr1")
    assert json.loads(store["meta"])["compression_opts"] == options


def test_v1_order_f_with_blosc():
    values = np.arange(6, dtype="<i4").reshape(2, 3)
    store: dict[str, bytes] = {}
    options = {"shape": (2, 3), "chunks": (2, 3), "dtype": "<i4", "order": "F", "codecs": V1_OPTIONS["blosc"]}
    array = oz.create_array(store, **options, format="zarr1")
    array[...] = values
    assert json.loads(store["meta"])["order"] == "F"
    assert numcodecs.Blosc().decode(store["0.0"]) == values.tobytes("F")
    assert oz.open(store)[...].tolist() == values.tolist()


@pytest.mark.parametrize("compression", ["zlib", "bz2", "lzma", "none"])
def test_v1_order_f_without_blosc_is_right_or_refused(compression):
    """The only reader that ever was took such chunks for C."""
    values = np.arange(6, dtype="<i4").reshape(2, 3)
    store: dict[str, bytes] = {}
    options = {"shape": (2, 3), "chunks": (2, 3), "dtype": "<i4", "order": "F", "codecs": V1_OPTIONS[compression]}
    try:
        array = oz.create_array(store, **options, format="zarr1")
    except oz.errors.UnsupportedError:
        assert not store
        return
    array[...] = values
    assert v1_decoded(compression, bytes(store["0.0"])) == values.tobytes("C")
    assert oz.open(store)[...].tolist() == values.tolist()


@pytest.mark.parametrize("fmt", ["zarr0", "zarr1"])
@pytest.mark.parametrize("path", ["", "folder"])
def test_old_formats_have_no_groups(fmt, path):
    with pytest.raises(oz.errors.UnsupportedError):
        oz.create_group({}, path=path or None, format=fmt)


@pytest.mark.parametrize("fmt", ["zarr0", "zarr1"])
@pytest.mark.parametrize(
    "options",
    [
        {"dtype": "string"},
        {"shape": ()},
        {"codecs": [oz.codec.delta()]},
        {"shards": (4,), "chunks": (2,)},
    ],
)
def test_what_old_formats_cannot_hold_is_refused(fmt, options):
    store: dict[str, bytes] = {}
    with pytest.raises(oz.OmnizarrError):
        oz.create_array(store, **{"shape": (4,), "dtype": "i4", **options}, format=fmt)
    assert not store


@pytest.mark.parametrize("fmt", ["zarr0", "zarr1"])
def test_old_arrays_live_in_folders(tmp_path, fmt):
    array = oz.create_array(tmp_path / "x", shape=(5,), chunks=(2,), dtype="i2", fill_value=-1, format=fmt)
    array[1:4] = [1, 2, 3]
    again = oz.open(tmp_path / "x", mode="r+")
    again.resize(7)
    again.append([8])
    again.attrs["a"] = 1
    read = oz.open(tmp_path / "x")
    assert read[...].tolist() == [-1, 1, 2, 3, -1, -1, -1, 8]
    assert (read.format, dict(read.attrs)) == (fmt, {"a": 1})
