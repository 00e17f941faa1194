"""Sets of Zarr v3: fill values are those of the files, and readers see what they see in the files."""

from __future__ import annotations

import json

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import MetadataError, OmnizarrError

h5py = pytest.importorskip("h5py")
netcdf4 = pytest.importorskip("netCDF4")
xr = pytest.importorskip("xarray")

VARIABLES = {
    "filled": ("f4", -9.0, np.array([[1.5, -9.0], [0.0, 2.0]])),
    "not_a_number": ("f8", np.nan, np.array([[1.0, np.nan], [0.0, 2.0]])),
    "usual_fill": ("i2", None, np.array([[-32767, 1], [2, 3]])),
    "packed": ("u1", 255, np.array([[0, 255], [2, 3]])),
    "big": (">i4", 7, np.array([[7, 1], [2, 3]])),
    "letters": ("S1", b"z", np.array([[b"a", b"b"], [b"c", b"d"]])),
    "text": (str, None, np.array([["a", "bc"], ["", "d"]], object)),
}


@pytest.fixture(scope="module")
def weather(tmp_path_factory):
    """A file with variables whose fill value is an attribute, or only the library's, or not a number."""
    path = tmp_path_factory.mktemp("zarr3") / "weather.nc"
    with netcdf4.Dataset(path, "w") as file:
        file.set_auto_maskandscale(False)
        file.createDimension("y", 2)
        file.createDimension("x", 2)
        for name, (kind, fill, values) in VARIABLES.items():
            order = "big" if name == "big" else "native"
            how = {"fill_value": fill, "zlib": kind is not str, "endian": order}
            file.createVariable(name, kind, ("y", "x"), **how)[:] = values
        file.createVariable("unwritten", "f4", ("y", "x"), chunksizes=(1, 2))[0] = [1.0, 2.0]
        file.createVariable("scalar", "i4", ())[...] = 3
        file["packed"].scale_factor = 0.5
        file.createGroup("inner").createVariable("v", "f8", ("x",))[:] = [1.0, 2.0]
    return path


def documents(references):
    return {key: json.loads(text) for key, text in references.documents.items()}


def test_fill_values_are_those_of_the_file(weather):
    found = documents(oz.refs.scan(weather, format="zarr3"))
    assert {key.rpartition("/")[2] for key in found} == {"zarr.json"}
    with h5py.File(weather) as file:
        for name in ("filled", "usual_fill", "packed", "big", "unwritten", "scalar", "inner/v"):
            assert found[f"{name}/zarr.json"]["fill_value"] == file[name].fillvalue, name
    assert found["not_a_number/zarr.json"]["fill_value"] == "NaN"
    assert found["filled/zarr.json"]["dimension_names"] == ["y", "x"]
    assert "_FillValue" not in found["usual_fill/zarr.json"]["attributes"]


@pytest.mark.parametrize("engine", ["omnizarr", "zarr"])
def test_xarray_reads_what_it_reads_of_the_file(weather, tmp_path, engine):
    if engine == "zarr":
        pytest.importorskip("fsspec")
        pytest.importorskip("zarr", minversion="3")
    oz.refs.write(oz.refs.scan(weather, format="zarr3"), tmp_path / "set.json")
    options = {"storage_options": {"fo": str(tmp_path / "set.json")}, "consolidated": False, "zarr_format": 3}
    how = {"allow": [str(weather.parent)]} if engine == "omnizarr" else {"backend_kwargs": options}
    place = tmp_path / "set.json" if engine == "omnizarr" else "reference://"
    with xr.open_dataset(weather, engine="netcdf4") as expected, xr.open_dataset(place, engine=engine, **how) as found:
        assert set(found.variables) == set(expected.variables)
        for name in expected.variables:
            xr.testing.assert_identical(found[name].load(), expected[name].load())


