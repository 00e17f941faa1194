"""A set in memory as a store: what its columns say is what is read."""

from __future__ import annotations

import json

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import MetadataError, ReadOnlyError, UnsafeError
from omnizarr.refset.model import Chunks, References
from omnizarr.refset.store import store_of

VALUES = np.arange(100, dtype="<f4").reshape(10, 10)
ARRAY = {"zarr_format": 2, "shape": [10, 10], "chunks": [2, 10], "dtype": "<f4", "order": "C"}
DOCUMENT = json.dumps({**ARRAY, "fill_value": -1, "compressor": None, "filters": None}).encode()


@pytest.fixture
def references(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"head" + VALUES.tobytes())
    chunks = Chunks.ranges((5, 1), 0, 4 + 80 * np.arange(5), 80)
    return References({".zgroup": b'{"zarr_format": 2}', "v/.zarray": DOCUMENT}, {"v": chunks}, ["a.bin"])


def test_ranges_of_a_file(references, tmp_path):
    store = store_of(references, uri="example", base=f"{tmp_path}/", allow=[f"{tmp_path}/"])
    group = oz.open(store)
    np.testing.assert_array_equal(group["v"][1:9:3, ::2], VALUES[1:9:3, ::2])
    assert store.list_dir("v/") == (["v/.zarray", *(f"v/{i}.0" for i in range(5))], [])
    with pytest.raises(ReadOnlyError):
        store.put("x", b"")


def test_missing_chunks_are_fill(references, tmp_path):
    few = Chunks.ranges((5, 1), 0, [84], [80], numbers=[1])
    references.arrays["v"] = few
    array = oz.open(store_of(references, uri="example", base=f"{tmp_path}/", allow=["*"]))["v"]
    np.testing.assert_array_equal(array[2:4], VALUES[2:4])
    assert (array[4:] == -1).all()


def test_a_place_that_is_not_allowed(references):
    with pytest.raises(UnsafeError):
        oz.open(store_of(references, uri="example", base="/nowhere/", allow=["/elsewhere/"]))["v"][...]


def test_columns_that_do_not_fit_the_grid(references):
    references.arrays["v"] = Chunks.ranges((4, 1), 0, np.arange(4), 80)
    with pytest.raises(MetadataError, match="grid"):
        store_of(references, uri="example")
