"""What cannot be stored, or cannot be meant, is refused at the call, by an error of ours that netCDF4's users catch."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import LimitError, OmnizarrError, SelectionError
from omnizarr.nc.dataset.errors import BoundsError, NoPermissionError


@pytest.fixture
def place():
    """A dataset with two rows of four."""
    place = {}
    with oz.Dataset(place, "w") as ds:
        ds.createDimension("x", 4)
        ds.createDimension("u", None)
        v = ds.createVariable("v", "f4", ("u", "x"))
        v[0:2] = np.arange(8).reshape(2, 4)
        v.units = "K"
    return place


def check_as_before(place):
    with oz.Dataset(place) as ds:
        assert list(ds.dimensions) == ["x", "u"]
        assert ds["v"][:].tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
        assert ds["v"].__dict__ == {"units": "K"}
        assert not ds.enumtypes
        assert not ds.cmptypes


@pytest.mark.parametrize("index", [2**63 - 1, 2**64, 10**30, np.uint64(2**64 - 1), slice(0, 2**63), slice(0, 10**30)])
def test_indices_that_no_place_can_hold(place, index):
    with oz.Dataset(place, "a") as ds:
        with pytest.raises(BoundsError, match="no dimension can grow") as caught:
            ds["v"][index] = 1
        assert caught.value.path == "/v"
        assert ds["v"].shape == (2, 4)
    check_as_before(place)


@pytest.mark.parametrize("index", [2**61, 2**62, 2**63 - 2])
def test_more_elements_than_can_be_read(place, index):
    with oz.Dataset(place, "a") as ds:
        with pytest.raises(LimitError, match=r"2\*\*63 elements or more .* x = 4"):
            ds["v"][index] = 1
        assert ds["v"].shape == (2, 4)
    check_as_before(place)


def test_another_variable_has_the_dimension_that_would_grow(place):
    with oz.Dataset(place, "a") as ds:
        one = ds.createVariable("one", "i1", ("u",))
        with pytest.raises(LimitError) as caught:
            one[2**62] = 1
        assert caught.value.path == "/v"
        one[2] = 5
    with oz.Dataset(place) as ds:
        assert ds["v"].shape == (3, 4)
        assert ds["one"][2] == 5


def test_a_file_put_together_in_memory(tmp_path):
    with oz.Dataset(tmp_path / "a.nc", "w", format="NETCDF3_64BIT_DATA") as ds:
        ds.createDimension("u", None)
        v = ds.createVariable("v", "f8", ("u",))
        for index in (2**62, 2**63 - 2):
            with pytest.raises(LimitError):
                v[index] = 1
        assert v.shape == (0,)


@pytest.mark.parametrize("size", [2**63, 10**30])
def test_dimensions_that_no_place_can_hold(place, size):
    with oz.Dataset(place, "a") as ds, pytest.raises(LimitError, match="dimension h") as caught:
        ds.createDimension("h", size)
    assert isinstance(caught.value, OverflowError)
    check_as_before(place)


def test_variables_that_no_place_can_hold():
    place = {}
    with oz.Dataset(place, "w") as ds:
        ds.createDimension("h", 2**62)
        ds.createDimension("u", None)
        ds.createDimension("g", 4)
        with pytest.raises(LimitError):
            ds.createVariable("v", "i1", ("h", "u", "g"), chunksizes=(10, 1, 4))
        ds.createVariable("w", "i1", ("h",), chunksizes=(10,))[0] = 7
    with oz.Dataset(place) as ds:
        assert ds["w"][0] == 7


@pytest.mark.parametrize("name", ["v", "one"])
@pytest.mark.parametrize(
    "index", [10**30, -(10**30), float("inf"), float("nan"), [10**30], slice("a", None), np.s_[::0]]
)
def test_indices_to_read(place, name, index):
    with oz.Dataset(place, "a") as ds:
        ds.createVariable("one", "i1", ())
        with pytest.raises(SelectionError) as caught:
            ds[name][index]
        assert caught.value.path == f"/{name}"


def test_a_step_that_is_never_taken(place):
    with oz.Dataset(place) as ds:
        assert ds["v"][0 : 2 : 10**30, 0].tolist() == [0]
        assert ds["v"][0:2:7, 3::-9].tolist() == [[3]]


@pytest.mark.parametrize("members", [{1: 1}, {None: 1}, {("a",): 1}, {b"\xff": 1}, {"a": "x"}, {"a": None}, 3])
def test_members_of_enums(place, members):
    with oz.Dataset(place, "a") as ds, pytest.raises(OmnizarrError, match=r"\be\b") as caught:
        ds.createEnumType("i1", "e", members)
    assert isinstance(caught.value, TypeError)
    check_as_before(place)


def test_members_of_compounds(place):
    with oz.Dataset(place, "a") as ds, pytest.raises(OmnizarrError, match="e has no members") as caught:
        ds.createCompoundType(np.dtype([]), "e")
    assert isinstance(caught.value, RuntimeError)
    check_as_before(place)


def test_names_in_bytes():
    place = {}
    with oz.Dataset(place, "w") as ds:
        ds.createDimension(b"x", 2)
        ds.createEnumType("i1", b"e", {b"one": 1})
        v = ds.createVariable(b"v", "f4", (b"x",))
        v.setncattr(b"unit\xc3\xa9s", "K")
        v.renameAttribute(b"unit\xc3\xa9s", b"units")
        assert v.getncattr(b"units") == "K"
        v.setncatts({b"a": 1})
        v.delncattr(b"a")
        ds.setncattr(b"title", "t")
    with oz.Dataset(place) as ds:
        assert ds["v"].dimensions == ("x",)
        assert ds["v"].__dict__ == {"units": "K"}
        assert ds.ncattrs() == ["title"]
        assert ds.enumtypes["e"].enum_dict == {"one": 1}


NAMES = (np.int64(3), 3, None, ("a",), ["a"], b"\xff", 1.5)


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_names_that_are_no_text(place, name):
    with oz.Dataset(place, "a") as ds:
        for where in (ds, ds["v"]):
            calls = [
                lambda where=where: where.setncattr(name, 1),
                lambda where=where: where.setncattr_string(name, "a"),
                lambda where=where: where.getncattr(name),
                lambda where=where: where.delncattr(name),
                lambda: ds["v"].renameAttribute("units", name),
                lambda: ds.createDimension(name, 1),
                lambda: ds.createVariable(name, "i4"),
                lambda: ds.createGroup(name),
                lambda: ds.createVLType("i4", name),
                lambda: ds.renameVariable("v", name),
            ]
            for call in calls:
                with pytest.raises(OmnizarrError, match="name") as caught:
                    call()
                assert isinstance(caught.value, TypeError)
                assert caught.value.path in {"/", "/v"}
        if not isinstance(name, list):
            with pytest.raises(OmnizarrError):
                ds.setncatts({name: 1})
    check_as_before(place)


DEFINITIONS = {
    "dimension of text": (lambda ds: ds.createDimension("n", "y"), TypeError, "n"),
    "dimension of two": (lambda ds: ds.createDimension("n", (3, 1)), TypeError, "n"),
    "dimension without an end": (lambda ds: ds.createDimension("n", float("inf")), ValueError, "n"),
    "no type": (lambda ds: ds.createVariable("n", "nope", ()), TypeError, "nope"),
    "no type, commas": (lambda ds: ds.createVariable("n", "f4,,", ()), TypeError, "f4,,"),
    "no type of sequences": (lambda ds: ds.createVLType("nope", "n"), TypeError, "nope"),
    "no list": (lambda ds: ds.createVariable("n", "i4", 3), TypeError, "n"),
    "fill value of text": (lambda ds: ds.createVariable("n", "i4", (), fill_value="a"), ValueError, "fill_value='a'"),
    "fill value of nothing": (lambda ds: ds.createVariable("n", "f4", (), fill_value={}), TypeError, "fill_value"),
    "fill values": (lambda ds: ds.createVariable("n", "f4", (), fill_value=(1, 2)), AttributeError, "fill_value"),
    "level": (lambda ds: ds.createVariable("n", "i4", ("x",), zlib=True, complevel="a"), TypeError, "complevel"),
    "digits": (lambda ds: ds.createVariable("n", "f4", ("x",), significant_digits="a"), TypeError, "significant"),
    "chunks": (lambda ds: ds.createVariable("n", "f4", ("x",), chunksizes=3), TypeError, "chunksizes"),
    "chunks of text": (lambda ds: ds.createVariable("n", "f4", ("x",), chunksizes=("a",)), TypeError, "chunksizes"),
    "place 400": (lambda ds: ds.createVariable("n", "f4", ("x",), least_significant_digit=400), OverflowError, "=400"),
    "place -400": (lambda ds: ds.createVariable("n", "f4", (), least_significant_digit=-400), OverflowError, "=-400"),
    "place inf": (lambda ds: ds.createVariable("n", "f4", (), least_significant_digit=np.inf), OverflowError, "=inf"),
    "place nan": (lambda ds: ds.createVariable("n", "f4", (), least_significant_digit=np.nan), ValueError, "=nan"),
    "place of text": (lambda ds: ds.createVariable("n", "f4", (), least_significant_digit="a"), TypeError, "='a'"),
    "size": (lambda ds: ds.createOpaqueType("a", "n"), TypeError, "opaque type n"),
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_definitions(place, name):
    define, kind, text = DEFINITIONS[name]
    with oz.Dataset(place, "a") as ds:
        with pytest.raises(OmnizarrError, match=text) as caught:
            define(ds)
        assert isinstance(caught.value, kind)
        assert caught.value.path in {"/", "/n"}
        assert caught.value.hint
        assert list(ds.variables) == ["v"]
    check_as_before(place)


def test_an_attribute_that_says_how_to_round(place):
    with oz.Dataset(place, "a") as ds:
        ds["v"].least_significant_digit = 400
        with pytest.raises(OmnizarrError, match=r"least_significant_digit=.*400") as caught:
            ds["v"][0] = 1
        assert caught.value.path == "/v"


CHILD = """
import os, sys, omnizarr as oz
oz.Dataset(sys.argv[2], "a").close()  # so that all modules are loaded while they can be
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    oz.Dataset(sys.argv[1], "a")
except oz.OmnizarrError as error:
    print(type(error).__name__, error.path, error.errno)
"""


@pytest.mark.skipif(os.name == "nt", reason="modes of folders")
def test_a_folder_that_cannot_be_listed(tmp_path_factory):
    base = tmp_path_factory.mktemp("gate")
    place = base / "a.zarr"
    oz.Dataset(place, "w").close()
    oz.Dataset(base / "b.zarr", "w").close()
    place.chmod(0o333)
    opened = [folder for folder in (base, *base.parents) if folder.stat().st_uid == os.getuid() and folder.parts[2:]]
    before = [(folder, folder.stat().st_mode) for folder in opened]
    try:
        for folder in opened:
            folder.chmod(0o755)
        done = subprocess.run(
            [sys.executable, "-c", CHILD, str(place), str(base / "b.zarr")],
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        )
    finally:
        for folder, mode in before:
            folder.chmod(mode)
        place.chmod(0o755)
    assert done.stdout.split() == [NoPermissionError.__name__, str(place), "13"]
