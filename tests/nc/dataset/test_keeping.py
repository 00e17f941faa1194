"""Nothing is lost: variables that share a dimension, names that change early, writes that fail, datasets left open."""

from __future__ import annotations

import gc
import subprocess
import sys

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import OmnizarrError, StoreError
from omnizarr.nc.dataset import places
from omnizarr.nc.tree import Attr


class FullMapping(dict):
    """A store that refuses one key at times."""

    refused = ""

    def __setitem__(self, key, value):
        if self.refused and key == self.refused:
            raise OSError(28, "no space left")
        super().__setitem__(key, value)


def append(ds, name, values):
    variable = ds[name]
    start = len(ds.dimensions["t"]) if name == "a" else len(ds.dimensions["t"]) - len(values)
    variable[start : start + len(values)] = values


@pytest.mark.parametrize("model", ["NCZARR", "NCZARR3"])
def test_all_variables_of_a_dimension_that_grew_keep_their_values(model):
    place = {}
    with oz.Dataset(place, "w", format=model) as ds:
        ds.createDimension("t", None)
        for name in "ab":
            ds.createVariable(name, "i4", ("t",), chunksizes=(3,))[0:2] = [1, 2]
    for _ in range(2):
        with oz.Dataset(place, "a") as ds:
            for name in "ab":
                append(ds, name, [3, 4])
    with oz.Dataset(place) as ds:
        assert ds["a"][:].tolist() == ds["b"][:].tolist() == [1, 2, 3, 4, 3, 4]


def test_names_that_change_before_anything_is_saved():
    place = {}
    with oz.Dataset(place, "w") as ds:
        ds.createDimension("x", 2)
        ds.createVariable("old", "i4", ("x",))[:] = [1, 2]
        ds.createGroup("g").createVariable("inner", "i4", ("x",))[:] = [5, 6]
        ds.renameVariable("old", "new")
        ds.renameGroup("g", "h")
        ds.createVariable("old", "i4", ("x",))[:] = [3, 4]
    with oz.Dataset(place) as ds:
        assert ds["new"][:].tolist() == [1, 2]
        assert ds["old"][:].tolist() == [3, 4]
        assert ds["h/inner"][:].tolist() == [5, 6]


def test_what_a_failed_write_left_does_not_come_back():
    place = FullMapping()
    with oz.Dataset(place, "w") as ds:
        ds.createDimension("t", None)
        v = ds.createVariable("v", "i4", ("t",), chunksizes=(2,))
        v[0:2] = [1, 2]
        place.refused = "v/2"
        with pytest.raises(StoreError):
            v[2:8] = 9
        place.refused = ""
        assert len(v) == 2
        v[7] = 5
    with oz.Dataset(place) as ds:
        assert ds["v"][:].tolist() == [1, 2, None, None, None, None, None, 5]


def test_attribute_called_dtype_keeps_its_type():
    place = {}
    with oz.Dataset(place, "w") as ds:
        ds.createDimension("n", 1)
        ds.createVariable("c", "S1", ("n",)).setncattr("dtype", "x")
    assert ".zmetadata" in place
    with oz.Dataset(place) as ds:
        assert ds["c"]._node.attrs["dtype"] == Attr.of_text("dtype", "x")


def test_file_stays_as_it_was_if_the_new_one_cannot_be_written(tmp_path, monkeypatch):
    path = tmp_path / "a.nc"
    with oz.Dataset(path, "w") as ds:
        ds.createDimension("x", 2)
        ds.createVariable("v", "i4", ("x",))[:] = [1, 2]

    def fail(*_):
        raise StoreError("no space left")

    ds = oz.Dataset(path, "a")
    ds["v"][0] = 7
    monkeypatch.setattr(places, "copy_values", fail)
    with pytest.raises(StoreError):
        ds.close()
    with oz.Dataset(path) as ds:
        assert ds["v"][:].tolist() == [1, 2]
    assert [one.name for one in tmp_path.iterdir()] == ["a.nc"]


def test_file_that_does_not_fit_into_memory_is_an_error(tmp_path):
    with oz.Dataset(tmp_path / "a.nc", "w") as ds:
        ds.createDimension("t", None)
        v = ds.createVariable("v", "f8", ("t",))
        with pytest.raises(OmnizarrError, match="memory"):
            v[1 << 50] = 1
        v[0:2] = [1, 2]
        ds.createVariable("one", "f8", ())[...] = 1.5
        for at in range(2, 20):
            v[at] = at + 1
    with oz.Dataset(tmp_path / "a.nc") as ds:
        assert ds["one"][...] == 1.5
        assert np.array_equal(ds["v"][:], np.arange(1, 21))


