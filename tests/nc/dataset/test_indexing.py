"""Any index reads and writes what netCDF4 reads and writes."""

from __future__ import annotations

import netCDF4
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import omnizarr as oz

SHAPE = (5, 4, 3)
VALUES = np.arange(60, dtype="f8").reshape(SHAPE)


@pytest.fixture(scope="module")
def variables(tmp_path_factory):
    path = tmp_path_factory.mktemp("index") / "theirs.nc"
    with netCDF4.Dataset(path, "w") as theirs, oz.Dataset({}, "w") as ours:
        for ds in (theirs, ours):
            for name, length in zip("xyz", SHAPE, strict=True):
                ds.createDimension(name, length)
            ds.createVariable("v", "f8", ("x", "y", "z"))[:] = VALUES
            ds.createVariable("w", "f8", ("x", "y", "z"))
        yield theirs, ours


def parts(length):
    near = st.integers(-length - 2, length + 1)
    maybe = st.none() | near
    return st.one_of(
        st.integers(-length, length - 1),
        st.builds(slice, maybe, maybe, st.none() | st.sampled_from([1, 2, 3, -1, -2])),
        st.lists(st.integers(-length, length - 1), min_size=1, max_size=4).map(np.array),
        st.lists(st.booleans(), min_size=length, max_size=length).map(np.array),
    )


def full_index():
    return st.tuples(*(parts(n) for n in SHAPE))


def partial_index():
    dots = st.just(Ellipsis)
    return st.one_of(
        parts(SHAPE[0]),
        dots,
        st.tuples(parts(SHAPE[0]), dots),
        st.tuples(dots, parts(SHAPE[2])),
        st.tuples(parts(SHAPE[0]), dots, parts(SHAPE[2])),
        st.tuples(parts(SHAPE[0]), parts(SHAPE[1])),
    )


def orthogonal(index):
    """What NumPy gives if each part selects from its own dimension."""
    data, dropped = VALUES, []
    for axis, part in enumerate(index):
        if isinstance(part, (int, np.integer)):
            data = data.take([part], axis)
            dropped.append(axis)
        else:
            data = data[(slice(None),) * axis + (part,)]
    return data.squeeze(tuple(dropped))


@given(full_index())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_reading_by_any_index_is_orthogonal(variables, index):
    _, ours = variables
    found = ours["v"][index]
    np.testing.assert_array_equal(found, orthogonal(index))
    assert isinstance(found, np.ma.MaskedArray)


@given(full_index() | partial_index())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_reading_is_as_in_netcdf4(variables, index):
    theirs, ours = variables
    expected = theirs["v"][index]
    if 0 in np.shape(expected):
        return  # netCDF4 keeps dimensions there that integers should drop
    found = ours["v"][index]
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_array_equal(found, expected)


@given(full_index(), st.booleans())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_writing_by_any_index_is_orthogonal(variables, index, scalar):
    _, ours = variables
    chosen = [
        np.atleast_1d(np.arange(n)[part]) if isinstance(part, (int, slice)) else np.arange(n)[part]
        for part, n in zip(index, SHAPE, strict=True)
    ]
    shape = np.shape(ours["w"][index])
    values = np.float64(7) if scalar else np.arange(np.prod(shape), dtype="f8").reshape(shape)
    expected = np.full(SHAPE, -1.0)
    expected[np.ix_(*chosen)] = values if scalar else values.reshape([len(one) for one in chosen])
    ours["w"][:] = -1
    ours["w"][index] = values
    if all(len(set(one.tolist())) == len(one) for one in chosen):  # else two values are for one place
        np.testing.assert_array_equal(ours["w"][:], expected)


@pytest.mark.parametrize(
    "index",
    [
        (Ellipsis, Ellipsis),
        (0, 0, 0, 0),
        "abc",
        5,
        -6,
        1.0,
        [[0, 1], [2, 3]],
        None,
        np.array([0.5, 1]),
        np.array([True, False]),
        np.array([7]),
        (slice(None), [1, 9]),
        [0, 2],
        "1",
        True,
        np.int8(3),
        range(2),
        [],
    ],
    ids=str,
)
def test_odd_indices_are_taken_or_refused_as_in_netcdf4(variables, index):
    theirs, ours = variables
    try:
        expected = theirs["v"][index]
    except (IndexError, ValueError) as error:
        with pytest.raises(IndexError if isinstance(error, IndexError) else ValueError):
            ours["v"][index]
    else:
        np.testing.assert_array_equal(ours["v"][index], expected)


@pytest.mark.parametrize("index", [1.5, np.float32(0.1), float("nan"), 1j])
def test_numbers_that_are_not_whole_are_no_index(variables, index):
    with pytest.raises((IndexError, ValueError)):
        variables[1]["v"][index]
