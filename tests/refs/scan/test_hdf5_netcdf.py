"""netCDF-4 files through references are what netCDF4 and xarray read."""

from __future__ import annotations

import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr

import omnizarr as oz
from omnizarr.cli.cures import cure_of
from omnizarr.errors import NotFoundError, OmnizarrWarning, UnsupportedError
from omnizarr.refs.scanners.hdf5 import scan
from omnizarr.refs.scanners.source import DEFAULTS, Options, SourceFile
from omnizarr.refset.model import INLINE
from omnizarr.refset.store import store_of

from .hdf5_peers import as_dict


def references(path, options=DEFAULTS):
    return scan(SourceFile(path), options)


def opened(path, options=DEFAULTS):
    return oz.open(store_of(references(path, options), uri="example", allow=["*"]))


@pytest.fixture
def weather(tmp_path):
    """A file as models write it."""
    path = tmp_path / "weather.nc"
    rng = np.random.default_rng(3)
    with netCDF4.Dataset(path, "w") as ds:
        ds.title = "a weather"
        ds.versions = np.array([1, 2], "i4")
        ds.limit = np.float32(0.1)
        ds.createDimension("time", None)
        ds.createDimension("lat", 9)
        ds.createDimension("lon", 12)
        ds.createDimension("nothing", 4)
        time = ds.createVariable("time", "i4", ("time",))
        time.units = "days since 2000-01-01"
        time[:] = np.arange(5)
        for name, n in (("lat", 9), ("lon", 12)):
            var = ds.createVariable(name, "f4", (name,))
            var.units = f"degrees_{name}"
            var[:] = np.linspace(-10, 10, n)
        t2m = ds.createVariable(
            "t2m", "i2", ("time", "lat", "lon"), zlib=True, shuffle=True, fill_value=-999, chunksizes=(2, 5, 6)
        )
        t2m.scale_factor, t2m.add_offset = np.float32(0.25), 273.0
        values = np.ma.array(rng.uniform(250, 300, (5, 9, 12)), mask=rng.random((5, 9, 12)) < 0.2)
        t2m[:] = values
        wind = ds.createVariable(
            "wind", "f4", ("time", "lat", "lon"), fill_value=np.nan, fletcher32=True, zlib=True, chunksizes=(1, 9, 12)
        )
        wind[1] = rng.standard_normal((9, 12))  # and the others not
        count = ds.createVariable("count", "i4", ("lat", "lon"))
        count[:] = np.arange(108).reshape(9, 12)
        late = ds.createVariable("late", "f4", ("time",), chunksizes=(4,))
        late[:2] = [1, 2]  # shorter than the dimension
        crs = ds.createVariable("crs", "i4", ())
        crs.grid_mapping_name = "latitude_longitude"
        group = ds.createGroup("stations")
        group.createDimension("station", 3)
        names = group.createVariable("name", str, ("station",))
        names[:] = np.array(["Ávila", "", "x" * 50], object)
        group.createVariable("height", "f4", ("station", "lat"))[:] = 7
    return path


def test_values_dimensions_and_attributes(weather):
    group = opened(weather)
    assert group.attrs["title"] == "a weather"
    assert group.attrs["versions"] == [1, 2]
    assert group.attrs["limit"] == float(np.float32(0.1))
    with netCDF4.Dataset(weather) as ds:
        ds.set_auto_mask(False)
        ds.set_auto_scale(False)
        for where, owner in ((group, ds), (group["stations"], ds["stations"])):
            assert {name for name, _ in where.arrays()} == set(owner.variables)
            for name, var in owner.variables.items():
                array = where[name]
                assert (array.dims or ()) == var.dimensions
                assert array.shape == var.shape
                np.testing.assert_array_equal(np.asarray(array[...], object if var.dtype is str else None), var[...])
                told = {key for key in array.attrs if key != "_ARRAY_DIMENSIONS"}
                # NaN, for which JSON has no number, is the fill value alone.
                nan = "_FillValue" in var.ncattrs() and var.dtype is not str and np.isnan(var.getncattr("_FillValue"))
                assert told == set(var.ncattrs()) - ({"_FillValue"} if nan else set())
                assert not nan or np.isnan(array.fill_value)


def test_xarray_reads_what_it_reads_of_the_file(weather):
    options = {"fo": as_dict(references(weather)), "remote_protocol": "file"}
    with (
        xr.open_dataset(
            "reference://", engine="zarr", backend_kwargs={"consolidated": False, "storage_options": options}
        ) as found,
        xr.open_dataset(weather) as expected,
    ):
        # Only numbers that were never written differ: they count as missing here.
        late = expected["late"].where(expected["late"] < 1e30)
        xr.testing.assert_equal(found.load(), expected.assign(late=late).load())
        assert {name: var.dtype for name, var in found.items()} == {name: var.dtype for name, var in expected.items()}
        assert found.attrs == {**expected.attrs, "versions": [1, 2], "limit": float(np.float32(0.1))}


def test_types_of_the_user(tmp_path):
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as ds:
        ds.createDimension("x", 3)
        cloud = ds.createEnumType("i1", "cloud_t", {"Clear": 0, "Fog": 3})
        pair = ds.createCompoundType(np.dtype([("a", "i2"), ("b", "f8")]), "pair_t")
        many = ds.createVLType("i4", "many_t")
        ds.createVariable("cloud", cloud, ("x",), fill_value=0)[:] = [0, 3, 3]
        ds.createVariable("pair", pair, ("x",))[:] = np.array([(1, 2), (3, 4), (5, 6)], [("a", "i2"), ("b", "f8")])
        values = np.empty(3, object)
        values[:] = [np.array([1], "i4"), np.array([], "i4"), np.array([2, 3], "i4")]
        ds.createVariable("many", many, ("x",))[:] = values
        ds.createVariable("letters", "S1", ("x",))[:] = np.array([b"a", b"b", b"c"])
    group = opened(path)
    assert group["cloud"].attrs["flag_meanings"] == "Clear Fog"
    assert group["cloud"].attrs["flag_values"] == [0, 3]
    assert group["cloud"][...].tolist() == [0, 3, 3]
    assert group["pair"][...]["b"].tolist() == [2, 4, 6]
    assert [one.tolist() for one in group["many"][...]] == [[1], [], [2, 3]]
    assert group["letters"][...].tolist() == [b"a", b"b", b"c"]


