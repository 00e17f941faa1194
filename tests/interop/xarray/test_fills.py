"""What `_FillValue` says, whoever wrote it."""

import numpy as np
import pytest

import omnizarr as oz

xr = pytest.importorskip("xarray")

from omnizarr.format.fill_attribute import from_json  # noqa: E402
from omnizarr.interop.xarray import OmnizarrBackend  # noqa: E402 - only where xarray is
from omnizarr.interop.xarray.fills import to_json  # noqa: E402

CASES = [
    ("i1", 255, -1),
    ("u1", -1, 255),
    ("i4", -9, -9),
    ("i4", 7.0, 7),
    ("f4", "AAAAAAAA4D8=", 0.5),
    ("f4", "-Infinity", -np.inf),
    ("f8", 1, 1.0),
]


@pytest.mark.parametrize(("dtype", "value", "meant"), CASES)
def test_a_value_of_the_type(dtype, value, meant):
    found = from_json(value, np.dtype(dtype))
    assert found == meant
    assert found.dtype == dtype


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("i4", 1e20),
        ("i4", 1 << 40),
        ("i2", 1.5),
        ("u1", float("nan")),
        ("f4", "none"),
        ("i4", "none"),
        ("c8", ["a", "b"]),
    ],
)
def test_what_is_no_value_of_the_type_hides_nothing(dtype, value):
    assert from_json(value, np.dtype(dtype)) is value


@pytest.mark.parametrize(("dtype", "value", "meant"), [*CASES, ("f4", "none", None), ("i4", 1 << 40, None)])
def test_the_dataset_opens(dtype, value, meant):
    store = {}
    values = np.arange(3).astype(dtype)
    if meant is not None:
        values[1] = meant
    oz.create_group(store).create_array("a", data=values, dims=("x",), attrs={"_FillValue": value})
    found = xr.open_dataset(store, engine=OmnizarrBackend)["a"].values
    np.testing.assert_array_equal(np.isnan(found), [False, meant is not None, False])


@pytest.mark.parametrize(("dtype", "value"), [("f4", 0.5), ("c8", 1 + 2j), ("S3", b"abc"), ("i2", -3), ("?", True)])
def test_round_trip(dtype, value):
    assert from_json(to_json(value, np.dtype(dtype)), np.dtype(dtype)) == value
