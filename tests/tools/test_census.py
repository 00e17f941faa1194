"""Counting chunks: in every store and of every kind of array; a good one has no fault, a bad one the right one."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import NodeTypeError
from omnizarr.model.codec import Codec
from omnizarr.store.mapping import DictStore
from omnizarr.tools.census import census


class Plain:
    """A store in Python that the kernel has to call."""

    def __init__(self, inner):
        self._inner = inner

    def __getattr__(self, name):
        return None if name == "native" else getattr(self._inner, name)


def places(tmp_path):
    return {
        "file": tmp_path / "a.zarr",
        "memory": oz.MemoryStore(),
        "zip": oz.ZipStore(tmp_path / "a.zip"),
        "dict": DictStore({}),
    }


@pytest.mark.parametrize("where", ["file", "memory", "zip", "dict"])
@pytest.mark.parametrize("shards", [None, (20, 20)])
def test_stored_and_missing_chunks_are_counted_in_every_store(tmp_path, rng, where, shards):
    a = oz.create_array(places(tmp_path)[where], shape=(50, 35), dtype="f4", chunks=(10, 10), shards=shards)
    a[:20, :20] = rng.random((20, 20))
    a[45, 30] = 1
    found = census(a)
    deep = census(a, decode=True)
    assert found.filled is None
    assert deep._replace(filled=None) == found
    assert (deep.filled, deep.nfaults, deep.nstray, deep.noutside) == (0, 0, 0, 0)
    assert found.nbytes == a.nbytes_stored
    if shards is None:
        assert (found.chunks, found.present, found.missing, found.cells) == (20, 5, 15, None)
    else:
        assert (found.chunks, found.present, found.missing) == (6, 2, 4)
        assert (found.cells, found.cells_present, found.cells_missing) == (20, 5, 15)


TEXTS = np.array([["a", "", "longer text"], ["ü" * 9, "b", "c"]], dtype=object)


@pytest.mark.parametrize(
    "options",
    [
        {"dtype": "f8", "codecs": [{"name": "bytes"}]},
        {"dtype": ">i4", "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}]},
        {"dtype": "i2", "order": "F"},
        {"dtype": "bool"},
        {"dtype": "datetime64[s]"},
        {"dtype": "string", "shards": (2, 4)},
        {"dtype": "bytes"},
        {"dtype": "u1", "chunks": ((1, 1), (1, 2))},
        {"dtype": "f4", "format": "zarr2"},
        {"dtype": "f4", "format": "zarr1"},
        {"dtype": "f4", "format": "zarr0"},
        {"dtype": "i4", "codecs": [Codec("numcodecs.delta", {"dtype": "<i4"}), Codec("bytes"), Codec("zlib")]},
    ],
    ids=str,
)
def test_good_chunks_have_no_fault(options):
    a = oz.create_array({}, shape=(2, 3), **{"chunks": (1, 2), **options})
    count = a.nchunks
    if options["dtype"] == "string":
        a[...] = TEXTS
    elif options["dtype"] == "bytes":
        a[...] = np.full((2, 3), b"xyz", dtype=object)
    else:
        a[...] = np.arange(1, 7).reshape(2, 3).astype(a.dtype)
    found = census(a, decode=True)
    assert (found.nfaults, found.faults, found.filled, found.nstray, found.noutside) == (0, (), 0, 0, 0)
    assert found.present == found.chunks
    assert found.cells in (None, count)


@pytest.mark.parametrize("dtype", ["f4", "string", "i8"])
@pytest.mark.parametrize("shards", [None, (6, 6)])
def test_chunks_of_fill_alone_are_counted(dtype, shards):
    store = oz.MemoryStore()
    fill = "none" if dtype == "string" else 3
    oz.create_array(store, shape=(9, 9), dtype=dtype, chunks=(3, 3), shards=shards, fill_value=fill)
    a = oz.open_array(store, mode="r+", write_empty=True)
    a[...] = fill
    a[4, 4] = "some" if dtype == "string" else 4
    found = census(a, decode=True)
    assert (found.missing, found.filled) == (0, 8)


def test_what_lies_outside_the_shape_of_a_chunk_does_not_count():
    a = oz.create_array({}, shape=(3,), dtype="u1", chunks=(4,), fill_value=7, codecs=[{"name": "bytes"}])
    a.store.put("c/0", b"\x07\x07\x07\x00")
    assert census(a, decode=True).filled == 1
    a.store.put("c/0", b"\x07\x07\x01\x07")
    assert census(a, decode=True).filled == 0


def test_an_undefined_fill_fills_nothing():
    a = oz.create_array({}, shape=(4,), dtype="u1", format="zarr2", fill_value=None, codecs=None)
    a[...] = 0
    assert census(a, decode=True).filled == 0


def spoilt(how, data):
    return {
        "empty": b"",
        "cut": data[:-1],
        "longer": data + b"x",
        "noise": bytes(255 - byte for byte in data),
    }[how]


@pytest.mark.parametrize("how", ["empty", "cut", "longer", "noise"])
@pytest.mark.parametrize(
    "codecs",
    [
        [{"name": "bytes"}, {"name": "zstd", "configuration": {"level": 1, "checksum": True}}],
        [{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 1}}],
        [{"name": "bytes"}, {"name": "crc32c"}],
        [{"name": "bytes"}, {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle",
                                                               "typesize": 4, "blocksize": 0}}],
        [{"name": "bytes"}],
    ],
    ids=lambda codecs: codecs[-1]["name"],
)  # fmt: skip
def test_a_spoilt_chunk_is_told_of_and_the_others_are_counted(rng, codecs, how):
    a = oz.create_array(oz.MemoryStore(), shape=(40,), dtype="f4", chunks=(10,), codecs=codecs)
    a[...] = rng.random(40)
    good = a.store.get("c/2")
    a.store.put("c/2", spoilt(how, good))
    raw = len(codecs) == 1
    readable = True
    try:
        a[20:30]
    except oz.OmnizarrError as error:
        readable = False
        kind = error.kind
    found = census(a, decode=True)
    quick = census(a)
    assert found.present == 4
    if raw and how == "noise":  # any bytes are numbers
        assert readable
        assert found.nfaults == 0
        return
    if codecs[-1]["name"] == "blosc" and how == "longer":  # its header says where it ends
        assert readable
        assert found.nfaults == 0
        return
    assert not readable
    assert [fault.key for fault in found.faults] == ["c/2"]
    # Checksums make a chunk longer by as much each time, so that one more byte is too many.
    by_size = raw or (codecs[-1]["name"] == "crc32c" and how == "longer")
    assert found.faults[0].kind == ("empty" if how == "empty" else "size" if by_size else kind)
    assert quick.nfaults == (how == "empty" or by_size)


def test_text_that_is_none_is_a_fault():
    a = oz.create_array(oz.MemoryStore(), shape=(1,), dtype="string", codecs=[{"name": "vlen-utf8"}])
    a[...] = "abc"
    a.store.put("c/0", a.store.get("c/0").replace(b"abc", b"a\xffc"))
    (fault,) = census(a, decode=True).faults
    assert (fault.kind, "UTF-8" in fault.message, "vlen-utf8" in fault.message) == ("corrupt", True, True)


def test_faults_of_inner_chunks_are_told_one_by_one(rng):
    a = oz.create_array(
        oz.MemoryStore(), shape=(8, 8), dtype="f8", chunks=(2, 2), shards=(8, 8),
        codecs=[{"name": "bytes"}, {"name": "crc32c"}],
    )  # fmt: skip
    a[...] = rng.random((8, 8))
    data = bytearray(a.store.get("c/0/0"))
    data[5 * 36] ^= 1
    data[9 * 36] ^= 1
    a.store.put("c/0/0", bytes(data))
    found = census(a, decode=True)
    assert [(fault.key, fault.kind) for fault in found.faults] == [("c/0/0", "checksum")] * 2
    assert sorted(fault.message.partition(":")[0] for fault in found.faults) == ["inner chunk 5", "inner chunk 9"]
    assert (found.cells_present, found.nfaults) == (16, 2)
    data[-1] ^= 1
    a.store.put("c/0/0", bytes(data))
    assert [fault.kind for fault in census(a).faults] == ["shard-checksum"]


def test_the_first_thousand_faults_are_kept():
    a = oz.create_array(oz.MemoryStore(), shape=(3000,), dtype="u1", chunks=(1,))
    for i in range(3000):
        a.store.put(f"c/{i}", b"")
    found = census(a)
    assert (found.present, found.nfaults, len(found.faults)) == (3000, 3000, 1000)


def test_keys_that_do_not_belong_there_are_found(tmp_path):
    a = oz.create_array(tmp_path / "a", shape=(10,), dtype="u1", chunks=(5,))
    a[...] = 1
    for key in ("c/2", "c/0x", ".DS_Store", "sub/zarr.json", "sub/c/0", ".zattrs", "c/.1f-a.partial"):
        path = tmp_path / "a" / key
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"{}")
    found = census(a)
    assert (found.outside, found.stray, found.debris) == (("c/2",), (".DS_Store", "c/0x"), ("c/.1f-a.partial",))
    assert (found.noutside, found.nstray, found.ndebris, found.present) == (1, 2, 1, 2)
    assert a.store.erase("c/.1f-a.partial")
    assert census(a).debris == ()


def test_blocks_of_n5_that_are_smaller_at_the_edge():
    store = {"attributes.json": b'{"n5": "2.0.0"}'}
    store["a/attributes.json"] = (
        b'{"dimensions": [5, 3], "blockSize": [2, 2], "dataType": "uint8", "compression": {"type": "raw"}}'
    )
    head = b"\x00\x00\x00\x02"
    store["a/0/0"] = head + b"\x00\x00\x00\x02\x00\x00\x00\x02" + b"\x01\x02\x03\x04"
    store["a/2/1"] = head + b"\x00\x00\x00\x01\x00\x00\x00\x01" + b"\x00"
    a = oz.open_array(store, path="a")
    assert a[...].tolist() == [[1, 2, 0, 0, 0], [3, 4, 0, 0, 0], [0, 0, 0, 0, 0]]
    found = census(a, decode=True)
    assert (found.chunks, found.present, found.filled, found.faults, found.stray) == (6, 2, 1, (), ())
    store["a/2/1"] = store["a/2/1"][:-1]
    assert [fault.key for fault in census(oz.open_array(store, path="a"), decode=True).faults] == ["2/1"]


@pytest.mark.parametrize("decode", [False, True])
def test_a_chunk_that_the_store_cannot_give_is_a_fault_of_its_own(decode):
    inner = DictStore({})
    oz.create_array(inner, shape=(12,), dtype="u1", chunks=(2,), shards=(4,))[...] = 1

    class Worn(Plain):
        def get_range(self, key, start, length=None):
            if key == "c/1":
                raise OSError(5, "the disk is worn out")
            return self._inner.get_range(key, start, length)

    found = census(oz.open_array(Worn(inner)), decode=decode)
    assert [(fault.key, fault.kind) for fault in found.faults] == [("c/1", "store")]
    assert (found.present, found.cells_present) == (3, 4)


def test_a_damaged_archive_entry_is_a_fault(tmp_path):
    place = tmp_path / "a.zip"
    with oz.create_array(place, shape=(40,), dtype="u1", chunks=(10,), codecs=[{"name": "bytes"}]) as a:
        a[...] = np.arange(1, 41)
    with zipfile.ZipFile(place) as archive:
        entry = archive.getinfo("c/2")
    data = bytearray(place.read_bytes())
    at = data.index(bytes(range(21, 31)), entry.header_offset)
    data[at] ^= 0xFF
    place.write_bytes(bytes(data))
    found = census(place, decode=True)
    assert [(fault.key, fault.kind) for fault in found.faults] == [("c/2", "checksum")]


def test_a_store_that_breaks_in_its_own_way_ends_the_count():
    store = DictStore({})
    oz.create_array(store, shape=(4,), dtype="u1", chunks=(1,))[...] = 1

    class Broken(Plain):
        def size(self, key):
            if key == "c/2":
                raise ZeroDivisionError
            return self._inner.size(key)

    with pytest.raises(ZeroDivisionError):
        census(oz.open_array(Broken(store)))


def test_progress_is_told_to_the_end(tmp_path):
    a = oz.create_array(tmp_path / "a", shape=(500,), dtype="u1", chunks=(1,))
    a[...] = 1
    told = []
    census(a, decode=True, progress=lambda *at: told.append(at))
    assert told[-1] == (500, 500, a.nbytes_stored)
    assert told == sorted(told)


def test_a_group_is_refused():
    with pytest.raises(NodeTypeError, match="group"):
        census(oz.create_group({}))


def test_arrays_without_chunks_and_without_dimensions():
    assert census(oz.create_array({}, shape=(0, 4), dtype="u1"), decode=True)[:4] == (0, 0, 0, 0)
    a = oz.create_array({}, shape=(), dtype="u1")
    assert census(a)[:3] == (1, 0, 1)
    a[...] = 3
    assert census(a, decode=True)[:3] == (1, 1, 0)
