"""Every dialect as array and as group, in a folder, in zips and in a mapping: one look tells them apart."""

from __future__ import annotations

import json
import pickle
import struct
import warnings

import numpy as np
import pytest

import omnizarr as oz

ONE_TWO = struct.pack("<2i", 1, 2)
# A Blosc container that stores its bytes as they are.
BLOSC = struct.pack("<BBBBIII", 2, 1, 0x02, 4, 8, 8, 24) + ONE_TWO

V3_ARRAY = {
    "zarr_format": 3,
    "node_type": "array",
    "shape": [2],
    "data_type": "int32",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
    "chunk_key_encoding": {"name": "default"},
    "fill_value": 0,
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
}
V3_GROUP = {"zarr_format": 3, "node_type": "group"}
V2_ARRAY = {
    "zarr_format": 2,
    "shape": [2],
    "chunks": [2],
    "dtype": "<i4",
    "compressor": None,
    "fill_value": 0,
    "order": "C",
    "filters": None,
}
V2_GROUP = {"zarr_format": 2}
V1_ARRAY = {
    "zarr_format": 1,
    "shape": [2],
    "chunks": [2],
    "dtype": "<i4",
    "compression": "none",
    "compression_opts": None,
    "fill_value": 0,
    "order": "C",
}
V0_ARRAY = {"shape": [2], "chunks": [2], "dtype": "<i4", "fill_value": 0, "cname": "lz4", "clevel": 5, "shuffle": 1}
V0_PICKLE = {**V0_ARRAY, "shape": (2,), "chunks": (2,), "dtype": np.dtype("<i4"), "cname": b"lz4"}
DRAFT_URI = "https://purl.org/zarr/spec/protocol/core/3.0"
DRAFT_ENTRY = {
    "zarr_format": DRAFT_URI,
    "metadata_encoding": DRAFT_URI,
    "metadata_key_suffix": ".json",
    "extensions": [],
}
DRAFT_ARRAY = {
    "shape": [2],
    "data_type": "<i4",
    "chunk_grid": {"type": "regular", "chunk_shape": [2], "separator": "/"},
    "chunk_memory_layout": "C",
    "fill_value": 0,
    "extensions": [],
    "attributes": {},
}
N5_ARRAY = {"dimensions": [2], "blockSize": [2], "dataType": "int32", "compression": {"type": "raw"}}
N5_BLOCK = struct.pack(">HHI2i", 0, 1, 2, 1, 2)
V2_BLOCK = {
    "zarr_consolidated_format": 1,
    "metadata": {".zgroup": V2_GROUP, "x/.zarray": V2_ARRAY, "x/.zattrs": {}},
}

# Under each name: the format, the kind, the documents and chunks.
TREES = {
    "v3 array": ("zarr3", "array", {"zarr.json": V3_ARRAY, "c/0": ONE_TWO}),
    "v3 group": ("zarr3", "group", {"zarr.json": V3_GROUP, "x/zarr.json": V3_ARRAY, "x/c/0": ONE_TWO}),
    "v2 array": ("zarr2", "array", {".zarray": V2_ARRAY, "0": ONE_TWO}),
    "v2 group": ("zarr2", "group", {".zgroup": V2_GROUP, "x/.zarray": V2_ARRAY, "x/0": ONE_TWO}),
    "v2 consolidated only": ("zarr2", "group", {".zmetadata": V2_BLOCK, "x/0": ONE_TWO}),
    "v1 array": ("zarr1", "array", {"meta": V1_ARRAY, "attrs": {}, "0": ONE_TWO}),
    "v0 array": ("zarr0", "array", {"__zmeta__": V0_ARRAY, "__zdata__/0.blosc": BLOSC}),
    "v0 pickle": ("zarr0", "array", {"__zmeta__": pickle.dumps(V0_PICKLE, 0), "__zdata__/0.blosc": BLOSC}),
    "draft array": (
        "zarr3-draft",
        "array",
        {"zarr.json": DRAFT_ENTRY, "meta/root.array.json": DRAFT_ARRAY, "data/root/c0": ONE_TWO},
    ),
    "draft group": (
        "zarr3-draft",
        "group",
        {
            "zarr.json": DRAFT_ENTRY,
            "meta/root.group.json": {"attributes": {}},
            "meta/root/x.array.json": DRAFT_ARRAY,
            "data/root/x/c0": ONE_TWO,
        },
    ),
    "draft without entry point": (
        "zarr3-draft",
        "group",
        {"meta/root/x.array.json": DRAFT_ARRAY, "data/root/x/c0": ONE_TWO},
    ),
    "n5 array": ("n5", "array", {"attributes.json": N5_ARRAY, "0": N5_BLOCK}),
    "n5 group": ("n5", "group", {"attributes.json": {"n5": "2.0.0"}, "x/attributes.json": N5_ARRAY, "x/0": N5_BLOCK}),
}
STORES = {"folder": "file", "zip": "zip", "topped": "zip", "dict": "memory"}


def as_bytes(tree):
    return {key: value if isinstance(value, bytes) else json.dumps(value).encode() for key, value in tree.items()}


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("name", TREES)
def test_what_it_is(lay_out, name, store):
    fmt, kind, tree = TREES[name]
    where = lay_out(store, as_bytes(tree))
    found = oz.detect(where)
    assert (found.format, found.kind, found.store) == (fmt, kind, STORES[store])
    assert found.reason
    assert kind in found.what


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("name", TREES)
def test_it_opens_without_a_flag(lay_out, name, store):
    fmt, kind, tree = TREES[name]
    node = oz.open(lay_out(store, as_bytes(tree)))
    assert node.format == fmt
    assert isinstance(node, oz.Array if kind == "array" else oz.Group)
    array = node if isinstance(node, oz.Array) else node["x"]
    assert array[...].tolist() == [1, 2]


