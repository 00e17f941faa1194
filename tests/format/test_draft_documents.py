"""Documents of the drafts of Zarr v3, one by one: what they say, and where they are wrong."""

import json

import numpy as np
import pytest

from omnizarr.errors import MetadataError, OmnizarrWarning, UnsupportedError
from omnizarr.format import draft
from omnizarr.format.draft_names import Layout
from tests.format.drafts import ARRAY, ENTRY, URI, document


@pytest.mark.parametrize(
    ("change", "error", "pointer"),
    [
        ({"metadata_encoding": {"type": "cbor"}}, UnsupportedError, "/metadata_encoding"),
        ({"metadata_key_suffix": 1}, MetadataError, "/metadata_key_suffix"),
        ({"metadata_key_suffix": "/x"}, MetadataError, "/metadata_key_suffix"),
        ({"metadata_encoding": {"type": "json", "metadata_key_suffix": "a/b"}}, MetadataError, "/metadata_key_suffix"),
        ({"extensions": [{"must_understand": False}, {"extension": "x"}]}, UnsupportedError, "/extensions/1"),
        ({"extensions": "x"}, MetadataError, "/extensions"),
    ],
)
def test_entry_points_that_are_refused(change, error, pointer):
    with pytest.raises(error) as caught:
        draft.parse_entry_point(json.dumps({**ENTRY, **change}).encode(), "zarr.json")
    assert (caught.value.key, caught.value.pointer) == ("zarr.json", pointer)


@pytest.mark.parametrize(
    ("change", "suffix"),
    [
        ({}, ".json"),
        ({"metadata_key_suffix": ".x"}, ".x"),
        ({"metadata_encoding": {"type": "json", "metadata_key_suffix": ".y"}}, ".y"),
        ({"metadata_encoding": {"type": "json"}}, ".json"),
        ({"extensions": [{"extension": "x", "must_understand": False}, "y"]}, ".json"),
        ({"extensions": None}, ".json"),
        ({"zarr_format": 3}, None),
        ({"zarr_format": f"{URI}#array"}, None),
    ],
)
def test_what_entry_points_say(change, suffix):
    assert draft.parse_entry_point(json.dumps({**ENTRY, **change}).encode(), "zarr.json") == suffix


@pytest.mark.parametrize(
    ("change", "error", "pointer"),
    [
        ({"shape": ...}, MetadataError, "/"),
        ({"data_type": ...}, MetadataError, "/"),
        ({"chunk_grid": ...}, MetadataError, "/"),
        ({"chunk_grid": {"type": "hexagonal", "chunk_shape": [2, 4]}}, UnsupportedError, "/chunk_grid"),
        ({"chunk_grid": {"chunk_shape": [2, 4], "separator": "-"}}, MetadataError, "/chunk_grid/separator"),
        ({"chunk_grid": {"chunk_shape": [2, 4], "separator": ["/"]}}, MetadataError, "/chunk_grid/separator"),
        ({"data_type": {"extension": "x"}}, UnsupportedError, "/data_type"),
        ({"data_type": 1}, MetadataError, "/data_type"),
        ({"compressor": {"configuration": {}}}, MetadataError, "/compressor"),
        ({"compressor": 1}, MetadataError, "/compressor"),
        ({"codecs": [{"configuration": {}}]}, MetadataError, "/codecs/0"),
        ({"codecs": "gzip"}, MetadataError, "/codecs"),
        ({"chunk_codecs": {"type": "gzip"}}, MetadataError, "/chunk_codecs"),
        ({"data_type": {"type": [1]}}, MetadataError, "/dtype/0"),
        ({"data_type": {"type": [[""]]}}, MetadataError, "/dtype/0"),
        ({"attributes": []}, None, None),
        ({"attributes": [1]}, MetadataError, "/attributes"),
    ],
)
def test_arrays_that_are_refused(change, error, pointer):
    text = {name: value for name, value in {**ARRAY, **change}.items() if value is not ...}
    texts = {".draft-array.json": json.dumps(text).encode()}
    if error is None:
        assert draft.parse("a/", texts).attributes == {}
        return
    with pytest.raises(error) as caught:
        draft.parse("a/", texts)
    assert (caught.value.key, caught.value.pointer) == ("a/.draft-array.json", pointer)