def test_a_coordinate_of_another_shape(tmp_path):
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as ds:
        ds.createDimension("x", 2)
        ds.createDimension("y", 3)
        ds.createVariable("x", "f4", ("y", "x"))[:] = 1  # not a coordinate, though of that name
        ds.createVariable("y", "f4", ("y", "x"))[:] = 2
    group = opened(path)
    assert group["x"].dims == group["y"].dims == ("y", "x")


def test_dimensions_without_names_are_made_up(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as f:
        f["square"] = np.zeros((4, 4))
        f["line"] = np.zeros(4)
        f["g/other"] = np.zeros((5, 4))
    group = opened(path)
    with netCDF4.Dataset(path) as ds:
        assert group["square"].dims == ds["square"].dimensions
        assert group["line"].dims == ds["line"].dimensions
        assert group["g/other"].dims == ds["g/other"].dimensions


def test_scales_of_h5py(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as f:
        f["x"] = np.arange(4.0)
        f["x"].make_scale("x")
        f["v"] = np.zeros((3, 4))
        f["v"].dims[1].attach_scale(f["x"])
        f["v"].attrs["note"] = np.array([b"one", b"two"])
        f["v"].attrs["yes"] = True
        f["v"].attrs["none"] = h5py.Empty("f4")
        f["v"].attrs["nan"] = np.nan
        f["v"].attrs["bytes"] = np.bytes_(b"caf\xe9")
    group = opened(path)
    assert group["v"].dims[1] == "x"
    attrs = group["v"].attrs
    assert (attrs["note"], attrs["yes"], attrs["none"], attrs["bytes"]) == (["one", "two"], True, [], "café")
    assert np.isnan(attrs["nan"])
    assert not {"DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME"} & attrs.keys() | {*group["x"].attrs} - {
        "_ARRAY_DIMENSIONS"
    }


@pytest.mark.parametrize(
    ("attribute", "stored", "written", "expected"),
    [
        (None, None, True, None),
        (None, 9, True, None),
        (None, 9, False, 9),
        (None, 0, False, None),
        (5, 5, False, 5),
        (5, 9, True, 5),
        (5, 9, False, 9),
        (5, None, False, None),
    ],
)
def test_fill_values(tmp_path, attribute, stored, written, expected):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as f:
        v = f.create_dataset("v", (4,), "i4", chunks=(2,), fillvalue=stored)
        v[: 4 if written else 2] = 1
        if attribute is not None:
            v.attrs["_FillValue"] = np.int32(attribute)
        values = v[...]
    array = opened(path)["v"]
    assert array.fill_value == expected
    assert array.attrs.get("_FillValue") == attribute
    np.testing.assert_array_equal(array[...], values)


def test_parts_of_a_file(weather):
    assert {name for name, _ in opened(weather, Options(only=("t2m", "l*"))).arrays()} == {"t2m", "lat", "lon", "late"}
    assert "name" in opened(weather, Options(skip=("t2m", "stations/height")))["stations"]
    part = opened(weather, Options(group="stations", skip=("name",)))
    assert [name for name, _ in part.arrays()] == ["height"]
    assert part["height"].dims == ("station", "lat")
    with pytest.raises(NotFoundError, match="nowhere"):
        references(weather, Options(group="nowhere"))
    with pytest.raises(NotFoundError, match="rain"):
        references(weather, Options(only=("rain",)))


def test_errors_are_collected(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as f:
        f["good"] = 1
        f.create_dataset("g/bad", data=[f["good"].ref], dtype=h5py.ref_dtype)
        f.create_dataset("worse", data=[f["good"].ref], dtype=h5py.ref_dtype)
    with pytest.raises(UnsupportedError, match=r"2 variables: worse: .*; g/bad: .*") as caught:
        references(path)
    assert caught.value.hint == """Leave them out by skip=('worse', 'g/bad',), or by on_error="drop"."""
    assert [name for name, _ in opened(path, Options(skip=("worse", "g/bad"))).arrays()] == ["good"]
    with pytest.warns(OmnizarrWarning, match="g/bad"):
        assert [name for name, _ in opened(path, Options(on_error="drop")).arrays()] == ["good"]
    # Who opens the file itself has no such options.
    with pytest.raises(UnsupportedError) as caught:
        oz.open(path)
    assert (caught.value.hint or "").startswith("omnizarr.refs.scan(")
    assert "oz refs scan --drop" in cure_of(caught.value.hint or "", ())


def test_raw_chunks_longer_than_their_dimension(tmp_path):
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as ds:
        ds.createDimension("time", None)
        ds.createDimension("x", 7)
        ds.createVariable("time", "f8", ("time",))[:] = np.arange(3)
        ds.createVariable("v", "i4", ("time", "x"), chunksizes=(10, 4))[:] = np.arange(21).reshape(3, 7)
    group = opened(path)
    assert group["time"].chunks == (3,)
    assert group["v"].chunks == (3, 4)
    assert (references(path).arrays["time"].urls == INLINE).all()
    np.testing.assert_array_equal(group["time"][...], np.arange(3))
    np.testing.assert_array_equal(group["v"][...], np.arange(21).reshape(3, 7))
