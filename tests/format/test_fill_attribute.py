"""The attribute `_FillValue` between the formats."""

from __future__ import annotations

import math

import numpy as np
import pytest

from omnizarr.format.fill_attribute import (
    as_v2,
    as_v3,
    fill_attribute,
    from_json,
    packed,
    unpacked,
    with_mask,
    without_nan,
)

HALF = "AAAAAAAA4D8="


@pytest.mark.parametrize(
    ("value", "dtype", "dialect", "expected"),
    [
        (None, "f4", "zarr3", {}),
        (0.5, "f4", "zarr3", {"_FillValue": HALF}),
        (0.5, "f4", "zarr2", {"_FillValue": 0.5}),
        (math.nan, "f4", "zarr2", {}),
        (math.inf, "f4", "zarr2", {}),
        (-1, "i2", "zarr3", {"_FillValue": -1}),
    ],
)
def test_one_value(value, dtype, dialect, expected):
    assert fill_attribute(value, np.dtype(dtype), dialect) == expected


@pytest.mark.parametrize(
    ("value", "dtype", "bits", "expected"),
    [
        (0.5, "f4", None, HALF),
        ([0.5], "f8", None, HALF),
        (1, "f4", None, packed(1.0)),
        ("NaN", "f4", None, packed(math.nan)),
        ("-Infinity", "f4", None, packed(-math.inf)),
        ("x", "f4", None, "x"),
        (True, "f4", None, True),
        ([1, 2], "f4", None, [1, 2]),
        (7, "i2", None, 7),
        ([7], "i2", None, [7]),
        ("ab", "S2", None, "YWI="),
        ("ab", "S2", b"ac", "YWI="),
        (5, "S2", None, 5),
    ],
)
def test_to_v3(value, dtype, bits, expected):
    assert as_v3({"a": 1, "_FillValue": value}, np.dtype(dtype), bits) == {"a": 1, "_FillValue": expected}


def test_text_that_the_fill_value_says_as_well_is_left_out():
    assert as_v3({"a": 1, "_FillValue": "ab"}, np.dtype("S4"), b"ab\0\0") == {"a": 1}
    assert as_v3({"a": 1, "_FillValue": "ab\0"}, np.dtype("S4"), b"ab\0\0") == {"a": 1}


@pytest.mark.parametrize(
    ("attributes", "dtype", "value", "made"),
    [
        ({}, "i2", -1, -1),
        ({}, "?", True, True),
        ({}, "f4", 0.5, HALF),
        ({}, "c8", 0.5 + 1j, [HALF, packed(1.0)]),
        ({}, "f4", math.nan, ...),
        ({}, "c16", complex(math.nan, 1), ...),
        ({"_FillValue": 3}, "i2", -1, 3),
        ({"_NCProperties": "x"}, "i2", -1, ...),
        ({"_nczarr_array": {}}, "i2", -1, ...),
        ({}, "M8[s]", 5, ...),
    ],
)
def test_the_fill_value_becomes_the_mask(attributes, dtype, value, made):
    bits = np.array(value, dtype).tobytes()
    expected = attributes if made is ... else {**attributes, "_FillValue": made}
    assert with_mask(attributes, np.dtype(dtype), bits) == expected
    assert with_mask(attributes, np.dtype(dtype), None) == attributes


@pytest.mark.parametrize("nan", [math.nan, "NaN"])
def test_a_nan_that_is_said_twice(nan):
    assert without_nan({"a": 1, "_FillValue": nan}, np.float32("nan")) == {"a": 1}
    for fill in (None, 0.5, "NaN"):
        assert set(without_nan({"a": 1, "_FillValue": nan}, fill)) == {"a", "_FillValue"}
    assert without_nan({"_FillValue": 0.5}, math.nan) == {"_FillValue": 0.5}
    assert without_nan({"a": 1}, math.nan) == {"a": 1}


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (HALF, "f4", 0.5),
        ("YWI=", "S2", "ab"),
        ("no base64", "f4", "no base64"),
        ("YWI=", "f4", "YWI="),
        ("/w==", "S1", "/w=="),
        (3, "f4", 3),
        (HALF, "i4", HALF),
    ],
)
def test_to_v2(value, dtype, expected):
    assert as_v2({"a": 1, "_FillValue": value}, np.dtype(dtype)) == {"a": 1, "_FillValue": expected}
    assert as_v2({"a": 1}, np.dtype(dtype)) == {"a": 1}


def test_floats_survive_to_the_bit():
    for number in (0.1, -0.0, math.inf, 5e-324):
        assert math.copysign(1, unpacked(packed(number))) == math.copysign(1, number)
        assert unpacked(packed(number)) == number
    with pytest.raises(ValueError, match="is no float"):
        unpacked("YWI=")


@pytest.mark.parametrize(
    ("value", "dtype", "found"),
    [
        ([packed(1.0), "NaN"], "c8", None),
        ([packed(1.0), packed(2.0)], "<c16", 1 + 2j),
        ("eA==", "S1", b"x"),
        ("AAAAAAAA4D8=", ">f4", 0.5),
        (255, "i1", -1),
        (-1, "u1", 255),
        (-128, "i1", -128),
        (3.0, ">i2", 3),
        (1.5, "f4", 1.5),
        (1, "?", True),
    ],
)
def test_values_of_json_are_of_the_type_of_the_array(value, dtype, found):
    made = from_json(value, np.dtype(dtype))
    if found is None:
        assert made.real == 1
        assert math.isnan(made.imag)
    else:
        assert made == found
        assert type(made) is (bytes if dtype == "S1" else np.dtype(dtype).type)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(256, "i1"), (-129, "i1"), (1.5, "i4"), (math.inf, "i4"), ([1], "c8"), ("x", "i4"), ("*", "S1"), (1, "S1")],
)
def test_values_of_json_that_are_none_of_the_type_are_left_as_they_are(value, dtype):
    assert from_json(value, np.dtype(dtype)) is value
