"""The drafts of Zarr v3: every layout of keys from 2019 to 2023, and the quirks of who wrote them."""

import gzip
import json
import pickle
import warnings

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import MetadataError, ReadOnlyError, UnsupportedError
from omnizarr.format import draft
from omnizarr.limits import DEFAULT_LIMITS
from tests.format.drafts import ARRAY, ENTRY, URI, document

VALUES = np.arange(12, dtype="<i4").reshape(3, 4)


def chunk(i):
    full = np.zeros((2, 4), "<i4")
    part = VALUES[2 * i : 2 * i + 2]
    full[: len(part)] = part
    return full.tobytes()


LAYOUTS = {
    "2019-05": ("meta/root/{}.arr.json", "meta/root/{}.grp.json", "data/{}/{}.0", ".", None),
    "2019-06": ("meta/root/{}.array", "meta/root/{}.group", "data/{}/{}.0", ".", {**ENTRY, "metadata_key_suffix": ""}),
    "2020-07": ("meta/root/{}.array", "meta/root/{}.group", "data/{}/{}/0", "/", {**ENTRY, "metadata_key_suffix": ""}),
    "2020-09": ("meta/root/{}.array", "meta/root/{}.group", "data/root/{}/c{}/0", "/", ENTRY),
    "2020-10": ("meta/root/{}.array.json", "meta/root/{}.group.json", "data/root/{}/c{}/0", "/", ENTRY),
    "no entry point": ("meta/root/{}.array.json", "meta/root/{}.group.json", "data/root/{}/c{}/0", "/", None),
    "2022-11": (
        "meta/{}.array.json",
        "meta/{}.group.json",
        "data/{}/c{}/0",
        "/",
        {"zarr_format": URI, "metadata_encoding": {"type": "json", "metadata_key_suffix": ".json"}, "extensions": []},
    ),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_of_keys(name):
    array, group, chunks, separator, entry = LAYOUTS[name]
    grid = {**ARRAY["chunk_grid"], "separator": separator}
    store = {
        array.format("foo/baz"): document(chunk_grid=grid),
        group.format("foo"): b'{"attributes": {"x": 1}}',
        chunks.format("foo/baz", 0): chunk(0),
        chunks.format("foo/baz", 1): chunk(1),
    }
    if entry is not None:
        store["zarr.json"] = json.dumps(entry).encode()
    root = oz.open(store)
    assert root.format == "zarr3-draft"
    assert [path for path, _ in root.members(max_depth=None)] == ["foo", "foo/baz"]
    assert dict(root["foo"].attrs) == {"x": 1}
    assert np.array_equal(root["foo/baz"][...], VALUES)
    assert dict(root["foo/baz"].attrs) == {"units": "m"}
    assert oz.detect(store).format == "zarr3-draft"
    assert np.array_equal(oz.open(store, path="foo/baz")[1:], VALUES[1:])


@pytest.mark.parametrize(
    ("array", "first"), [("meta/root.array.json", "data/root/c{}/0"), ("meta/array.json", "data/c{}/0")]
)
def test_arrays_at_the_root(array, first):
    store = {array: document(), first.format(0): chunk(0), first.format(1): chunk(1)}
    assert np.array_equal(oz.open(store)[...], VALUES)
    assert np.array_equal(oz.open_array(store)[...], VALUES)


def test_groups_need_no_document():
    store = {"zarr.json": json.dumps(ENTRY).encode(), "meta/root/a/b/c.array.json": document()}
    root = oz.open(store)
    assert [path for path, _ in root.members(max_depth=None)] == ["a", "a/b", "a/b/c"]
    assert list(oz.open({"zarr.json": json.dumps(ENTRY).encode()})) == []


def base():
    return {"zarr.json": json.dumps(ENTRY).encode(), "data/root/a/c0/0": chunk(0), "data/root/a/c1/0": chunk(1)}


def test_filters_hide_in_attributes():
    filters = [{"id": "delta", "dtype": "<i4", "astype": "<i4"}]
    store = {**base(), "meta/root/a.array.json": document(attributes={"filters": filters, "units": "m"})}
    for i in range(2):
        values = np.frombuffer(chunk(i), "<i4")
        store[f"data/root/a/c{i}/0"] = np.diff(values, prepend=np.int32(0)).astype("<i4").tobytes()
    a = oz.open(store)["a"]
    assert np.array_equal(a[...], VALUES)
    assert dict(a.attrs) == {"units": "m"}


def test_an_attribute_that_is_only_called_so():
    store = {**base(), "meta/root/a.array.json": document(attributes={"filters": "none"})}
    assert dict(oz.open(store)["a"].attrs) == {"filters": "none"}


@pytest.mark.parametrize(
    "codec", ["https://purl.org/zarr/spec/codec/gzip/1.0", "gzip", "https://x/spec/codecs/gzip/1.0"]
)
def test_codecs_by_uri(codec):
    compressor = {"codec": codec, "configuration": {"level": 1}}
    store = {**base(), "meta/root/a.array.json": document(compressor=compressor)}
    for i in range(2):
        store[f"data/root/a/c{i}/0"] = gzip.compress(chunk(i))
    assert np.array_equal(oz.open(store)["a"][...], VALUES)


def test_lists_of_codecs():
    codecs = [{"type": "https://purl.org/zarr/spec/codec/gzip/1.0", "configuration": {"level": 1}}]
    for field in ("codecs", "chunk_codecs"):
        store = {**base(), "meta/root/a.array.json": document(**{field: codecs})}
        store["data/root/a/c0/0"] = gzip.compress(chunk(0))
        assert np.array_equal(oz.open(store)["a"][:2], VALUES[:2])


def test_column_major_chunks():
    store = {**base(), "meta/root/a.array.json": document(chunk_memory_layout="F")}
    store["data/root/a/c0/0"] = VALUES[:2].tobytes("F")
    assert np.array_equal(oz.open(store)["a"][:2], VALUES[:2])


def shards(per_shard, **changes):
    transformer = {
        "extension": "https://purl.org/zarr/spec/storage_transformers/sharding/1.0",
        "type": "indexed",
        "configuration": {"chunks_per_shard": per_shard},
    }
    return document(storage_transformers=[{**transformer, **changes}])


def test_shards_were_a_storage_transformer():
    store = {**base(), "meta/root/a.array.json": shards([2, 1])}
    index = np.array([32, 32, 0, 32], "<u8").tobytes()
    store["data/root/a/c0/0"] = chunk(1) + chunk(0) + index
    a = oz.open(store)["a"]
    assert a.shards == (4, 4)
    assert a.chunks == (2, 4)
    assert np.array_equal(a[...], VALUES)
    store["data/root/a/c0/0"] = chunk(0) + np.array([0, 32, 2**64 - 1, 2**64 - 1], "<u8").tobytes()
    assert np.array_equal(oz.open(store)["a"][...], [*VALUES[:2].tolist(), [0] * 4])


@pytest.mark.parametrize(
    ("per_shard", "changes"), [([2], {}), ([2, 1], {"type": "other"}), ([2, 1], {"extension": "https://x/other/1.0"})]
)
def test_other_transformers_are_refused(per_shard, changes):
    store = {**base(), "meta/root/a.array.json": shards(per_shard, **changes)}
    with pytest.raises((MetadataError, UnsupportedError), match="storage_transformers"):
        oz.open(store)["a"]


@pytest.mark.parametrize(
    ("data_type", "dtype"),
    [
        ("bool", "?"),
        ("u1", "u1"),
        (">f8", ">f8"),
        ({"extension": "TODO: datetime", "type": "<M8[ns]", "fallback": None}, "<M8[ns]"),
        ({"extension": "TODO: unicode", "type": "<U3", "fallback": None}, "<U3"),
        ({"extension": "https://unknown", "fallback": "<i2"}, "<i2"),
        ({"extension": "TODO", "type": [["", "|V4"]], "fallback": None}, "V4"),
    ],
)
def test_types(data_type, dtype):
    store = {"zarr.json": json.dumps(ENTRY).encode(), "meta/root/a.array.json": document(data_type=data_type)}
    assert oz.open(store)["a"].dtype == np.dtype(dtype)


def test_the_chunk_without_dimensions():
    changes = {"shape": [], "chunk_grid": {"type": "regular", "chunk_shape": [], "separator": "/"}}
    store = {**base(), "meta/root/z.array.json": document(**changes), "data/root/z/c0": np.int32(5).tobytes()}
    assert oz.open(store)["z"][()] == 5


def test_consolidated_metadata_and_its_made_up_group():
    store = {**base(), "meta/root/a.array.json": document(), "meta/root/consolidated.group.json": b'{"attributes": {}}'}
    copies = {"meta/root/a.array.json": json.loads(document()), "meta/root/g.group.json": {"attributes": {"y": 2}}}
    block = {"zarr_consolidated_format": 1, "metadata": copies}
    store["meta/root/consolidated/.zmetadata"] = json.dumps(block).encode()
    root = oz.open(store)
    assert [path for path, _ in root.members(max_depth=None)] == ["a", "g"]
    assert dict(root["g"].attrs) == {"y": 2}
    del store["meta/root/a.array.json"]
    assert np.array_equal(oz.open(store)["a"][...], VALUES)


@pytest.mark.parametrize("order", ["C", None])
def test_documents_of_february_2023(order):
    node = {"zarr_format": "https://purl.org/zarr/spec/v3#array", **ARRAY, "fill_value": 0}
    node |= {"data_type": "int32", "codecs": [{"type": "gzip", "configuration": {"level": 1}}]}
    node["chunk_memory_layout"] = order or "F"
    group = {"zarr_format": "https://purl.org/zarr/spec/v3#group", "attributes": {"x": 1}, "extensions": []}
    store = {"zarr.json": json.dumps(group).encode(), "a/zarr.json": json.dumps(node).encode()}
    for i in range(2):
        whole = np.frombuffer(chunk(i), "<i4").reshape(2, 4)
        store[f"a/c/{i}/0"] = gzip.compress(whole.tobytes(order or "F"))
    root = oz.open(store)
    assert root.format == "zarr3-draft"
    assert np.array_equal(root["a"][...], VALUES)


def test_hierarchies_can_only_be_read(tmp_path):
    store = {**base(), "meta/root/a.array.json": document()}
    a = oz.open(store, "r+")["a"]
    with pytest.raises((ReadOnlyError, UnsupportedError)):
        a[0] = 1
    with pytest.raises((ReadOnlyError, UnsupportedError)):
        a.attrs["x"] = 1
    with pytest.raises((ReadOnlyError, UnsupportedError)):
        oz.open(store, "r+").create_array("b", shape=(1,))
    assert store == {**base(), "meta/root/a.array.json": document()}


def test_handles_pickle(tmp_path):
    for key, value in {**base(), "meta/root/a.array.json": document()}.items():
        path = tmp_path / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(value)
    a = oz.open(tmp_path)["a"]
    assert np.array_equal(pickle.loads(pickle.dumps(a))[...], VALUES)
    assert a.nbytes_stored == 64


def test_extensions_that_are_needed():
    entry = {**ENTRY, "extensions": [{"extension": "https://x/y", "must_understand": True}]}
    with pytest.raises(UnsupportedError, match="https://x/y"):
        oz.open({"zarr.json": json.dumps(entry).encode(), "meta/root/a.array.json": document()})


def test_a_group_of_the_final_v3_may_have_a_child_called_meta():
    store = {}
    group = oz.create_group(store)
    group.create_array("meta", data=VALUES)
    assert oz.open(store).format == "zarr3"
    assert list(oz.open(store)) == ["meta"]


@pytest.mark.parametrize("extensions", [1, True, "x", {"a": 1}])
def test_extensions_are_a_list(extensions):
    entry = {"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0", "extensions": extensions}
    with pytest.raises(MetadataError, match="/extensions"):
        oz.open({"zarr.json": json.dumps(entry).encode()})


@pytest.mark.parametrize("name", ["/", "//", ""])
def test_codecs_without_a_name_are_refused(name):
    text = document(compressor={"codec": name, "configuration": {}})
    with pytest.raises(MetadataError):
        oz.open({"meta/root.array.json": text, "data/root/c0/0": b"x"})[...]


@pytest.mark.parametrize("entry", [True, False])
def test_paths_of_the_file_system_lead_into_it(tmp_path, entry):
    root = tmp_path / "data.zr3"
    texts = {"meta/root/a/b.array.json": document(), "data/root/a/b/c0/0": chunk(0), "data/root/a/b/c1/0": chunk(1)}
    if entry:
        texts["zarr.json"] = json.dumps(ENTRY).encode()
    for key, text in texts.items():
        (root / key).parent.mkdir(parents=True, exist_ok=True)
        (root / key).write_bytes(text)
    a = oz.open(root / "a/b")
    assert (a.path, a.format) == ("a/b", "zarr3-draft")
    assert np.array_equal(a[...], oz.open(root)["a/b"][...])
    assert list(oz.open(root / "a")) == ["b"]
    assert oz.detect(root / "a/b").what == "draft of Zarr v3 array"
    assert oz.detect(root / "a/c").what == "missing"
    with pytest.raises(FileNotFoundError):
        oz.open(root / "a/c")


@pytest.mark.parametrize(("value", "number"), [(7, 7), (0, 0), ("+Infinity", np.inf), ("-Infinity", -np.inf)])
def test_fill_values(value, number):
    meta = draft._parse_array({**ARRAY, "data_type": "<f4", "fill_value": value}, "k", "", DEFAULT_LIMITS)
    assert meta.fill.value(meta.dtype) == number


def test_all_but_the_last_of_the_codecs_are_filters():
    listed = [{"name": "delta", "configuration": {"dtype": "<i4"}}, {"name": "gzip", "configuration": {"level": 1}}]
    found = draft._codecs({"codecs": listed}, [{"id": "shuffle"}], "k")
    assert [one["id"] for one in found["filters"]] == ["shuffle", "delta"]
    assert found["compressor"]["id"] == "gzip"
    assert draft._codecs({"codecs": listed[1:]}, None, "k")["filters"] is None


def test_a_shard_of_no_chunks_is_refused():
    for counts in ([0, 1], [1, 0]):
        with pytest.raises(MetadataError):
            oz.open({**base(), "meta/root/a.array.json": shards(counts)})["a"]


@pytest.mark.parametrize("value", [[1], [{}], [{"id": "zlib"}, "x"], {"id": "zlib"}])
def test_attributes_that_are_no_lists_of_filters_stay_attributes(value):
    assert not draft._are_filters(value)
    assert draft._are_filters([{"id": "zlib"}])


@pytest.mark.parametrize(("value", "warns"), [(5, True), ({}, True), ({"must_understand": False}, False)])
def test_fields_that_no_draft_has_are_told_of(value, warns):
    document = {**ARRAY, "other": value}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert draft._parse_array(document, "k", "", DEFAULT_LIMITS).extra == {"other": value}
    assert any("/other is not known" in str(one.message) for one in caught) is warns
