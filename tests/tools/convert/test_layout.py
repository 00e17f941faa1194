"""Other chunks, shards and codecs."""

from __future__ import annotations

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ExistsError, OmnizarrError, ShapeError, UnsupportedError
from tests.tools.convert.conftest import same_array

VALUES = np.arange(24 * 10 * 6, dtype="f4").reshape(24, 10, 6)


def source(**options) -> dict[str, bytes]:
    store: dict[str, bytes] = {}
    given = {"chunks": (1, 10, 6), "dims": ("time", "y", "x"), "codecs": ["zstd"], "attrs": {"a": 1}, **options}
    oz.create_array(store, data=VALUES, **given)
    return store


def names(array: oz.Array) -> list[str]:
    return [codec.name for codec in array.codecs]


@pytest.mark.parametrize(
    ("options", "chunks", "shards"),
    [
        ({"chunks": (24, 5, 2)}, (24, 5, 2), None),
        ({"chunks": {"time": 12, "x": 3}}, (12, 10, 3), None),
        ({"chunks": 4}, (4, 4, 4), None),
        ({"chunks": "auto"}, (24, 10, 6), None),
        ({"chunks": (-1, 1, 6)}, (24, 1, 6), None),
        ({"shards": (6, 10, 6)}, (1, 10, 6), (6, 10, 6)),
        ({"chunks": (2, 5, 6), "shards": {"time": 8}}, (2, 5, 6), (8, 10, 6)),
        ({"chunks": ((4, 20), 10, 6)}, ((4, 20), 10, 6), None),
    ],
)
@pytest.mark.parametrize("in_place", [False, True])
def test_chunks_and_shards(options, chunks, shards, in_place):
    store, goal = source(), None if in_place else {}
    before = oz.open_array(dict(store))
    done = oz.convert(store, goal, verify=True, **options)
    assert [node.how for node in done.nodes] == ["rechunk"]
    array = oz.open_array(store if in_place else goal)
    assert (array.chunks, array.shards) == (chunks, shards)
    assert names(array) == ["bytes", "zstd"]
    same_array(before, array)


def test_shards_stay_where_chunks_change_and_go_when_asked():
    store = source(chunks=(2, 5, 6), shards=(8, 10, 6))
    oz.convert(store, chunks=(4, 5, 3))
    assert (oz.open_array(store).chunks, oz.open_array(store).shards) == ((4, 5, 3), (8, 10, 6))
    with pytest.raises(UnsupportedError, match="do not divide"):
        oz.convert(store, chunks=(3, 5, 3))
    oz.convert(store, shards=False)
    assert (oz.open_array(store).chunks, oz.open_array(store).shards) == ((4, 5, 3), None)
    assert np.array_equal(oz.open_array(store)[...], VALUES)


def test_formats_without_shards_get_the_chunks_in_them():
    goal: dict[str, bytes] = {}
    done = oz.convert(source(chunks=(2, 5, 6), shards=(8, 10, 6)), goal, format="v2")
    assert oz.open_array(goal).chunks == (2, 5, 6)
    assert any("shards" in note for note in done.nodes[0].notes)
    with pytest.raises(UnsupportedError, match="has no shards"):
        oz.convert(source(), {}, format="v2", shards=(2, 10, 6))


@pytest.mark.parametrize(
    ("codecs", "found"),
    [
        (["gzip"], ["bytes", "gzip"]),
        ("none", ["bytes"]),
        ([], ["bytes"]),
        ("auto", ["bytes"]),
        ([{"name": "zstd", "configuration": {"level": 9}}], ["bytes", "zstd"]),
        ([{"name": "transpose", "configuration": {"order": [2, 1, 0]}}, "crc32c"], ["transpose", "bytes", "crc32c"]),
    ],
)
def test_codecs(codecs, found):
    store = source()
    done = oz.convert(store, codecs=codecs, verify=True)
    assert done.nodes[0].how == "recode"
    assert names(oz.open_array(store)) == found
    assert np.array_equal(oz.open_array(store)[...], VALUES)


def test_the_same_codecs_are_kept():
    store = source()
    before = dict(store)
    assert oz.convert(store, codecs=["zstd"]).nodes[0].how == "keep"
    assert oz.convert(store).nodes[0].how == "keep"
    assert store == before