@pytest.mark.parametrize("fill", [42, 0])
def test_elements_that_were_never_written_are_not_missing(tmp_path, fill):
    """Without `_FillValue`, xarray takes the fill value of v2 for a mask, and that of v3 for a number."""
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("v", (4,), "i4", chunks=2, fillvalue=fill)[:2] = [1, 2]
    oz.refs.write(oz.refs.scan(tmp_path / "x.h5", format="zarr3"), tmp_path / "x.json")
    assert oz.open(tmp_path / "x.json")["v"].fill_value == fill
    with xr.open_dataset(tmp_path / "x.json", engine="omnizarr") as found:
        assert (found.v.dtype, found.v.values.tolist()) == (np.dtype("i4"), [1, 2, fill, fill])


def _classic(folder):
    with netcdf4.Dataset(folder / "x.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("x", 3)
        file.createVariable("v", "f4", ("x",), fill_value=2.0)[:] = [1.0, 2.0, 3.0]
        file.createVariable("w", "i2", ("x",))[:] = [1, 2, 3]
    return folder / "x.nc"


def _zarr(folder):
    group = oz.create_group(folder / "x.zarr", format="zarr2")
    made = group.create_array("inner/v", data=np.array([1, 2, 3]), fill_value=2, dims=["x"], chunks=2)
    made.attrs["units"] = "K"
    return folder / "x.zarr"


def _set(folder):
    oz.refs.write(oz.refs.scan(_classic(folder)), folder / "set.json")
    found = json.loads((folder / "set.json").read_text())
    texts = {key: json.loads(text) for key, text in found["refs"].items() if "/.z" in f"/{key}"}
    found["refs"][".zmetadata"] = json.dumps({"metadata": texts, "zarr_consolidated_format": 1})
    (folder / "set.json").write_text(json.dumps(found))
    return folder / "set.json"


@pytest.mark.parametrize("make", [_classic, _zarr, _set], ids=["netCDF-3", "Zarr v2", "set"])
def test_other_formats_say_the_same_in_both(tmp_path, make):
    """What the fill value of v2 means to xarray is an attribute in v3."""
    place = make(tmp_path)
    trees = []
    for name, options in (("old", {}), ("new", {"format": "zarr3"})):
        references = oz.refs.scan(place, **options)
        oz.refs.write(references, tmp_path / f"{name}.json")
        trees.append(xr.open_datatree(tmp_path / f"{name}.json", engine="omnizarr", allow=[str(tmp_path)]))
    assert {key.rpartition("/")[2] for key in documents(references)} == {"zarr.json"}
    xr.testing.assert_identical(*(tree.map_over_datasets(lambda one: one.load()) for tree in trees))


def test_combined_sets_keep_it(tmp_path):
    for number in (0, 1):
        with h5py.File(tmp_path / f"{number}.h5", "w") as file:
            file["time"] = np.arange(2) + 2 * number
            file["time"].make_scale("time")
            file.create_dataset("v", (2, 600), "i4", chunks=(1, 600), fillvalue=9)[number:] = 5
            file["v"].dims[0].attach_scale(file["time"])
    files = [tmp_path / "1.h5", tmp_path / "0.h5"]
    made = oz.refs.combine(files, concat="time", scan=oz.refs.Options(format="zarr3"))
    assert documents(made)["v/zarr.json"]["fill_value"] == 9
    oz.refs.write(made, tmp_path / "all.json")
    assert oz.open(tmp_path / "all.json")["v"][:, 0].tolist() == [5, 5, 9, 5]


def test_other_names_are_refused(weather):
    with pytest.raises(MetadataError, match="'zarr2', which is not 'zarr3'"):
        oz.refs.scan(weather, format="zarr2")
    with pytest.raises(OmnizarrError, match="'n5'"):
        oz.refs.scan([weather], format="n5")


def test_results_are_kept_apart(weather, tmp_path):
    kept = [oz.refs.scan(weather, cache=tmp_path, **how) for how in ({}, {"format": "zarr3"}, {})]
    assert [".zgroup" in one.documents for one in kept] == [True, False, True]
