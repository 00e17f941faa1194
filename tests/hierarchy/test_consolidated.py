"""Consolidated metadata: used where it helps, kept in step, and never believed over the documents themselves."""

from __future__ import annotations

import json
import pickle
import shutil

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ExistsError, MetadataError, NotFoundError
from omnizarr.hierarchy.consolidated import load_block
from omnizarr.hierarchy.upkeep import ancestors, record
from omnizarr.store.mapping import DictStore
from omnizarr.store.observe import CountingStore


@pytest.fixture(params=["zarr3", "zarr2"])
def fmt(request):
    return request.param


def made(store, fmt):
    group = oz.create_group(store, format=fmt, attrs={"title": "t"})
    group.create_array("a", data=np.arange(4), attrs={"n": 1})
    group.create_array("g/b", data=np.ones(3))
    group.create_group("g/h")
    group.consolidate()
    return group


def copies(store, fmt):
    """What the consolidated metadata of the root says, by path: shapes of arrays, None for groups."""
    if fmt == "zarr3":
        entries = json.loads(store.get("zarr.json"))["consolidated_metadata"]["metadata"]
        return {path: document.get("shape") for path, document in entries.items()}
    entries = json.loads(store.get(".zmetadata"))["metadata"]
    return {
        key.rpartition("/")[0]: document.get("shape")
        for key, document in entries.items()
        if not key.endswith(".zattrs")
    }


def everything(group):
    return {path: getattr(node, "shape", None) for path, node in group.members(None)}


WHOLE = {"a": (4,), "g": None, "g/b": (3,), "g/h": None}


def test_the_form_is_that_of_zarr_python(fmt):
    store = DictStore({})
    made(store, fmt)
    expected = {path: list(shape) if shape else None for path, shape in WHOLE.items()}
    if fmt == "zarr3":
        block = json.loads(store.get("zarr.json"))["consolidated_metadata"]
        assert (block["kind"], block["must_understand"]) == ("inline", False)
        assert json.loads(store.get("zarr.json"))["attributes"] == {"title": "t"}
    else:
        assert json.loads(store.get(".zmetadata"))["zarr_consolidated_format"] == 1
        expected[""] = None
    assert copies(store, fmt) == expected


def test_a_far_store_is_listed_with_few_requests(fmt):
    plain = DictStore({})
    made(plain, fmt)
    store = CountingStore(plain)
    group = oz.open_group(store)
    assert everything(group) == WHOLE
    assert group["g/b"].shape == (3,)
    assert store.total <= 3
    assert not any(kind.startswith("list") for kind, _ in store.log)
    store.reset()
    assert everything(oz.open_group(store, consolidated=False)) == WHOLE
    assert store.total > 3


def test_a_near_store_shows_new_nodes_and_no_gone_ones(tmp_path, fmt):
    made(tmp_path, fmt)
    other = oz.create_group({}, format=fmt).create_array("x", data=[1, 2])
    for key in other.store.list_prefix("x/"):
        oz.FileStore(tmp_path).put("g/new/" + key.removeprefix("x/"), other.store.get(key))
    oz.FileStore(tmp_path).erase_prefix("a/")
    assert everything(oz.open_group(tmp_path)) == {"g": None, "g/b": (3,), "g/h": None, "g/new": (2,)}


@pytest.mark.parametrize("near", [True, False])
def test_a_newer_document_wins_before_data_are_read(fmt, near, tmp_path):
    store = oz.FileStore(tmp_path) if near else DictStore({})
    made(store, fmt)
    key = "g/b/zarr.json" if fmt == "zarr3" else "g/b/.zarray"
    document = json.loads(store.get(key))
    document["shape"], document["fill_value"] = [5], 9
    store.put(key, json.dumps(document).encode())
    listed = dict(oz.open_group(store).members(None))["g/b"]
    assert listed[...].tolist() == [1, 1, 1, 0, 0][:3] + listed[...].tolist()[3:]
    assert listed.shape == (5,)
    assert listed.fill_value == 9
    for read in (
        lambda array: array.oindex[[4]],
        lambda array: array.vindex[[4]],
        lambda array: array.blocks[-1][-1:],
        lambda array: array.read(slice(4, 5)),
        lambda array: array[4:5],
    ):
        assert read(dict(oz.open_group(store).members(None))["g/b"]).tolist() == listed[4:].tolist()
    if near:
        assert oz.open_group(store)["g/b"].shape == (5,)


