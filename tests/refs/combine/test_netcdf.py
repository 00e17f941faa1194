"""Real netCDF-4 files put together, against xarray."""

from __future__ import annotations

import netCDF4
import numpy as np
import pytest
import xarray as xr

import omnizarr as oz
from omnizarr.errors import MetadataError
from omnizarr.model.grid import RectilinearGrid, RegularGrid
from omnizarr.refs.combining.assembling import combine
from omnizarr.refs.scanners.many import scan


def write(path, start, *, length=4, chunks=(2, 5, 6), units="hours since 2000-01-01", scale=0.5, seed=0):
    """One file, as models write them."""
    rng = np.random.default_rng(start + seed)
    with netCDF4.Dataset(path, "w") as file:
        file.title = "a test"
        file.history = f"written as {path.name}"
        for name, size in (("time", None), ("y", 5), ("x", 6), ("two", 2)):
            file.createDimension(name, size)
        time = file.createVariable("time", "f8", ("time",), chunksizes=(512,))
        time.units, time.calendar, time.bounds = units, "standard", "time_bnds"
        time[:] = np.arange(length) * 6.0
        bounds = file.createVariable("time_bnds", "f8", ("time", "two"))
        bounds[:] = np.stack([np.arange(length) * 6.0 - 3, np.arange(length) * 6.0 + 3], 1)
        lat = file.createVariable("lat", "f4", ("y", "x"), zlib=True)
        lat[:] = np.arange(30.0).reshape(5, 6)
        packed = {"zlib": True, "shuffle": True, "chunksizes": chunks, "fill_value": -999}
        field = file.createVariable("t2m", "i2", ("time", "y", "x"), **packed)
        field.scale_factor, field.add_offset, field.units, field.coordinates = scale, 273.0, "K", "lat"
        field.set_auto_maskandscale(False)
        field[:] = rng.integers(-900, 900, (length, 5, 6))
        raw = file.createVariable("rain", "f4", ("time", "y", "x"))
        raw[:] = rng.random((length, 5, 6))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of a day each, which count hours since their own day."""
    place = tmp_path_factory.mktemp("days")
    for day in range(24):
        date = np.datetime64("2000-01-01") + day
        write(place / f"{date}.nc", day, units=f"hours since {date}")
    return place


def compare(kit, made, files):
    """Every variable, as xarray puts the files together, decoded and not."""
    group = kit.opened(made)
    plain = {"data_vars": "minimal", "coords": "minimal", "compat": "override", "join": "override"}
    with xr.open_mfdataset(files, combine="nested", concat_dim="time", mask_and_scale=False, **plain) as ds:
        for name in ("t2m", "rain", "lat"):
            np.testing.assert_array_equal(group[name][...], ds[name].values)
        np.testing.assert_array_equal(group["t2m"][:, 3, 2], ds["t2m"][:, 3, 2].values)
        times = {name: group[name] for name in ("time", "time_bnds")}
        variables = {name: (one.metadata.dims, one[...], dict(one.attrs)) for name, one in times.items()}
        decoded = xr.decode_cf(xr.Dataset(variables))
        np.testing.assert_array_equal(decoded["time"].values, ds["time"].values)
        np.testing.assert_array_equal(decoded["time_bnds"].values, ds["time_bnds"].values)
    return group


@pytest.mark.parametrize("inline", [0, 500])
def test_many_files(kit, folder, inline):
    files = sorted(folder.glob("*.nc"))
    sets = scan(files, inline=inline, workers=1)
    order = np.random.default_rng(1).permutation(len(files))
    group = compare(kit, combine([sets[n] for n in order], concat="time"), files)
    assert group["t2m"].metadata.grid == RegularGrid((2, 5, 6))
    assert group["t2m"].metadata.format == "zarr2"
    assert group["time"].shape == (96,)
    assert group.attrs["title"] == "a test"
    assert "history" not in group.attrs


@pytest.mark.parametrize("change", [{"chunks": (4, 5, 6)}, {"chunks": (3, 5, 6)}, {"length": 3}])
def test_one_file_is_cut_otherwise(kit, folder, tmp_path, change):
    files = sorted(folder.glob("*.nc"))[:6]
    other = tmp_path / "2000-01-04.nc"
    write(other, 3, units="hours since 2000-01-04", **change)
    files[3] = other
    group = compare(kit, combine(scan(files), concat="time"), files)
    assert isinstance(group["t2m"].metadata.grid, RectilinearGrid)


def test_scale_factors_that_differ(folder, tmp_path):
    files = sorted(folder.glob("*.nc"))[:3]
    other = tmp_path / "odd.nc"
    write(other, 9, units="hours since 2000-02-01", scale=0.25)
    with pytest.raises(MetadataError) as caught:
        combine(scan([*files, other]), concat="time")
    assert "t2m: scale_factor" in str(caught.value)
    assert f"0.25  {other}" in str(caught.value)


def test_paths_are_scanned(kit, folder):
    files = sorted(folder.glob("*.nc"))[:3]
    group = kit.opened(combine(files, concat="time"))
    assert group["t2m"].shape == (12, 5, 6)


def test_variables_without_dimensions_are_open_to_other_readers(tmp_path):
    """xarray opens no set in which one of them lacks its list of no dimensions."""
    for day in (1, 2):
        with netCDF4.Dataset(tmp_path / f"{day}.nc", "w") as file:
            file.createDimension("time", None)
            file.createVariable("time", "f8", ("time",))[:] = [day]
            file.createVariable("crs", "i4", ())[...] = 5
            file["crs"].grid_mapping_name = "mercator"
    made = oz.refs.combine(sorted(tmp_path.glob("*.nc")), concat="time")
    oz.refs.write(made, tmp_path / "days.json")
    with xr.open_dataset(str(tmp_path / "days.json"), engine="kerchunk") as ds:
        assert ds.crs.values == 5
        assert ds.time.values.tolist() == [1, 2]
