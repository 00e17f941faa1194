"""Structures through xarray: fields stay fields, whatever their byte order, and whatever the fill value is."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import omnizarr as oz

FIELDS = {
    "little": [("a", "<i4"), ("b", "<f8")],
    "big": [("a", ">i4"), ("b", ">f8")],
    "mixed": [("a", "<i4"), ("b", ">f8"), ("c", "S3")],
    "inner": [("a", ">i2", (2,)), ("b", [("x", ">u2"), ("y", "<u2")])],
}


@pytest.mark.parametrize("fields", FIELDS)
@pytest.mark.parametrize("filled", [False, True])
def test_fields(tmp_path, fields, filled):
    dtype = np.dtype(FIELDS[fields])
    values = np.frombuffer(np.random.default_rng(1).bytes(8 * dtype.itemsize), dtype)
    more = {} if filled else {"fill_value": None}
    group = oz.create_group(tmp_path / "x.zarr", format="zarr2")
    array = group.create_array("v", shape=(10,), chunks=(4,), dtype=dtype, dims=("x",), **more)
    array[:8] = values
    with xr.open_dataset(tmp_path / "x.zarr", engine="omnizarr") as ds:
        assert ds.v.dtype == dtype.newbyteorder("=")
        native = values.astype(ds.v.dtype)
        assert ds.v.values[:8].tobytes() == native.tobytes()
        assert ds.v[2].values.tobytes() == native[2].tobytes()
        assert ds.v[[5, 1]].values["a"].tolist() == values["a"][[5, 1]].tolist()


def test_tables_of_fits(tmp_path):
    fits = pytest.importorskip("astropy.io.fits")
    columns = [fits.Column("flux", "E", array=[1.5, 2.5]), fits.Column("n", "J", array=[7, 8])]
    fits.HDUList([fits.PrimaryHDU(), fits.BinTableHDU.from_columns(columns, name="SPEC")]).writeto(tmp_path / "a.fits")
    with xr.open_dataset(tmp_path / "a.fits", engine="omnizarr") as ds:
        assert ds.SPEC.values["flux"].tolist() == [1.5, 2.5]
        assert ds.SPEC.values["n"].tolist() == [7, 8]
