"""Variables whose elements are arrays of any length: they keep no one from the others, and are read as they are."""

from __future__ import annotations

import contextlib
import gc
import subprocess
import sys
from pathlib import Path

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


def _is_open(path) -> bool:
    """Whether this process has a file open."""
    links = []
    for one in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the folder itself
            links.append(one.readlink())
    return path in links


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="there is no list of open files")
def test_files_are_closed_with_their_datasets(file):
    gc.collect()
    gc.disable()
    try:
        ds = xr.open_dataset(file, engine="omnizarr")
        assert ds.a.values.tolist() == [1, 2]
        assert _is_open(file)
        del ds
        assert not _is_open(file)
        tree = xr.open_datatree(file, engine="omnizarr")
        with tree:
            assert tree.a.values.tolist() == [1, 2]
        assert not _is_open(file)
    finally:
        gc.enable()


OPENING = """
import sys, xarray as xr
for _ in range(400):
    ds = xr.open_dataset(sys.argv[1], engine="omnizarr", decode_cf=False, drop_variables=sys.argv[2:])
"""


def test_files_with_sequences_are_opened_many_times(tmp_path):
    netcdf4 = pytest.importorskip("netCDF4")
    with netcdf4.Dataset(tmp_path / "x.nc", "w") as made:
        made.createDimension("x", 4)
        made.createVariable("v", made.createVLType("i4", "list"), ("x",))[0] = np.arange(3, dtype="i4")
        for number in range(40):
            made.createVariable(f"v{number}", "f4", ("x",))[:] = 1
    left = ["v", *(f"v{number}" for number in range(1, 40))]
    run = [sys.executable, "-c", OPENING, str(tmp_path / "x.nc"), *left]
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
