"""Opening: modes, formats, places, and what is said when nothing is there."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ExistsError, MetadataError, NodeTypeError, NotFoundError, OmnizarrWarning, ReadOnlyError
from omnizarr.store.wrap import ReadOnlyStore


def test_reading_needs_something_there(tmp_path):
    for mode in ("r", "r+"):
        for use in (oz.open, oz.open_array, oz.open_group):
            with pytest.raises(NotFoundError, match="nothing"):
                use(tmp_path / "x", mode)
    assert not (tmp_path / "x").exists()


def test_append_mode_opens_or_creates(tmp_path):
    assert isinstance(oz.open(tmp_path, "a"), oz.Group)
    oz.open_group(tmp_path, "a").create_array("x", data=[1])
    assert list(oz.open_group(tmp_path, "a")) == ["x"]
    array = oz.open_array(tmp_path, "a", path="x")
    array[0] = 7
    assert oz.open_array(tmp_path, "a", path="y", shape=(2,), dtype="i4", fill_value=3)[0] == 3
    assert oz.open(tmp_path, path="x")[0] == 7


def test_write_mode_replaces(tmp_path):
    oz.open_group(tmp_path, "w", format="zarr2").create_array("x", data=[1])
    group = oz.open_group(tmp_path, "w")
    assert list(group) == []
    assert group.format == "zarr3"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["zarr.json"]
    array = oz.open_array(tmp_path, "w", shape=(3,), dtype="i2")
    assert isinstance(oz.open(tmp_path), oz.Array)
    assert array[...].tolist() == [0, 0, 0]


def test_write_mode_leaves_alone_what_is_not_zarr(tmp_path):
    (tmp_path / "thesis.txt").write_text("precious")
    oz.open_group(tmp_path, "w")
    assert (tmp_path / "thesis.txt").exists()


def test_exclusive_mode_refuses_what_exists(tmp_path):
    oz.open_group(tmp_path, "w-")
    for use in (oz.open, oz.open_group):
        with pytest.raises(ExistsError):
            use(tmp_path, "w-")
    with pytest.raises(ExistsError):
        oz.open_array(tmp_path, "w-", shape=(1,))


def test_wrong_modes_and_words_are_refused(tmp_path):
    with pytest.raises(MetadataError, match="mode is 'x'"):
        oz.open(tmp_path, "x")
    with pytest.raises(MetadataError, match="format is"):
        oz.create_group(tmp_path, format="zarr9")
    with pytest.raises(TypeError, match="chunkz"):
        oz.open_array(tmp_path, "w", shape=(1,), chunkz=3)


def test_an_array_is_not_a_group(tmp_path):
    oz.create_array(tmp_path / "a", shape=(1,))
    oz.create_group(tmp_path / "g")
    with pytest.raises(NodeTypeError, match="open_array"):
        oz.open_group(tmp_path / "a")
    with pytest.raises(NodeTypeError, match="open_group"):
        oz.open_array(tmp_path / "g")


def test_a_read_only_store_cannot_be_opened_for_writing():
    store = oz.MemoryStore()
    oz.create_array(store, shape=(1,))
    with pytest.raises(ReadOnlyError, match="read-only"):
        oz.open(ReadOnlyStore(store), "r+")
    assert oz.open(ReadOnlyStore(store)).shape == (1,)


def test_every_spelling_of_a_place(tmp_path):
    oz.create_array(tmp_path, path="a/b", data=[5])
    for where in (tmp_path, str(tmp_path), tmp_path.as_uri(), oz.FileStore(tmp_path)):
        assert oz.open(where, path="a/b")[0] == 5
        assert oz.open(where, path="/a//b/")[0] == 5
        assert oz.open(where)["a/b"][0] == 5
    assert oz.open(tmp_path / "a" / "b")[0] == 5


def test_v3_wins_over_v2_with_a_warning(tmp_path):
    oz.create_array(tmp_path, data=[2], format="zarr2")
    document = oz.create_array({}, shape=(1,), dtype="i8", fill_value=3).store.get("zarr.json")
    (tmp_path / "zarr.json").write_bytes(document)
    with pytest.warns(OmnizarrWarning, match="v3 is used"):
        assert oz.open(tmp_path)[0] == 3
    assert oz.open(tmp_path, format="zarr2")[0] == 2
    assert oz.open(tmp_path, format="zarr3")[0] == 3


@pytest.fixture(params=["near", "far", "far, consolidated"])
def twice(request, tmp_path):
    """Two hierarchies in one place: the arrays of v2 are full of 2, those of v3 of 3; each has one of its own."""
    stores = {}
    for number in (2, 3):
        store = stores[number] = {}
        group = oz.create_group(store, format=f"zarr{number}")
        for name in ("x", "g/x", f"only{number}", f"g{number}/x"):
            group.create_array(name, data=np.full(3, number))
        if request.param == "far, consolidated":
            group.consolidate()
    both = {**stores[2], **stores[3]}
    if request.param != "near":
        return both
    for key, value in both.items():
        (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / key).write_bytes(value)
    return tmp_path


@pytest.mark.parametrize("mode", ["r", "r+"])
@pytest.mark.parametrize("number", [2, 3])
def test_a_format_is_that_of_the_nodes_below_too(twice, mode, number):
    form, other = f"zarr{number}", 5 - number
    group = oz.open_group(twice, mode, format=form)
    for one in (group, pickle.loads(pickle.dumps(group))):
        for path in ("x", "g/x", f"only{number}", f"g{number}/x"):
            assert (one[path].format, one[path][...].tolist()) == (form, [number] * 3)
            assert path in one
        assert one["g"].format == one["g"]["x"].format == form
        assert dict(one["g"].arrays())["x"].format == dict(one.arrays())["x"].format == form
        # What there is in no such format is found as ever.
        assert one[f"only{other}"][...].tolist() == one[f"g{other}"]["x"][...].tolist() == [other] * 3


def test_a_format_that_was_not_asked_for_is_not_looked_for_first(twice):
    with pytest.warns(OmnizarrWarning, match="v2 and v3"):
        assert oz.open_group(twice, "r+")["x"].format == "zarr3"


def test_a_broken_document_is_named(tmp_path):
    (tmp_path / "zarr.json").write_text('{"zarr_format": 3, "node_type": "array"}')
    with pytest.raises(MetadataError, match=r"zarr\.json"):
        oz.open(tmp_path)
    (tmp_path / "zarr.json").write_text("{")
    with pytest.raises(MetadataError, match=r"zarr\.json"):
        oz.open(tmp_path)
    (tmp_path / "zarr.json").write_text('{"zarr_format": 3, "node_type": "thing"}')
    with pytest.raises(MetadataError, match="thing"):
        oz.open(tmp_path)


def test_limits_are_obeyed(tmp_path):
    oz.create_array(tmp_path, shape=(1000,), dtype="i8", chunks=1000)
    small = oz.Limits()._replace(max_chunk_bytes=100)
    with pytest.raises(oz.errors.LimitError):
        oz.open(tmp_path, limits=small)
    with pytest.raises(oz.errors.LimitError):
        oz.create_array({}, shape=(1000,), dtype="i8", chunks=1000, limits=small)
    assert oz.open(tmp_path).shape == (1000,)


def test_unknown_fields_survive_a_change(tmp_path):
    oz.create_array(tmp_path, shape=(1,), dtype="i4")
    path = tmp_path / "zarr.json"
    document = json.loads(path.read_text())
    document["my_extension"] = {"must_understand": False, "x": [1]}
    path.write_text(json.dumps(document))
    oz.open(tmp_path, "r+").attrs["a"] = 1
    assert json.loads(path.read_text())["my_extension"] == {"must_understand": False, "x": [1]}


def test_a_cache_of_chunks_sees_own_writes():
    array = oz.create_array({}, data=np.arange(100), chunks=10, cache_bytes=1 << 20)
    assert array[5] == 5
    array[5] = 50
    assert array[5] == 50


def test_old_nested_chunks_are_found(tmp_path):
    values = np.arange(12).reshape(3, 4)
    oz.create_array(tmp_path, data=values, chunks=2, format="zarr2", separator="/")
    path = tmp_path / ".zarray"
    document = json.loads(path.read_text())
    del document["dimension_separator"]
    path.write_text(json.dumps(document))
    np.testing.assert_array_equal(oz.open(tmp_path)[...], values)
    array = oz.open(tmp_path, "r+")
    array[0, 0] = 100
    array.attrs["a"] = 1
    array.resize((2, 4))
    assert json.loads(path.read_text())["dimension_separator"] == "/"
    assert oz.open(tmp_path)[0, 0] == 100


def test_who_insists_on_another_format_is_told_which_is_there():
    store = {}
    oz.create_group(store)
    with pytest.raises(NotFoundError, match="what is there is zarr3"):
        oz.open(store, "a", format="zarr2")


def test_warnings_name_the_line_of_the_caller():
    store = {}
    oz.create_array(store, data=np.arange(3), format="zarr2")
    oz.create_array(new := {}, data=np.arange(3))
    store.update(new)
    g = oz.create_group(outer := {})
    outer["x/zarr.json"] = b"{"
    for act in (lambda: oz.open(store), lambda: oz.open_array(store), g.members, g.values):
        with pytest.warns(OmnizarrWarning) as seen:
            act()
        assert {one.filename for one in seen} == {__file__}


def test_codecs_that_cannot_be_used_name_the_array():
    oz.create_array(store := {}, path="a/b", data=np.arange(4.0), format="zarr2", codecs=["delta"])
    document = json.loads(store["a/b/.zarray"])
    document["filters"] = [{"id": "delta", "dtype": "<f8", "astype": "<M8[ns]"}]
    store["a/b/.zarray"] = json.dumps(document).encode()
    with pytest.raises(MetadataError, match="a/b"):
        oz.open(store)["a/b"][...]
