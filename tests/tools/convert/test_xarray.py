"""Files become Zarr that xarray opens, with the values, masks and attributes it finds in the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.format.fill_attribute import as_v2, as_v3

netcdf4 = pytest.importorskip("netCDF4")
xr = pytest.importorskip("xarray")

pytestmark = pytest.mark.filterwarnings("ignore")

NUMBERS = {
    "halves": ("f8", -9.5, [1, -9.5, 3, 4]),
    "gaps": ("f4", np.nan, [1, np.nan, 3, 4]),
    "edge": ("f8", np.inf, [1, np.inf, 3, 4]),
    "packed": ("i2", -3, [1, -3, 3, 4]),
    "flags": ("u1", 255, [1, 255, 3, 4]),
    "plain": ("i8", None, [1, 0, 3, 4]),
    "bare": ("f4", None, [1, 0, 3, 4]),
}


def write(path: Path, *, text: bool = True) -> Path:
    """Write one variable of each kind: with a value for "missing" in use, and without."""
    with netcdf4.Dataset(path, "w") as file:
        file.createDimension("t", 4)
        file.createDimension("n", 3)
        for name, (kind, fill, values) in NUMBERS.items():
            var = file.createVariable(name, kind, ("t",), fill_value=fill)
            var.set_auto_maskandscale(False)
            var[:] = np.array(values, kind)
        file["packed"].scale_factor = 0.5
        file["gaps"].missing_value = np.float32(4)
        if text:
            file.createVariable("words", str, ("t",))[:] = np.array(["a", "bé", "", "d"], object)
            letters = np.array([list("abc"), list("def"), list("gxx"), list("xyz")], "S1")
            file.createVariable("letters", "S1", ("t", "n"))[:] = letters
            file.createVariable("filled", "S1", ("t", "n"), fill_value=b"x")[:] = letters
    return path


def same(path: Path, made: Path) -> None:
    """Assert that xarray finds the same in both."""
    with xr.open_dataset(path) as file, xr.open_zarr(made, consolidated=False) as zarr:
        assert set(file.variables) == set(zarr.variables)
        for name in file.variables:
            xr.testing.assert_identical(file[name].load(), zarr[name].load())


@pytest.mark.parametrize("form", ["zarr2", "zarr3"])
def test_converted_files(tmp_path: Path, form: Any) -> None:
    source = write(tmp_path / "x.nc")
    oz.convert(source, tmp_path / "y.zarr", format=form)
    same(source, tmp_path / "y.zarr")


def test_converted_there_and_back(tmp_path: Path) -> None:
    source = write(tmp_path / "x.nc")
    oz.convert(source, tmp_path / "3.zarr", format="zarr3")
    oz.convert(tmp_path / "3.zarr", tmp_path / "2.zarr", format="zarr2")
    group = oz.open(tmp_path / "2.zarr")
    assert {name: group[name].attrs.get("_FillValue") for name in ("halves", "packed", "bare")} == {
        "halves": -9.5,
        "packed": -3,
        "bare": None,
    }


def test_copied_files(tmp_path: Path) -> None:
    # Without text: NCZarr stores it as bytes of fixed length, and characters as a type zarr-python does not know.
    source = write(tmp_path / "x.nc", text=False)
    oz.copy(source, tmp_path / "y.zarr")
    same(source, tmp_path / "y.zarr")


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("f4", 0.5, "AAAAAAAA4D8="),
        ("f8", 2, "AAAAAAAAAEA="),
        ("i2", -3, -3),
        ("S1", "x", "eA=="),
        ("O", "none", "none"),
    ],
)
def test_spelling(kind: str, old: Any, new: Any) -> None:
    dtype = np.dtype(kind)
    assert as_v3({"a": 1, "_FillValue": old}, dtype) == {"a": 1, "_FillValue": new}
    assert as_v2({"a": 1, "_FillValue": new}, dtype) == {"a": 1, "_FillValue": old}


@pytest.mark.parametrize("value", [True, None, "AAAA", "no base64", [1.0, 2.0], {}])
def test_what_is_no_number_stays(value: Any) -> None:
    assert as_v3({"_FillValue": value}, np.dtype("f4")) == {"_FillValue": value}
    assert as_v2({"_FillValue": value}, np.dtype("f4")) == {"_FillValue": value}


def test_the_same_fill_value_is_said_once() -> None:
    assert as_v3({"_FillValue": "x"}, np.dtype("S2"), b"x\0") == {}
    assert as_v3({"_FillValue": "x"}, np.dtype("S2"), b"y\0") == {"_FillValue": "eA=="}


MASKED: dict[str, tuple[str, Any, list[Any]]] = {
    "counts": ("i4", -9, [1, -9, 3]),
    "bytes": ("u1", 255, [1, 255, 0]),
    "reals": ("f4", -0.5, [1, -0.5, 3]),
    "gaps": ("f8", np.nan, [1, np.nan, 3]),
    "waves": ("c8", 1j, [1, 1j, 3]),
    "open": ("i4", None, [1, 0, 3]),
}


@pytest.mark.parametrize("in_place", [False, True])
def test_masks_that_only_the_fill_value_says(tmp_path: Path, in_place: bool) -> None:
    """As xarray writes v2: the fill value is the mask, and there is no attribute."""
    source, made = tmp_path / "2.zarr", tmp_path / "3.zarr"
    arrays = {name: ("x", np.array(values, kind)) for name, (kind, _, values) in MASKED.items()}
    dataset = xr.Dataset(arrays)
    for name, (_, fill, _) in MASKED.items():
        dataset[name].encoding["_FillValue"] = fill
    dataset.to_zarr(source, zarr_format=2)
    with xr.open_zarr(source) as found:
        expected = found.load()
    assert expected["counts"].isnull().values.tolist() == [False, True, False]
    if in_place:
        oz.convert(source, format="zarr3")
        made = source
    else:
        oz.convert(source, made, format="zarr3")
    with xr.open_zarr(made, zarr_format=3, consolidated=False) as found:
        xr.testing.assert_identical(found.load(), expected)


def test_fill_values_without_dimensions_are_no_masks(tmp_path: Path) -> None:
    group = oz.create_group(tmp_path / "2.zarr", format="zarr2")
    group.create_array("a", data=np.arange(3), fill_value=1)
    oz.convert(tmp_path / "2.zarr", tmp_path / "3.zarr", format="zarr3")
    assert dict(oz.open(tmp_path / "3.zarr")["a"].attrs) == {}


def test_variables_without_dimensions_stay_open_to_xarray(tmp_path: Path) -> None:
    """A grid mapping, say: v3 has no names for no dimensions, and xarray opens no group of v2 that lacks the list."""
    dataset = xr.Dataset({"crs": ((), 0, {"grid_mapping_name": "mercator"}), "a": ("x", [1, 2])})
    dataset.to_zarr(tmp_path / "3.zarr", zarr_format=3, consolidated=False)
    oz.convert(tmp_path / "3.zarr", tmp_path / "2.zarr", format="zarr2")
    with xr.open_dataset(tmp_path / "2.zarr", engine="zarr", consolidated=False) as found:
        assert found.crs.attrs == {"grid_mapping_name": "mercator"}
        assert found.a.values.tolist() == [1, 2]
    assert oz.diff(tmp_path / "3.zarr", tmp_path / "2.zarr").same


def test_arrays_made_without_dimensions_are_open_to_xarray(tmp_path: Path) -> None:
    group = oz.create_group(tmp_path / "2.zarr", format="zarr2")
    group.create_array("crs", data=np.int32(5), dims=())
    with xr.open_dataset(tmp_path / "2.zarr", engine="zarr", consolidated=False) as found:
        assert found.crs.values == 5
