"""reshape and squeeze: the shape changes for the codecs that follow, and nothing else."""

from __future__ import annotations

import json

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import MetadataError
from omnizarr.model.reshape import reshaped

SQUEEZE = {"name": "zarrs.squeeze"}


@pytest.mark.parametrize("shape", [[6, 20], [[0, 1], [2]], [-1, 4], [[0], -1], [120], [2, 3, [1], [2]], [[0, 1, 2]]])
def test_reshape_keeps_the_order_of_elements(shape):
    values = np.arange(120, dtype="i4").reshape(6, 5, 4)
    codecs = [oz.codec.reshape(shape), "zstd"]
    array = oz.create_array({}, data=values, chunks=(6, 5, 4), codecs=codecs)
    np.testing.assert_array_equal(oz.open_array(array.store)[1:3, ::2], values[1:3, ::2])
    plain = oz.create_array({}, data=values, chunks=(6, 5, 4), codecs=["zstd"])
    assert array.store.get("c/0/0/0") == plain.store.get("c/0/0/0")


def test_later_codecs_see_the_new_shape():
    values = np.arange(120, dtype="i4").reshape(6, 5, 4)
    codecs = [oz.codec.reshape([[0, 1], [2]]), oz.codec.transpose([1, 0])]
    array = oz.create_array({}, data=values, chunks=(6, 5, 4), codecs=codecs)
    stored = np.frombuffer(array.store.get("c/0/0/0"), "i4")
    np.testing.assert_array_equal(stored, values.reshape(30, 4).T.ravel())
    np.testing.assert_array_equal(oz.open_array(array.store)[...], values)


def test_squeeze():
    values = np.arange(24, dtype="i4").reshape(4, 1, 6)
    codecs = [SQUEEZE, oz.codec.transpose([1, 0])]
    array = oz.create_array({}, data=values, chunks=(4, 1, 6), codecs=codecs)
    np.testing.assert_array_equal(np.frombuffer(array.store.get("c/0/0/0"), "i4"), values[:, 0].T.ravel())
    np.testing.assert_array_equal(oz.open_array(array.store)[...], values)


def test_inside_shards():
    values = np.arange(24, dtype="i4").reshape(4, 1, 6)
    codecs = [SQUEEZE, oz.codec.reshape([-1]), "gzip"]
    array = oz.create_array({}, data=values, chunks=(2, 1, 3), shards=(4, 1, 6), codecs=codecs)
    np.testing.assert_array_equal(oz.open_array(array.store)[...], values)


@pytest.mark.parametrize(
    "shape",
    [[7], [-1, -1], [[1], [0], [2]], [[1, 0], [2]], [[0, 3], 4], [0], ["6"], 6, [[0, 1], 2, 2, [2]], [[2], 30], [True]],
)
def test_shapes_that_cannot_be(shape):
    assert reshaped(shape, (6, 5, 4))[0] is None
    array = oz.create_array({}, shape=(6, 5, 4), chunks=(6, 5, 4), dtype="i4", codecs=[oz.codec.reshape([120])])
    changed = json.loads(array.store.get("zarr.json"))
    changed["codecs"][0]["configuration"]["shape"] = shape
    with pytest.raises(MetadataError, match="shape"):
        oz.open_array({"zarr.json": json.dumps(changed).encode()})
    with pytest.raises(MetadataError):
        oz.create_array(
            {}, shape=(6, 5, 4), chunks=(6, 5, 4), codecs=[{"name": "reshape", "configuration": {"shape": shape}}]
        )
