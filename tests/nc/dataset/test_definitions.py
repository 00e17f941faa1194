"""Dimensions, variables, groups and types are defined, found, renamed and refused as in netCDF4."""

from __future__ import annotations

import pickle
import weakref

import numpy as np
import pytest

import omnizarr as oz


def define(ds):
    ds.createDimension("time", None)
    ds.createDimension("x", 4)
    ds.createDimension("zero", 0)
    inner = ds.createGroup("/a/b")
    inner.createDimension("y", 2)
    ds.createVariable("t", "f8", "time")
    ds.createVariable("/a/b/v", ">i2", ("time", "x", "y"), fill_value=5, endian="big")
    inner.createVariable("w", np.uint8, (ds.dimensions["x"],), zlib=True, complevel=3, chunksizes=(2,))
    ds.createVariable("s", str, ())
    ds.createVariable("c", "S1", ("x",), fill_value=False)
    ds.createVariable("n", int, (), fill_value="default")
    ds.createVariable("u", "U8", ("x",), fill_value="none")
    ds.title = "text"


def tree(ds):
    return {
        "path": ds.path,
        "name": ds.name,
        "parent": ds.parent.path if ds.parent else None,
        "attributes": ds.ncattrs(),
        "dimensions": {
            name: (one.name, one.size, len(one), one.isunlimited(), one.group().path)
            for name, one in ds.dimensions.items()
        },
        "variables": {
            name: (
                one.name, one.dtype, one.dimensions, one.shape, one.ndim, one.size, one.group().path, one.ncattrs(),
                [dim.name for dim in one.get_dims()], one.endian(), str(one.get_fill_value()),
            )
            for name, one in ds.variables.items()
        },
        "groups": {name: tree(one) for name, one in ds.groups.items()},
    }  # fmt: skip


def test_everything_that_was_defined_is_found(pair):
    pair.do(define)
    expected, found = tree(pair.theirs), tree(pair.ours)
    assert found == expected
    assert pair.ours.data_model == pair.theirs.data_model == "NETCDF4"
    assert pair.ours["a/b/w"].filters() == pair.theirs["a/b/w"].filters()
    assert pair.ours["a/b/w"].chunking() == pair.theirs["a/b/w"].chunking() == [2]


def test_texts_are_those_of_netcdf4(pair):
    pair.do(define)

    def shown(thing):
        return repr(thing).replace("netCDF4.", "").replace("omnizarr.", "").replace("HDF5", "NCZARR")

    for path in ("t", "a/b/v", "a/b/w", "s", "c", "n", "a", "a/b"):
        assert shown(pair.ours[path]) == shown(pair.theirs[path])
    assert shown(pair.ours) == shown(pair.theirs)
    for name in ("time", "x"):
        assert shown(pair.ours.dimensions[name]) == shown(pair.theirs.dimensions[name])


@pytest.mark.parametrize(
    "action",
    [
        lambda ds: ds.createDimension("x", 5),
        lambda ds: ds.createVariable("t", "f4", ()),
        lambda ds: ds.createVariable("new", "f4", ("nowhere",)),
        lambda ds: ds.createVariable("new", "c16", ()),
        lambda ds: ds.createVariable("new", bool, ()),
        lambda ds: ds.createVariable("new", "f2", ()),
        lambda ds: ds.createVariable("new", object, ()),
        lambda ds: ds.createVariable("new", "f4", ("x",), compression="lzw"),
        lambda ds: ds.createVariable("new", "f4", ("x",), endian="middle"),
        lambda ds: ds.createVariable("new", "f4", ("x",), chunksizes=(2, 2)),
        lambda ds: ds.createVariable("new", "f4", ("x",), chunksizes=(9,)),
        lambda ds: ds.createVariable("new", "f4", ("time",), contiguous=True),
        lambda ds: ds.createVariable("new", "f4", ("x",), contiguous=True, chunksizes=(2,)),
        lambda ds: ds.createVariable("new", "f4", ("x",), significant_digits=3, quantize_mode="Nothing"),
        lambda ds: ds["nothing"],
        lambda ds: ds["a/nothing"],
        lambda ds: ds["nothing/at/all"],
        lambda ds: ds.nothing,
        lambda ds: ds["t"].nothing,
        lambda ds: delattr(ds, "nothing"),
        lambda ds: ds["t"].delncattr("nothing"),
        lambda ds: delattr(ds, "variables"),
        lambda ds: setattr(ds, "variables", {}),
        lambda ds: setattr(ds["t"], "_FillValue", 3),
        lambda ds: setattr(ds, "flag", True),
        lambda ds: setattr(ds, "none", None),
        lambda ds: setattr(ds, "table", [[1, 2], [3, 4]]),
        lambda ds: ds.renameDimension("nothing", "y"),
        lambda ds: ds.renameDimension("x", "time"),
        lambda ds: ds.renameVariable("nothing", "y"),
        lambda ds: ds.renameVariable("t", "s"),
        lambda ds: ds.renameGroup("nothing", "y"),
        lambda ds: ds.renameAttribute("nothing", "y"),
        lambda ds: ds.createVLType("c8", "sequence"),
        lambda ds: ds.createEnumType("f4", "enum", {"a": 1}),
        lambda ds: "t" in ds,
        list,
        pickle.dumps,
        lambda ds: pickle.dumps(ds["t"]),
        lambda ds: ds["a"].close(),
        lambda ds: len(ds["n"]),
        lambda ds: ds["t"].assignValue(3),
        lambda ds: ds["t"].getValue(),
        lambda ds: ds["s"].setncattr_string("a", ["b", "c"]) or ds["s"].a,
    ],
)
def test_what_is_refused_there_is_refused_here(pair, action):
    pair.do(define)
    pair.do(action)


