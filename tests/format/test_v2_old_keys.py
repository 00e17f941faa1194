"""Chunks of v2 arrays that are not where the document says."""

import json

import numpy as np
import pytest

import omnizarr as oz

SCALAR = {
    "zarr_format": 2,
    "shape": [],
    "chunks": [],
    "dtype": "<i4",
    "compressor": None,
    "fill_value": 7,
    "filters": None,
    "order": "C",
}


@pytest.mark.parametrize("path", ["", "a"])
def test_the_empty_key_of_zarr_2_0(path):
    start = path + "/" if path else ""
    store = {f"{start}.zarray": json.dumps(SCALAR).encode(), start: np.int32(42).tobytes()}
    if path:
        store[".zgroup"] = b'{"zarr_format": 2}'
    assert oz.open(store, path=path)[()] == 42
    del store[start]
    assert oz.open(store, path=path)[()] == 7
    store[f"{start}0"] = np.int32(43).tobytes()
    assert oz.open(store, path=path)[()] == 43
