"""A dataset is not replaced by what is yet to be read from it."""

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ConflictError

xr = pytest.importorskip("xarray")

from omnizarr.interop.xarray import OmnizarrBackend  # noqa: E402 - only where xarray is

PACKED = {"v": {"dtype": "int16", "scale_factor": 0.5, "_FillValue": -1}}


def made(where, form, **options):
    ds = xr.Dataset({"v": ("x", np.arange(4.0))})
    ds.oz.to_omnizarr(where, format=form, encoding=PACKED, **options)
    return ds


@pytest.mark.parametrize("form", ["zarr3", "nczarr"])
@pytest.mark.parametrize("lazy", [{}, {"chunks": {}}, {"chunks": {}, "inline_array": True}])
def test_a_dataset_does_not_replace_itself(tmp_path, form, lazy):
    where = tmp_path / "a.zarr"
    old = made(where, form)
    ds = xr.open_dataset(where, engine=OmnizarrBackend, **lazy)
    for changed in (ds, ds.isel(x=slice(1, 3)) if not lazy else ds + 1):
        with pytest.raises(ConflictError, match="they would replace"):
            changed.oz.to_omnizarr(str(where), mode="w", format=form)
    xr.testing.assert_equal(xr.open_dataset(where, engine=OmnizarrBackend).load(), old)
    ds.load().oz.to_omnizarr(where, mode="w", format=form)
    xr.testing.assert_equal(xr.open_dataset(where, engine=OmnizarrBackend).load(), old)


def test_groups_beside_each_other_are_apart(tmp_path):
    old = made(tmp_path, "zarr3", group="a")
    ds = xr.open_dataset(tmp_path, engine=OmnizarrBackend, group="a")
    ds.oz.to_omnizarr(tmp_path, mode="w", group="ab")
    xr.testing.assert_equal(xr.open_dataset(tmp_path, engine=OmnizarrBackend, group="ab").load(), old)
    for target, group in ((tmp_path, "a"), (oz.open(tmp_path, "r+"), "a"), (tmp_path, None)):
        with pytest.raises(ConflictError):
            ds.oz.to_omnizarr(target, mode="w", group=group)


def test_what_to_dask_reads_is_not_replaced_either():
    pytest.importorskip("dask")
    store = {}
    made(store, "zarr3")
    ds = xr.Dataset({"v": ("x", oz.open(store)["v"].to_dask() + 1)})
    with pytest.raises(ConflictError):
        ds.oz.to_omnizarr(store, mode="w")