@pytest.mark.parametrize("members", [[("a", "c8")], [("a", [("b", "i4")])], [("a", "U3")], "i4"])
def test_compounds_of_what_netcdf_has_not_are_refused(members):
    with oz.Dataset({}, "w") as ds, pytest.raises((ValueError, TypeError)):
        ds.createCompoundType(members, "compound")


def test_renaming(pair):
    def rename(ds):
        define(ds)
        ds["t"].units = "days"
        ds["t"][:] = [1, 2]
        ds.renameDimension("time", "when")
        ds.renameVariable("t", "moment")
        ds.renameGroup("a", "outer")
        ds["outer"].renameGroup("b", "inner")
        ds.renameAttribute("title", "name_of_it")
        ds["moment"].renameAttribute("units", "unit")
        return ds["moment"].__dict__

    pair.do(rename)
    found, expected = tree(pair.ours), tree(pair.theirs)
    for one in (found, expected):  # the order after a change of names is up to the C library
        one["variables"] = dict(sorted(one["variables"].items()))
        one["dimensions"] = dict(sorted(one["dimensions"].items()))
    assert found["groups"]["outer"]["groups"]["inner"]["path"] == "/outer/inner"  # netCDF4 keeps the old one
    assert found["variables"] == expected["variables"]
    assert found["dimensions"] == expected["dimensions"]
    pair.do(lambda ds: ds["moment"][:])


def test_switches_reach_all_groups(pair):
    pair.do(define)
    for switch in ("mask", "scale", "maskandscale", "chartostring"):
        pair.do(lambda ds, switch=switch: getattr(ds, f"set_auto_{switch}")(False))
    pair.do(lambda ds: ds.set_always_mask(False))
    names = ("mask", "scale", "always_mask", "chartostring")
    assert not any(getattr(pair.ours["a/b/v"], name) for name in names)
    pair.do(lambda ds: [getattr(ds["a/b/v"], name) for name in names])


def test_variables_are_found_by_their_attributes(pair):
    def define_axes(ds):
        for name, axis in {"p": "X", "q": "Y", "r": None}.items():
            variable = ds.createVariable(name, "f4", ())
            variable.size_of_it = 3
            if axis:
                variable.axis = axis

    pair.do(define_axes)
    for wanted in (
        {"axis": "X"},
        {"axis": lambda axis: axis is None},
        {"axis": lambda axis: axis in ("X", "Y"), "size_of_it": 3},
        {"axis": "Z"},
        {},
    ):
        pair.do(lambda ds, wanted=wanted: [one.name for one in ds.get_variables_by_attributes(**wanted)])


