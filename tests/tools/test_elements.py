"""Elements of every type have a line of JSON, in the form that fill values have in v3's documents."""

from __future__ import annotations

import json

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.format.fill_json import parse_v3
from omnizarr.tools.values import elements as module
from omnizarr.tools.values.elements import elements_as_json

TYPES = [
    ("?", [True, False], ["true", "false"]),
    ("i1", [-128, 127], ["-128", "127"]),
    (">u8", [2**64 - 1, 0], ["18446744073709551615", "0"]),
    ("f2", [1.5, np.inf], ["1.5", '"Infinity"']),
    ("f4", [0.5, -np.inf], ["0.5", '"-Infinity"']),
    ("f8", [0.1, np.nan], ["0.1", '"NaN"']),
    ("c8", [1 - 2j, complex(np.nan, 0)], ["[1.0, -2.0]", '["NaN", 0.0]']),
    ("U3", ["ab", "é\n"], ['"ab"', '"é\\n"']),
    ("S2", [b"ab", b""], ['"YWI="', '""']),
    ("V2", [b"ab", b"\0\0"], ['"YWI="', '"AAA="']),
    ("string", ["", "a\u2028b"], ['""', '"a\u2028b"']),
    ("bytes", [b"", b"ab"], ['""', '"YWI="']),
    ("M8[s]", ["1970-01-01T00:00:05", "NaT"], ["5", "-9223372036854775808"]),
    ([("x", "i2"), ("y", "f4")], [(1, 0.5), (2, np.nan)], ['{"x": 1, "y": 0.5}', '{"x": 2, "y": "NaN"}']),
]


def lines(array):
    return "".join(elements_as_json(array)).split("\n")[:-1]


@pytest.mark.parametrize(("dtype", "values", "expected"), TYPES, ids=[str(row[0]) for row in TYPES])
def test_every_type(dtype, values, expected):
    array = oz.create_array({}, shape=(2,), dtype=dtype)
    array[...] = values if dtype in ("string", "bytes") else np.array(values, dtype)
    assert lines(array) == expected
    model = array.metadata.dtype
    for text, value in zip(expected, array[...], strict=True):
        read = parse_v3(json.loads(text), model, "").value(model)
        np.testing.assert_equal(str(read), str(value))


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e5m2", "int4", "complex_float16"])
def test_types_that_numpy_has_not(dtype):
    pytest.importorskip("ml_dtypes")
    array = oz.create_array({}, shape=(2,), dtype=dtype, fill_value=1)
    model = array.metadata.dtype
    for text in lines(array):
        assert parse_v3(json.loads(text), model, "") == array.metadata.fill


def test_objects_and_fields_that_are_arrays():
    array = oz.create_array({}, shape=(2,), dtype=object, codecs=["json2"], format="zarr2")
    array[...] = np.array([{"a": [1, None]}, "x"], object)
    assert lines(array) == ['{"a": [1, null]}', '"x"']
    array = oz.create_array({}, shape=(1,), dtype=[("x", "u1", (3,))], format="zarr2")
    array[...] = np.array([([97, 98, 99],)], array.dtype)
    assert lines(array) == ['"YWJj"']


def test_elements_come_in_c_order_also_in_pieces(monkeypatch):
    values = np.arange(2 * 3 * 5).reshape(5, 2, 3)
    array = oz.create_array({}, shape=values.shape, dtype="i4", chunks=(2, 1, 2))
    array[...] = values
    for nbytes, block in ((module._ROWS_BYTES, module._BLOCK), (50, 4), (1, 1)):
        monkeypatch.setattr(module, "_ROWS_BYTES", nbytes)
        monkeypatch.setattr(module, "_BLOCK", block)
        assert lines(array) == [str(n) for n in range(30)]


def test_no_dimensions_and_no_elements():
    assert lines(oz.create_array({}, shape=(), dtype="i4", fill_value=3)) == ["3"]
    assert lines(oz.create_array({}, shape=(0, 2), dtype="i4")) == []
