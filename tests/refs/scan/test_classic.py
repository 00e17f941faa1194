"""netCDF-3 files through references are what netCDF4 reads."""

from __future__ import annotations

import netCDF4
import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import CorruptError, NotFoundError
from omnizarr.refs.scanners.classic import scan
from omnizarr.refs.scanners.source import DEFAULTS, Options, SourceFile
from omnizarr.refset.store import store_of

FORMATS = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]
TYPES = ["i1", "i2", "i4", "f4", "f8", "S1"]
NEW_TYPES = ["u1", "u2", "u4", "i8", "u8"]


def opened(path, options=DEFAULTS):
    return oz.open(store_of(scan(SourceFile(path), options), uri="example", allow=["*"]))


def make(path, form, records=5, kinds=None):
    rng = np.random.default_rng(1)
    with netCDF4.Dataset(path, "w", format=form) as ds:
        ds.title = "an example"
        ds.numbers = np.array([1.5, np.nan], "f4")
        ds.createDimension("t", None)
        ds.createDimension("x", 3)
        ds.createDimension("y", 7)
        for kind in kinds or TYPES:
            for name, dims in (("scalar", ()), ("fixed", ("y", "x")), ("record", ("t", "x")), ("line", ("t",))):
                var = ds.createVariable(
                    f"{name}_{kind}", kind, dims, fill_value=None if name == "line" else 7 if kind != "S1" else b"?"
                )
                var.units = "m"
                var.set_auto_maskandscale(False)
                var.set_auto_chartostring(False)
                shape = tuple(records if dim == "t" else {"x": 3, "y": 7}[dim] for dim in dims)
                var[...] = (
                    rng.integers(0, 100, shape).astype("u1").astype(kind)
                    if kind != "S1"
                    else rng.integers(97, 120, shape).astype("u1").view("S1").reshape(shape)
                )


@pytest.mark.parametrize("inline", [0, 500])
@pytest.mark.parametrize("form", FORMATS)
def test_every_type_and_place(tmp_path, form, inline):
    path = tmp_path / "a.nc"
    make(path, form, kinds=TYPES + (NEW_TYPES if form.endswith("DATA") else []))
    group = opened(path, Options(inline=inline))
    assert group.attrs["title"] == "an example"
    with netCDF4.Dataset(path) as ds:
        ds.set_auto_maskandscale(False)
        ds.set_auto_chartostring(False)
        assert {name for name, _ in group.arrays()} == set(ds.variables)
        for name, var in ds.variables.items():
            array = group[name]
            np.testing.assert_array_equal(array[...], np.asarray(var[...]), err_msg=name)
            assert (array.dims or ()) == var.dimensions
            assert array.attrs["units"] == "m"


@pytest.mark.parametrize("records", [0, 1, 3])
def test_a_single_record_variable_is_not_padded(tmp_path, records):
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as ds:
        ds.createDimension("t", None)
        ds.createDimension("x", 3)
        ds.createVariable("v", "i2", ("t", "x"))[:records] = np.arange(3 * records).reshape(records, 3)
    array = opened(path, Options(inline=0))["v"]
    np.testing.assert_array_equal(array[...], np.arange(3 * records).reshape(records, 3))
    assert array.metadata.grid.counts(array.shape) == ((1, 1) if records else (0, 1))


def test_large_variables_are_cut(tmp_path):
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as ds:
        ds.createDimension("y", 96)
        ds.createDimension("x", 1 << 17)
        ds.createVariable("v", "f4", ("y", "x"))[...] = np.arange(96)[:, None]
    array = opened(path)["v"]
    assert array.chunks == (32, 1 << 17)
    assert array[:, 5].tolist() == list(range(96))


def test_only_what_is_wanted(tmp_path):
    path = tmp_path / "a.nc"
    make(path, "NETCDF3_CLASSIC")
    names = [name for name, _ in opened(path, Options(only=("fixed_*",), skip=("fixed_i1",))).arrays()]
    assert names == sorted(f"fixed_{kind}" for kind in TYPES if kind != "i1")
    with pytest.raises(NotFoundError, match="nothing_like_it"):
        opened(path, Options(only=("nothing_like_it",)))


def test_files_that_are_cut_off(tmp_path):
    path = tmp_path / "a.nc"
    make(path, "NETCDF3_CLASSIC")
    whole = path.read_bytes()
    for size in (0, 3, 20, 200, len(whole) - 40):
        path.write_bytes(whole[:size])
        with pytest.raises(CorruptError):
            scan(SourceFile(path))
