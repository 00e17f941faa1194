"""Missing values and packing: what is masked, scaled, filled and cast, as in netCDF4."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.errors import OmnizarrWarning

TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]


def bounds(dtype):
    kind = np.dtype(dtype)
    return (-100, 100) if kind.kind == "f" else (max(np.iinfo(kind).min, -120), min(np.iinfo(kind).max, 250))


@st.composite
def cases(draw):
    dtype = draw(st.sampled_from(TYPES))
    low, _ = bounds(dtype)
    small = st.integers(max(low, -5), 5)
    attributes = {}
    if draw(st.booleans()):
        attributes["scale_factor"] = draw(st.sampled_from([0.5, 1.0, np.float32(0.25), 2]))
    if draw(st.booleans()):
        attributes["add_offset"] = draw(st.sampled_from([0.0, 10.0, np.float32(-1.5)]))
    if draw(st.booleans()):
        attributes["missing_value"] = draw(small | st.lists(small, min_size=1, max_size=3) | st.just(1000.5))
    if draw(st.booleans()):
        attributes["valid_min"] = draw(small)
    if draw(st.booleans()):
        attributes["valid_max"] = draw(small)
    if draw(st.booleans()):
        attributes["valid_range"] = draw(st.tuples(small, small).map(sorted) | st.just(3))
    # Of bytes that are said to have no sign, netCDF4 compares the default fill value with its sign.
    if dtype in ("i2", "i4", "i8") and draw(st.booleans()):
        attributes["_Unsigned"] = draw(st.sampled_from(["true", "false"]))
    fill = draw(st.none() | small | st.just(False))
    values = draw(st.lists(small, min_size=1, max_size=8))
    return dtype, attributes, fill, values


def unique():
    unique.count += 1
    return f"v{unique.count}"


unique.count = 0


@given(cases(), st.booleans(), st.booleans(), st.booleans())
@settings(max_examples=120, deadline=None, derandomize=True)
def test_reading_masks_and_scales_as_netcdf4(shared_pair, case, mask, scale, always):
    dtype, attributes, fill, values = case
    name = unique()

    def define(ds):
        ds.createDimension(name, len(values) + 1)
        variable = ds.createVariable(name, dtype, (name,), fill_value=fill)
        variable.set_auto_maskandscale(False)
        variable[: len(values)] = np.array(values, dtype)
        if fill is False:  # what was never written is undefined there
            variable[len(values)] = 1
        variable.setncatts(attributes)
        variable.set_auto_mask(mask)
        variable.set_auto_scale(scale)
        variable.set_always_mask(always)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shared_pair.do(define)
        for index in (slice(None), 0, slice(1, 1), len(values), slice(None, None, -1)):
            shared_pair.do(lambda ds, index=index: ds[name][index])


@given(cases(), st.lists(st.booleans(), min_size=8, max_size=8), st.booleans())
@settings(max_examples=80, deadline=None, derandomize=True)
def test_writing_packs_and_fills_as_netcdf4(shared_pair, case, masked, scale):
    dtype, attributes, fill, values = case
    # netCDF4 raises for signed bytes, and stores some other number in unsigned ones.
    assume(attributes.get("missing_value") != 1000.5 or np.dtype(dtype).itemsize > 1)
    name = unique()
    data = np.ma.masked_array(np.array(values, "f8"), mask=masked[: len(values)])

    def write(ds):
        if name not in ds.variables:
            ds.createDimension(name, len(values))
            ds.createVariable(name, dtype, (name,), fill_value=fill).setncatts(attributes)
        variable = ds[name]
        variable.set_auto_scale(scale)
        variable[:] = data
        variable.set_auto_maskandscale(False)
        return variable[:]

    if np.dtype(dtype).kind == "u":
        data = np.abs(data) + 20  # what a negative number becomes without a sign is up to the compiler
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shared_pair.do(write)


@pytest.mark.parametrize("dtype", ["i1", "u1"])
def test_what_is_masked_is_never_stored_as_another_number(dtype):
    import omnizarr as oz

    with oz.Dataset({}, "w") as ds:
        ds.createDimension("x", 2)
        variable = ds.createVariable("v", dtype, ("x",))
        with pytest.warns(OmnizarrWarning, match="missing_value cannot be safely cast"):
            variable.missing_value = 1000.5
        with pytest.raises(OverflowError, match=r"cannot be stored as 1000\.5"):
            variable[:] = np.ma.masked_array([1, 2], mask=[True, False])


@pytest.mark.parametrize("dtype", TYPES)
def test_large_values_are_treated_as_small_ones(dtype):
    import omnizarr as oz

    low, high = bounds(dtype)
    values = np.random.default_rng(1).integers(low, high, 200_000).astype(dtype)
    with oz.Dataset({}, "w") as ds:
        ds.createDimension("x", len(values))
        v = ds.createVariable("v", dtype, ("x",), fill_value=7)
        v.set_auto_maskandscale(False)
        v[:] = values
        v.set_auto_maskandscale(True)
        v.scale_factor, v.add_offset = np.float32(0.5), 3.0
        v.missing_value = 9
        whole = v[:]
        pieces = np.ma.concatenate([v[start : start + 5000] for start in range(0, len(values), 5000)])
    assert whole.dtype == pieces.dtype
    np.testing.assert_array_equal(whole.mask, pieces.mask)
    np.testing.assert_array_equal(whole.data, pieces.data)
    assert whole.mask.sum() == np.isin(values, [7, 9]).sum()


def test_nan_is_missing_if_it_is_the_fill_value(pair):
    def define(ds):
        ds.createDimension("x", 4)
        v = ds.createVariable("v", "f4", ("x",), fill_value=np.nan)
        v[:] = [1, np.nan, 3, np.nan]
        w = ds.createVariable("w", "f8", ("x",))
        w.missing_value = np.nan
        w[:] = [1, np.nan, 3, 4]
        u = ds.createVariable("u", "f8", ("x",), fill_value=np.nan)
        u.missing_value = 3.0
        u[:] = [1, 2, np.nan, 4]

    pair.do(define)
    for name in "vwu":
        pair.do(lambda ds, name=name: ds[name][:])
        pair.do(lambda ds, name=name: ds[name][1])


def test_attributes_that_do_not_fit_are_warned_of_and_not_used(pair):
    def define(ds):
        ds.createDimension("x", 2)
        v = ds.createVariable("v", "i1", ("x",))
        v[:] = [1, 2]
        v.setncattr("missing_value", 1000.0)

    pair.do(define)
    with pytest.warns(UserWarning, match="missing_value not used"):
        assert not pair.ours["v"][:].mask.any()
    with pytest.warns(UserWarning, match="cannot be safely cast"):
        pair.ours["v"].valid_min = 1.5


@pytest.mark.parametrize("scale", [True, False])
def test_nan_in_integers_is_warned_of_unless_it_is_masked(scale):
    ds = oz.Dataset({}, "w")
    ds.createDimension("n", 2)
    v = ds.createVariable("v", "i4", ("n",))
    v.set_auto_scale(scale)
    for values in (np.array([1, np.nan]), np.ma.array([1, np.nan], mask=[1, 0])):
        with pytest.warns(RuntimeWarning, match="invalid value encountered in cast"):
            v[:] = values
    if scale:
        v[:] = np.ma.array([1, np.nan], mask=[0, 1])
        assert v[:].mask.tolist() == [False, True]