@pytest.mark.parametrize("model", ["NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"])
def test_classic_models_refuse_what_they_cannot_hold(tmp_path, model):
    with oz.Dataset({}, "w", format=model) as ds:
        assert ds.data_model == ds.file_format == model
        ds.createDimension("t", None)
        with pytest.raises(RuntimeError):
            ds.createDimension("u", None)
        with pytest.raises(RuntimeError):
            ds.createGroup("g")
        with pytest.raises(ValueError, match="strings"):
            ds.createVariable("s", str, ())
        with pytest.raises(RuntimeError):
            ds.createEnumType("i1", "e", {"a": 1})
        if model != "NETCDF3_64BIT_DATA":
            with pytest.raises(RuntimeError):
                ds.createVariable("v", "u2", ())
        with pytest.raises(OSError, match="NETCDF4"):
            ds.texts = ["a", "b"]
        ds.number = 2**40 if model == "NETCDF3_64BIT_DATA" else 2**20
        assert ds.number.dtype == ("i8" if model == "NETCDF3_64BIT_DATA" else "i4")
        ds.text = "é"
        assert ds.text == "é"


def test_a_dataset_that_keeps_weak_references_dies_with_its_last_name():
    ds = oz.Dataset({}, "w", keepweakref=True)
    dimension = ds.createDimension("x", 2)
    variable = ds.createVariable("v", "f4", ("x",))
    gone = weakref.ref(ds)
    del ds
    assert gone() is None
    assert "no longer valid" in repr(variable)
    assert len(dimension) == 2


def test_a_closed_dataset_says_so():
    ds = oz.Dataset({}, "w")
    variable = ds.createVariable("v", "f4", ())
    ds.close()
    assert not ds.isopen()
    for action in (lambda: variable[...], ds.sync, ds.close, lambda: ds.createDimension("x", 1)):
        with pytest.raises(RuntimeError, match="closed"):
            action()


def test_what_was_opened_for_reading_stays_as_it_is():
    place: dict[str, bytes] = {}
    with oz.Dataset(place, "w") as ds:
        ds.createDimension("x", 2)
        ds.createVariable("v", "f4", ("x",))[:] = 1
    with oz.Dataset(place) as ds:
        for action in (
            lambda: ds.createDimension("y", 2),
            lambda: ds["v"].__setitem__(0, 1),
            lambda: setattr(ds, "a", 1),
            lambda: ds.renameVariable("v", "w"),
            lambda: ds.createVariable("w", "f4", ()),
            lambda: ds.createGroup("g"),
        ):
            with pytest.raises(RuntimeError, match="reading only") as caught:
                action()
            assert isinstance(caught.value, oz.errors.ReadOnlyError)
        np.testing.assert_array_equal(ds["v"][:], [1, 1])


@pytest.mark.parametrize(
    ("attempt", "hint"),
    [
        (lambda ds: ds["tme"], "did you mean 'time'?"),
        (lambda ds: ds["ocaen/t"], "did you mean 'ocean'?"),
        (lambda ds: ds.createVariable("v", "f4", ("latt",)), "did you mean 'lat'?"),
        (lambda ds: ds["ocean"].createVariable("v", "f4", ("qq",)), "there are: lat, time"),
        (lambda ds: ds.tilte, "there are: title"),
    ],
)
def test_who_misspells_a_name_is_told_the_right_one(attempt, hint):
    with oz.Dataset({}, "w") as ds:
        ds.createDimension("lat", 2)
        ds.createDimension("time", None)
        ds.createVariable("time", "f8", ("time",))
        ds.createGroup("ocean")
        ds.title = "text"
        with pytest.raises(oz.OmnizarrError) as caught:
            attempt(ds)
    assert caught.value.hint == hint


@pytest.mark.parametrize(("dtype", "fill"), [("i2", 1e9), ("i2", 40000), ("u1", -1), ("i4", np.nan), ("u8", 2**64)])
def test_a_fill_value_that_does_not_fit_is_refused(dtype, fill):
    with oz.Dataset({}, "w") as ds, pytest.raises((ValueError, OverflowError)):
        ds.createVariable("v", dtype, (), fill_value=fill)


@pytest.mark.parametrize("kind", ["Variable", "Group"])
def test_types_share_their_names_with_all_but_dimensions(kind):
    with oz.Dataset({}, "w") as ds:
        point = ds.createCompoundType(np.dtype([("x", "f4")]), "point")
        ds.createDimension("point", 2)
        with pytest.raises(RuntimeError, match="called 'point'"):
            ds.createVariable("point", point, ()) if kind == "Variable" else ds.createGroup("point")
