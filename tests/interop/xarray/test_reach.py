"""Tasks do not go to processes that could not write to the store."""

import pickle

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import StoreError, UnsupportedError

xr = pytest.importorskip("xarray")
pytest.importorskip("dask")

DATA = xr.Dataset({"v": ("x", np.arange(8.0))})


@pytest.mark.parametrize("form", ["zarr3", "nczarr"])
def test_a_store_in_memory_is_not_sent_elsewhere(form):
    later = DATA.chunk(x=4).oz.to_omnizarr({}, compute=False, format=form)
    with pytest.raises(StoreError, match="lives in this one"):
        pickle.dumps(later)


def test_nor_where_it_grows():
    store = {}
    DATA.oz.to_omnizarr(store)
    later = DATA.chunk(x=4).oz.to_omnizarr(store, append_dim="x", compute=False)
    with pytest.raises(StoreError, match="lives in this one"):
        pickle.dumps(later)
    later.compute(scheduler="threads")
    assert oz.open(store)["v"].shape == (16,)


@pytest.mark.parametrize("form", ["zarr3", "nczarr"])
def test_tasks_that_share_chunks_are_refused_in_netcdf_too(form):
    zarr = pytest.importorskip("zarr")
    with pytest.raises(UnsupportedError, match="would overlap"):
        DATA.chunk(x=3).oz.to_omnizarr(zarr.storage.MemoryStore(), format=form, encoding={"v": {"chunks": (4,)}})
