"""Attributes to JSON and back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from omnizarr.errors import MetadataError, OmnizarrWarning
from omnizarr.format.lenient import load, text_of
from omnizarr.nc.tree import Attr
from omnizarr.nc.types import (
    BYTE,
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    NUMERIC,
    SHORT,
    STRING,
    UBYTE,
    Compound,
    Enum,
    Field,
    Opaque,
    Type,
    Vlen,
)
from omnizarr.nc.zarr.attributes import fill_attribute, from_json, from_user_json, to_json


def through(attr: Attr) -> Attr:
    """Return an attribute that was written into a document and read again."""
    value, kind = to_json(attr)
    text = text_of({"value": value}).encode()
    json.loads(text)  # so that everybody can read it
    again = load(text, "k")
    assert isinstance(again, dict)
    return from_json(attr.name, again["value"], kind)


@given(st.data(), st.sampled_from(NUMERIC))
def test_numbers_come_back(data, kind):
    values = data.draw(hnp.arrays(kind.numpy, st.integers(0, 4)))
    assert through(Attr("a", kind, values)) == Attr("a", kind, values)


@given(
    st.text()
    | st.binary()
    | st.sampled_from(["123", "1.50", "true", "null", "NaN", '{"a": 1}', "[1,2]", '"abc"', " 12 ", ""])
)
def test_text_comes_back(text):
    attr = Attr.of_text("a", text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    assert isinstance(to_json(attr)[0], str)
    assert through(attr) == attr


@given(st.lists(st.none() | st.text(), max_size=4))
def test_strings_come_back(texts):
    attr = Attr.of_values("a", STRING, texts)
    assert through(attr) == attr


@pytest.mark.parametrize(
    ("attr", "value", "kind"),
    [
        (Attr.of_text("a", "é"), "é", ">S1"),
        (Attr.of_text("a", b"caf\xe9"), "caf\udce9", ">S1"),
        (Attr.of_text("a", ""), "", ">S1"),
        (Attr.of_values("a", BYTE, [-5]), -5, "|i1"),
        (Attr.of_values("a", INT, [1, 2]), [1, 2], "<i4"),
        (Attr.of_values("a", INT, []), [], "<i4"),
        (Attr.of_values("a", FLOAT, [0.1]), 0.1, "<f4"),
        (Attr.of_values("a", DOUBLE, [3.141592653589793]), 3.141592653589793, "<f8"),
        (Attr.of_values("a", DOUBLE, [np.nan, np.inf, -np.inf]), ["NaN", "Infinity", "-Infinity"], "<f8"),
        (Attr.of_values("a", STRING, "x"), "x", "|S128"),
        (Attr.of_values("a", STRING, ["x" * 200, "é"]), ["x" * 200, "é"], "|S200"),
    ],
)
def test_what_is_written(attr, value, kind):
    assert to_json(attr) == (value, kind)


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("5", "int", [5]),
        ("2147483648", "uint", [2147483648]),
        ("-2147483649", "int64", [-2147483649]),
        ("18446744073709551615", "uint64", [18446744073709551615]),
        ("36893488147419103232", "char", b"36893488147419103232"),
        ("[1, -3000000000]", "int64", [1, -3000000000]),
        ("[-1, 18446744073709551615]", "char", b"[-1,18446744073709551615]"),
        ("1.5", "double", [1.5]),
        ("1e3", "double", [1000.0]),
        ("[1, 2.5]", "double", [1.0, 2.5]),
        ("[9007199254740993, 2.5]", "char", b"[9007199254740993,2.5]"),
        ("true", "ubyte", [1]),
        ("[true, false]", "ubyte", [1, 0]),
        ("[true, 1]", "char", b"[true,1]"),
        ("null", "char", b"null"),
        ("NaN", "double", [np.nan]),
        ("[]", "int", []),
        ('"x"', "char", b"x"),
        ('["x", "y"]', "string", ["x", "y"]),
        ('[1, "x"]', "char", b'[1,"x"]'),
        ('{"a": [1,2], "b": null}', "char", b'{"a": [1,2], "b": null}'),
        ("[[1, 2], [3, 4]]", "char", b"[[1,2],[3,4]]"),
        ('[{"a": 1.50}]', "char", b'[{"a": 1.50}]'),
    ],
)
def test_types_that_values_tell(text, kind, values):
    attr = from_json("a", load(text.encode(), "k"))
    assert attr.type.name == kind
    if kind == "char":
        assert attr.value == values
    else:
        np.testing.assert_array_equal(attr.value, np.array(values, attr.type.numpy))


@pytest.mark.parametrize("kind", ["2", "<U1", ">U1", "|U1", ">S1", 2, "char"])
@pytest.mark.parametrize("text", ["123", "1.50", "-5", "true", "null", "NaN", "1e5", '{"a": 1}', "[1,2]"])
def test_text_that_was_stored_as_json_is_text_again(kind, text):
    assert from_json("a", load(text.encode(), "k"), kind) == Attr.of_text("a", text)


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ('"NaN"', "<f4", Attr.of_values("a", FLOAT, [np.nan])),
        ('["-Infinity", 1]', "<f8", Attr.of_values("a", DOUBLE, [-np.inf, 1])),
        ("[7]", "4", Attr.of_values("a", INT, [7])),
        ("7", ">i2", Attr.of_values("a", SHORT, [7])),
        ("7.0", "<i2", Attr.of_values("a", SHORT, [7])),
        ("[]", "<i2", Attr.of_values("a", SHORT, [])),
        ('"x"', "|S1", Attr.of_values("a", STRING, ["x"])),
        ('"x"', "|S64", Attr.of_values("a", STRING, ["x"])),
        ('[null, "x"]', "12", Attr.of_values("a", STRING, [None, "x"])),
        ('{"b": 1}', "|J0", Attr.of_text("a", '{"b": 1}')),
    ],
)
def test_types_that_are_noted(text, kind, expected):
    assert from_json("a", load(text.encode(), "k"), kind) == expected


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("300", "|i1", "int"),
        ('"x"', "<i4", "char"),
        ("1.5", "<i4", "double"),
        ("null", "<f8", "char"),
        ("5", "|X9", "int"),
    ],
)
def test_types_that_do_not_fit_are_warned_of(text, kind, told):
    with pytest.warns(OmnizarrWarning, match="its value tells one"):
        assert from_json("a", load(text.encode(), "k"), kind).type.name == told


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (5, SHORT, 5),
        ([5], UBYTE, 5),
        ("NaN", FLOAT, np.nan),
        (1e20, FLOAT, np.float32(1e20)),
        ("AAAAAAAA+H8=", DOUBLE, np.nan),
        ("AAAAAACAj8A=", FLOAT, -1008.0),
        ("-9", INT, -9),
        (1, Enum("e", BYTE, (("no", 0), ("yes", 1))), 1),
    ],
)
def test_fill_values_are_of_the_variables_type(value, kind, expected):
    attr = fill_attribute(value, None, kind)
    assert attr is not None
    assert attr.type == kind
    np.testing.assert_array_equal(attr.value, np.array([expected], kind.numpy))


@pytest.mark.parametrize(("value", "kind"), [(300, BYTE), ("x", INT), (None, DOUBLE), ([], Opaque("o", 4))])
def test_fill_values_that_are_none(value, kind):
    assert fill_attribute(value, None, kind) is None


def test_fill_values_of_text():
    for kind, value in ((CHAR, b"x"), (STRING, "x")):
        attr = fill_attribute(["x"], None, kind)
        assert attr is not None
        assert list(attr.value) == list(value) if kind == CHAR else attr.value[0] == value


POINT = Compound("point", (Field("x", FLOAT), Field("n", STRING), Field("rgb", UBYTE, (2, 2)), Field("c", CHAR, (2,))))
TRACK = Vlen("track", POINT)


def user(kind: Type) -> Any:
    point = np.array(
        [(1.5, "é", [[1, 2], [3, 4]], [b"a", b"b"]), (np.nan, None, [[5, 6], [7, 8]], [b"c", b"\xff"])], POINT.numpy
    )
    tracks = np.empty(2, object)
    tracks[0], tracks[1] = point, point[:0]
    return {
        "enum": np.array([1, 0], "i1"),
        "key": np.array([b"abcd", b"\0\1\2\3"], "V4"),
        "point": point,
        "track": tracks,
    }[kind.name]


@pytest.mark.parametrize(
    "kind", [Enum("enum", BYTE, (("no", 0), ("yes", 1))), Opaque("key", 4), POINT, TRACK], ids=lambda one: one.name
)
def test_user_types_come_back(kind):
    attr = Attr("a", kind, user(kind))
    value, path = to_json(attr)
    assert path == f"/{kind.name}"
    again = from_user_json("a", load(text_of(value).encode(), "k"), kind)
    assert repr(again.value) == repr(attr.value)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"value": ["zz"]}, Opaque("o", 1)),
        ({"value": ["00"]}, Opaque("o", 2)),
        ({"value": [[1]]}, POINT),
        ({"value": [5]}, TRACK),
    ],
)
def test_values_that_are_not_of_a_user_type(value, kind):
    with pytest.raises(MetadataError, match="is not of the type"):
        from_user_json("a", value, kind)
