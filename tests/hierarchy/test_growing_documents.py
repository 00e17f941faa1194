"""Documents of an array that grows are those that it would have had from the start, though they are not made anew."""

from __future__ import annotations

import numpy as np
import pytest

import omnizarr as oz

ATTRIBUTES = {"a": [1, {"shape": [1, 4]}], "\n  shape": 1}


def texts(store):
    return {key: bytes(store[key]) for key in store if key in ("zarr.json", ".zarray", ".zattrs")}


@pytest.mark.parametrize("form", ["zarr3", "zarr2", "zarr1", "zarr0"])
@pytest.mark.parametrize("start", [0, 2])
def test_they_are_the_same_as_of_a_new_one(form, start):
    grown, new = {}, {}
    options = {"chunks": (2, 4), "dtype": "f4", "attrs": ATTRIBUTES, "fill_value": -0.0, "format": form}
    array = oz.create_array(grown, shape=(start, 4), **options)
    for _ in range(5):
        array.append(np.ones((1, 4), "f4"))
    array.attrs["b"] = 1.0
    array.append(np.ones((1, 4), "f4"))
    array.resize((start + 3, 7))
    array.resize((start + 4, 0))
    array.resize((start + 4, 5))
    options["attrs"] = {**ATTRIBUTES, "b": 1.0}
    assert oz.open_array(grown).metadata == oz.create_array(new, shape=(start + 4, 5), **options).metadata
    assert texts(grown) == texts(new)


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
def test_arrays_that_differ_in_little_are_told_apart(form):
    stores = [{}, {}]
    values = (1, True)
    arrays = [
        oz.create_array(store, shape=(1,), chunks=(2,), dtype="i4", attrs={"a": value}, format=form)
        for store, value in zip(stores, values, strict=True)
    ]
    for _ in range(3):
        for array in arrays:
            array.append(np.ones(1, "i4"))
    for store, value in zip(stores, values, strict=True):
        assert type(oz.open_array(store).attrs["a"]) is type(value)


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
def test_limits_hold_for_arrays_that_are_known(form):
    store = {}
    array = oz.create_array(store, shape=(1, 1 << 20), chunks=(1, 1), dtype="i1", format=form)
    array.resize((2, 1 << 20))
    with pytest.raises(oz.errors.MetadataError, match=r"2\*\*63 elements"):
        array.resize((1 << 43, 1 << 20))
    assert oz.open_array(store).shape == (2, 1 << 20)
