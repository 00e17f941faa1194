"""Variables whose elements are arrays of any length: they keep no one from the others, and are read as they are."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import xarray as xr

import omnizarr as oz


@pytest.fixture
def file(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as made:
        made["a"] = [1, 2]
        made.create_dataset("v", (2,), h5py.vlen_dtype("i4"))[:] = [np.array([1, 2, 3], "i4"), np.array([4], "i4")]
    return tmp_path / "x.h5"


def _nczarr(path):
    with oz.Dataset(path, "w") as made:
        made.createDimension("phony_dim_0", 2)
        made.createVariable("a", "i8", ("phony_dim_0",))[:] = [1, 2]
        v = made.createVariable("v", made.createVLType("i4", "list"), ("phony_dim_0",))
        v[0], v[1] = np.array([1, 2, 3], "i4"), np.array([4], "i4")


@pytest.mark.parametrize("place", ["x.json", "x.parq", "x.h5", "x.zarr"])
def test_elements_that_are_arrays(tmp_path, file, place):
    if place == "x.zarr":
        _nczarr(tmp_path / place)
    elif place != file.name:
        oz.refs.write(oz.refs.scan(file), tmp_path / place)
    with xr.open_dataset(tmp_path / place, engine="omnizarr") as ds:
        assert ds.a.values.tolist() == [1, 2]
        assert ds.v.dtype == object
        assert ds.v[0].shape == ()
        assert ds.v[0].item().tolist() == [1, 2, 3]
        assert [one.tolist() for one in ds.v.values] == [[1, 2, 3], [4]]
        assert [one.tolist() for one in ds.v[[1]].values] == [[4]]
