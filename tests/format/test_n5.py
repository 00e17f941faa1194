"""N5, written here by hand: every compression, blocks of every form, groups without documents."""

import bz2
import gzip
import json
import lzma
import pickle
import struct
import zlib

import numpy as np
import pytest
from numcodecs import blosc, zstd

import omnizarr as oz
from omnizarr.errors import (
    CorruptError,
    ExistsError,
    MetadataError,
    NotFoundError,
    OmnizarrError,
    ReadOnlyError,
    UnsupportedError,
)

VALUES = np.arange(35, dtype=">i4").reshape(5, 7)
BLOCK = (2, 3)  # in NumPy's order; N5 writes [3, 2]


COMPRESSIONS = {
    "raw": ({"type": "raw"}, bytes),
    "gzip": ({"type": "gzip", "useZlib": False, "level": -1}, gzip.compress),
    "zlib": ({"type": "gzip", "useZlib": True, "level": 4}, zlib.compress),
    "bzip2": ({"type": "bzip2", "blockSize": 9}, bz2.compress),
    "xz": ({"type": "xz", "preset": 6}, lzma.compress),
    "zstd": ({"type": "zstd", "level": 3}, lambda data: zstd.compress(data, 3)),
    "blosc": (
        {"type": "blosc", "cname": "lz4", "clevel": 6, "shuffle": 1, "blocksize": 0, "nthreads": 1},
        lambda data: blosc.compress(data, b"lz4", 6, 1),
    ),
}


def block(values, compress=bytes, mode=0):
    """Write one block: a header with the sizes of what is in it, the fastest dimension first, and the elements."""
    head = struct.pack(f">HH{values.ndim}I", mode, values.ndim, *reversed(values.shape))
    if mode == 1:
        head += struct.pack(">I", values.size)
    return head + compress(np.ascontiguousarray(values).tobytes())


def dataset(compression=None, *, padded=False, start="", compress=bytes, skip=()):
    document = {"dimensions": [7, 5], "blockSize": [3, 2], "dataType": "int32"}
    document["compression"] = {"type": "raw"} if compression is None else compression
    store = {f"{start}attributes.json": json.dumps({**document, "unit": "m"}).encode()}
    whole = np.zeros((6, 9), ">i4")
    whole[:5, :7] = VALUES
    for i in range(3):
        for j in range(3):
            end = (6, 9) if padded else (5, 7)
            part = whole[i * 2 : min(i * 2 + 2, end[0]), j * 3 : min(j * 3 + 3, end[1])]
            if (i, j) not in skip:
                store[f"{start}{j}/{i}"] = block(part, compress)
    return store


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("name", COMPRESSIONS)
def test_every_compression(name, padded):
    compression, compress = COMPRESSIONS[name]
    a = oz.open(dataset(compression, padded=padded, compress=compress))
    assert (a.format, a.shape, a.chunks, a.dtype) == ("n5", (5, 7), BLOCK, np.dtype("i4"))
    assert np.array_equal(a[...], VALUES)
    assert np.array_equal(a[::-2, 4:], VALUES[::-2, 4:])
    assert dict(a.attrs) == {"unit": "m"}
    assert a.nchunks_stored == 9


def test_blocks_of_variable_length_are_told_of():
    store = dataset(*COMPRESSIONS["gzip"][:1], compress=gzip.compress)
    store["0/0"] = block(VALUES[:2, :3], gzip.compress, mode=1)
    with pytest.raises(OmnizarrError, match="variable length"):
        oz.open(store)[...]


def test_missing_blocks_are_zero():
    assert oz.open(dataset(skip=[(0, 0)]))[0].tolist() == [0, 0, 0, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"\0\0",
        block(VALUES[:2, :3])[:-1],
        block(VALUES[:2, :3]) + b"\0",
        block(VALUES[:4, :3]),
        struct.pack(">HH3I", 0, 3, 1, 1, 1) + b"\0" * 4,
        struct.pack(">HH2I", 0, 2, 2**32 - 1, 2**32 - 1),
        struct.pack(">HH2I", 7, 2, 3, 2) + b"\0" * 24,
    ],
)
def test_damaged_blocks_are_told_of(bad):
    store = dataset()
    store["0/0"] = bad
    with pytest.raises((CorruptError, MetadataError), match="0/0"):
        oz.open(store)[...]


def container():
    return {"attributes.json": b'{"n5": "2.5.0"}', **dataset(start="a/b/")}


def test_groups_need_no_document():
    store = container()
    g = oz.open(store)
    inner = g["a"]
    assert (inner.format, list(inner), "a" in g, "x" in g) == ("n5", ["b"], True, False)
    assert np.array_equal(inner["b"][...], VALUES)
    assert oz.open(store, path="a").format == "n5"
    inner.refresh()
    with pytest.raises(NotFoundError):
        g["a/c"]


def test_chunks_are_no_groups():
    g = oz.open(container())
    assert "a/b/0" not in g
    with pytest.raises(NotFoundError):
        g["a/b/0"]


def test_groups_without_a_document_pickle(tmp_path):
    for key, value in container().items():
        (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / key).write_bytes(value)
    again = pickle.loads(pickle.dumps(oz.open(tmp_path)["a"]))
    assert np.array_equal(again["b"][...], VALUES)


def test_it_can_only_be_read():
    store = container()
    before = dict(store)
    g = oz.open(store, "r+")
    with pytest.raises(ReadOnlyError, match="n5"):
        g["a/b"][0] = 1
    with pytest.raises(ReadOnlyError):
        g.create_array("c", shape=(3,))
    with pytest.raises(MetadataError, match="n5"):
        oz.create_array(store, path="c", shape=(3,))
    with pytest.raises(MetadataError):
        oz.create_array(store, path="a/b/c", shape=(3,))
    with pytest.raises(ExistsError):
        oz.create_group(store)
    assert store == before


