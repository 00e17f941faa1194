"""New nodes at and below paths that hold nodes of any dialect: nothing that is there may be hidden."""

import json

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ExistsError, MetadataError, NodeTypeError, OmnizarrWarning

N5_ARRAY = b'{"dimensions": [3], "blockSize": [3], "dataType": "uint8", "compression": {"type": "raw"}}'
DRAFT_ARRAY = {
    "shape": [3],
    "data_type": "u1",
    "chunk_grid": {"type": "regular", "chunk_shape": [3], "separator": "/"},
    "chunk_memory_layout": "C",
    "fill_value": None,
    "extensions": [],
    "attributes": {},
}
ENTRY_POINT = {
    "zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0",
    "metadata_encoding": "https://purl.org/zarr/spec/protocol/core/3.0",
    "metadata_key_suffix": ".json",
    "extensions": [],
}


def array(form, path=""):
    store = {}
    if form == "n5":
        store["attributes.json" if not path else f"{path}/attributes.json"] = N5_ARRAY
    else:
        oz.create_array(store, path=path, data=np.arange(3), format=form)
    return store


def draft(*, entry):
    store = {"meta/root/x.array.json": json.dumps(DRAFT_ARRAY).encode(), "data/root/x/c0": b"abc"}
    if entry:
        store["zarr.json"] = json.dumps(ENTRY_POINT).encode()
    return store


@pytest.mark.parametrize("new", ["zarr0", "zarr1", "zarr2", "zarr3"])
@pytest.mark.parametrize("old", ["zarr0", "zarr1", "zarr2", "zarr3", "n5"])
def test_arrays_hold_no_nodes(old, new):
    store = array(old)
    before = dict(store)
    with pytest.raises(NodeTypeError, match="array cannot hold"):
        oz.create_array(store, path="x/y", data=np.arange(3), format=new)
    assert store == before


@pytest.mark.parametrize("old", ["zarr0", "zarr1", "zarr2", "n5"])
def test_a_group_sees_nodes_of_other_dialects(old):
    store = array(old, "x")
    g = oz.open_group(store, "a") if old != "zarr2" else oz.open_group(store, "r+")
    before = dict(store)
    with pytest.raises(ExistsError):
        g.create_array("x", data=np.arange(4))
    assert store == before
    g.create_array("x", data=np.arange(4), overwrite=True)
    assert oz.open(store)["x"][...].tolist() == [0, 1, 2, 3]
    assert not [key for key in store if key in before and key.startswith("x/") and store[key] == before[key]]


@pytest.mark.parametrize("new", ["zarr0", "zarr1", "zarr2", "zarr3"])
@pytest.mark.parametrize("old", ["zarr0", "zarr1", "zarr2", "zarr3", "n5"])
def test_replacing_one_dialect_by_another(old, new):
    store = array(old)
    with pytest.raises(ExistsError):
        oz.create_array(store, data=np.arange(4), format=new)
    a = oz.create_array(store, data=np.arange(4), format=new, overwrite=True)
    assert (a.format, oz.open(store).format) == (new, new)
    assert oz.open(store)[...].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("entry", [True, False])
def test_hierarchies_of_drafts_are_not_hidden(entry):
    store = draft(entry=entry)
    before = dict(store)
    with pytest.raises(ExistsError):
        oz.create_group(store)
    with pytest.raises(ExistsError):
        oz.open_group(store, "w-")
    with pytest.raises(MetadataError, match="draft"):
        oz.create_array(store, path="y", data=np.arange(3))
    assert store == before
    oz.open_group(store, "w")
    assert list(store) == ["zarr.json"]


@pytest.mark.parametrize("text", [b"hello", b"", b"{}", b'{"title": "notes"}'])
def test_a_file_called_meta_is_no_node(text):
    store = {"meta": text, "x/meta": text}
    with pytest.raises(FileNotFoundError, match="no document of Zarr"):
        oz.open(store)
    g = oz.create_group(store)
    assert "x" not in g
    assert g.get("x") is None
    assert store["meta"] == text


@pytest.mark.parametrize("root", ["zarr2", "zarr3"])
@pytest.mark.parametrize("old", ["zarr0", "zarr1"])
def test_arrays_of_formats_without_groups_are_copied_and_moved(old, root):
    store = {}
    g = oz.create_group(store, format=root)
    oz.create_array(store, path="x", data=np.arange(3), format=old)
    assert g.copy("x", "sub/y")[...].tolist() == [0, 1, 2]
    g.move("x", "z")
    assert list(g) == ["z"]
    assert g["z"].format == old


def test_consolidating_tells_of_nodes_of_other_formats():
    store = {}
    g = oz.create_group(store)
    g.create_array("own", data=np.arange(3))
    oz.create_array(store, path="old", data=np.arange(3), format="zarr0")
    with pytest.warns(OmnizarrWarning, match="another format: 'old'"):
        g.consolidate()
    assert oz.open(store)["old"][...].tolist() == [0, 1, 2]