def test_every_change_is_entered(fmt):
    store = DictStore({})
    group = made(store, fmt)

    def check():
        assert everything(oz.open_group(CountingStore(store))) == everything(oz.open_group(store, consolidated=False))
        return everything(oz.open_group(CountingStore(store)))

    group.create_array("g/h/new", data=[1])
    assert check()["g/h/new"] == (1,)
    group["a"].append([4])
    assert check()["a"] == (5,)
    group["a"].resize(2)
    assert check()["a"] == (2,)
    group["a"].attrs["unit"] = "K"
    group.attrs["title"] = "u"
    read = oz.open_group(CountingStore(store))
    assert read["a"].attrs.asdict() == {"n": 1, "unit": "K"}
    assert read.attrs["title"] == "u"
    if fmt == "zarr2":
        assert json.loads(store.get(".zmetadata"))["metadata"][".zattrs"] == {"title": "u"}
    group["a"].attrs.clear()
    assert oz.open_group(CountingStore(store))["a"].attrs.asdict() == {}
    group.move("g/h", "moved/h")
    assert "moved/h/new" in check()
    group.copy("a", "a2")
    assert "a2" in check()
    del group["g"]
    assert sorted(check()) == ["a", "a2", "moved", "moved/h", "moved/h/new"]
    group.create_group("moved", overwrite=True)
    assert sorted(check()) == ["a", "a2", "moved"]


def test_groups_further_down_have_their_own(fmt):
    store = DictStore({})
    group = made(store, fmt)
    group["g"].consolidate()
    group.create_array("g/x", data=[1])
    for path in ("", "g"):
        read = oz.open_group(CountingStore(store), path=path)
        assert "x" in dict(read.members()) or "g/x" in dict(read.members(None))
    assert everything(oz.open_group(CountingStore(store), path="g")) == {"b": (3,), "h": None, "x": (1,)}


def test_it_can_be_insisted_on_or_ignored(fmt, tmp_path):
    oz.create_group(tmp_path / "bare", format=fmt)
    with pytest.raises(NotFoundError, match="no consolidated"):
        oz.open_group(tmp_path / "bare", consolidated=True)
    with pytest.raises(MetadataError, match="reading"):
        oz.open_group(tmp_path / "bare", "r+", consolidated=True)
    made(tmp_path / "full", fmt)
    assert everything(oz.open_group(tmp_path / "full", consolidated=True)) == WHOLE
    assert everything(oz.consolidate(tmp_path / "full")) == WHOLE


def test_a_store_that_holds_the_copy_alone():
    store = DictStore({})
    made(store, "zarr2")
    alone = {".zmetadata": store.get(".zmetadata"), **{f"a/{i}": store.get(f"a/{i}") for i in range(1)}}
    group = oz.open(alone)
    assert everything(group) == WHOLE
    assert group.attrs["title"] == "t"
    assert dict(group.members())["a"][...].tolist() == [0, 1, 2, 3]
    assert group["a"][1] == 1
    quoted = json.loads(alone[".zmetadata"])
    quoted["metadata"] = {key: json.dumps(value) for key, value in quoted["metadata"].items()}
    assert everything(oz.open({".zmetadata": json.dumps(quoted).encode()})) == WHOLE


def test_null_and_broken_copies():
    store = {}
    oz.create_group(store).create_array("a", data=[1])
    document = json.loads(store["zarr.json"])
    store["zarr.json"] = json.dumps({**document, "consolidated_metadata": None}).encode()
    assert list(oz.open_group(store)) == ["a"]
    store["zarr.json"] = json.dumps({**document, "consolidated_metadata": {"must_understand": False}}).encode()
    with pytest.raises(MetadataError, match="metadata"):
        list(oz.open_group(store))
    assert list(oz.open_group(store, consolidated=False)) == ["a"]


def test_a_copy_with_more_than_the_documents_of_zarr():
    store = {}
    oz.create_group(store, format="zarr2").create_array("x", data=[1])
    oz.consolidate(store)
    copy = json.loads(store[".zmetadata"])
    more = {"x/.zgroup": {"zarr_format": 2}, "x/.nczarray": {}, "gone/.zattrs": {}, "other/.nczgroup": {}}
    copy["metadata"].update(more)
    store[".zmetadata"] = json.dumps(copy).encode()
    assert [(name, node.shape) for name, node in oz.open_group(DictStore(store)).members()] == [("x", (1,))]
    oz.open_group(store, "r+").create_array("y", data=[1])
    assert more.items() <= json.loads(store[".zmetadata"])["metadata"].items()


