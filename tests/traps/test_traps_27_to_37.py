"""Traps 27 to 37: indices of shards, orders of axes, what documents leave out, consolidated metadata."""

from __future__ import annotations

import json
import struct

import google_crc32c
import numpy as np
import pytest

import omnizarr as oz

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
BIG = {"name": "bytes", "configuration": {"endian": "big"}}
MISSING = 2**64 - 1
A, B = struct.pack("<2i", 1, 2), struct.pack("<2i", 3, 4)


def sharding(chunk_shape=(2,), *, index_codecs=(LITTLE, {"name": "crc32c"}), location="end"):
    configuration = {
        "chunk_shape": list(chunk_shape),
        "codecs": [LITTLE],
        "index_codecs": list(index_codecs),
        "index_location": location,
    }
    return {"name": "sharding_indexed", "configuration": configuration}


def index(*pairs, order="<", checksum=True):
    raw = struct.pack(f"{order}{2 * len(pairs)}Q", *[n for pair in pairs for n in pair])
    return raw + struct.pack("<I", google_crc32c.value(raw)) if checksum else raw


@pytest.fixture
def opened(v3):
    """Values of an array of four numbers in one shard of two chunks."""

    def values(shard, codec=None):
        codecs = [codec or sharding()]
        return oz.open({"zarr.json": v3(chunks=[4], codecs=codecs), "c/0": shard})[...].tolist()

    return values


def test_trap_27_only_two_ones_mean_missing(opened):
    assert opened(B + index((MISSING, MISSING), (0, 8))) == [0, 0, 3, 4]


@pytest.mark.parametrize("entry", [(0, 0), (0, MISSING), (MISSING, 8), (MISSING, 0)])
def test_trap_27_other_strange_entries_are_damage(opened, entry):
    with pytest.raises(oz.errors.CorruptError):
        opened(B + index(entry, (0, 8)))


def test_trap_28_offsets_count_from_the_first_byte(opened):
    codec = sharding(location="start")
    assert opened(index((36, 8), (44, 8)) + A + B, codec) == [1, 2, 3, 4]
    with pytest.raises(oz.errors.CorruptError):
        opened(index((0, 8), (8, 8)) + A + B, codec)  # the index itself is no chunk


def test_trap_28_chunks_may_lie_anywhere(opened):
    assert opened(b"gap!" + B + b"hole" + A + index((16, 8), (4, 8))) == [1, 2, 3, 4]
    assert opened(A + index((0, 8), (0, 8))) == [1, 2, 1, 2]


@pytest.mark.parametrize("location", ["start", "end"])
@pytest.mark.parametrize(
    ("codecs", "order", "checksum"),
    [((LITTLE,), "<", False), ((BIG,), ">", False), ((BIG, {"name": "crc32c"}), ">", True)],
)
def test_trap_29_the_size_of_the_index_follows_its_codecs(opened, codecs, order, checksum, location):
    size = len(index((0, 0), (0, 0), checksum=checksum))
    start = size if location == "start" else 0
    table = index((start, 8), (start + 8, 8), order=order, checksum=checksum)
    shard = table + A + B if location == "start" else A + B + table
    assert opened(shard, sharding(index_codecs=codecs, location=location)) == [1, 2, 3, 4]


def test_trap_30_inner_chunks_are_measured_after_a_transpose(v3):
    values = np.arange(8, dtype="<i4").reshape(2, 4)
    # Transposed, the shard is (4, 2); chunks of (4, 1) are rows of the array.
    codecs = [{"name": "transpose", "configuration": {"order": [1, 0]}}, sharding((4, 1))]
    shard = values.tobytes() + index((0, 16), (16, 16))
    store = {"zarr.json": v3(shape=[2, 4], chunks=[2, 4], codecs=codecs), "c/0/0": shard}
    assert oz.open(store)[...].tolist() == values.tolist()
    with pytest.raises(oz.errors.MetadataError):
        oz.open({"zarr.json": v3(shape=[2, 4], chunks=[2, 4], codecs=[codecs[0], sharding((1, 4))])})


@pytest.mark.parametrize("length", [1, 4, 20, 35])
@pytest.mark.parametrize("location", ["start", "end"])
def test_trap_31_a_shard_shorter_than_its_index_is_damage(opened, length, location):
    whole = A + B + index((0, 8), (8, 8))
    with pytest.raises(oz.errors.CorruptError) as caught:
        opened(whole[-length:], sharding(location=location))
    assert caught.value.key == "c/0"


@pytest.mark.parametrize("order", [[1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0]])
def test_trap_32_transpose_is_undone_by_its_inverse(v3, order):
    values = np.arange(24, dtype="<i4").reshape(2, 3, 4)
    codecs = [{"name": "transpose", "configuration": {"order": order}}, LITTLE]
    chunk = np.ascontiguousarray(values.transpose(order)).tobytes()
    store = {"zarr.json": v3(shape=[2, 3, 4], chunks=[2, 3, 4], codecs=codecs), "c/0/0/0": chunk}
    array = oz.open_array(store, "r+")
    assert array[...].tolist() == values.tolist()
    array[...] = values + 1
    assert bytes(store["c/0/0/0"]) == np.ascontiguousarray((values + 1).transpose(order)).tobytes()


