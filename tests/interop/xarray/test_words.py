"""Encodings belong to the dataset that has them."""

import numpy as np
import pytest

import omnizarr as oz

xr = pytest.importorskip("xarray")

from omnizarr.interop.xarray import OmnizarrBackend  # noqa: E402 - only where xarray is


@pytest.mark.parametrize("form", ["zarr2", "zarr3"])
def test_a_change_of_an_encoding_changes_no_other(form):
    store = {}
    oz.create_group(store, format=form).create_array("a", data=np.arange(3.0), dims=("x",), codecs=["zstd"])
    first = xr.open_dataset(store, engine=OmnizarrBackend)["a"].encoding["compressors"][0]
    words = first.get("configuration", first)
    words["level"] = 19
    second = xr.open_dataset(store, engine=OmnizarrBackend)["a"].encoding["compressors"][0]
    assert second.get("configuration", second)["level"] != 19


@pytest.mark.parametrize("form", ["zarr2", "zarr3"])
def test_a_change_within_an_attribute_changes_no_other(form):
    store = {}
    group = oz.create_group(store, format=form, attrs={"levels": [1, {"of": [2]}]})
    group.create_array("a", data=np.arange(3.0), dims=("x",), attrs={"flags": [1, {"of": [2]}]})
    first = xr.open_dataset(store, engine=OmnizarrBackend)
    for value in (first.attrs["levels"], first["a"].attrs["flags"]):
        value[1]["of"].append(3)
    second = xr.open_dataset(store, engine=OmnizarrBackend)
    assert second.attrs["levels"] == second["a"].attrs["flags"] == [1, {"of": [2]}]
    assert oz.open(store)["a"].attrs["flags"] == [1, {"of": [2]}]
