"""Attributes of HDF5 that have several dimensions keep them, as lists of lists."""

from __future__ import annotations

import json

import numpy as np
import pytest

import omnizarr as oz

h5py = pytest.importorskip("h5py")


@pytest.mark.parametrize("form", [None, "zarr3"])
def test_lists_of_lists(tmp_path, form):
    numbers = np.arange(12, dtype="i2").reshape(2, 3, 2)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        values = file.create_dataset("x", data=np.arange(4.0))
        values.attrs["numbers"] = numbers
        values.attrs["fixed"] = np.array([[b"a", b"bc"], [b"d", b""]])
        values.attrs["text"] = np.array([["é", "b"], ["c", "d"]], dtype=h5py.string_dtype())
        values.attrs["row"] = np.array([[1.5, 2.5]])
        values.attrs["one"] = np.array([[5]])
        values.attrs.create("none", np.empty((2, 0)))
        file.attrs["numbers"] = numbers[0]
    oz.refs.write(oz.refs.scan(tmp_path / "a.h5", format=form), tmp_path / "a.json")
    found = oz.open(tmp_path / "a.json")
    assert found.attrs["numbers"] == numbers[0].tolist()
    attrs = dict(found["x"].attrs)
    attrs.pop("_ARRAY_DIMENSIONS", None)
    assert attrs == {
        "numbers": numbers.tolist(),
        "fixed": [["a", "bc"], ["d", ""]],
        "text": [["é", "b"], ["c", "d"]],
        "row": [[1.5, 2.5]],
        "one": 5,
        "none": [],
    }
    json.dumps(attrs)


def test_lengths_without_elements_make_no_lists(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        space = h5py.h5s.create_simple((1 << 40, 0))
        h5py.h5a.create(file.create_dataset("x", data=1).id, b"wide", h5py.h5t.NATIVE_INT32, space)
    assert json.loads(oz.refs.scan(tmp_path / "a.h5").documents["x/.zattrs"])["wide"] == []
