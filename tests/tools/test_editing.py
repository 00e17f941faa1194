"""Changing attributes, moving and erasing keep the consolidated metadata of all groups above in step."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ExistsError, MetadataError, NodeTypeError, NotFoundError, ReadOnlyError, UnsupportedError
from omnizarr.tools.editing.attributes import change_attributes, parse_value
from omnizarr.tools.editing.erasing import condemn, erase
from omnizarr.tools.editing.moving import move
from omnizarr.tools.editing.rooted import rooted


@pytest.fixture(params=["zarr3", "zarr2", "zip"])
def where(request, tmp_path):
    """A consolidated hierarchy, in a folder of either format or in an archive."""
    form = "zarr2" if request.param == "zarr2" else "zarr3"
    place = tmp_path / ("data.zip" if request.param == "zip" else "data.zarr")
    with oz.create_group(place, format=form) as group:
        group.create_array("t", data=np.arange(6), chunks=(2,), attrs={"units": "K"})
        group.create_group("ocean").create_array("salt", data=np.arange(4.0))
        group["ocean"].consolidate()
        group.consolidate()
    return place


def copies(where):
    """All nodes by what consolidated metadata say, and by what the documents say."""
    with oz.open(where, consolidated=True) as group:
        block = group._context.block
        texts = sorted(block._texts)
        documents = {
            path: block.meta(path)
            for path in {key.rpartition("/")[0] for key in texts if not key.endswith(".zattrs")}
            if path
        }
    with oz.open(where, consolidated=False) as group:
        real = {path: node.metadata for path, node in group.members(max_depth=None)}
    plain = {path: (type(meta).__name__, meta.attributes) for path, meta in documents.items()}
    return plain, {path: (type(meta).__name__, meta.attributes) for path, meta in real.items()}


def test_nodes_are_found_from_the_top(where):
    for path in ("", "t", "ocean", "ocean/salt"):
        found = rooted(where / path if path else where)
        assert found.path == path
        assert found.node.path == path
        found.node.close()


def test_attributes_by_own_path_reach_the_copies_above(where):
    assert change_attributes(where / "ocean" / "salt", {"a": 1, "b": [1.5]}) == []
    assert change_attributes(where / "ocean" / "salt", {"c": 1}, ["b"]) == []
    assert change_attributes(where / "t", {"lost": 1}, ["units", "nothing"]) == ["nothing"]
    change_attributes(where / "ocean", {"title": "x"})
    copied, real = copies(where)
    assert copied == real
    assert real["ocean/salt"][1] == {"a": 1, "c": 1}
    assert real["t"][1] == {"units": "K"}
    assert real["ocean"][1] == {"title": "x"}


@pytest.mark.parametrize("target", ["u", "new/deep/t", "ocean"])
def test_moving_reaches_the_copies_above(where, target):
    moved = move(where / "t", where / target)
    assert moved.kind == "array"
    new = "ocean/t" if target == "ocean" else target
    assert moved.target.endswith(f"/{new}")
    copied, real = copies(where)
    assert copied == real
    assert new in real
    assert "t" not in real
    with oz.open(where) as group:
        assert group[new][...].tolist() == list(range(6))
    with oz.open(where / "ocean", consolidated=True) as ocean:
        assert sorted(ocean) == (["salt", "t"] if target == "ocean" else ["salt"])


def test_moving_a_group_takes_all_with_it(where):
    move(where / "ocean", where / "sea")
    copied, real = copies(where)
    assert copied == real
    assert set(real) == {"sea", "sea/salt", "t"}


def test_what_cannot_be_moved(where, tmp_path):
    other = tmp_path / "other.zarr"
    oz.create_group(other)
    for source, target, error in [
        ("t", where / "ocean" / "salt", ExistsError),
        ("t", other / "t", UnsupportedError),
        ("t", tmp_path / "t.zarr", UnsupportedError),
        ("ocean", where / "ocean" / "deep" / "x", ExistsError),
        ("nothing", where / "x", NotFoundError),
    ]:
        with pytest.raises(error):
            move(where / source, target)
    assert copies(where)[0].keys() == {"t", "ocean", "ocean/salt"}


def test_a_dry_run_moves_nothing(where):
    before = copies(where)
    assert not move(where / "t", where / "u", dry_run=True).done
    assert copies(where) == before


def test_whole_folders_are_moved(tmp_path):
    oz.create_array(tmp_path / "a", data=np.arange(3), format="zarr0")
    (tmp_path / "folder").mkdir()
    assert move(tmp_path / "a", tmp_path / "b").target.endswith("/b")
    move(tmp_path / "b", tmp_path / "folder")
    assert oz.open(tmp_path / "folder" / "b")[...].tolist() == [0, 1, 2]
    with pytest.raises(NotFoundError):
        move(tmp_path / "folder" / "b", tmp_path / "nothing" / "x")
    with pytest.raises(ExistsError):
        move(tmp_path / "folder" / "b", tmp_path / "folder" / "b" / "c")


def test_moving_in_a_folder_copies_nothing(tmp_path):
    group = oz.create_group(tmp_path / "data.zarr")
    group.create_array("t", data=np.arange(6), chunks=(2,))
    chunk = tmp_path / "data.zarr" / "t" / "c" / "0"
    inode = chunk.stat().st_ino
    group.move("t", "x/y")
    assert (tmp_path / "data.zarr" / "x" / "y" / "c" / "0").stat().st_ino == inode
    assert not (tmp_path / "data.zarr" / "t").exists()


def test_links_are_not_moved_through(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    group = oz.create_group(tmp_path / "data.zarr")
    group.create_array("t", data=np.arange(6))
    (tmp_path / "data.zarr" / "way").symlink_to(outside)
    with pytest.raises(oz.OmnizarrError):
        group.move("t", "way/t")
    assert not list(outside.iterdir())
    assert group["t"][...].tolist() == list(range(6))


def test_erasing_reaches_the_copies_above(where):
    with pytest.raises(NodeTypeError, match="holds 1 other node"):
        condemn(where / "ocean")
    doomed = condemn(where / "ocean", recursive=True)
    assert (doomed.nodes, doomed.kind, doomed.others) == (2, "group", [])
    erase(doomed)
    copied, real = copies(where)
    assert copied == real
    assert set(real) == {"t"}
    erase(condemn(where / "t"))
    assert copies(where) == ({}, {})
    erase(condemn(where))
    assert not where.exists()


def test_documents_are_erased_first_and_chunks_then(tmp_path):
    oz.create_array(tmp_path / "a", data=np.arange(40), chunks=(2,), attrs={"a": 1}, format="zarr2")
    doomed = condemn(tmp_path / "a")
    assert set(doomed.keys[:2]) == {".zarray", ".zattrs"}
    assert len(doomed.keys) == 22


@pytest.mark.parametrize("form", ["zarr0", "zarr1", "zarr2", "zarr3"])
def test_files_beside_an_array_stay(form, tmp_path):
    place = tmp_path / "a"
    oz.create_array(place, data=np.arange(1, 7).reshape(2, 3), chunks=(1, 2), format=form, attrs={"a": 1})
    (place / "script.py").write_text("mine")
    (place / "deep").mkdir()
    (place / "deep" / "0.0").write_text("mine")
    doomed = condemn(place)
    assert sorted(doomed.others) == ["deep/0.0", "script.py"]
    erase(doomed)
    assert sorted(path.name for path in place.rglob("*") if path.is_file()) == ["0.0", "script.py"]
    with pytest.raises(oz.OmnizarrError):
        condemn(place)


@pytest.mark.parametrize("content", [None, {"notes.txt": b"mine"}])
def test_what_is_not_zarr_is_not_erased(content, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    for name, data in (content or {}).items():
        (place / name).write_bytes(data)
    with pytest.raises(oz.OmnizarrError):
        condemn(place, recursive=True)
    assert place.exists()


def test_formats_that_are_only_read_are_not_changed(tmp_path):
    place = tmp_path / "a.n5"
    place.mkdir()
    (place / "attributes.json").write_text('{"n5": "4.0.0"}')
    with pytest.raises(ReadOnlyError):
        condemn(place)
    with pytest.raises(ReadOnlyError):
        change_attributes(place, {"a": 1})


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("5", "auto", 5),
        ("5.0", "auto", 5.0),
        ("K", "auto", "K"),
        ("NaN", "auto", "NaN"),
        ("true", "auto", True),
        ("true", "str", "true"),
        ("null", "auto", None),
        ("0x10", "auto", "0x10"),
        ("nan", "float", float("nan")),
        ("[true, 0]", "bool", [True, False]),
        ("12345678901234567890", "int", 12345678901234567890),
    ],
)
def test_values_of_attributes(text, kind, value):
    found = parse_value(text, kind)
    assert type(found) is type(value)
    assert repr(found) == repr(value)


@pytest.mark.parametrize("kind", ["auto", "json", "float"])
def test_a_number_past_all_floats_is_not_taken_for_infinity(kind):
    with pytest.raises(MetadataError, match="1e400"):
        parse_value("1e400", kind)


def test_nobody_reads_what_is_half_erased(tmp_path):
    where = tmp_path / "x.zarr"
    group = oz.create_group(where)
    group.create_array("t", data=np.arange(1, 9), chunks=(2,))
    group.consolidate()

    def stop(done: int, total: int | None, _nbytes: int) -> None:
        if done == total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        erase(condemn(where / "t"), progress=stop)
    assert list(oz.open_group(where)) == []


def test_what_a_stopped_conversion_left_goes_with_the_node(tmp_path):
    where = tmp_path / "x.zarr"
    oz.create_array(where, data=np.arange(8), chunks=(2,))
    (where / ".omnizarr-convert/0/c").mkdir(parents=True)
    (where / ".omnizarr-convert/0/c/0").write_bytes(b"x")
    (where / ".omnizarr-convert.json").write_bytes(b"{}")
    (where / "notes.txt").write_bytes(b"mine")
    doomed = condemn(where)
    assert doomed.others == ["notes.txt"]
    erase(doomed)
    assert [one.name for one in where.iterdir()] == ["notes.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
@pytest.mark.parametrize("name", ["link.zarr", "g.zarr/link"])
def test_nothing_is_erased_through_a_link(name, tmp_path):
    oz.create_group(tmp_path / "g.zarr")
    oz.create_array(tmp_path / "a.zarr", data=np.arange(1, 5))
    (tmp_path / name).symlink_to(tmp_path / "a.zarr")
    with pytest.raises(oz.errors.UnsupportedError, match="link"):
        condemn(tmp_path / name)
    assert oz.open_array(tmp_path / "a.zarr")[0] == 1
