"""JSON that is not quite JSON."""

from __future__ import annotations

import json
import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnizarr.errors import LimitError, MetadataError
from omnizarr.format.lenient import Real, Whole, load, load_object, text_of
from omnizarr.limits import DEFAULT_LIMITS

JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSONS)
def test_what_is_json_is_read_as_json(value):
    assert load(json.dumps(value).encode(), "k") == value


@given(JSONS)
def test_texts_are_read_back(value):
    assert load(text_of(value).encode(), "k") == value


@given(JSONS, st.text())
def test_the_lenient_reader_agrees(value, rest):
    """A comma too many sends any document through the other reader, and what follows the value is nobody's."""
    assert load(f"[{text_of(value)},]{rest}".encode("utf-8", "replace"), "k") == [value]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": +5, "b": .5, "c": 1.}', {"a": 5, "b": 0.5, "c": 1.0}),
        ("[1, 2,]", [1, 2]),
        ('{"a": 1,}', {"a": 1}),
        ("[infinity, -Infinity, INFINITY, +inf]", [math.inf, -math.inf, math.inf, math.inf]),
        ("[TRUE, False, nUlL]", [True, False, None]),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('\ufeff {"a": 1}', {"a": 1}),
        ('{"a": 1}}}, "old": 7}', {"a": 1}),
        ("[007, -0]", [7, -0.0]),
        (r'["it\'s", "a\\", "\\\'", "\"", "\u00e9", "\/"]', ["it's", "a\\", "\\'", '"', "é", "/"]),
        ('"a\tb"', "a\tb"),
    ],
)
def test_leniency(text, value):
    found = load(text.encode(), "k")
    assert found == value
    assert kinds(found) == kinds(value)


def kinds(value):
    """Say which numbers are whole: 1 and 1.0 are equal, and a fill value is not."""
    if isinstance(value, (list, dict)):
        return [kinds(one) for one in (value.values() if isinstance(value, dict) else value)]
    return isinstance(value, float)


@pytest.mark.parametrize("text", ["NaN", "nan", "[nAn]", "-NaN"])
def test_nan(text):
    value = load(text.encode(), "k")
    assert math.isnan(value[0] if isinstance(value, list) else value)


def test_an_odd_quote_of_old_writers_is_a_double_one():
    assert load(rb'"{\'a\': 1}"', "k", quote='"') == '{"a": 1}'


def test_bytes_that_are_no_text_survive():
    value = load(b'{"a": "caf\xe9"}', "k")
    assert value == {"a": "caf\udce9"}
    assert text_of(value) == r'{"a": "caf\udce9"}'
    assert load(text_of(value).encode(), "k") == value


@pytest.mark.parametrize(
    "text", ["1.50", "-0", "1e5", "1E+05", "+5", ".5", "1.", "NaN", "-Infinity", "12345678901234567890"]
)
def test_numbers_keep_their_spelling(text):
    assert text_of(load(f"[{text},]".encode(), "k")) == f"[{text}]"
    assert isinstance(load(text.encode(), "k"), (Real, Whole, int))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "line 1, column 1"),
        ("{", "line 1, column 2"),
        ('{"a" 1}', "line 1, column 6"),
        ('{"a":\n  [1 2]}', "line 2, column 6"),
        ('{"a": "b', "line 1, column 7"),
        ("{a: 1}", "line 1, column 2"),
        ('["\\x"]', "line 1, column 2"),
        ("[-]", "line 1, column 2"),
        ("nope", "line 1, column 1"),
        ("\n\n  nope", "line 3, column 3"),
        ("\n[1,\n 2 3]", "line 3, column 4"),
    ],
)
def test_errors_name_the_place(text, place):
    with pytest.raises(MetadataError, match=place) as caught:
        load(text.encode(), "a/.zattrs")
    assert caught.value.key == "a/.zattrs"


def test_depth_and_size_are_bounded():
    with pytest.raises(LimitError):
        load(b"[" * 200 + b"NaN" + b"]" * 200, "k")
    with pytest.raises(LimitError):
        load(b'["' + b"[" * 200 + b'",' + b"[" * 101 + b"]" * 101 + b",]", "k")
    with pytest.raises(LimitError):
        load(b"[1,]", "k", DEFAULT_LIMITS._replace(max_document_bytes=3))
    with pytest.raises(MetadataError, match="too long a number"):
        load(b"[" + b"1" * 5000 + b",]", "k")


@given(st.binary(max_size=40))
def test_no_bytes_break_it(data):
    with suppress(MetadataError, LimitError):
        load(data, "k")


def test_hexadecimal_numbers_keep_their_spelling():
    for text, number in (("0x10", 16.0), ("-0x1.8p1", -3.0), ("+0X.8", 0.5), ("0x1p99999", math.inf)):
        found = load(f"[{text},]".encode(), "k")
        assert found == [number]
        assert text_of(found) == f"[{text}]"


def test_only_objects_are_documents():
    assert load_object(b'{"a": NaN,}', "k").keys() == {"a"}
    with pytest.raises(MetadataError, match="a list of 0, not an object") as caught:
        load_object(b"[]", "a/.zattrs")
    assert caught.value.key == "a/.zattrs"


def test_the_lenient_reader_counts_levels_itself():
    limits = DEFAULT_LIMITS._replace(max_document_depth=3)
    assert load(b"[[[1,],],]", "k", limits) == [[[1]]]
    # A bracket in a string hides one level from the quick look.
    for text in (b'["]", [[[1,]]]]', b'["}", {"a": {"b": {"c": 1,}}}]'):
        with pytest.raises(LimitError, match="deeper than 3 levels") as caught:
            load(text, "k", limits)
        assert caught.value.key == "k"


def test_numbers_that_json_does_not_have_are_written_as_words():
    assert text_of([math.inf, -math.inf, math.nan, -0.0]) == "[Infinity,-Infinity,NaN,-0.0]"