MAKE = """
import sys
import omnizarr as oz
def make():
    ds = oz.Dataset(sys.argv[1], "w")
    ds.createDimension("t", None)
    v = ds.createVariable("v", "i4", ("t",))
    v[0:3] = [1, 2, 3]
    v.units = "K"
    return v
"""


@pytest.mark.parametrize(
    "end", ["kept = make()", "make()", "kept = make(); kept.group().sync(); import os; os._exit(0)"]
)
@pytest.mark.parametrize("name", ["a.zarr", "a.zip", "a.nc"])
def test_end_of_the_program(name, end, tmp_path):
    path = tmp_path / name
    done = subprocess.run([sys.executable, "-c", MAKE + end, str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    with oz.Dataset(path) as ds:
        assert ds["v"][:].tolist() == [1, 2, 3]
        assert ds["v"].units == "K"


def test_dataset_that_nobody_refers_to_any_more(tmp_path):
    path = tmp_path / "a.zip"
    ds = oz.Dataset(path, "w")
    ds.title = "kept"
    del ds
    gc.collect()
    with oz.Dataset(path) as ds:
        assert ds.title == "kept"


class MortalMapping(dict):
    """A store whose program dies after some changes."""

    left = 1 << 30

    def tick(self):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt

    def __setitem__(self, key, value):
        self.tick()
        super().__setitem__(key, value)

    def __delitem__(self, key):
        self.tick()
        super().__delitem__(key)


@pytest.mark.parametrize("left", range(24))
def test_crash_while_strings_get_longer_beside_consolidated_metadata(left):
    place = MortalMapping()
    with oz.Dataset(place, "w") as ds:
        ds.createDimension("t", None)
        ds.createDimension("x", 1)
        ds.createVariable("c", "S1", ("x",))[:] = np.array([b"p"])
        ds.createVariable("s", str, ("t",))[0:2] = np.array(["a", "b"], object)
    assert ".zmetadata" in place
    place.left = left
    ds = oz.Dataset(place, "a")
    try:
        ds["s"][2] = "long" * 100
        ds.close()
    except KeyboardInterrupt:
        ds._handle.is_open = False
    with oz.Dataset(dict(place)) as ds:
        assert ds["s"][:2].tolist() == ["a", "b"]
        assert ds["c"][:].tolist() == [b"p"]


def test_names_that_cannot_be_keys_are_refused_at_once():
    place = {}
    with oz.Dataset(place, "w") as ds:
        v = ds.createVariable("v", "i4", ())
        v[...] = 3
        for name in ("a\\b", "c:d"):
            with pytest.raises(OmnizarrError, match="cannot be a name"):
                ds.createVariable(name, "i4", ())
            with pytest.raises(OmnizarrError, match="cannot be a name"):
                ds.createGroup(name)
            with pytest.raises(OmnizarrError, match="cannot be a name"):
                ds.renameVariable("v", name)
    with oz.Dataset(place) as ds:
        assert ds["v"][...] == 3
        assert list(ds.variables) == ["v"]


def test_characters_that_are_added_later_are_read_by_zarr_python(tmp_path):
    zarr = pytest.importorskip("zarr")
    path = tmp_path / "a.zarr"
    with oz.Dataset(path, "w") as ds:
        ds.createDimension("x", 2)
        ds.createVariable("a", "i4", ("x",))[:] = 1
    with oz.Dataset(path, "a") as ds:
        ds.createVariable("c", "S1", ("x",))[:] = np.array([b"p", b"q"])
    assert zarr.open_group(path, mode="r")["c"][:].tolist() == [b"p", b"q"]


@pytest.mark.parametrize("kind", ["NCZARR", "NCZARR3"])
def test_attributes_with_names_that_libraries_use_are_shown_to_those_who_set_them(kind):
    place = {}
    with oz.Dataset(place, "w", format=kind) as ds:
        ds.NAME, ds.CLASS = "buoy", np.int16(3)
    with oz.Dataset(place) as ds:
        assert (ds.NAME, ds.CLASS) == ("buoy", 3)
