"""Unlimited dimensions grow by what is written, just as far as in netCDF4."""

from __future__ import annotations

import numpy as np
import pytest

import omnizarr as oz


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


@pytest.mark.parametrize("form", ["NCZARR", "NCZARR3"])
@pytest.mark.parametrize("seed", range(6))
def test_sessions_that_make_several_variables_longer(form, seed):
    random = np.random.default_rng(seed)
    store: dict[str, bytes] = {}
    with oz.Dataset(store, "w", format=form) as dataset:
        for name, size in (("t", None), ("u", None), ("x", 5)):
            dataset.createDimension(name, size)
        for name, dims, chunks in (("a", ("t", "x"), (2, 3)), ("b", ("t",), (3,)), ("c", ("t", "u"), (2, 2))):
            dataset.createVariable(name, "i4", dims, chunksizes=chunks)
    model = {name: np.full((12, 12), -1) for name in "abc"}
    ends = {"t": 0, "u": 0, "x": 5}
    for _ in range(4):
        with oz.Dataset(store, "a") as dataset:
            for name in random.choice(["a", "b", "c"], 4):
                variable = dataset[name]
                starts = [int(random.integers(0, 3 if dim == "x" else 8)) for dim in variable.dimensions]
                key = tuple(slice(start, start + int(random.integers(1, 3))) for start in starts)
                values = random.integers(0, 1000, [part.stop - part.start for part in key])
                variable[key] = values
                model[name][(*key, slice(0, 1))[:2]] = values.reshape(values.shape[0], -1)
                for dim, part in zip(variable.dimensions, key, strict=True):
                    ends[dim] = max(ends[dim], part.stop)
                if random.random() < 0.3:
                    dataset.sync()
    with oz.Dataset(store) as dataset:
        for name, variable in dataset.variables.items():
            shape = tuple(ends[dim] for dim in variable.dimensions)
            assert variable.shape == shape
            expected = model[name][(*map(slice, shape), slice(0, 1))[:2]].reshape(shape)
            np.testing.assert_array_equal(np.ma.filled(variable[:], -1), expected)
