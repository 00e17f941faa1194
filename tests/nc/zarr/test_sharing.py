"""Several programs, or several handles of one, change a dataset: nothing is lost without a word."""

from __future__ import annotations

import subprocess
import sys
from itertools import product

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ConflictError

FORMATS = ("NCZARR", "NCZARR3", "ZARR", "ZARR3")


def dataset(where, mode="r"):
    made = oz.Dataset(where, mode)
    made.set_auto_mask(False)
    return made


@pytest.fixture(params=[*product(FORMATS, ("folder", "memory"))], ids="-".join)
def place(request, tmp_path):
    """Five rows, in the first half of a chunk."""
    form, kind = request.param
    where = tmp_path / "a.zarr" if kind == "folder" else {}
    with oz.Dataset(where, "w", format=form) as ds:
        ds.createDimension("u", None)
        v = ds.createVariable("v", "f4", ("u",), chunksizes=(10,), fill_value=-1)
        v[0:5] = np.arange(5)
        v.units = "K"
        ds.title = "t"
    return where


@pytest.fixture(params=["NCZARR", "NCZARR3"])
def folder(request, tmp_path):
    """The same in a folder, with names that NCZarr lists."""
    where = tmp_path / "a.zarr"
    with oz.Dataset(where, "w", format=request.param) as ds:
        ds.createDimension("u", None)
        ds.createDimension("x", 3)
        ds.createVariable("v", "f4", ("u",), chunksizes=(10,), fill_value=-1)[0:5] = np.arange(5)
        ds.createVariable("w", "i4", ("u", "x"), chunksizes=(2, 3), fill_value=-1)[0:2] = 7
        ds.createGroup("g").createVariable("inner", "i4", ())[...] = 3
    return where


def test_two_handles_one_after_the_other(place):
    with dataset(place) as ds:
        end = 10 if ds.dimensions["u"].isunlimited() else 5  # which plain Zarr does not say
    one, other = dataset(place, "a"), dataset(place, "a")
    one.x, other.y = 1, 2
    one["v"].s, other["v"].t = "A", "B"
    one["v"][5:10] = 7
    one.createVariable("na", "i4", ("u",))[0] = 4
    one.close()
    other["v"][5:7] = 9
    other.createVariable("nb", "i4", ("u",))[0] = 5
    other.close()
    with dataset(place) as ds:
        assert set(ds.ncattrs()) == {"title", "x", "y"}
        assert (ds.x, ds.y, ds["v"].s, ds["v"].t, ds["v"].units) == (1, 2, "A", "B", "K")
        assert set(ds.variables) == {"v", "na", "nb"}
        assert ds["v"][:].tolist() == [0, 1, 2, 3, 4, 9, 9, 7, 7, 7][:end]
        assert (ds["na"][0], ds["nb"][0]) == (4, 5)
    assert not oz.validate(place).findings


def test_again_and_again(place):
    one, other = dataset(place, "a"), dataset(place, "a")
    for at in range(3):
        for name, ds in (("one", one), ("other", other)):
            ds.setncattr(f"{name}{at}", at)
            ds["v"].setncattr(f"{name}{at}", at)
            ds.sync()
    one.title = "changed"
    other.delncattr("other0")
    one.close()
    other.close()
    names = {f"{name}{at}" for name in ("one", "other") for at in range(3)}
    with dataset(place) as ds:
        assert set(ds.ncattrs()) == (names | {"title"}) - {"other0"}
        assert ds.title == "changed"
        assert set(ds["v"].ncattrs()) == names | {"_FillValue", "units"}


def test_rows_that_others_added_to_a_chunk_that_is_written_as_a_whole(folder):
    one, other = dataset(folder, "a"), dataset(folder, "a")
    one["v"][5:9] = 7
    one.close()
    other["v"][0:5] = 1
    assert other.dimensions["u"].size == 9
    other.close()
    with dataset(folder) as ds:
        assert ds["v"][:].tolist() == [1] * 5 + [7] * 4
        assert ds["w"].shape == (9, 3)


def test_rows_that_are_not_saved_yet_are_no_rest_of_a_crash(folder):
    one, other = dataset(folder, "a"), dataset(folder, "a")
    one["v"][5:25] = 7
    other["v"][5:7] = 9
    other.close()
    one.close()
    with dataset(folder) as ds:
        assert ds["v"][:].tolist() == [0, 1, 2, 3, 4, 9, 9] + [7] * 18


def test_rows_added_before_the_first_write(folder):
    one, other = dataset(folder, "a"), dataset(folder, "a")
    one["v"][5:8] = 7
    array = other["v"]
    other._handle.source.array(array._node)
    one["v"][8:40] = 8
    array[0] = 6
    other.close()
    one.close()
    with dataset(folder) as ds:
        assert ds["v"][:].tolist() == [6, 1, 2, 3, 4, 7, 7, 7] + [8] * 32


def test_an_array_that_was_made_longer_by_others(folder):
    ds = dataset(folder, "a")
    oz.open(folder, mode="r+")["v"].append(np.array([5.0, 6.0]))
    ds["v"][7] = 8
    ds["v"].units = "K"
    ds.close()
    with dataset(folder) as ds:
        assert ds["v"][:].tolist() == [0, 1, 2, 3, 4, 5, 6, 8]