def test_paths_of_the_file_system_lead_to_groups_without_a_document(tmp_path):
    for key, value in container().items():
        (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / key).write_bytes(value)
    g = oz.open(tmp_path / "a")
    assert (g.format, list(g), oz.detect(tmp_path / "a").what) == ("n5", ["b"], "N5 group")
    with pytest.raises(NotFoundError):
        oz.open(tmp_path / "a/b/0")


def test_names_of_dimensions_as_xarray_wrote_them():
    store = dataset()
    document = json.loads(store["attributes.json"])
    store["attributes.json"] = json.dumps({**document, "_ARRAY_DIMENSIONS": ["y", "x"]}).encode()
    assert oz.open(store).dims == ("y", "x")


@pytest.mark.parametrize(
    ("change", "error", "pointer"),
    [
        ({"blockSize": ...}, MetadataError, "/"),
        ({"dataType": ...}, MetadataError, "/"),
        ({"dimensions": ...}, MetadataError, "/"),
        ({"dimensions": 7}, MetadataError, "/shape"),
        ({"blockSize": [3]}, MetadataError, "/blockSize"),
        ({"blockSize": [3, 0]}, MetadataError, "/blockSize/1"),
        ({"blockSize": [], "dimensions": []}, MetadataError, "/blockSize"),
        ({"dataType": "string"}, UnsupportedError, "/dataType"),
        ({"dataType": "object"}, UnsupportedError, "/dataType"),
        ({"dataType": "float16"}, MetadataError, "/dataType"),
        ({"compression": {"type": "jpeg"}}, UnsupportedError, "/compression"),
        ({"compression": {"type": 1}}, UnsupportedError, "/compression"),
        ({"compression": "gzip"}, MetadataError, "/compression"),
        ({"compression": {"type": "gzip", "level": 10}}, MetadataError, "/compression/level"),
        ({"compression": {"type": "blosc", "shuffle": 3}}, MetadataError, "/compression/shuffle"),
    ],
)
def test_documents_that_are_refused(change, error, pointer):
    store = dataset()
    changed = {**json.loads(store["attributes.json"]), **change}
    store["attributes.json"] = json.dumps({name: one for name, one in changed.items() if one is not ...}).encode()
    with pytest.raises(error) as caught:
        oz.open(store)
    assert type(caught.value) is error
    assert (caught.value.key, caught.value.pointer) == ("attributes.json", pointer)


@pytest.mark.parametrize(("name", "compress"), [("raw", bytes), ("gzip", gzip.compress), (None, bytes)])
def test_before_version_2_compressions_were_names(name, compress):
    store = dataset(compress=compress)
    document = json.loads(store["attributes.json"])
    document.pop("compression", None)
    store["attributes.json"] = json.dumps({**document, **({"compressionType": name} if name else {})}).encode()
    assert np.array_equal(oz.open(store)[...], VALUES)


@pytest.mark.parametrize(
    ("compression", "name", "settings"),
    [
        ({"type": "gzip"}, "gzip", {"level": -1}),
        ({"type": "gzip", "useZlib": True, "level": 3}, "zlib", {"level": 3}),
        ({"type": "gzip", "useZlib": 1}, "gzip", {"level": -1}),
        ({"type": "bzip2"}, "bz2", {"level": 9}),
        ({"type": "xz"}, "lzma", {"format": 1, "check": -1, "preset": 6, "filters": None}),
        ({"type": "lz4"}, "n5.lz4", {}),
        ({"type": "zstd"}, "zstd", {"level": 3}),
        (
            {"type": "blosc", "shuffle": 2},
            "blosc",
            {"cname": "blosclz", "clevel": 6, "shuffle": "bitshuffle", "typesize": 4, "blocksize": 0},
        ),
    ],
)
def test_compressions_have_the_defaults_of_java(compression, name, settings):
    store = dataset()
    store["attributes.json"] = json.dumps({**json.loads(store["attributes.json"]), "compression": compression}).encode()
    (block,) = oz.open(store).codecs
    assert block.name == "n5_default"
    big, codec = block.configuration["codecs"]
    assert (big["name"], big["configuration"]) == ("bytes", {"endian": "big"})
    assert (codec["name"], codec["configuration"]) == (name, settings)


@pytest.mark.parametrize(
    ("name", "value", "fits"),
    [
        *[("clevel", 0, True), ("clevel", 9, True), ("clevel", -1, False), ("clevel", 10, False)],
        *[("shuffle", 0, True), ("shuffle", 2, True), ("shuffle", -1, False), ("shuffle", 3, False)],
    ],
)
def test_settings_of_blosc_have_bounds(name, value, fits):
    compression = {"type": "blosc", "cname": "lz4", name: value}
    document = {"dimensions": [4], "blockSize": [2], "dataType": "int32", "compression": compression}
    store = {"attributes.json": json.dumps(document).encode()}
    if fits:
        assert oz.open_array(store).shape == (4,)
    else:
        with pytest.raises(MetadataError):
            oz.open_array(store)


def test_elements_of_one_byte_have_no_order():
    for kind, order in (("uint8", {}), ("int16", {"endian": "big"})):
        document = {"dimensions": [4], "blockSize": [2], "dataType": kind, "compression": {"type": "raw"}}
        (block,) = oz.open_array({"attributes.json": json.dumps(document).encode()}).metadata.codecs
        assert block.configuration["codecs"][0].get("configuration", {}) == order
