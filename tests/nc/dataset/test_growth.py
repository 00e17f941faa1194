"""Unlimited dimensions grow by what is written, just as far as in netCDF4."""

from __future__ import annotations

import numpy as np
import pytest


def define(ds):
    ds.createDimension("t", None)
    ds.createDimension("u", None)
    ds.createDimension("x", 3)
    ds.createVariable("a", "f4", ("t",))
    ds.createVariable("b", "i4", ("t", "x"))
    ds.createVariable("c", "i2", ("t", "u", "x"))


WRITES = {
    "slice": [("a", np.s_[0:4], np.arange(4))],
    "open slice": [("a", np.s_[:], np.arange(5))],
    "open slice twice": [("a", np.s_[:], np.arange(5)), ("a", np.s_[:], np.arange(2))],
    "from a start": [("a", np.s_[:], np.arange(3)), ("a", np.s_[3:], np.arange(4))],
    "one beyond": [("a", 6, 1.5)],
    "negative": [("a", np.s_[:], np.arange(3)), ("a", -1, 9)],
    "scalar on nothing": [("a", np.s_[:], 4)],
    "scalar on something": [("a", np.s_[0:3], 4), ("a", np.s_[:], 5)],
    "step": [("a", np.s_[0:9:2], np.arange(5))],
    "back": [("a", np.s_[5::-1], np.arange(6))],
    "integers": [("a", np.array([0, 5, 7]), np.array([1, 2, 3]))],
    "booleans": [("a", np.array([True, False, True]), np.array([1, 2]))],
    "rows": [("b", np.s_[0:2], np.arange(6).reshape(2, 3))],
    "row": [("b", 3, np.arange(3))],
    "row by scalar": [("b", np.s_[2, :], 8)],
    "open rows": [("b", np.s_[:], np.arange(12).reshape(4, 3))],
    "open rows, dots": [("b", np.s_[...], np.arange(12).reshape(4, 3))],
    "column": [("b", np.s_[0:3], 0), ("b", np.s_[:, 1], np.arange(3))],
    "scalar to rows of nothing": [("b", np.s_[:], 1)],
    "two": [("c", np.s_[0:2, 0:3], np.arange(18).reshape(2, 3, 3))],
    "two, open": [("c", np.s_[:], np.arange(18).reshape(2, 3, 3))],
    "two, one by one": [("c", np.s_[0, 0], np.arange(3)), ("c", np.s_[1, 4], np.arange(3))],
    "two, a plane": [("c", np.s_[2, 0:2, :], np.arange(6).reshape(2, 3))],
    "broadcast": [("c", np.s_[0:2, 0:2], np.arange(3))],
    "reshaped": [("b", np.s_[0:2], np.arange(6))],
    "too many": [("b", np.s_[0:2], np.arange(7))],
    "too few": [("a", np.s_[0:4], np.arange(3))],
    "one for four": [("a", np.s_[0:4], np.arange(1))],
    "beyond a fixed one": [("b", np.s_[0, 3], 1)],
    "list": [("b", 0, [1, 2, 3])],
    "floats to integers": [("b", 0, [1.9, -1.9, 2.0])],
}


@pytest.mark.parametrize("name", WRITES)
def test_growth_is_as_in_netcdf4(pair, name):
    pair.do(define)
    for variable, index, values in WRITES[name]:

        def write(ds, variable=variable, index=index, values=values):
            ds[variable][index] = values

        pair.do(write)
    for variable in "abc":
        pair.do(lambda ds, variable=variable: ds[variable].shape)
        if 0 not in pair.theirs[variable].shape:
            pair.do(lambda ds, variable=variable: ds[variable][:])
    pair.do(lambda ds: {dim: len(one) for dim, one in ds.dimensions.items()})
