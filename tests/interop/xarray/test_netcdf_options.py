"""What was given with a place is given to whoever opens it once more."""

import pickle

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.store.cloud.at import At

xr = pytest.importorskip("xarray")

from omnizarr.interop.xarray import OmnizarrBackend, opening  # noqa: E402 - only where xarray is


@pytest.fixture
def place(tmp_path):
    where = str(tmp_path / "a.zarr")
    xr.Dataset({"v": ("x", np.arange(5.0))}).oz.to_omnizarr(where, format="nczarr", group="inner")
    return where


def test_netcdf_in_zarr_is_opened_with_all_options(place, monkeypatch):
    seen, real, node = [], opening.open_source, opening._node

    def spy(where, mode, **options):
        seen.append((where, options))
        return real(place, mode, **options)

    # Credentials are no matter of a folder.
    monkeypatch.setattr(
        opening, "_node", lambda where, asked, path: node(where, asked._replace(storage_options=None), path)
    )
    monkeypatch.setattr(opening, "open_source", spy)
    options = {"storage_options": {"key": "me", "secret": "hush"}, "allow": ["/data"], "cache_bytes": 1 << 20}
    with xr.open_dataset(place, engine=OmnizarrBackend, group="inner", consolidated=False, **options) as found:
        assert "hush" not in repr(found)
    ((where, given),) = seen
    assert isinstance(where, At)
    assert where.options == options["storage_options"]
    assert given["limits"].allow == ("/data",)
    assert (given["cache_bytes"], given["consolidated"]) == (1 << 20, False)


def test_an_open_dataset_is_sent_with_its_store(place):
    # A mapping has no name by which it could be opened elsewhere.
    store = {}
    oz.copy(place, store)
    with oz.Dataset(store) as dataset:
        found = xr.open_dataset(dataset, engine=OmnizarrBackend, group="inner")
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(found))["v"].values, np.arange(5.0))