@pytest.mark.parametrize("form", ["zarr3", "zarr2", "zarr1", "zarr0"])
def test_what_is_stored_shrinks_in_place(form):
    # Old chunks that have no counterpart must go, also where new ones have their names.
    store = source(format=form, codecs=[{"id": "blosc", "cname": "lz4"}])
    oz.convert(store, chunks=(24, 10, 6))
    array = oz.open_array(store)
    assert array.nchunks_stored == 1
    assert np.array_equal(array[...], VALUES)
    assert sum(not key.startswith((".z", "zarr.json", "meta", "attrs", "__zmeta", "__zattr")) for key in store) == 1


def test_chunks_for_another_number_of_dimensions_are_an_error():
    with pytest.raises(ShapeError, match="2 lengths, but the arrays have 3"):
        oz.convert(source(), {}, chunks=(1, 2))


def test_uneven_chunks_need_even_ones_in_older_formats():
    store = source(chunks=((4, 20), 10, 6))
    with pytest.raises(UnsupportedError, match="one shape") as caught:
        oz.convert(store, {}, format="v2")
    assert "--chunks" in (caught.value.hint or "")
    goal: dict[str, bytes] = {}
    oz.convert(store, goal, format="v2", chunks=(4, 10, 6))
    assert np.array_equal(oz.open_array(goal)[...], VALUES)


def test_little_memory_is_enough(tmp_path):
    data = np.arange(200 * 300, dtype="f8").reshape(200, 300)
    oz.create_array(tmp_path / "a", data=data, chunks=(1, 300))
    seen: list[tuple[int, int | None, int]] = []
    oz.convert(
        tmp_path / "a",
        tmp_path / "b",
        chunks=(200, 3),
        memory=200_000,
        progress=lambda *it: seen.append(it),
        verify=True,
    )
    assert np.array_equal(oz.open_array(tmp_path / "b")[...], data)
    assert len(seen) > 2
    assert seen[-1][0] == seen[-1][1]
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)


def test_keys_of_others_are_not_mixed_with_new_chunks():
    store = source(format="zarr2")
    store["c/0/0/0"] = b"something else"
    before = dict(store)
    with pytest.raises(ExistsError, match="taken"):
        oz.convert(store, format="v3", codecs=["gzip"])
    assert store == before


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize(
    ("wish", "says"),
    [
        ({"chunks": {"tiem": 1}}, "no array has a dimension 'tiem'"),
        ({"shards": {"y": 4, "z": 2}}, "no array has a dimension 'z'"),
        ({"include": "nosuch", "codecs": ["zstd"]}, "no array matches 'nosuch'"),
    ],
)
def test_what_fits_no_array_is_refused(wish, says, dry_run):
    group: dict[str, bytes] = {}
    goal: dict[str, bytes] = {}
    oz.create_group(group).create_array("t", data=np.zeros((4, 4)), dims=("y", "x"))
    with pytest.raises(OmnizarrError, match=says):
        oz.convert(group, goal, dry_run=dry_run, **wish)
    assert not goal


def test_a_dry_run_sees_what_is_above_the_target(tmp_path):
    oz.create_group(tmp_path / "g").create_array("t", data=np.zeros((4, 4)))
    plan = oz.convert(tmp_path / "g/t", tmp_path / "g/t/u", dry_run=True)
    assert [one.reason for one in plan.refused] == ["an array cannot hold other nodes"]
    plan = oz.convert(tmp_path / "g/t", tmp_path / "g/new/u", format="v2", dry_run=True)
    assert "the format zarr3" in plan.refused[0].reason
    assert not oz.convert(tmp_path / "g/t", tmp_path / "g/new/u", dry_run=True).refused
    oz.convert(tmp_path / "g/t", tmp_path / "g/new/u")
    assert sorted(oz.open_group(tmp_path / "g")) == ["new", "t"]


@pytest.mark.parametrize("dry_run", [False, True])
def test_the_name_of_a_netcdf_file_is_none_for_zarr(tmp_path, dry_run):
    oz.create_array(tmp_path / "a.zarr", data=np.arange(3))
    if dry_run:
        told = oz.convert(tmp_path / "a.zarr", tmp_path / "b.nc", format="zarr2", dry_run=True)
        assert "netCDF" in told.refused[0].reason
    else:
        with pytest.raises(UnsupportedError, match=r"b\.nc is named as a netCDF or HDF5 file\n'oz copy'"):
            oz.convert(tmp_path / "a.zarr", tmp_path / "b.nc", format="zarr2")
    assert not (tmp_path / "b.nc").exists()
