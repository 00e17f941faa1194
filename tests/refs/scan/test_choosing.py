"""A group and variables are chosen out of sets, and of files whose scanners know no groups, as out of all others."""

from __future__ import annotations

import json

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import NodeTypeError, NotFoundError
from omnizarr.refs import Options


@pytest.fixture
def files(tmp_path):
    """Give two files of netCDF-3, and a set of each."""
    found = []
    for day in range(2):
        with oz.Dataset(tmp_path / f"{day}.nc", "w", format="NETCDF3_CLASSIC") as ds:
            ds.createDimension("time", None)
            ds.createDimension("x", 400)
            ds.createVariable("time", "i4", ("time",))[:] = np.arange(3) + 3 * day
            for name, value in (("u", 1), ("v", 2)):
                ds.createVariable(name, "f4", ("time", "x"))[:] = np.full((3, 400), 10 * value + day)
        oz.refs.write(oz.refs.scan(tmp_path / f"{day}.nc"), tmp_path / f"{day}.json")
        found.append(tmp_path / f"{day}.json")
    return found


@pytest.mark.parametrize("form", ["json", "json.zst", "parq"])
def test_variables_of_a_set(files, tmp_path, form):
    place = tmp_path / f"again.{form}"
    oz.refs.write(oz.refs.read(files[0]), place)
    assert set(oz.refs.scan(place, only=["u", "t*"]).arrays) == {"time", "u"}
    left = oz.refs.scan(place, skip=["u"])
    assert set(left.arrays) == {"time", "v"}
    assert not [key for key in left.documents if key.startswith("u/")]
    with pytest.raises(NotFoundError, match="no variable w"):
        oz.refs.scan(place, only=["w"])


def test_a_group_of_a_set(files, tmp_path):
    oz.refs.write(oz.refs.nest({"first": files[0], "second/third": files[1]}), tmp_path / "both.json")
    found = oz.refs.scan(tmp_path / "both.json", group="/second/third/", skip=["v"])
    assert set(found.arrays) == {"time", "u"}
    assert found.urls == [str(tmp_path / "1.nc")]
    assert list(found.stamps) == found.urls
    oz.refs.write(found, tmp_path / "part.json")
    assert oz.open(tmp_path / "part.json")["u"][:, 7].tolist() == [11, 11, 11]
    for group in ("fourth", "second/thin"):
        with pytest.raises(NotFoundError, match=f"no group '{group}'"):
            oz.refs.scan(tmp_path / "both.json", group=group)
    with pytest.raises(NodeTypeError, match="a variable at 'first/u'"):
        oz.refs.scan(tmp_path / "both.json", group="first/u")


def test_copies_of_documents_tell_nothing_of_what_is_left_out(tmp_path):
    group = oz.create_group(tmp_path / "x.zarr", format="zarr3")
    for name in ("a", "b"):
        group.create_array(name, data=np.arange(4))
    oz.consolidate(tmp_path / "x.zarr")
    refs = {
        path.relative_to(tmp_path / "x.zarr").as_posix(): [path.as_posix()]
        if path.name != "zarr.json"
        else path.read_text()
        for path in (tmp_path / "x.zarr").rglob("*")
        if path.is_file()
    }
    assert "consolidated_metadata" in refs["zarr.json"]
    (tmp_path / "x.json").write_text(json.dumps({"version": 1, "refs": refs}))
    left = oz.refs.scan(tmp_path / "x.json", skip=["a"])
    oz.refs.write(left, tmp_path / "y.json")
    assert list(oz.open(tmp_path / "y.json")) == ["b"]
    assert left.urls == [(tmp_path / "x.zarr/b/c/0").as_posix()]


def test_references_under_other_keys_stay_with_their_group(tmp_path):
    refs = {
        "g/.zgroup": '{"zarr_format": 2}',
        "g/notes": ["notes.txt"],
        "g/part": ["p.bin", 5, 6],
        "h/notes": ["h.txt"],
    }
    (tmp_path / "x.json").write_text(json.dumps({"version": 1, "refs": refs}))
    found = oz.refs.scan(tmp_path / "x.json", group="g")
    assert found.others == {
        "notes": (str(tmp_path / "notes.txt"),),
        "part": (str(tmp_path / "p.bin"), 5, 6),
    }


def test_files_without_groups_have_none(files, tmp_path):
    assert set(oz.refs.scan(tmp_path / "0.nc", group="/").arrays) == {"time", "u", "v"}
    with pytest.raises(NotFoundError, match="no group 'ocean'"):
        oz.refs.scan(tmp_path / "0.nc", group="ocean")
    with pytest.raises(NodeTypeError, match="a variable at 'u'"):
        oz.refs.scan(tmp_path / "0.nc", group="u")
    assert files


def test_sets_are_combined_of_what_is_wanted(files, tmp_path):
    wanted = Options(only=("time", "u"))
    assert set(oz.refs.combine(files, concat="time", scan=wanted).arrays) == {"time", "u"}
    oz.refs.combine_to([files[0], tmp_path / "1.nc"], tmp_path / "days.parq", concat="time", scan=wanted)
    days = oz.open(tmp_path / "days.parq")
    assert sorted(days) == ["time", "u"]
    assert days["u"][:, 0].tolist() == [10, 10, 10, 11, 11, 11]
    made = oz.refs.combine(files, concat="time", scan=Options(format="zarr3"))
    assert {key.rpartition("/")[2] for key in made.documents} == {"zarr.json"}


def test_names_without_their_group_are_meant_everywhere(tmp_path):
    group = oz.create_group(tmp_path / "x.zarr", format="zarr2")
    for name in ("a", "inner/a", "inner/b"):
        group.create_array(name, data=np.arange(4))
    assert set(oz.refs.scan(tmp_path / "x.zarr", only=["a"]).arrays) == {"a", "inner/a"}
    assert set(oz.refs.scan(tmp_path / "x.zarr", skip=["inner/a"]).arrays) == {"a", "inner/b"}
