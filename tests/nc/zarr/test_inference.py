"""Dimensions that names and lengths tell, where nothing refers to them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import OmnizarrWarning
from omnizarr.nc.zarr.reader import open_reader
from tests.nc.zarr.stores import GROUP, array, names, plain, text, values, zarray


def dims(group: Any) -> dict[str, int]:
    return {name: dim.size for name, dim in group.dims.items()}


def named(shape: list[int], *given: str) -> tuple[Any, Any]:
    return zarray(shape), {"_ARRAY_DIMENSIONS": list(given)} if given else None


def test_names_are_shared():
    source = open_reader(plain(t=named([2], "t"), v=named([2, 3], "t", "x"), x=named([3], "x")))
    assert (source.kind, source.generation) == ("zarr", "")
    assert dims(source.root) == {"t": 2, "x": 3}
    assert names(source) == ["/t", "/x"]
    assert source.root.vars["v"].dims[0] is source.root.vars["t"].dims[0]


def test_anonymous_dimensions_are_one_for_each_length_in_the_root():
    store = {**plain(v=named([3, 3, 5])), "g/.zgroup": GROUP, **array("g/w", zarray([5]))}
    source = open_reader(store)
    assert dims(source.root) == {"_Anonymous_Dim_3": 3, "_Anonymous_Dim_5": 5}
    assert source.root.groups["g"].vars["w"].dims == (source.root.dims["_Anonymous_Dim_5"],)


def test_groups_share_dimensions_of_the_groups_above():
    store = {
        **plain(v=named([3], "x")),
        "g/.zgroup": GROUP,
        **array("g/w", *named([3, 2], "x", "z")),
        "h/.zgroup": GROUP,
        **array("h/w", *named([4, 2], "x", "z")),
    }
    root = open_reader(store).root
    assert dims(root) == {"x": 3}
    assert dims(root.groups["g"]) == {"z": 2}
    assert dims(root.groups["h"]) == {"x": 4, "z": 2}
    assert [dim.path for dim in root.groups["g"].vars["w"].dims] == ["/x", "/g/z"]


def test_lengths_that_conflict_never_fail():
    """As in pictures of several resolutions: one name, as many lengths as arrays."""
    store = plain(**{"0": named([8, 8], "y", "x"), "1": named([4, 4], "y", "x"), "2": named([2, 4], "y", "x")})
    source = open_reader(store)
    assert names(source, "0") == ["/y", "/x"]
    assert names(source, "1") == ["/y_4", "/x_4"]
    assert names(source, "2") == ["/y_2", "/x_4"]
    assert [values(source, name).shape for name in "012"] == [(8, 8), (4, 4), (2, 4)]


def test_name_that_is_there_twice():
    source = open_reader(plain(v=named([3, 3], "x", "x"), w=named([3, 4], "x", "x")))
    assert names(source) == ["/x", "/x"]
    assert names(source, "w") == ["/x", "/x_4"]


def test_suffix_that_is_taken():
    source = open_reader(plain(a=named([3], "x"), b=named([9], "x_4"), v=named([4], "x")))
    assert names(source) == ["/x_4_2"]


def test_coordinate_variable_without_names():
    source = open_reader(plain(v=named([2, 3], "t", "x"), x=named([3]), t=named([5])))
    assert names(source, "x") == ["/x"]
    assert names(source, "t") == ["/_Anonymous_Dim_5"]


def test_names_of_v3_some_missing():
    store: dict[str, bytes] = {}
    root = oz.create_group(store)
    root.create_array("v", data=np.arange(6).reshape(2, 3), dims=("t", None))
    source = open_reader(store)
    assert source.kind == "zarr3"
    assert names(source) == ["/t", "/_Anonymous_Dim_3"]
    assert values(source).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_paths_in_names_are_their_last_part():
    assert names(open_reader(plain(v=named([3], "/a/x")))) == ["/x"]


@pytest.mark.parametrize("form", ["zarr3", "zarr2", "zarr1", "zarr0"])
def test_array_alone_in_every_writable_dialect(form, tmp_path):
    oz.create_array(tmp_path / "wind", data=np.arange(4.0), format=form)
    source = open_reader(tmp_path / "wind")
    assert source.kind == ("zarr3" if form == "zarr3" else "zarr")
    assert values(source, "wind").tolist() == [0, 1, 2, 3]


def test_n5(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "attributes.json").write_text('{"n5": "2.0.0", "title": "t"}')
    document = {"dimensions": [3, 2], "blockSize": [3, 2], "dataType": "int16", "compression": {"type": "raw"}}
    (tmp_path / "a" / "b" / "attributes.json").write_text(json.dumps(document))
    source = open_reader(tmp_path)
    var = source.root.groups["a"].vars["b"]
    assert var.shape == (2, 3)
    assert var.type.name == "short"
    assert source.root.attrs["title"].value == b"t"


def test_broken_v3_array_is_there_and_raises(tmp_path):
    root = oz.create_group(tmp_path / "g")
    root.create_array("v", data=np.arange(3))
    (tmp_path / "g" / "w").mkdir()
    (tmp_path / "g" / "w" / "zarr.json").write_bytes(text({"zarr_format": 3, "node_type": "array", "shape": "?"}))
    source = open_reader(tmp_path / "g")
    assert values(source).tolist() == [0, 1, 2]
    with pytest.raises(oz.OmnizarrError, match="is missing"):
        values(source, "w")


def test_consolidated_metadata_alone():
    documents = {".zgroup": {"zarr_format": 2}, "v/.zarray": zarray([4]), "v/.zattrs": {"_ARRAY_DIMENSIONS": ["x"]}}
    store = {
        ".zmetadata": text({"metadata": documents, "zarr_consolidated_format": 1}),
        "v/0": np.arange(4, dtype="<i4").tobytes(),
    }
    source = open_reader(store)
    assert names(source) == ["/x"]
    assert values(source).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("near", [True, False])
def test_consolidated_metadata_that_is_behind_is_not_used(near, tmp_path):
    documents = {".zgroup": {"zarr_format": 2}, ".zattrs": {"old": 1}, "v/.zarray": zarray([2])}
    store = {
        **plain(v=named([4], "x"), w=named([4], "x")),
        ".zattrs": text({"new": 1}),
        ".zmetadata": text({"metadata": documents, "zarr_consolidated_format": 1}),
    }
    source = open_reader(_on_disk(store, tmp_path) if near else store)
    assert list(source.root.attrs) == ["new"]
    assert list(source.root.vars) == ["v", "w"]
    assert source.root.vars["v"].shape == (4,)


def test_consolidated_metadata_whose_array_has_changed_is_noticed():
    documents = {".zgroup": {"zarr_format": 2}, "v/.zarray": zarray([2])}
    store = {**plain(v=named([4])), ".zmetadata": text({"metadata": documents, "zarr_consolidated_format": 1})}
    source = open_reader(store)
    with pytest.raises(oz.OmnizarrError, match="consolidated"):
        values(source)
    assert values(open_reader(store, consolidated=False)).tolist() == [0, 0, 0, 0]


def test_consolidated_metadata_that_is_broken():
    store = {**plain(v=named([4])), ".zmetadata": b"{"}
    with pytest.warns(OmnizarrWarning, match="is not used"):
        assert values(open_reader(store)).tolist() == [0, 0, 0, 0]


def _on_disk(store: dict[str, bytes], place: Any) -> Any:
    for key, data in store.items():
        (place / key).parent.mkdir(exist_ok=True, parents=True)
        (place / key).write_bytes(data)
    return place
