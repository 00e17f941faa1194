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


@pytest.fixture
def nested():
    """Return a function that makes an array as NestedDirectoryStore did before 2021, without a word of its folders."""

    def make(missing, path=""):
        store = oz.MemoryStore()
        data = np.arange(1, 17).reshape(4, 4)
        oz.create_array(store, path=path, data=data, chunks=(2, 2), format="zarr2", separator="/")
        start = path + "/" if path else ""
        document = json.loads(store.get(f"{start}.zarray"))
        del document["dimension_separator"]
        store.put(f"{start}.zarray", json.dumps(document).encode())
        for key in missing:
            store.erase(start + key)
        return store

    return make


@pytest.mark.parametrize("path", ["", "a"])
@pytest.mark.parametrize("missing", [["0/0"], ["0/0", "0/1"], ["0/0", "1/0", "1/1"]])
def test_nested_chunks_are_found_though_the_first_is_missing(nested, missing, path):
    expected = np.arange(1, 17).reshape(4, 4)
    for key in missing:
        i, j = map(int, key.split("/"))
        expected[i * 2 : i * 2 + 2, j * 2 : j * 2 + 2] = 0
    assert np.array_equal(oz.open(nested(missing, path), path=path)[...], expected)


def test_they_are_found_in_distant_stores(nested):
    store = nested(["0/0"])
    distant = {key: store.get(key) for key in store.list_prefix("")}
    assert oz.open(distant)[...].max() == 16


def test_flat_chunks_count_where_there_are_both(nested):
    store = nested(["0/0"])
    store.put("0.1", store.get("0/1"))
    assert oz.open(store)[...].max() == 8
