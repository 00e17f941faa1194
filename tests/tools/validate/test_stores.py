"""Rules about stores rather than documents; and what is looked at of a place that is not a store's root."""

from __future__ import annotations

import os
import zipfile

import pytest

import omnizarr as oz
from omnizarr.errors import NotFoundError, SelectionError
from omnizarr.tools.validate import RULES, validate
from tests.tools.validate import bases
from tests.tools.validate.bases import lay_out
from tests.tools.validate.broken import BROKEN


def rules(*arguments, **options) -> list[str]:
    return [one.rule for one in validate(*arguments, **options).findings]


def zipped(place, tree, top=""):
    with zipfile.ZipFile(place, "w") as archive:
        for key, value in tree.items():
            archive.writestr(top + key, value)
    return place


@pytest.mark.parametrize("name", bases.CLEAN)
def test_archives_of_sound_stores_are_clean(name, tmp_path):
    assert validate(zipped(tmp_path / "x.zip", bases.CLEAN[name]()), decode=True).clean


def test_an_entry_that_cannot_be_a_key(tmp_path):
    assert rules(zipped(tmp_path / "x.zip", {**bases.v3(), "../x": b""})) == ["OZ902"]


def test_an_archive_with_a_folder_on_top(tmp_path):
    assert rules(zipped(tmp_path / "x.zip", bases.v3(), "x.zarr/")) == ["OZ903"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs permissions that count")
def test_a_document_that_cannot_be_read(tmp_path):
    place = lay_out(tmp_path / "x", bases.v3())
    (place / "a/zarr.json").chmod(0)
    assert "OZ110" in rules(place)


def test_a_link_that_leads_out_is_told_of(tmp_path):
    (tmp_path / "secret").write_bytes(b"{}")
    place = lay_out(tmp_path / "x", bases.v3())
    (place / "a/zarr.json").unlink()
    (place / "a/zarr.json").symlink_to(tmp_path / "secret")
    assert "OZ110" in rules(place)


def test_a_part_of_a_store(tmp_path):
    place = lay_out(tmp_path / "x", BROKEN["OZ605"].tree())
    assert rules(place) == rules(place / "a") == rules(place, path="a") == ["OZ605"]
    assert rules(place / "g") == []


def test_a_place_without_a_node(tmp_path):
    with pytest.raises(NotFoundError):
        validate(tmp_path / "nothing")
    (tmp_path / "x").write_bytes(b"1")
    with pytest.raises(NotFoundError):
        validate(tmp_path)


def test_rules_are_selected():
    tree = {**BROKEN["OZ605"].tree(), "g/.DS_Store": b"x"}
    assert rules(tree) == ["OZ605", "OZ602"]
    assert rules(tree, select=["OZ605"]) == rules(tree, ignore=["clutter"]) == ["OZ605"]
    assert rules(tree, select=["OZ6"], ignore=["OZ605"]) == ["OZ602"]
    assert rules(tree, select=["OZ1"]) == []
    with pytest.raises(SelectionError, match="OZ999"):
        validate(tree, select=["OZ999"])


def test_nothing_that_does_not_count_is_repaired():
    tree = BROKEN["OZ605"].tree()
    validate(tree, repair="all", ignore=["OZ605"])
    assert "a/c/9/9" in tree


def test_the_census_counts_chunks_through_shards():
    tree = bases.sharded()
    with oz.open(tree, "r+") as array:
        array[:4, :4] = 0
        array[4:6, 4:6] = 0
    (census,) = validate(tree).census
    assert (census.chunks, census.present, census.missing, census.stored, census.fill) == (16, 11, 5, 3, None)
    tree = bases.v3()
    tree["a/c/0/0"] = bytes(24)
    by_path = {one.path: one for one in validate(tree, decode=True).census}
    assert by_path["a"].fill == 1
    assert by_path["a"].nbytes == 96


def test_many_faults_of_one_kind_are_told_of_in_short():
    tree = {}
    array = oz.create_array(tree, shape=(100,), chunks=(1,), dtype="i4", codecs=[oz.codec.bytes_()])
    array[...] = 1
    tree.update({f"c/{i}": b"x" for i in range(100)})
    tree.update({f"c/{i}": b"" for i in range(100, 150)})
    found = validate(tree).findings
    assert sum(one.times for one in found if one.rule == "OZ702") == 100
    assert len(found) == 22
    assert next(one for one in found if one.rule == "OZ605").times == 50


def test_progress_is_told():
    told = []
    validate(bases.v3(), progress=lambda *how: told.append(how))
    assert told[-1][0] == 7


def test_rules_are_well_formed():
    assert len(RULES) >= 100
    assert len({rule.name for rule in RULES.values()}) == len(RULES)
    for rule in RULES.values():
        assert rule.id.startswith("OZ")
        assert rule.summary.endswith(".")
        assert rule.clause.url.startswith("https://")
