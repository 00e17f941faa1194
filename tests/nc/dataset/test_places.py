"""Places: folders, archives, mappings, files and bytes; modes; what is in them afterwards."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import netCDF4
import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import NotFoundError, StoreError


@pytest.fixture(params=["folder", "archive", "mapping", "netCDF-4", "netCDF-3"])
def place(request, tmp_path):
    """A place to write to, and the format of it."""
    return {
        "folder": (tmp_path / "a.zarr", "NETCDF4"),
        "archive": (tmp_path / "a.zip", "NETCDF4"),
        "mapping": ({}, "NCZARR3"),
        "netCDF-4": (tmp_path / "a.nc", "NETCDF4"),
        "netCDF-3": (tmp_path / "a.nc", "NETCDF3_64BIT_OFFSET"),
    }[request.param]


def create(where, model):
    with oz.Dataset(where, "w", format=model) as ds:
        ds.createDimension("t", None)
        ds.createDimension("x", 3)
        v = ds.createVariable("v", "i2", ("t", "x"), fill_value=-1)
        v[0:2] = [[1, 2, 3], [4, 5, 6]]
        v.units = "m"
        ds.createVariable("one", "f8", ())[...] = 1.5
        ds.title = "first"


def test_what_was_written_is_read(place):
    create(*place)
    with oz.Dataset(place[0]) as ds:
        assert ds["v"][:].tolist() == [[1, 2, 3], [4, 5, 6]]
        assert ds["v"].units == "m"
        assert ds["one"].getValue() == 1.5
        assert ds.dimensions["t"].isunlimited()
        assert ds.title == "first"


@pytest.mark.parametrize("mode", ["a", "r+"])
def test_appending_keeps_what_was_there(place, mode):
    create(*place)
    with oz.Dataset(place[0], mode) as ds:
        ds["v"][3] = 9
        ds.createVariable("w", "f4", ("t",))[:] = np.arange(4)
        ds.title = "second"
    with oz.Dataset(place[0]) as ds:
        assert ds["v"][:].filled(0).tolist() == [[1, 2, 3], [4, 5, 6], [0, 0, 0], [9, 9, 9]]
        assert ds["v"].units == "m"
        assert ds["w"][:].tolist() == [0, 1, 2, 3]
        assert ds.title == "second"


def test_appending_to_nothing_creates(place):
    where, model = place
    with oz.Dataset(where, "a", format=model) as ds:
        ds.title = "new"
    with oz.Dataset(where) as ds:
        assert ds.title == "new"


def test_creating_may_be_told_not_to_replace(place):
    where, model = place
    create(where, model)
    for options in ({"mode": "x"}, {"mode": "w", "clobber": False}):
        with pytest.raises(FileExistsError):
            oz.Dataset(where, format=model, **options)
    with oz.Dataset(where, "w", format=model) as ds:
        assert not ds.variables


def test_syncing_brings_everything_to_the_place(place):
    where, model = place
    with oz.Dataset(where, "w", format=model) as ds:
        ds.createDimension("x", 2)
        ds.createVariable("v", "i4", ("x",))[:] = [1, 2]
        ds.sync()
        if not str(where).endswith(".zip"):
            with oz.Dataset(where) as other:
                assert other["v"][:].tolist() == [1, 2]
        ds["v"][0] = 5
    with oz.Dataset(where) as ds:
        assert ds["v"][:].tolist() == [5, 2]


def test_netcdf4_reads_our_files(tmp_path):
    for model in ("NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"):
        path = tmp_path / f"{model}.nc"
        create(path, model)
        with netCDF4.Dataset(path) as ds:
            assert ds.data_model == model
            assert ds["v"][:].tolist() == [[1, 2, 3], [4, 5, 6]]
        with oz.Dataset(path) as ds:
            assert ds.data_model == model
            assert ds.disk_format == ("HDF5" if model.startswith("NETCDF4") else "NETCDF3")


@pytest.mark.parametrize(("name", "start"), [("a.nc", b"\x89HDF"), ("a.zarr", b"PK")])
def test_bytes_in_memory(name, start):
    ds = oz.Dataset(name, "w", memory=1000)
    ds.createDimension("x", 2)
    ds.createVariable("v", "i4", ("x",))[:] = [1, 2]
    content = ds.close()
    assert bytes(content[:4]).startswith(start)
    with oz.Dataset("nowhere", memory=content) as ds:
        assert ds["v"][:].tolist() == [1, 2]
        assert ds.filepath() == "nowhere"
    with pytest.raises(ValueError, match="memory"):
        oz.Dataset("x", "a", memory=content)


def test_a_dataset_without_a_disk_is_written_only_if_asked_for(tmp_path):
    for persist in (False, True):
        path = tmp_path / "a.nc"
        with oz.Dataset(path, "w", diskless=True, persist=persist) as ds:
            ds.title = "t"
            assert not path.exists()
        assert path.exists() == persist


@pytest.mark.parametrize("options", [{"mode": "q"}, {"mode": "w", "format": "GRIB"}, {"parallel": True}])
def test_arguments_that_mean_nothing_are_refused(options):
    with pytest.raises(ValueError):
        oz.Dataset({}, **options)


def test_nothing_there_is_an_os_error_with_the_name(tmp_path):
    with pytest.raises(OSError, match="nothing"):
        oz.Dataset(tmp_path / "nothing.nc")


def test_cdl_and_back(tmp_path):
    create(tmp_path / "a.zarr", "NETCDF4")
    with oz.Dataset(tmp_path / "a.zarr") as ds:
        text = ds.tocdl(data=True)
        assert "short v(t, x) ;" in text
        assert "data:" not in ds.tocdl()
        assert ds.tocdl(outfile=tmp_path / "a.cdl", data=True) is None
    with oz.Dataset.fromcdl(tmp_path / "a.cdl", tmp_path / "b.zarr") as ds:
        assert ds["v"][:].tolist() == [[1, 2, 3], [4, 5, 6]]
        assert ds.title == "first"
    with pytest.raises(FileExistsError):
        oz.Dataset.fromcdl(tmp_path / "a.cdl", tmp_path / "b.zarr")
    with pytest.raises(FileNotFoundError):
        oz.Dataset.fromcdl(tmp_path / "nothing.cdl")
    with pytest.raises(ValueError):
        oz.Dataset.fromcdl(tmp_path / "a.cdl", tmp_path / "c.zarr", format="GRIB")


def test_many_are_read_as_one(tmp_path):
    for at in range(3):
        with oz.Dataset(tmp_path / f"{at}.zarr", "w") as ds:
            ds.createDimension("t", None)
            ds.createDimension("x", 2)
            v = ds.createVariable("v", "i4", ("t", "x"))
            v[0 : at + 1] = np.arange(2 * at + 2).reshape(-1, 2) + 100 * at
            v[0, 0] = np.ma.masked
            ds.createVariable("x", "f4", ("x",))[:] = [1, 2]
            ds.title = f"number {at}"
    whole = np.concatenate([np.arange(2 * at + 2).reshape(-1, 2) + 100 * at for at in range(3)])
    with oz.MFDataset(str(tmp_path / "*.zarr"), check=True) as ds:
        v = ds.variables["v"]
        assert v.shape == whole.shape == (6, 2)
        assert len(ds.dimensions["t"]) == 6
        assert ds.title == "number 0"
        for index in np.s_[:, 2, -1, 1:5, ::2, ::-1, [5, 0, 3], (slice(None), 1), (4, 0)]:
            np.testing.assert_array_equal(np.ma.filled(v[index], -1), np.where(mask(whole), -1, whole)[index])
        assert ds.variables["x"][:].tolist() == [1, 2]
    with pytest.raises(OSError, match="no files"):
        oz.MFDataset(str(tmp_path / "nothing*"))
    with pytest.raises(OSError, match="aggregation dimension"):
        oz.MFDataset(str(tmp_path / "*.zarr"), aggdim="nowhere")


def mask(whole):
    found = np.zeros(whole.shape, bool)
    found[[0, 1, 3], 0] = True
    return found


def test_times_of_many_get_the_same_units():
    from omnizarr.netcdf4 import MFTime, date2index, date2num, num2date

    places: list[dict[str, bytes]] = [{}, {}]
    for at, place in enumerate(places):
        with oz.Dataset(place, "w") as ds:
            ds.createDimension("t", None)
            t = ds.createVariable("t", "i4", ("t",))
            t.units, t.calendar = f"days since 2000-0{at + 1}-01", "standard"
            t[:] = np.arange(2)
    with oz.MFDataset(places) as ds:
        time = MFTime(ds.variables["t"])
        assert time[:].tolist() == [0, 1, 31, 32]
        assert time.units == "days since 2000-01-01"
        dates = num2date(time[:], time.units, time.calendar)
        assert str(dates[2]) == "2000-02-01 00:00:00"
        assert date2num(dates[2], time.units, time.calendar) == 31
        assert date2index(dates[2], time) == 2


def test_options_of_writing(tmp_path):
    with oz.Dataset(tmp_path / "x.zarr", "w", xarray=False, separator="/", consolidated=True) as ds:
        ds.createDimension("t", 4)
        ds.createVariable("v", "i4", ("t",))[:] = range(4)
    written = {path.relative_to(tmp_path / "x.zarr").as_posix() for path in (tmp_path / "x.zarr").rglob("*")}
    assert ".zmetadata" in written
    assert "_ARRAY_DIMENSIONS" not in (tmp_path / "x.zarr/v/.zattrs").read_text()
    assert json.loads((tmp_path / "x.zarr/v/.zarray").read_text())["dimension_separator"] == "/"
    with oz.Dataset(tmp_path / "d.zarr", "w", diskless=True, persist=True, consolidated=True) as ds:
        ds.createDimension("t", 4)
    assert (tmp_path / "d.zarr/.zmetadata").exists()


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        (("x.zarr", "w", "separators"), TypeError, "unexpected keyword argument 'separators'"),
        (("x.zarr", "r", "separator"), ValueError, "an option of writing"),
        (("x.zarr", "a", "separator"), ValueError, "is there already"),
        (("x.nc", "w", "separator"), ValueError, "an option of Zarr"),
    ],
)
def test_options_that_say_nothing_are_refused(tmp_path, given, error, said):
    oz.Dataset(tmp_path / "x.zarr", "w").close()
    name, mode, option = given
    with pytest.raises(error, match=said):
        oz.Dataset(tmp_path / name, mode, **{option: "/"})
    assert not (tmp_path / "x.nc").exists()


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_CLASSIC"])
def test_files_that_cannot_be_written_are_named(tmp_path, monkeypatch, form):
    with pytest.raises(NotFoundError, match="there is no folder") as caught:
        oz.Dataset(tmp_path / "no" / "x.nc", "w", format=form)
    assert caught.value.path == str(tmp_path / "no" / "x.nc")
    (tmp_path / "x.nc").mkdir()
    with pytest.raises(OSError, match="the file cannot be written") as caught:
        oz.Dataset(tmp_path / "x.nc", "w", format=form)
    assert isinstance(caught.value, StoreError)

    def refused(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "write_bytes", refused)  # whoever runs the tests may be allowed everything
    with pytest.raises(
        PermissionError, match=r"cannot be written: Permission denied(.|\n)*take another place"
    ) as caught:
        oz.Dataset(tmp_path / "y.nc", "w", format=form)
    assert isinstance(caught.value, StoreError)
    assert caught.value.errno == errno.EACCES
    assert caught.value.path == str(tmp_path / "y.nc")
