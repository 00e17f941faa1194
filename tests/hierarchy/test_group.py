"""Groups: making, finding, listing, moving, copying and erasing what they hold."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import (
    ExistsError,
    MetadataError,
    NodeTypeError,
    NotFoundError,
    ReadOnlyError,
    ShapeError,
    UnsafeError,
)


@pytest.fixture(params=["zarr3", "zarr2"])
def group(request, tmp_path):
    root = oz.create_group(tmp_path / "g", format=request.param, attrs={"title": "t"})
    root.create_array("a", data=np.arange(4))
    root.create_array("deep/er/b", data=np.ones((2, 2)), attrs={"k": 1})
    root.create_group("empty")
    return root


def test_a_group_is_like_a_mapping(group):
    assert list(group) == group.keys() == ["a", "deep", "empty"]
    assert len(group) == 3
    assert [type(node) for node in group.values()] == [oz.Array, oz.Group, oz.Group]
    assert [name for name, _ in group.items()] == ["a", "deep", "empty"]
    assert "a" in group
    assert "deep/er/b" in group
    assert "/deep//er/" in group
    assert "nope" not in group
    assert 5 not in group
    assert "" in group["deep"]
    assert group["deep/er/b"].attrs["k"] == 1
    assert group["deep"]["er"]["b"].path == "deep/er/b"
    assert group[""].path == group.path
    assert group.get("nope") is None
    assert (group.path, group.name, group.basename, group["deep/er"].basename) == ("", "/", "", "er")


def test_members(group):
    assert [path for path, _ in group.members()] == ["a", "deep", "empty"]
    assert [path for path, _ in group.members(1)] == ["a", "deep", "deep/er", "empty"]
    assert [path for path, _ in group.members(None)] == ["a", "deep", "deep/er", "deep/er/b", "empty"]
    assert [path for path, _ in group["deep"].members(None)] == ["er", "er/b"]
    assert dict(group.members(None))["deep/er/b"].path == "deep/er/b"
    assert [name for name, _ in group.arrays()] == ["a"]
    assert [name for name, _ in group.groups()] == ["deep", "empty"]


def test_missing_nodes_are_named_with_the_nearest(group):
    with pytest.raises(NotFoundError, match="did you mean 'deep/er/b'"):
        group["deep/er/bb"]
    with pytest.raises(NotFoundError, match="did you mean 'deep'"):
        group["deeep/er/b"]
    with pytest.raises(NotFoundError, match="holds 'a', 'deep', 'empty'"):
        group["quite different"]
    with pytest.raises(NotFoundError, match="is empty"):
        group["empty/x"]
    with pytest.raises(KeyError):
        group["nope"]


def test_a_missing_folder_is_named_with_its_neighbour(tmp_path):
    oz.create_array(tmp_path / "temperature.zarr", shape=(1,))
    for use in (oz.open, oz.open_array, oz.open_group):
        with pytest.raises(NotFoundError, match=r"did you mean .*/temperature\.zarr"):
            use(tmp_path / "temperatur.zarr")
    with pytest.raises(NotFoundError, match="and no document of Zarr"):
        oz.open(tmp_path)
    with pytest.raises(NotFoundError, match="nothing is there"):
        oz.open(tmp_path / "no" / "such" / "place")


def test_groups_above_are_made(group):
    store = group.store
    name = "zarr.json" if group.format == "zarr3" else ".zgroup"
    for path in ("", "deep/", "deep/er/"):
        assert store.exists(path + name)
    made = oz.create_array(group.store, path="p/q/r", shape=(1,), dtype="i4", format=group.format)
    assert made.path == "p/q/r"
    assert isinstance(group["p/q"], oz.Group)


def test_what_exists_is_not_replaced_unless_asked(group):
    for make in (group.create_group, lambda path: group.create_array(path, shape=(1,))):
        with pytest.raises(ExistsError, match="overwrite"):
            make("deep")
    group.create_array("deep", shape=(1,), overwrite=True)
    assert [path for path, _ in group.members(None)] == ["a", "deep", "empty"]
    group.create_group("a", overwrite=True, attrs={"x": 1})
    assert group["a"].attrs["x"] == 1
    assert not [key for key in group.store.list_prefix("a/") if "c" in key.split("/") or "0" in key.split("/")]


def test_nothing_can_be_made_inside_an_array(group):
    with pytest.raises(NodeTypeError, match="cannot hold"):
        group.create_group("a/b")


def test_formats_do_not_mix(group):
    other = "zarr2" if group.format == "zarr3" else "zarr3"
    with pytest.raises(MetadataError, match="has the format"):
        oz.create_array(group.store, path="x", shape=(1,), format=other)


def test_require(group):
    assert group.require_group("deep/er").path == "deep/er"
    assert group.require_group("new/one").path == "new/one"
    with pytest.raises(NodeTypeError):
        group.require_group("a")
    assert group.require_array("a", shape=(4,), dtype="i8")[...].tolist() == [0, 1, 2, 3]
    assert group.require_array("new/two", shape=4, dtype="f4", chunks=2).chunks == (2,)
    with pytest.raises(ShapeError, match="has shape"):
        group.require_array("a", shape=(5,), dtype="i8")
    with pytest.raises(NodeTypeError):
        group.require_array("deep", shape=(5,), dtype="i8")


def test_erasing(group):
    del group["deep/er"]
    assert [path for path, _ in group.members(None)] == ["a", "deep", "empty"]
    with pytest.raises(NotFoundError):
        del group["deep/er"]
    with pytest.raises(NodeTypeError):
        del group[""]
    assert not list(group.store.list_prefix("deep/er/"))


def test_moving(group):
    group.move("deep/er", "other/place")
    assert [path for path, _ in group.members(None)] == ["a", "deep", "empty", "other", "other/place", "other/place/b"]
    np.testing.assert_array_equal(group["other/place/b"][...], np.ones((2, 2)))
    with pytest.raises(ExistsError):
        group.move("a", "empty")
    with pytest.raises(ExistsError, match="itself"):
        group.move("other", "other/place/x")
    with pytest.raises(NotFoundError):
        group.move("nope", "x")


def test_copying(group, tmp_path):
    copy = group.copy("deep", "deep2")
    np.testing.assert_array_equal(copy["er/b"][...], np.ones((2, 2)))
    assert copy["er/b"].attrs["k"] == 1
    for key in group.store.list_prefix("deep/"):
        assert group.store.get(key) == group.store.get("deep2/" + key.removeprefix("deep/"))
    with pytest.raises(ExistsError):
        group.copy("a", "deep2")
    group.copy("a", "deep2", overwrite=True)
    assert isinstance(group["deep2"], oz.Array)
    other = oz.create_group(oz.MemoryStore(), format=group.format)
    assert group.copy("deep", "x/y", into=other).path == "x/y"
    assert other["x/y/er/b"].shape == (2, 2)


def test_reserved_names_are_refused(group):
    for name in ("__x", "..", "a/./b", "...", "zarr.json", ".zarray"):
        with pytest.raises(UnsafeError):
            group.create_group(name)


def test_a_read_only_group_refuses_changes(group):
    reader = oz.open_group(group.store)
    for change in (
        lambda: reader.create_group("x"),
        lambda: reader.create_array("x", shape=(1,)),
        lambda: reader.__delitem__("a"),
        lambda: reader.move("a", "x"),
        lambda: reader.attrs.update(x=1),
        reader.consolidate,
    ):
        with pytest.raises(ReadOnlyError):
            change()
    assert list(reader) == ["a", "deep", "empty"]


def test_attributes_of_a_group_are_kept(group):
    group.attrs["n"] = 5
    assert oz.open_group(group.store).attrs.asdict() == {"title": "t", "n": 5}
    group.refresh()
    assert group.attrs["n"] == 5


def test_stray_folders_are_no_members(group, tmp_path):
    (tmp_path / "g" / "stray" / "folder").mkdir(parents=True)
    (tmp_path / "g" / "notes.txt").write_text("x")
    assert list(group) == ["a", "deep", "empty"]


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
@pytest.mark.parametrize("place", ["memory", "folder"])
def test_a_group_that_is_gone_holds_nothing_new(tmp_path, form, place):
    where = {} if place == "memory" else tmp_path / "g.zarr"
    root = oz.create_group(where, format=form)
    group = root.create_group("b")
    del root["b"]
    for make in (partial(group.create_array, shape=1, dtype="i4"), group.create_group):
        with pytest.raises(NotFoundError, match="the group is gone"):
            make("c")
    with pytest.raises(NotFoundError, match="the group is gone"):
        group.consolidate()
    assert list(root) == []
    root.create_array("b", shape=1, dtype="i4")
    with pytest.raises(NodeTypeError, match="an array cannot hold"):
        group.create_array("c", shape=1, dtype="i4")
    with pytest.raises(NotFoundError, match="the group is gone"):
        group.consolidate()
    assert list(root) == ["b"]