def test_trap_33_without_a_byte_order_little_is_assumed_aloud(v3):
    store = {"zarr.json": v3(chunks=[4], codecs=[{"name": "bytes"}]), "c/0": A + B}
    with pytest.warns(oz.OmnizarrWarning, match="little"):
        array = oz.open(store)
    assert array[...].tolist() == [1, 2, 3, 4]


@pytest.mark.filterwarnings("ignore::omnizarr.OmnizarrWarning")
def test_trap_33_structures_of_zarr_python_3_1_are_little(v3):
    kind = {"name": "structured", "configuration": {"fields": [["a", "int32"], ["b", "int16"]]}}
    meta = v3(chunks=[4], data_type=kind, fill_value="AAAAAAAA", codecs=[{"name": "bytes"}])
    chunk = b"".join(struct.pack("<ih", n, -n) for n in range(4))
    assert oz.open({"zarr.json": meta, "c/0": chunk})[...].tolist() == [(n, -n) for n in range(4)]


def names_of(node):
    """Every mapping in a document, however deep."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from names_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from names_of(value)


def test_trap_34_documents_are_written_the_long_way():
    store: dict[str, bytes] = {}
    codecs = ["zstd", oz.codec.crc32c()]
    oz.create_array(store, shape=(8, 8), chunks=(2, 2), shards=(4, 4), dtype="i2", codecs=codecs, order="F")
    document = json.loads(store["zarr.json"])
    assert not any("must_understand" in one for one in names_of(document))
    assert isinstance(document["data_type"], str)
    assert all(isinstance(document[name], dict) for name in ("chunk_grid", "chunk_key_encoding"))
    lists = [one[name] for one in names_of(document) for name in ("codecs", "index_codecs") if name in one]
    assert len(lists) == 3
    assert all(isinstance(codec, dict) for codecs in lists for codec in codecs)


def test_trap_34_documents_are_read_the_short_way(v3):
    meta = v3(chunk_key_encoding="default", codecs=["bytes"], data_type="uint8")
    assert oz.open({"zarr.json": meta, "c/0": b"\1\2"})[...].tolist() == [1, 2, 0, 0]


@pytest.mark.parametrize("value", [None, {"kind": "inline", "must_understand": False, "metadata": {}}])
def test_trap_35_consolidated_metadata_of_any_form_passes(value):
    text = json.dumps({"zarr_format": 3, "node_type": "group", "consolidated_metadata": value}).encode()
    assert isinstance(oz.open({"zarr.json": text}), oz.Group)


def test_trap_35_unknown_fields(v2, v3):
    kept = {".zarray": v2(extra={"a": [1]})}
    array = oz.open_array(kept, "r+")
    assert array[...].tolist() == [0] * 4
    array.resize(5)
    assert json.loads(kept[".zarray"])["extra"] == {"a": [1]}
    assert oz.open({"zarr.json": v3(extra={"must_understand": False})})[...].tolist() == [0] * 4
    for bad in ({"must_understand": True}, {}, 1, None):
        with pytest.raises(oz.errors.MetadataError, match="extra"):
            oz.open({"zarr.json": v3(extra=bad)})


def test_trap_36_an_empty_copy_below_does_not_hide_children(v3):
    empty = {"kind": "inline", "must_understand": False, "metadata": {}}
    sub = {"zarr_format": 3, "node_type": "group", "attributes": {}, "consolidated_metadata": empty}
    copies = {"sub": sub, "sub/x": json.loads(v3())}
    root = {**sub, "consolidated_metadata": {**empty, "metadata": copies}}
    store = {"zarr.json": json.dumps(root), "sub/zarr.json": json.dumps(sub), "sub/x/zarr.json": v3().decode()}
    group = oz.open({key: text.encode() for key, text in store.items()})
    assert list(group["sub"]) == ["x"]
    assert group["sub/x"].shape == (4,)
    assert [name for name, _ in group.members(max_depth=None)] == ["sub", "sub/x"]


@pytest.mark.parametrize("fmt", ["zarr2", "zarr3"])
def test_trap_37_writing_keeps_consolidated_metadata_true(fmt):
    store: dict[str, bytes] = {}
    oz.create_group(store, format=fmt).create_array("a", shape=(2,))
    oz.consolidate(store)
    group = oz.open_group(store, "r+")
    group.create_array("b", shape=(3,))
    group["a"].resize(7)
    del group["b"]
    group.create_array("c", shape=(3,))
    for consolidated in (None, False):
        read = oz.open_group(store, consolidated=consolidated)
        assert sorted(read) == ["a", "c"]
        assert read["a"].shape == (7,)


def test_trap_37_a_stale_copy_can_be_ignored():
    store: dict[str, bytes] = {}
    oz.create_group(store, format="zarr2")
    oz.consolidate(store)
    stale = store[".zmetadata"]
    oz.open_group(store, "r+").create_array("a", shape=(2,))
    store[".zmetadata"] = stale
    assert list(oz.open_group(store, consolidated=False)) == ["a"]
    assert list(oz.open_group(store, "r+")) == ["a"]
