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


def dataset_of_zeros() -> tuple[Any, dict[str, Any]]:
    """A dataset in which zeros are values like all others, and how it is packed."""
    days = np.arange("2000-01-01", "2000-01-04", dtype="M8[D]").astype("M8[ns]")
    arrays = {
        "n": np.array([0, 1, 2]),
        "p": np.array([0.0, 1.0, np.nan]),
        "f": np.array([0.0, 1.0, np.nan], "f4"),
        "g": np.array([0.0, -9.0, np.nan], "f4"),
        "b": np.array([False, True, True]),
        "c": np.array([0, 1j, 2]),
        "s": np.array(["", "a", "b"], object),
        "S": np.array([b"", b"a", b"b"], "S1"),
    }
    data: dict[str, Any] = {name: ("time", values) for name, values in arrays.items()}
    dataset = xr.Dataset({**data, "run": ((), 0)}, coords={"time": days})
    return dataset, {"p": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -999}, "f": {"_FillValue": -1.5}}


def opened(place: Path, engine: str) -> Any:
    more = {"consolidated": False} if engine == "zarr" else {}
    with xr.open_dataset(place, engine=engine, **more) as found:
        return found.load()


@pytest.mark.parametrize("in_place", [False, True])
def test_zeros_of_v3_are_zeros_in_v2(tmp_path: Path, in_place: bool) -> None:
    """In v2 xarray masks by the fill value, which in v3 is zero and means nothing to it."""
    dataset, packed = dataset_of_zeros()
    source, wanted, made = tmp_path / "3.zarr", tmp_path / "2.zarr", tmp_path / "made.zarr"
    dataset.to_zarr(source, zarr_format=3, consolidated=False, encoding=packed)
    dataset.to_zarr(wanted, zarr_format=2, consolidated=False, encoding=packed)
    if in_place:
        made = source
    plan = oz.convert(source, None if in_place else made, format="zarr2", dry_run=True)
    done = oz.convert(source, None if in_place else made, format="zarr2", verify=True)
    assert done.nodes == plan.nodes
    notes = {node.path: " ".join(node.notes) for node in done.nodes}
    assert "becomes null, which reads as the same" in notes["time"]
    assert "becomes -999, as the attribute _FillValue has it" in notes["p"]
    for engine in ("zarr", "omnizarr"):
        xr.testing.assert_identical(opened(made, engine), opened(wanted, engine))
        xr.testing.assert_equal(opened(made, engine), dataset)
    one, other = oz.open_group(made), oz.open_group(wanted)
    for name in ("n", "p", "b", "s", "time", "run"):
        assert one[name].fill_value == other[name].fill_value


SPARSE: dict[str, tuple[dict[str, Any], Any, tuple[str, str]]] = {
    "packed": ({"dtype": "i2", "fill_value": 0, "attrs": {"_FillValue": -999}}, None, ("copy", "documents")),
    "reals": ({"dtype": "f4", "fill_value": np.nan, "attrs": {"_FillValue": -2.0}}, -2.0, ("recode", "recode")),
    "other": ({"dtype": "i4", "fill_value": 5, "attrs": {"_FillValue": -999}}, -999, ("recode", "recode")),
    "unmasked": ({"dtype": "i4", "fill_value": 5}, 5, ("copy", "documents")),
    "nothing": ({"dtype": "u1", "fill_value": 0}, None, ("copy", "documents")),
}


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("name", SPARSE)
def test_missing_chunks_read_as_before(tmp_path: Path, name: str, in_place: bool) -> None:
    options, fill, how = SPARSE[name]
    source, made = tmp_path / "3.zarr", tmp_path / "2.zarr"
    array = oz.create_group(source).create_array(
        "a", shape=(6,), chunks=(2,), dims=("x",), chunk_keys={"name": "v2"}, **options
    )
    array[:2] = [1, options.get("attrs", {}).get("_FillValue", 2)]
    before, seen = array[...], opened(source, "omnizarr")
    done = oz.convert(source, None if in_place else made, format="zarr2", verify=True)
    found = oz.open_array((source if in_place else made) / "a")
    assert done.nodes[1].how == how[in_place]
    assert found.fill_value == fill
    assert found[...].tobytes() == before.tobytes()
    if name != "unmasked":
        for engine in ("zarr", "omnizarr"):
            xr.testing.assert_equal(opened(source if in_place else made, engine), seen)


def test_fill_values_that_nothing_holds_need_not_be_known(tmp_path: Path) -> None:
    """Where no chunk is missing, whole or in a shard, no one needs the fill value."""
    group = oz.create_group(tmp_path / "3.zarr")
    group.create_array("a", data=[5, 6, 7, 8], chunks=(2,), dims=("x",), fill_value=5)
    group.create_array("b", shape=(4,), dtype="i4", chunks=(2,), shards=(4,), dims=("x",), fill_value=5)[:2] = [1, 2]
    group.create_array("plain", data=[5, 6], fill_value=5)
    group.create_array("complex", data=[0, 1j], dims=("z",), fill_value=0, attrs={"_FillValue": ["AAAAAAAA4D8="] * 2})
    oz.convert(tmp_path / "3.zarr", tmp_path / "2.zarr", format="zarr2", verify=True)
    made = oz.open_group(tmp_path / "2.zarr")
    assert [made[name].fill_value for name in ("a", "b", "plain", "complex")] == [None, None, 5, 0.5 + 0.5j]
    assert made["b"][...].tolist() == [1, 2, 5, 5]


def test_masks_come_back_from_v2(tmp_path: Path) -> None:
    dataset, packed = dataset_of_zeros()
    dataset.to_zarr(tmp_path / "a.zarr", zarr_format=3, consolidated=False, encoding=packed)
    oz.convert(tmp_path / "a.zarr", tmp_path / "b.zarr", format="zarr2")
    oz.convert(tmp_path / "b.zarr", tmp_path / "c.zarr", format="zarr3")
    xr.testing.assert_identical(opened(tmp_path / "a.zarr", "zarr"), opened(tmp_path / "c.zarr", "zarr"))
