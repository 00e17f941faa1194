"""Every selection through xarray gives what it gives of the same values in memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omnizarr as oz

xr = pytest.importorskip("xarray")

from omnizarr.interop.xarray import OmnizarrBackend  # noqa: E402 - only where xarray is

SHAPE = {"a": 7, "b": 5, "c": 6}


@pytest.fixture(scope="module")
def pair():
    values = np.arange(7 * 5 * 6).reshape(7, 5, 6)
    stores = []
    for options in ({"chunks": (3, 2, 6)}, {"chunks": (2, 5, 2), "shards": (4, 5, 4)}):
        group = oz.create_group({})
        group.create_array("v", data=values, dims=tuple(SHAPE), **options)
        stores.append(xr.open_dataset(group, engine=OmnizarrBackend)["v"])
    return xr.DataArray(values, dims=tuple(SHAPE)), stores


def slices(size):
    # Not further down: backwards from before the start, xarray itself takes -1 for the last element.
    ends = st.none() | st.integers(-size, size + 2)
    return st.builds(slice, ends, ends, st.sampled_from([None, 1, 2, 3, -1, -2]))


def plain(size):
    listed = st.lists(st.integers(-size, size - 1), max_size=6).map(lambda found: np.array(found, int))
    return st.integers(-size, size - 1) | slices(size) | listed


@given(key=st.fixed_dictionaries({}, optional={dim: plain(size) for dim, size in SHAPE.items()}), at=st.integers(0, 1))
def test_basic_and_outer(pair, key, at):
    memory, stored = pair
    np.testing.assert_array_equal(stored[at].isel(key).values, memory.isel(key).values)


@st.composite
def pointwise(draw):
    count = draw(st.integers(0, 8))
    key = {}
    for dim, size in SHAPE.items():
        kind = draw(st.sampled_from(["points", "points", "grid", "slice", "all"]))
        at = st.lists(st.integers(-size, size - 1), min_size=count, max_size=count)
        if kind == "points":
            key[dim] = xr.DataArray(np.array(draw(at), int), dims="n")
        elif kind == "grid":
            key[dim] = xr.DataArray(np.array(draw(at) + draw(at), int).reshape(2, count), dims=("m", "n"))
        elif kind == "slice":
            key[dim] = draw(slices(size))
    return key


@given(key=pointwise(), at=st.integers(0, 1))
def test_points(pair, key, at):
    memory, stored = pair
    found, wanted = stored[at].isel(key), memory.isel(key)
    assert found.dims == wanted.dims
    np.testing.assert_array_equal(found.values, wanted.values)


@given(first=plain(7), second=st.data())
def test_selections_of_selections(pair, first, second):
    memory, stored = pair
    left, right = memory.isel(a=first), stored[0].isel(a=first)
    if "a" in left.dims and left.sizes["a"]:
        again = second.draw(plain(left.sizes["a"]))
        left, right = left.isel(a=again), right.isel(a=again)
    np.testing.assert_array_equal(right.values, left.values)