def test_copies_in_copies_do_not_bring_back_what_is_gone():
    store = DictStore({})
    group = made(store, "zarr3")
    group["g"].consolidate()
    document = json.loads(store.get("zarr.json"))
    entries = document["consolidated_metadata"]["metadata"]
    entries["g"] = json.loads(store.get("g/zarr.json"))
    del entries["g/b"]
    store.put("zarr.json", json.dumps(document).encode())
    assert everything(oz.open_group(CountingStore(store))) == WHOLE
    del group["g/b"]
    assert everything(oz.open_group(CountingStore(store))) == {"a": (4,), "g": None, "g/h": None}
    group.consolidate()
    assert "consolidated_metadata" not in json.loads(store.get("zarr.json"))["consolidated_metadata"]["metadata"]["g"]


def test_a_broken_document_with_a_copy_is_met_with_a_plain_error():
    with pytest.raises(MetadataError, match="JSON"):
        oz.open_group({"zarr.json": b'{"zarr_format": 3, "consolidated_metadata": {'})


def test_ancestors():
    assert ancestors("") == []
    assert ancestors("a") == [""]
    assert ancestors("a/b/c") == ["", "a", "a/b"]


@pytest.fixture
def copy_alone(tmp_path):
    """Make a store with consolidated metadata and no other document, as reference files of kerchunk are."""
    g = oz.create_group(tmp_path, format="zarr2")
    g.create_array("s/y", data=np.arange(4))
    g.consolidate()
    for path in [*tmp_path.rglob(".zgroup"), *tmp_path.rglob(".zarray")]:
        path.unlink()
    return tmp_path


def test_a_copy_alone_opens_by_path(copy_alone):
    assert oz.open(copy_alone, path="s/y")[...].tolist() == [0, 1, 2, 3]
    assert oz.open_array(copy_alone, path="s/y")[...].tolist() == [0, 1, 2, 3]
    assert list(oz.open_group(copy_alone, path="s")) == ["y"]
    with pytest.raises(NotFoundError):
        oz.open(copy_alone, path="s/z")


def test_handles_on_a_copy_alone_pickle_and_refresh(copy_alone):
    g = oz.open(copy_alone)
    a = g["s/y"]
    a.refresh()
    g.refresh()
    for node in (a, pickle.loads(pickle.dumps(a)), pickle.loads(pickle.dumps(g))["s/y"]):
        assert node[...].tolist() == [0, 1, 2, 3]


def test_a_copy_alone_is_not_hidden(copy_alone):
    for mode in ("r+", "a"):
        with pytest.raises(NotFoundError, match="consolidated metadata"):
            oz.open(copy_alone, mode)
    with pytest.raises(ExistsError):
        oz.create_group(copy_alone)
    oz.create_group(copy_alone, overwrite=True)
    assert list(oz.open(copy_alone)) == []


def test_a_copy_of_what_is_gone_is_not_opened_by_path(tmp_path):
    g = oz.create_group(tmp_path, format="zarr2")
    g.create_array("x", data=np.arange(4))
    g.consolidate()
    shutil.rmtree(tmp_path / "x")
    with pytest.raises(NotFoundError):
        oz.open(tmp_path, path="x")


@pytest.mark.parametrize("near", [True, False])
def test_what_is_gone_is_not_read_from_the_copy(fmt, near, tmp_path):
    place = tmp_path / "g.zarr"
    group = oz.create_group(place, format=fmt)
    for name in ("x", "y"):
        group.create_array(name, data=np.arange(1, 4))
    group.consolidate()
    for name in ("x", "y"):
        shutil.rmtree(place / name)  # by another program, or by one that was killed before it came to the copy
    found = oz.open_group(place if near else CountingStore(oz.FileStore(place)), mode="r")
    assert (list(found), "x" in found) == (([], False) if near else (["x", "y"], True))
    with pytest.raises(NotFoundError):
        found["x"][...]
    oz.open_group(place, mode="r+").create_array("x", shape=1, dtype="i4")
    again = oz.open_group(CountingStore(oz.FileStore(place)), mode="r")
    assert again["x"].shape == (1,)


def test_a_new_node_has_nothing_of_one_that_is_gone(fmt, tmp_path):
    place = tmp_path / "g.zarr"
    root = oz.create_group(place, format=fmt)
    root.create_group("b", attrs={"old": 1}).create_array("c", shape=1, dtype="i4")
    root.consolidate()
    shutil.rmtree(place / "b")
    root.create_group("b")
    block = load_block(oz.FileStore(place), "", oz.Limits())
    assert block.meta("b").attributes == {}
    assert block.children("b") == []


def test_what_is_entered_is_what_the_documents_say_by_then(fmt):
    store = DictStore({})
    made(store, fmt)
    oz.open_group(store, mode="r+")["a"].attrs["n"] = 2
    record(store, "a", ["a/zarr.json", "a/.zattrs"])  # by one who had changed it before, and comes to the copy later
    assert load_block(store, "", oz.Limits()).meta("a").attributes["n"] == 2