@pytest.mark.parametrize("name", ["v3 group", "v2 group", "n5 group"])
def test_a_node_within_a_folder_by_its_own_path(lay_out, name):
    fmt, _, tree = TREES[name]
    where = lay_out("folder", as_bytes(tree)) / "x"
    found = oz.detect(where)
    assert (found.format, found.kind, found.store) == (fmt, "array", "file")
    assert oz.open(where)[...].tolist() == [1, 2]


@pytest.mark.parametrize("name", TREES)
def test_a_uri_is_as_good_as_a_path(lay_out, name):
    fmt, kind, tree = TREES[name]
    found = oz.detect(lay_out("folder", as_bytes(tree)).as_uri())
    assert (found.format, found.kind, found.store) == (fmt, kind, "file")


GROUP_URI = "https://purl.org/zarr/spec/v3#group"
LATE_ARRAY = {**DRAFT_ARRAY, "data_type": "int32", "zarr_format": "https://purl.org/zarr/spec/v3#array"}

# The same, and the document that loses; the empty string where there is no choice, `None` where none is expected.
CHOICES = {
    "v3 wins over v2": ("zarr3", "array", {"zarr.json": V3_ARRAY, ".zarray": V2_ARRAY}, ".zarray"),
    "a v3 group wins over a v2 group": ("zarr3", "group", {"zarr.json": V3_GROUP, ".zgroup": V2_GROUP}, ".zgroup"),
    "v3 wins over N5": ("zarr3", "array", {"zarr.json": V3_ARRAY, "attributes.json": N5_ARRAY}, None),
    "v3 wins over v1": ("zarr3", "group", {"zarr.json": V3_GROUP, "meta": V1_ARRAY, "attrs": {}}, None),
    "v2 wins over N5": ("zarr2", "array", {".zarray": V2_ARRAY, "attributes.json": N5_ARRAY}, None),
    "v2 with a consolidated copy": ("zarr2", "group", {".zgroup": V2_GROUP, ".zmetadata": V2_BLOCK}, ""),
    "a v3 group with a child called meta": (
        "zarr3",
        "group",
        {"zarr.json": V3_GROUP, "meta/zarr.json": V3_GROUP, "meta/root/zarr.json": V3_ARRAY},
        "",
    ),
    "a v2 group with a child called meta": ("zarr2", "group", {".zgroup": V2_GROUP, "meta/.zarray": V2_ARRAY}, ""),
    "a v2 group with an array called attrs": ("zarr2", "group", {".zgroup": V2_GROUP, "attrs/.zarray": V2_ARRAY}, ""),
    "nested chunks without a separator": (
        "zarr2",
        "array",
        {".zarray": {**V2_ARRAY, "shape": [1, 2], "chunks": [1, 2]}, "0/0": ONE_TWO},
        "",
    ),
    "version 3.0": ("zarr3", "array", {"zarr.json": {**V3_ARRAY, "zarr_format": 3.0}}, ""),
    "a byte order mark": ("zarr2", "group", {".zgroup": b"\xef\xbb\xbf" + json.dumps(V2_GROUP).encode()}, ""),
    "a draft that says spec/core": (
        "zarr3-draft",
        "array",
        {
            "zarr.json": {**DRAFT_ENTRY, "zarr_format": "https://purl.org/zarr/spec/core/3.0"},
            "meta/root.array.json": DRAFT_ARRAY,
        },
        "",
    ),
    "a draft of February 2023, array": ("zarr3-draft", "array", {"zarr.json": LATE_ARRAY}, ""),
    "a draft of February 2023, group": ("zarr3-draft", "group", {"zarr.json": {"zarr_format": GROUP_URI}}, ""),
    "a draft without entry point, array": ("zarr3-draft", "array", {"meta/root.array.json": DRAFT_ARRAY}, ""),
    "a draft without entry point, group": ("zarr3-draft", "group", {"meta/root.group.json": {"attributes": {}}}, ""),
    "a draft with empty hierarchy": ("zarr3-draft", "group", {"zarr.json": DRAFT_ENTRY}, ""),
    "a draft without suffixes": ("zarr3-draft", "array", {"meta/root.array": DRAFT_ARRAY}, ""),
    "v0 beside debris": ("zarr0", "array", {"__zmeta__": V0_ARRAY, "__zattr__.lock": b"", ".DS_Store": b"\0"}, ""),
}


@pytest.mark.parametrize("store", ["folder", "dict"])
@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.filterwarnings("ignore::omnizarr.OmnizarrWarning")
def test_where_two_answers_are_possible(lay_out, name, store):
    fmt, kind, tree, _ = CHOICES[name]
    where = lay_out(store, as_bytes(tree))
    found = oz.detect(where)
    assert (found.format, found.kind) == (fmt, kind)
    node = oz.open(where)
    assert (node.format, isinstance(node, oz.Array)) == (fmt, kind == "array")


@pytest.mark.parametrize("name", [name for name, row in CHOICES.items() if row[3]])
def test_that_there_was_a_choice_is_said(lay_out, name):
    _, _, tree, loser = CHOICES[name]
    where = lay_out("folder", as_bytes(tree))
    with pytest.warns(oz.OmnizarrWarning, match="v3 is used"):
        assert oz.open(where).format == "zarr3"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert loser in oz.detect(where).reason