@pytest.mark.parametrize(
    ("fields", "dtype"),
    [
        ([["", "<i4"]], "<i4"),
        ([["a", "<i4"]], [("a", "<i4")]),
        ([["", "<i4", [2]]], [("", "<i4", (2,))]),
        ([["", "<i4"], ["b", "<i2"]], [("", "<i4"), ("b", "<i2")]),
    ],
)
def test_one_field_without_a_name_is_no_structure(fields, dtype):
    meta = draft.parse("", {".draft-array.json": document(data_type={"type": fields}, fill_value=None)})
    assert meta.dtype.numpy == np.dtype(dtype)


def test_codecs_are_names_or_have_their_settings_beside_the_name():
    meta = draft.parse("", {".draft-array.json": document(codecs=["zlib"])})
    assert [codec.name for codec in meta.codecs] == ["bytes", "zlib"]
    meta = draft.parse("", {".draft-array.json": document(compressor={"codec": "x/codec/gzip/1.0", "level": 3})})
    assert meta.codecs[-1] == ("gzip", {"level": 3}, True)
    meta = draft.parse("", {".draft-array.json": document(codecs=["bytes"])})
    assert [codec.name for codec in meta.codecs] == ["bytes"]


def test_fields_that_no_draft_has_are_kept_and_told_of():
    text = document(novel={"x": 1}, quiet={"must_understand": False})
    with pytest.warns(OmnizarrWarning, match="/novel is not known") as caught:
        meta = draft.parse("", {".draft-array.json": text})
    assert len(caught) == 1
    assert meta.extra == {"novel": {"x": 1}, "quiet": {"must_understand": False}}


FEBRUARY = {"zarr_format": "https://purl.org/zarr/spec/v3#array", **ARRAY, "fill_value": 0, "data_type": "int32"}


@pytest.mark.parametrize(
    ("change", "error", "pointer"),
    [
        ({"codecs": "gzip"}, MetadataError, "/codecs"),
        ({"codecs": [{"name": 1}]}, MetadataError, "/codecs/0"),
        ({"codecs": [{"name": "gzip", "configuration": 1}]}, MetadataError, "/codecs/0/configuration"),
        ({"zarr_format": "x"}, MetadataError, "/zarr_format"),
        ({"chunk_grid": 1}, MetadataError, "/chunk_grid"),
    ],
)
def test_nodes_of_february_2023_that_are_refused(change, error, pointer):
    with pytest.raises(error) as caught:
        draft.parse_node({**FEBRUARY, **change}, "zarr.json")
    assert (caught.value.key, caught.value.pointer) == ("zarr.json", pointer)


def test_codecs_of_february_2023():
    big = {"name": "endian", "configuration": {"endian": "big"}}
    meta = draft.parse_node({**FEBRUARY, "codecs": [big], "compressor": {"codec": "gzip", "level": 2}}, "zarr.json")
    assert meta.codecs == (("endian", {"endian": "big"}, True), ("gzip", {"level": 2}, True))
    meta = draft.parse_node({**FEBRUARY, "codecs": [{"name": "transpose", "order": [1, 0]}]}, "zarr.json")
    assert [codec.name for codec in meta.codecs] == ["transpose", "bytes"]
    assert draft.parse_node({**FEBRUARY, "zarr_format": URI}, "zarr.json") is None


@pytest.mark.parametrize(
    ("grid", "key"),
    [
        ({"type": "regular", "chunk_shape": [2, 4]}, "c/1/0"),
        ({"name": "regular", "chunk_shape": [2, 4]}, "c/1/0"),
        ({"name": "regular", "configuration": {"chunk_shape": [2, 4]}, "separator": "."}, "c.1.0"),
    ],
)
def test_grids_of_february_2023(grid, key):
    meta = draft.parse_node({**FEBRUARY, "chunk_grid": grid}, "zarr.json")
    assert meta.grid.longest == (2, 4)
    assert meta.keys.key((1, 0)) == key


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("a.array.json", "a"),
        ("a.group", "a"),
        ("a.b.arr.json", "a.b"),
        (".array.json", None),
        ("a.json", None),
        ("", None),
    ],
)
def test_names_of_nodes(name, node):
    assert Layout("meta/root", "data/root/").node(name) == node
