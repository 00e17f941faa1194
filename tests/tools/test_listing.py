"""Listing nodes: without NumPy where documents are plain, by the model elsewhere, and always the same."""

from __future__ import annotations

import json
import warnings
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.tools.listing import full as full_listing
from omnizarr.tools.listing.glance import glance
from omnizarr.tools.listing.listing import list_nodes

GOLDEN = Path(__file__).parents[1] / "corpus" / "golden-old-writers.zip"


def full(where):
    """What the model lists, and whether it warns of anything."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        return full_listing.list_nodes(where, stored=False), bool(told)


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
@pytest.mark.parametrize("consolidated", [False, True])
def test_plain_hierarchies_are_listed_at_a_glance(form, consolidated, tmp_path):
    where = tmp_path / "data.zarr"
    group = oz.create_group(where, format=form, attrs={"title": "trial"})
    for i, dtype in enumerate(["bool", "i1", "u2", "i4", "u8", "f4", "f8"]):
        codecs = [None, "auto", ["zstd"], ["gzip"], ["blosc"]][i % 5]
        group.create_array(
            f"part{i % 2}/a{i}",
            shape=(i + 1, 4),
            chunks=(2, 3),
            dtype=dtype,
            codecs=codecs,
            dims=("y", "x"),
            attrs={"i": i},
        )
    if form == "zarr3":
        group.create_array("sharded", shape=(8, 8), chunks=(2, 2), shards=(4, 4), dtype="f4")
    if consolidated:
        group.consolidate()
    found = glance(where, None)
    assert found is not None
    assert (found, False) == full(where)
    for depth in (0, 1, 2):
        assert glance(where, depth) == full_listing.list_nodes(where, depth=depth, stored=False)


def test_golden_stores_are_listed_the_same_either_way(tmp_path):
    with zipfile.ZipFile(GOLDEN) as archive:
        archive.extractall(tmp_path)
    places = {path.parent for name in ("zarr.json", ".zgroup", ".zarray") for path in tmp_path.rglob(name)}
    glanced = 0
    for place in sorted(places):
        found = glance(place, None)
        if found is not None:
            glanced += 1
            assert (found, False) == full(place)
    assert glanced > 5


DOCUMENTS = {
    "zarr.json": {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [6, 4],
        "data_type": "float32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 4]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0.0,
        "codecs": [
            {"name": "bytes", "configuration": {"endian": "little"}},
            {
                "name": "blosc",
                "configuration": {"typesize": 4, "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0},
            },
            {"name": "zstd", "configuration": {"level": 3, "checksum": False}},
            {"name": "gzip", "configuration": {"level": 3}},
            {"name": "crc32c"},
        ],
        "attributes": {"units": "K"},
        "dimension_names": ["y", None],
        "storage_transformers": [],
    },
    "sharded/zarr.json": {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [6, 4],
        "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 4]}},
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "."}},
        "fill_value": -1,
        "codecs": [
            {
                "name": "sharding_indexed",
                "configuration": {
                    "chunk_shape": [2, 2],
                    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
                    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
                    "index_location": "end",
                },
            }
        ],
    },
    ".zarray": {
        "zarr_format": 2,
        "shape": [6, 4],
        "chunks": [4, 4],
        "dtype": "<i4",
        "compressor": {"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": 1, "blocksize": 0},
        "fill_value": 7,
        "order": "C",
        "filters": None,
        "dimension_separator": "/",
    },
    "zlib/.zarray": {
        "zarr_format": 2,
        "shape": [6],
        "chunks": [4],
        "dtype": "<f8",
        "compressor": {"id": "zlib", "level": 1},
        "fill_value": "NaN",
        "order": "C",
        "filters": None,
    },
}

WORDS = [
    *("float16", "complex64", "string", "r16", "uint8", "<f4", ">f4", "|b1", "NaN", "F", ".", "big", "start"),
    *("bytes", "v2", "lz4", "zlib", "bitshuffle", "sharding_indexed"),
]
odd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 300),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.text(max_size=3),
    st.sampled_from(WORDS),
    st.lists(st.integers(-1, 9), max_size=3),
    st.builds(dict),
    st.builds(dict, id=st.just("zstd"), level=st.just(30)),
    st.builds(dict, name=st.just("zfpy")),
)


def places_in(value: object, way: tuple = ()) -> list[tuple]:
    found = [way] if way else []
    if isinstance(value, dict):
        return found + [one for name, inner in value.items() for one in places_in(inner, (*way, name))]
    if isinstance(value, list):
        return found + [one for at, inner in enumerate(value) for one in places_in(inner, (*way, at))]
    return found


@pytest.mark.parametrize("name", DOCUMENTS)
@settings(max_examples=300)
@given(data=st.data())
def test_what_is_listed_at_a_glance_is_what_the_model_lists(name, tmp_path_factory, data):
    document = json.loads(json.dumps(DOCUMENTS[name]))
    for _ in range(data.draw(st.integers(0, 2))):
        way = data.draw(st.sampled_from(places_in(document)))
        inside = document
        for step in way[:-1]:
            inside = inside[step]
        action = data.draw(st.sampled_from(["replace", "remove", "add"]))
        if action == "replace":
            inside[way[-1]] = data.draw(odd)
        elif action == "remove":
            del inside[way[-1]]
        elif isinstance(inside, dict):
            inside[data.draw(st.sampled_from(["must_understand", "extra", "level"]))] = data.draw(odd)
        if not places_in(document):
            break
    place = tmp_path_factory.getbasetemp() / f"mutated-{name.replace('/', '-')}"
    place.mkdir(exist_ok=True)
    (place / name.rpartition("/")[2]).write_text(json.dumps(document))
    found = glance(place, None)
    if found is not None:
        assert (found, False) == full(place)


def test_the_documents_that_are_mutated_are_plain(tmp_path):
    for i, (name, document) in enumerate(DOCUMENTS.items()):
        place = tmp_path / str(i)
        place.mkdir()
        (place / name.rpartition("/")[2]).write_text(json.dumps(document))
        assert glance(place, None) is not None


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b'{"zarr_format": 3, "zarr_format": 3, "node_type": "group"}',
        b'{"zarr_format": 3, "node_type": "group", "attributes": {"a": 1, "a": 2}}',
        b'{"zarr_format": 3, "node_type": "group", "attributes": null}',
        b'{"zarr_format": 3, "node_type": "group"} x',
        b'{"zarr_format": 3.0, "node_type": "group"}',
        b'{"zarr_format": 3, "node_type": "group", "shape": [1]}',
        b"\xff",
    ],
)
def test_documents_that_are_broken_or_odd_are_left_to_the_model(text, tmp_path):
    (tmp_path / "zarr.json").write_bytes(text)
    found = glance(tmp_path, None)
    assert found is None or (found, False) == full(tmp_path)
    oz.create_group(tmp_path / "group")
    (tmp_path / "group" / "a").mkdir()
    (tmp_path / "group" / "a" / "zarr.json").write_bytes(text)
    found = glance(tmp_path / "group", None)
    assert found is None or (found, False) == full(tmp_path / "group")


def test_folders_of_other_formats_are_left_to_the_model(tmp_path):
    group = oz.create_group(tmp_path / "g")
    group.create_array("a", shape=(3,))
    (tmp_path / "g" / "stray").mkdir()
    assert glance(tmp_path / "g", None) is not None
    oz.create_array(tmp_path / "g" / "old", shape=(3,), format="zarr1")
    assert glance(tmp_path / "g", None) is None
    assert [entry.path for entry in list_nodes(tmp_path / "g")] == ["", "a", "old"]


def test_any_store_is_listed():
    group = oz.create_group({})
    group.create_array("a/b", shape=(3,), dtype=str)
    found = list_nodes(group)
    assert [(entry.path, entry.kind, entry.nbytes) for entry in found] == [
        ("", "group", None),
        ("a", "group", None),
        ("a/b", "array", None),
    ]
    group["a/b"][...] = "x"
    assert list_nodes(group, stored=True)[2].nbytes_stored == group["a/b"].nbytes_stored > 0
    assert [entry.path for entry in list_nodes(group, path="a", depth=0)] == [""]
