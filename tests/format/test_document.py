"""JSON documents: limits, repeated names, exactness."""

from __future__ import annotations

import json
import math
import time
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnizarr.errors import LimitError, MetadataError
from omnizarr.format.document import describe, dump, load, load_object
from omnizarr.limits import Limits

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_written_is_read_back(value):
    data = dump(value)
    assert data.isascii()
    assert load(data, "k") == value == json.loads(data)


@given(VALUES)
def test_other_writers_are_read(value):
    assert load(json.dumps(value, indent=1).encode(), "k") == value


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_text_may_be_utf8_or_escaped(text):
    assert load(json.dumps([text], ensure_ascii=False).encode(), "k") == [text]


def test_what_is_not_json_but_written_by_python():
    assert math.isnan(load(b'{"a": NaN}', "k")["a"])
    assert load(b"[Infinity, -Infinity]", "k") == [math.inf, -math.inf]
    assert dump({"a": [math.nan, math.inf, -math.inf]}) == b'{\n  "a": [NaN, Infinity, -Infinity]\n}\n'


def test_numbers_are_exact():
    for number in (2**53 + 1, 2**64 - 1, -(2**63), 10**300):
        assert load(b"[%d]" % number, "k") == [number]
    assert math.copysign(1, load(b"[-0.0]", "k")[0]) == -1
    assert load(dump([-0.0, 5e-324, 0.1]), "k") == [-0.0, 5e-324, 0.1]


def test_layout():
    assert dump({"a": [1, 2], "b": {}, "c": [], "d": [{"x": None}], "é": True}) == (
        b'{\n  "a": [1, 2],\n  "b": {},\n  "c": [],\n  "d": [\n    {\n      "x": null\n    }\n  ],\n'
        b'  "\\u00e9": true\n}\n'
    )


@pytest.mark.parametrize("data", [b"\xef\xbb\xbf{}", b" \r\n\t{} \n", b"\xef\xbb\xbf \n{}\n"])
def test_marks_and_spaces_around(data):
    assert load_object(data, "k") == {}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"   ", "empty"),
        (b"{", "offset 1"),
        (b'{"a": 1,}', "offset"),
        (b"{} {}", "offset 2"),
        (b"{}\0", "offset 2"),
        (b'{"a": "\xff"}', "offset 7"),
        ('{"a": 1}'.encode("utf-16"), "UTF-16"),
        (b'{"a": 1, "b": {"c": 1, "d": 2, "c": 1}}', "'c'"),
        (b'{"shape": [1], "shape": [2]}', "'shape'"),
        (b"[" + b"9" * 1_000_000 + b"]", "long"),
        (b"<html></html>", "offset 0"),
        (b"[1, 2", "offset"),
        (b"'a'", "offset"),
        (b'["\\ud8"]', "offset"),
        (b'["a\nb"]', "offset"),
        (b"nul", "offset"),
    ],
)
def test_broken_documents_are_named(data, words):
    with pytest.raises(MetadataError, match=words) as caught:
        load(data, "a/zarr.json")
    assert caught.value.key == "a/zarr.json"
    assert "a/zarr.json" in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 200_000,
        b"[" * 200_000 + b"]" * 200_000,
        b'{"a":' * 200_000 + b"1" + b"}" * 200_000,
        b'{"a":[' * 51 + b"]}" * 51,
        b"[[]" * 60_000,
        b"[[]," * 100 + b"[]" + b"]" * 100,
        b'["' + b"[" * 500 + b'",' + b"[" * 101 + b"]" * 102,
    ],
)
def test_deep_documents_are_refused_in_no_time(data):
    start = time.perf_counter()
    with pytest.raises(LimitError, match="deep"):
        load(data, "k")
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100 + b"]" * 100,
        b"[[]," * 99 + b"[]" + b"]" * 99,
        b'{"a":[' * 50 + b"]}" * 50,
        b'["' + b"[{" * 5000 + b'"]',
        b'["' + b"[" * 500 + b'",' + b"[" * 99 + b"]" * 100,
        b'["\\"' + b"]" * 5000 + b'\\\\"]',
        b"[" + b",".join([b'["[", "\\"[["]'] * 500) + b"]",
    ],
)
def test_documents_that_only_look_deep_are_read(data):
    assert load(data, "k") == json.loads(data)


def test_a_string_that_never_ends_takes_no_time():
    start = time.perf_counter()
    with pytest.raises(MetadataError):
        load(b"[" * 200 + b'"' + b'\\"' * 1_000_000, "k", Limits(max_document_depth=300))
    with pytest.raises(LimitError):
        load(b"[" * 200 + b'"' + b'\\"' * 1_000_000, "k")
    assert time.perf_counter() - start < 1


def test_size_is_limited():
    with pytest.raises(LimitError, match="bytes"):
        load(b"[" + b" " * 100 + b"]", "k", Limits(max_document_bytes=100))


def test_only_objects_are_nodes():
    with pytest.raises(MetadataError, match="not an object"):
        load_object(b"[]", "k")


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({"a": [1, {"b": np.int64(1)}]}, "/a/1/b"),
        ({"a": {1: 2}}, "/a"),
        ([b"x"], "/0"),
        (object(), "/"),
        ({"a": {1, 2}}, "/a"),
    ],
)
def test_values_that_are_not_json_are_pointed_to(value, pointer):
    with pytest.raises(MetadataError) as caught:
        dump(value, "k")
    assert caught.value.pointer == pointer


def test_what_could_not_be_read_back_is_not_written():
    value: list[object] = []
    for _ in range(99):
        value = [value]
    assert load(dump(value), "k") == value
    with pytest.raises(LimitError):
        dump([value])


def test_descriptions():
    assert [describe(v) for v in (None, True, 1, 10**200, 1.5, "x", [1], {})] == [
        *("null", "true", "the number 1", "a huge number", "the number 1.5", "the string 'x'", "a list of 1"),
        "an object",
    ]
    assert len(describe("x" * 1000)) < 60


def test_the_name_that_is_there_twice_is_told():
    with pytest.raises(MetadataError, match="the name 'b' twice") as caught:
        load(b'{"a": 1, "b": 2, "c": {"a": 3}, "b": 4}', "k")
    assert caught.value.key == "k"


def test_any_mapping_is_an_object():
    frozen = MappingProxyType({"a": MappingProxyType({})})
    assert dump(frozen) == dump({"a": {}}) == b'{\n  "a": {}\n}\n'


def test_objects_too_deep_to_be_read_back_are_not_written():
    value: dict[str, object] = {"a": 1}
    for _ in range(99):
        value = {"a": value}
    assert load(dump(value), "k") == value
    with pytest.raises(LimitError, match="nested too deep") as caught:
        dump({"a": value}, "k")
    assert caught.value.key == "k"
