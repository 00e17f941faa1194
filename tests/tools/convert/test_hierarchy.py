"""Groups, consolidated metadata, chosen arrays, and what a format cannot carry."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import zarr

import omnizarr as oz
from omnizarr.errors import ConflictError, CorruptError, ExistsError, MetadataError, NotFoundError, UnsupportedError
from omnizarr.tools.convert import rollback
from omnizarr.tools.convert.journal import Journal
from tests.tools.convert.conftest import n5_store, same_tree


def hierarchy(form: str, *, consolidated: bool = True) -> dict[str, bytes]:
    store: dict[str, bytes] = {}
    root = oz.create_group(store, format=form, attrs={"title": "x", "n": None})
    root.create_array("t", data=np.arange(12.0).reshape(3, 4), chunks=(2, 2), dims=("y", "x"), attrs={"units": "K"})
    root.create_array("sub/deep/s", data=["a", "bc"])
    root.create_group("sub/empty", attrs={"e": 1})
    if consolidated:
        root.consolidate()
    return store


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize(("form", "target"), [("zarr2", "zarr3"), ("zarr3", "zarr2")])
def test_consolidated_metadata_are_carried(form, target, in_place, tmp_path):
    store = hierarchy(form)
    source = oz.open(dict(store))
    goal: dict[str, bytes] = store if in_place else {}
    oz.convert(store, None if in_place else goal, format=target)
    same_tree(source, oz.open(goal, consolidated=True))
    same_tree(source, oz.open(goal, consolidated=False))
    for key, data in goal.items():
        (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / key).write_bytes(data)
    group = zarr.open_consolidated(tmp_path)
    assert np.array_equal(group["t"][...], source["t"][...])
    assert sorted(name for name, _ in group.members(max_depth=None)) == [
        "sub",
        "sub/deep",
        "sub/deep/s",
        "sub/empty",
        "t",
    ]


def test_there_and_back_leaves_the_same_keys():
    store = hierarchy("zarr2")
    before = set(store)
    values = store["t/0.0"]
    oz.convert(store, format="zarr3")
    assert not any(key.endswith((".zarray", ".zgroup", ".zattrs", ".zmetadata")) for key in store)
    assert store["t/0.0"] == values
    oz.convert(store, format="zarr2")
    assert set(store) == before


def test_a_copy_of_documents_above_is_kept_in_step(tmp_path):
    oz.create_group(tmp_path / "h").create_array("g/t", data=np.arange(8), chunks=(2,))
    oz.consolidate(tmp_path / "h")
    oz.convert(tmp_path / "h" / "g" / "t", chunks=(4,))
    group = oz.open_group(tmp_path / "h", consolidated=True)
    document = json.loads((tmp_path / "h" / "zarr.json").read_bytes())
    copied = document["consolidated_metadata"]["metadata"]["g/t"]
    assert copied["chunk_grid"]["configuration"]["chunk_shape"] == [4]
    assert group["g/t"].chunks == (4,)


def test_a_part_of_a_hierarchy_cannot_have_another_format(tmp_path):
    oz.create_group(tmp_path / "h", format="zarr2").create_array("t", data=np.arange(8))
    with pytest.raises(MetadataError, match="lies in a group"):
        oz.convert(tmp_path / "h" / "t", format="v3")
    oz.convert(tmp_path / "h" / "t", tmp_path / "t", format="v3")
    with pytest.raises(MetadataError, match="zarr2"):
        oz.convert(tmp_path / "t", tmp_path / "h" / "u")
    oz.convert(tmp_path / "t", tmp_path / "h" / "u", format="v2")
    assert np.array_equal(oz.open_group(tmp_path / "h")["u"][...], np.arange(8))


def test_formats_without_groups_take_one_array():
    store = hierarchy("zarr2")
    goal: dict[str, bytes] = {}
    with pytest.raises(UnsupportedError, match="no groups"):
        oz.convert(store, goal, format="v1")
    assert goal == {}
    oz.convert(oz.open_group(store)["t"], goal, format="v1")
    assert oz.open_array(goal).dims == ("y", "x")


def test_chosen_arrays():
    goal: dict[str, bytes] = {}
    oz.convert(hierarchy("zarr2"), goal, format="v3", include="sub/*")
    assert [name for name, _ in oz.open_group(goal).members(max_depth=None)] == [
        "sub",
        "sub/deep",
        "sub/deep/s",
        "sub/empty",
    ]
    goal = {}
    oz.convert(hierarchy("zarr2"), goal, format="v3", exclude=["s", "empty"])
    assert "t" in oz.open_group(goal)
    assert "sub/deep/s" not in oz.open_group(goal)
    store = hierarchy("zarr3")
    oz.convert(store, include="t", chunks=1)
    assert oz.open_group(store)["t"].chunks == (1, 1)
    assert oz.open_group(store)["sub/deep/s"].chunks == (2,)
    with pytest.raises(UnsupportedError, match="keep its format"):
        oz.convert(store, format="v2", exclude="t")


def test_what_cannot_be_read_can_be_left_out():
    store = hierarchy("zarr2", consolidated=False)
    store["bad/.zarray"] = b'{"zarr_format": 2}'
    with pytest.raises(UnsupportedError, match="cannot be read") as caught:
        oz.convert(store, {}, format="v3")
    assert "--exclude bad" in (caught.value.hint or "")
    goal: dict[str, bytes] = {}
    oz.convert(store, goal, format="v3", exclude="bad")
    assert "t" in oz.open_group(goal)


LOSSES = {
    "some names": ({"dims": ("y", None)}, {}, "names all dimensions or none"),
    "two lists of names": ({"dims": ("y", "x"), "attrs": {"_ARRAY_DIMENSIONS": ["a", "b"]}}, {}, "contradicts"),
    "members": ({}, {"my_member": {"must_understand": False, "x": 1}}, "no members 'my_member'"),
}


@pytest.mark.parametrize("name", LOSSES)
def test_what_can_be_left_out_is_only_if_allowed(name):
    options, members, reason = LOSSES[name]
    store: dict[str, bytes] = {}
    oz.create_array(store, data=np.eye(3), **options)
    store["zarr.json"] = json.dumps({**json.loads(store["zarr.json"]), **members}).encode()
    goal: dict[str, bytes] = {}
    with pytest.raises(UnsupportedError, match=reason) as caught:
        oz.convert(store, goal, format="v2")
    assert "--lossy" in (caught.value.hint or "")
    assert goal == {}
    done = oz.convert(store, goal, format="v2", lossy=True)
    assert [reason in one for one in done.nodes[0].dropped] == [True]
    assert np.array_equal(oz.open_array(goal)[...], np.eye(3))
    same = oz.convert(store, {}, format="v3")
    assert same.nodes[0].dropped == ()


def test_fill_values_that_a_format_has_no_word_for_are_refused():
    store: dict[str, bytes] = {}
    odd = np.frombuffer(b"\1\0\0\0\0\0\xf8\x7f", "<f8")[0]
    oz.create_array(store, shape=(4,), dtype="<f8", fill_value=odd)
    before = dict(store)
    with pytest.raises(UnsupportedError, match="NaN"):
        oz.convert(store, format="v2", lossy=True)
    assert store == before


def test_an_undefined_fill_value_becomes_what_it_reads_as():
    store: dict[str, bytes] = {}
    oz.create_array(store, shape=(4,), dtype="f4", fill_value=None, format="zarr2")
    done = oz.convert(store, format="v3")
    assert any("fill value" in note for note in done.nodes[0].notes)
    assert oz.open_array(store)[...].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize(
    ("dtype", "fill", "written"),
    [
        ("i4", 0, 0),
        ("i4", -1, -1),
        ("f4", 0.0, 0.0),
        ("f8", np.nan, "NaN"),
        ("?", False, False),
        ("string", "", ""),
        ("M8[s]", 0, 0),
        ("M8[s]", np.datetime64("NaT"), -(2**63)),
    ],
)
def test_fill_values_go_from_v3_to_v2_as_they_are(dtype, fill, written, in_place):
    """Null would say that nobody knows what is in chunks that are not there."""
    store: dict[str, bytes] = {}
    before = oz.create_array(store, shape=(4,), chunks=(2,), dtype=dtype, fill_value=fill)[...]
    goal = store if in_place else {}
    oz.convert(store, None if in_place else goal, format="v2")
    assert json.loads(goal[".zarray"])["fill_value"] == written
    np.testing.assert_array_equal(oz.open_array(goal)[...], before)
    back: dict[str, bytes] = {}
    oz.convert(goal, back, format="v3")
    np.testing.assert_array_equal(oz.open_array(back)[...], before)


@pytest.mark.parametrize(
    ("fill", "options", "told"),
    [
        (-7, {"dims": ["x"]}, True),
        (0, {"dims": ["x"]}, False),
        (0, {"dims": ["x"], "attrs": {"_FillValue": -9}}, False),
        (-9, {"dims": ["x"], "attrs": {"_FillValue": -9}}, False),
        (-7, {}, False),
    ],
)
def test_fill_values_that_become_masks_are_told_of(fill, options, told):
    store: dict[str, bytes] = {}
    oz.create_array(store, shape=(4,), dtype="i4", fill_value=fill, **options)
    done = oz.convert(store, format="v2")
    words = f"xarray takes the fill value {fill} for elements that are missing"
    assert any(words in note for note in done.nodes[0].notes) is told
    assert oz.open_array(store)[...].tolist() == [fill] * 4


def test_dry_runs_write_nothing_and_tell_everything(tmp_path):
    store = hierarchy("zarr2")
    before = dict(store)
    plan = oz.convert(store, tmp_path / "x.zip", format="v1", dry_run=True)
    assert not plan.written
    assert len(plan.refused) == 5
    assert not (tmp_path / "x.zip").exists()
    plan = oz.convert(store, format="v3", dry_run=True)
    assert [(node.path, node.how) for node in plan.nodes][-1] == ("t", "documents")
    assert store == before


def test_targets_that_are_taken():
    store, goal = hierarchy("zarr2"), hierarchy("zarr3")
    before = dict(goal)
    with pytest.raises(ExistsError, match="already"):
        oz.convert(store, goal)
    assert goal == before
    oz.convert(store, goal, overwrite=True)
    assert oz.open(goal).format == "zarr2"
    with pytest.raises(NotFoundError):
        oz.convert({}, {})


def test_nothing_is_converted_into_itself(tmp_path):
    oz.create_group(tmp_path / "h").create_array("t", data=np.arange(8))
    for goal in (tmp_path / "h", tmp_path / "h" / "t" / "u"):
        with pytest.raises(ExistsError):
            oz.convert(tmp_path / "h", goal, format="v2", overwrite=True)


def test_archives(tmp_path):
    oz.create_group(tmp_path / "a.zip", format="zarr2").close()
    with oz.open_group(tmp_path / "a.zip", "r+") as group:
        group.create_array("t", data=np.arange(10), chunks=(3,))
    oz.convert(tmp_path / "a.zip", tmp_path / "b.zip", format="v3", verify=True)
    oz.convert(tmp_path / "a.zip", format="v3", chunks=(5,), verify=True)
    for name in ("a.zip", "b.zip"):
        with oz.open_group(tmp_path / name) as group:
            assert group.format == "zarr3"
            assert group["t"][...].tolist() == list(range(10))


def test_a_draft_needs_another_place(tmp_path):
    (tmp_path / "meta").mkdir()
    (tmp_path / "zarr.json").write_text(
        json.dumps({
            "zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0",
            "metadata_encoding": "https://purl.org/zarr/spec/protocol/core/3.0",
            "metadata_key_suffix": ".json",
            "extensions": [],
        })
    )  # fmt: skip
    with pytest.raises(UnsupportedError, match="in place"):
        oz.convert(tmp_path, format="v3")
    oz.convert(tmp_path, tmp_path.parent / "goal", format="v3")
    assert oz.open(tmp_path.parent / "goal").format == "zarr3"


def test_another_conversion_is_refused_while_one_is_under_way():
    store = hierarchy("zarr2")
    goal: dict[str, bytes] = {}

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        oz.convert(store, goal, format="v3", progress=stop)
    assert oz.detect(goal).kind != "group"
    with pytest.raises(ConflictError, match="under way") as caught:
        oz.convert(store, goal, format="v2")
    assert "rollback" in (caught.value.hint or "")
    assert oz.convert(store, goal, format="v2", resume=False).written
    assert oz.open(goal).format == "zarr2"
    with pytest.raises(NotFoundError, match="under way"):
        rollback(goal)


def test_a_source_that_is_half_converted_is_not_read():
    store = hierarchy("zarr3")
    store[".omnizarr-convert.json"] = Journal("building", "", "x", "zarr3", True, (), {}, ()).to_bytes()
    with pytest.raises(ConflictError, match="stopped"):
        oz.convert(store, {}, format="v2")


def test_a_journal_that_cannot_be_read_is_told_of():
    store = hierarchy("zarr3")
    store[".omnizarr-convert.json"] = b"{}"
    with pytest.raises(CorruptError, match="journal"):
        oz.convert(store, format="v2")


@pytest.mark.parametrize("target", ["zarr3", "zarr2"])
def test_containers_of_n5(target):
    values = np.arange(12, dtype="i4").reshape(3, 4)
    inner = n5_store(values, (2, 2), {"type": "gzip"})
    store = {"attributes.json": b'{"n5": "2.0.0", "by": "me"}', **{f"g/a/{key}": data for key, data in inner.items()}}
    goal: dict[str, bytes] = {}
    oz.convert(store, goal, format=target, verify=True)
    oz.convert(store, format=target, verify=True)
    for found in (goal, store):
        group = oz.open_group(found)
        assert group.format == target
        assert dict(group.attrs) == {"by": "me"}
        assert np.array_equal(group["g/a"][...], values)
    assert sorted(store) == sorted(goal)


@pytest.mark.parametrize("target", ["zarr3", "zarr2"])
def test_hierarchies_of_a_draft(target, tmp_path):
    with zipfile.ZipFile(Path(__file__).parents[2] / "corpus" / "golden-old-writers.zip") as archive:
        archive.extractall(tmp_path)
    source = oz.open_group(tmp_path / "draftv3_zarr2.18.7" / "h")
    goal: dict[str, bytes] = {}
    oz.convert(source, goal, format=target)
    same_tree(source, oz.open(goal))
    with pytest.raises(UnsupportedError, match="in place"):
        oz.convert(tmp_path / "draftv3_zarr2.18.7" / "h", format=target)


def test_folders_that_are_left_empty_go_and_others_stay(tmp_path):
    oz.create_array(tmp_path / "a", data=np.arange(16).reshape(4, 4), chunks=(2, 2))
    oz.convert(tmp_path / "a", format="v2")
    assert sorted(one.name for one in (tmp_path / "a").iterdir()) == [".zarray", "0", "1"]
    oz.convert(tmp_path / "a", format="v0")
    (tmp_path / "a" / "__zdata__" / "note").write_text("mine")
    assert sorted(one.name for one in (tmp_path / "a").iterdir()) == ["__zdata__", "__zmeta__"]
    oz.convert(tmp_path / "a", format="v3")
    assert [one.name for one in (tmp_path / "a" / "__zdata__").iterdir()] == ["note"]


def test_groups_above_the_target_are_made_also_by_who_goes_on(tmp_path):
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    oz.create_group(tmp_path / "h")
    array = oz.open_group(hierarchy("zarr2"))["t"]
    with pytest.raises(KeyboardInterrupt):
        oz.convert(array, tmp_path / "h" / "t", format="v3", progress=stop)
    assert "t" not in oz.open_group(tmp_path / "h")
    assert oz.convert(array, tmp_path / "h" / "t", format="v3").resumed
    assert np.array_equal(oz.open_group(tmp_path / "h")["t"][...], array[...])


def test_bytes_that_an_old_blosc_left_in_order_are_encoded_anew():
    store: dict[str, bytes] = {}
    oz.create_array(store, shape=(5000,), dtype="u1", chunks=(5000,), format="zarr0", shuffle=2)
    document = json.loads(store["__zmeta__"])
    store["__zmeta__"] = json.dumps({**document, "bytes_in_order": True}).encode()
    oz.open_array(store, "r+")[...] = np.arange(5000) % 200
    for target, how in (("zarr2", "recode"), ("zarr3", "recode"), ("zarr0", "copy")):
        goal: dict[str, bytes] = {}
        assert oz.convert(store, goal, format=target, verify=True).nodes[0].how == how
        assert np.array_equal(oz.open_array(goal)[...], np.arange(5000) % 200)


def test_a_chunk_without_a_name_is_found():
    store: dict[str, bytes] = {}
    oz.create_array(store, data=np.array(42), format="zarr2")
    store[""] = store.pop("0")
    if oz.open_array(store)[...] != 42:
        pytest.skip("this store has no empty names")
    goal: dict[str, bytes] = {}
    oz.convert(store, goal, format="v3", verify=True)
    assert oz.open_array(goal)[...] == 42


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
@pytest.mark.parametrize("part", ["", "g"])
def test_consolidated_metadata_keep_what_is_left_out(form, part):
    store: dict[str, bytes] = {}
    group = oz.create_group(store, format=form)
    for path in ("g/a", "g/b", "c"):
        group.create_array(path, data=np.arange(6), chunks=(4,))
    for path in ("g", ""):
        oz.open_group(store, "r+", path=path).consolidate()
    oz.convert(oz.open_group(store, "r+", path=part), chunks=(3,), include="a")
    assert oz.validate(store).clean
    top = oz.open_group(store)
    assert [name for name, _ in top.members(max_depth=None)] == ["c", "g", "g/a", "g/b"]
    assert (top["g/a"].chunks, top["g/b"].chunks) == ((3,), (4,))


@pytest.mark.parametrize("way", ["convert", "rollback"])
def test_groups_above_are_kept_in_step_by_who_goes_on(way, monkeypatch):
    """Killed when all is switched but the journal is still there."""
    store: dict[str, bytes] = {}
    group = oz.create_group(store)
    group.create_array("g/a", data=np.arange(6), chunks=(4,))
    group.consolidate()

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("omnizarr.tools.convert.switch._switch", killed)
        with pytest.raises(KeyboardInterrupt):
            oz.convert(oz.open_group(store, "r+", path="g"), chunks=(3,))
    if way == "convert":
        oz.convert(oz.open_group(store, "r+", path="g"), chunks=(3,))
    else:
        assert rollback(oz.open_group(store, "r+", path="g")) == "finished"
    assert oz.open_group(store)["g/a"].chunks == (3,)
    assert oz.open_group(store)["g/a"][:].tolist() == list(range(6))
    assert oz.validate(store).clean


def test_a_target_is_erased_only_once_the_plan_stands():
    store: dict[str, bytes] = {}
    oz.create_array(store, data=np.arange(6))
    before = dict(store)
    with pytest.raises(oz.errors.LimitError):
        oz.convert(oz.create_array({}, data=np.zeros(9999)), store, chunks=(5000,), memory=100, overwrite=True)
    assert store == before


def test_a_pattern_means_all_that_lies_below():
    """As it does for `copy`, `diff` and listings."""
    store: dict[str, bytes] = {}
    group = oz.create_group(store)
    for path in ("g/a", "g/h/b", "c"):
        group.create_array(path, data=np.arange(6), chunks=(4,))
    oz.convert(store, chunks=(3,), include="g", exclude="h")
    assert [oz.open_array(store, path=path).chunks for path in ("g/a", "g/h/b", "c")] == [(3,), (4,), (4,)]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
def test_chunks_behind_a_link_are_not_left_out_silently(tmp_path):
    oz.create_array(tmp_path / "a", data=np.arange(1, 17).reshape(4, 4), chunks=(2, 2), format="zarr1")
    oz.create_array(tmp_path / "b", data=np.arange(1, 17).reshape(4, 4), chunks=(2, 2))
    (tmp_path / "b/c/1").rename(tmp_path / "b/moved")
    (tmp_path / "b/c/1").symlink_to("../moved")
    with pytest.raises(UnsupportedError, match="link"):
        oz.convert(tmp_path / "b", tmp_path / "d")
    assert oz.convert(tmp_path / "a", tmp_path / "d", format="zarr3").nodes[0].how == "copy"