@pytest.mark.parametrize("form", ["ZARR", "ZARR3"])
def test_plain_arrays_that_were_made_longer_by_others(tmp_path, form):
    where = tmp_path / "a.zarr"
    with oz.Dataset(where, "w", format=form) as ds:
        ds.createDimension("x", 5)
        ds.createVariable("v", "f4", ("x",), chunksizes=(5,))[:] = 1
    oz.open(where, mode="r+")["v"].resize((3,))
    ds = dataset(where, "a")
    oz.open(where, mode="r+")["v"].append(np.array([5, 6], "f4"))
    ds["v"][0:3] = 7
    ds["v"].units = "K"
    ds.close()
    assert oz.open(where)["v"][:].tolist() == [7, 7, 7, 5, 6]


def test_dimensions_of_both(folder):
    one, other = dataset(folder, "a"), dataset(folder, "a")
    one.createDimension("a", 2)
    one.createDimension("same", 4)
    one.createGroup("h").createDimension("deep", 5)
    one.close()
    other.createDimension("b", 3)
    other.createDimension("same", 4)
    other.createGroup("h").createGroup("i")
    other.close()
    with dataset(folder) as ds:
        assert {name: len(dim) for name, dim in ds.dimensions.items()} == {"u": 5, "x": 3, "a": 2, "b": 3, "same": 4}
        assert list(ds["h"].dimensions) == ["deep"]
        assert list(ds["h"].groups) == ["i"]


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (lambda ds: ds.createDimension("d", 2), lambda ds: ds.createDimension("d", 3), "d"),
        (lambda ds: ds.createVariable("n", "i4", ("u",)), lambda ds: ds.createVariable("n", "f8", ("u",)), "n"),
        (
            lambda ds: ds.createEnumType("i1", "e", {"a": 1}),
            lambda ds: ds.createEnumType("i1", "e", {"a": 2}),
            "type 'e'",
        ),
        (lambda ds: ds.renameVariable("v", "gone"), lambda ds: ds["v"].setncattr("units", "K"), "removed or renamed"),
        (lambda ds: ds["g"].createVariable("new", "i4", ()), lambda ds: ds.renameGroup("g", "h"), "new"),
    ],
)
def test_contradictions(folder, first, second, text):
    one, other = dataset(folder, "a"), dataset(folder, "a")
    first(one)
    one.close()

    def change():
        second(other)
        other.close()

    with pytest.raises(ConflictError, match=text) as caught:
        change()
    other._closing.detach()
    assert caught.value.path
    assert caught.value.hint
    with dataset(folder) as ds:
        assert set(ds.variables) >= {"w"}
        assert ds["g/inner"][...] == 3


def test_an_array_that_was_renamed_is_not_grown(folder):
    one, other = dataset(folder, "a"), dataset(folder, "a")
    one.renameVariable("v", "gone")
    one.close()
    with pytest.raises(ConflictError, match="removed or renamed"):
        other["v"][20] = 1
    other._closing.detach()
    with dataset(folder) as ds:
        assert ds["gone"][:].tolist() == [0, 1, 2, 3, 4]


def test_what_is_renamed_takes_along_what_others_changed(folder):
    one, other = dataset(folder, "a"), dataset(folder, "a")
    one["v"][5:30] = 7
    one["v"].units = "K"
    one.close()
    other.renameVariable("v", "new")
    other.renameDimension("u", "t")
    other.close()
    with dataset(folder) as ds:
        assert ds["new"][:].tolist() == [0, 1, 2, 3, 4] + [7] * 25
        assert ds["new"].units == "K"
        assert ds["new"].dimensions == ("t",)
        assert set(ds.dimensions) == {"t", "x"}
        assert ds["w"].shape == (30, 3)


CHILD = """
import sys, omnizarr as oz
where, k, of, keep = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "keep"
held = oz.Dataset(where, "a") if keep else None
for i in range(15):
    ds = held or oz.Dataset(where, "a")
    at = 5 + i * of + k
    ds["v"][at] = at
    ds["w"][at] = at
    ds.setncattr(f"a{k}_{i}", i)
    ds["v"].setncattr(f"a{k}_{i}", i)
    if i % 5 == 0:
        ds.createVariable(f"n{k}_{i}", "i4", ("u", "x"))[at] = i
    ds.sync() if keep else ds.close()
if keep:
    held.close()
"""


@pytest.mark.parametrize("keep", ["keep", "anew"])
@pytest.mark.parametrize("count", [2, 3])
def test_several_processes(folder, count, keep):
    words = [sys.executable, "-c", CHILD, str(folder)]
    children = [
        subprocess.Popen([*words, str(k), str(count), keep], stderr=subprocess.PIPE, text=True) for k in range(count)
    ]
    for child in children:
        _, said = child.communicate(timeout=120)
        assert child.returncode == 0, said
    rows = range(5, 5 + 15 * count)
    names = {f"a{k}_{i}" for k in range(count) for i in range(15)}
    with dataset(folder) as ds:
        assert ds["v"][:].tolist() == [0, 1, 2, 3, 4, *rows]
        assert ds["w"][5:].tolist() == [[at] * 3 for at in rows]
        assert names == set(ds.ncattrs())
        assert names <= set(ds["v"].ncattrs())
        assert set(ds.variables) == {"v", "w", *(f"n{k}_{i}" for k in range(count) for i in (0, 5, 10))}
        assert ds["n1_5"][5 + 5 * count + 1].tolist() == [5] * 3
    assert not oz.validate(folder).findings
