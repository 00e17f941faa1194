"""What can be repaired is sound afterwards, and zarr-python then opens it."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest
import zarr

import omnizarr as oz
from omnizarr.errors import MetadataError, SelectionError
from omnizarr.tools.validate import RULES, validate
from omnizarr.tools.validate.repair import change, levels
from tests.tools.validate import bases
from tests.tools.validate.bases import lay_out
from tests.tools.validate.broken import BROKEN

REPAIRABLE = [rule for rule in BROKEN if RULES[rule].repair]
WORDS = {"safe": True, "all": "all", "choice": "zarr3"}


def arrays(place) -> dict[str, np.ndarray]:
    """All arrays of a store as Omnizarr reads them."""
    node = oz.open(place, consolidated=False) if isinstance(oz.open(place), oz.Group) else oz.open(place)
    if isinstance(node, oz.Array):
        return {"": node[...]}
    return {path: one[...] for path, one in node.members(max_depth=None) if isinstance(one, oz.Array)}


def test_there_are_many():
    assert len(REPAIRABLE) >= 30


@pytest.mark.parametrize("rule", REPAIRABLE)
def test_it_is_clean_after_a_repair(rule, tmp_path):
    broken = BROKEN[rule]
    place = lay_out(tmp_path / "x", broken.tree())
    untouched = validate(place, decode=broken.decode)
    assert all(one.repairable for one in untouched.findings if one.rule == rule)
    report = validate(place, repair=WORDS[RULES[rule].repair], decode=broken.decode)
    assert report.findings == ()
    assert report.repaired
    assert any(rule in one for one in report.repaired)
    assert validate(place, decode=True).clean
    if not (place / "meta").exists() and not (place / "__zmeta__").exists():  # zarr-python has no v0 and v1
        _assert_zarr_python_reads(place)


def _assert_zarr_python_reads(place) -> None:
    ours = arrays(place)
    theirs = zarr.open(place, mode="r", use_consolidated=False) if (place / "zarr.json").exists() else zarr.open(place)
    for path, values in ours.items():
        other = theirs[path] if path else theirs
        np.testing.assert_array_equal(other[...], values)


@pytest.mark.parametrize("rule", [rule for rule in REPAIRABLE if RULES[rule].repair != "safe"])
def test_what_may_lose_something_is_left_alone_unless_asked_for(rule, tmp_path):
    place = lay_out(tmp_path / "x", BROKEN[rule].tree())
    before = {file: file.read_bytes() for file in place.rglob("*") if file.is_file()}
    report = validate(place, repair=True)
    assert rule in {one.rule for one in report.findings}
    assert {file: file.read_bytes() for file in place.rglob("*") if file.is_file()} == before


@pytest.mark.parametrize("rule", sorted(BROKEN.keys() - set(REPAIRABLE)))
def test_what_cannot_be_repaired_is_left_as_it_is(rule, tmp_path):
    tree = BROKEN[rule].tree()
    place = lay_out(tmp_path / "x", tree)
    validate(place, repair="all")
    assert {key: (place / key).read_bytes() for key in tree} == tree


def test_values_survive(tmp_path):
    place = lay_out(tmp_path / "x", bases.v3())
    expected = arrays(place)
    for rule in ("OZ102", "OZ217", "OZ233", "OZ234", "OZ603"):
        BROKEN[rule].spoil(tree := bases.v3())
        lay_out(place, tree)
        validate(place, repair=True)
    found = arrays(place)
    assert found.keys() == expected.keys()
    for path, values in expected.items():
        np.testing.assert_array_equal(found[path], values)


def test_the_other_format_can_be_kept_too(tmp_path):
    place = lay_out(tmp_path / "x", BROKEN["OZ502"].tree())
    report = validate(place, repair="zarr2")
    assert not (place / "a/zarr.json").exists()
    assert (place / "a/.zarray").exists()
    assert "OZ502" not in {one.rule for one in report.findings}


def test_a_group_that_hides_as_an_array_becomes_one_again(tmp_path):
    tree = bases.v2()
    tree["g/.zarray"] = tree["a/.zarray"]
    place = lay_out(tmp_path / "x", tree)
    assert validate(place, repair=True).clean
    assert not (place / "g/.zarray").exists()


def test_an_array_that_holds_nodes_and_chunks_is_left_for_people(tmp_path):
    tree = bases.v2()
    tree["g/.zarray"] = tree["a/.zarray"]
    tree["g/0.0"] = tree["a/0.0"]
    place = lay_out(tmp_path / "x", tree)
    report = validate(place, repair="all")
    assert {"OZ501", "OZ503"} == {one.rule for one in report.findings}


def test_a_document_is_changed_in_that_member_only(tmp_path):
    place = lay_out(tmp_path / "x", BROKEN["OZ234"].tree())
    before = json.loads((place / "a/zarr.json").read_bytes())
    validate(place, repair=True)
    before["codecs"][0]["name"] = "bytes"
    assert json.loads((place / "a/zarr.json").read_bytes()) == before


def test_an_archive_loses_entries_that_others_replace(tmp_path):
    place = tmp_path / "x.zip"
    with zipfile.ZipFile(place, "w") as archive:
        for key, value in bases.v3().items():
            archive.writestr(key, value)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("zarr.json", bases.v3()["zarr.json"])
    assert [one.rule for one in validate(place).findings] == ["OZ901"]
    assert validate(place, repair=True).clean
    with zipfile.ZipFile(place) as archive:
        assert len(set(archive.namelist())) == len(archive.namelist())
    with zarr.storage.ZipStore(place, mode="r") as store:
        assert zarr.open_group(store, mode="r")["a"][0, 0] == 1


def test_a_mapping_is_repaired_in_place():
    tree = BROKEN["OZ605"].tree()
    assert not validate(tree, repair=True).clean  # it may be what an append that was stopped had written
    assert "a/c/9/9" in tree
    assert validate(tree, repair="all").clean
    assert "a/c/9/9" not in tree


@pytest.mark.parametrize(
    ("name", "ours"),
    [("c/0/0.0123456789abcdef0123456789abcdef.partial", True), ("zarr.json.__lock", True), ("film.partial", False)],
)
def test_only_what_writers_of_zarr_leave_unfinished_is_erased(name, ours):
    tree = {**bases.v3(), f"a/{name}": b"half"}
    validate(tree, repair="all")
    assert (f"a/{name}" not in tree) == ours


def test_a_handle_is_taken_for_its_place():
    tree = BROKEN["OZ605"].tree()
    with oz.open(tree) as group:
        assert [one.path for one in validate(group).findings] == ["a"]
        assert validate(group, path="g").clean
        assert [one.path for one in validate(group["a"]).findings] == ["a"]


def test_unknown_repairs_are_refused():
    with pytest.raises(SelectionError, match="everything"):
        validate({}, repair="everything")
    with pytest.raises(SelectionError, match="both"):
        levels("zarr2,zarr3")


@pytest.mark.parametrize("pointer", ["/a/b/c", "/b/5", "/b/x", "/c/0"])
def test_a_pointer_that_leads_nowhere(pointer):
    with pytest.raises(MetadataError, match="no such member"):
        change({"a": 1, "b": [1]}, pointer, 2)


@pytest.mark.parametrize("form", ["zarr2", "zarr3"])
def test_a_lost_document_comes_back_from_the_consolidated_metadata(form, tmp_path):
    root = oz.create_group(tmp_path / "x", format=form)
    group = root.create_group("g", attrs={"title": "kept"})
    group.create_array("a", data=np.arange(6.0), attrs={"units": "K"})
    oz.consolidate(tmp_path / "x")
    for name in ("g/zarr.json", "g/.zgroup", "g/.zattrs", "g/a/zarr.json", "g/a/.zarray"):
        (tmp_path / "x" / name).unlink(missing_ok=True)
    assert validate(tmp_path / "x", repair=True).findings == ()
    seen = oz.open_group(tmp_path / "x")
    assert seen["g"].attrs["title"] == "kept"
    assert seen["g/a"][...].tolist() == [0, 1, 2, 3, 4, 5]
    assert seen["g/a"].attrs["units"] == "K"


def test_the_last_copy_of_a_damaged_document_is_not_overwritten(tmp_path):
    root = oz.create_group(tmp_path / "x")
    root.create_array("a", data=np.arange(6.0))
    oz.consolidate(tmp_path / "x")
    before = (tmp_path / "x/zarr.json").read_bytes()
    (tmp_path / "x/a/zarr.json").write_bytes(b"")
    validate(tmp_path / "x", repair="all")
    assert (tmp_path / "x/zarr.json").read_bytes() == before


@pytest.mark.parametrize("rule", ["OZ104", "OZ605"])
def test_safe_repairs_neither_guess_nor_erase_values(rule):
    tree = BROKEN[rule].tree()
    before = dict(tree)
    validate(tree, repair=True)
    assert tree == before
