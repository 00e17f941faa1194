"""Documents that were parsed before are not parsed again, and are not mixed up with others."""

from __future__ import annotations

import json

import pytest

from omnizarr.errors import LimitError, MetadataError
from omnizarr.format import parsed
from omnizarr.format.parsed import known, parse_v2, parse_v3, parse_v3_of, remember
from omnizarr.limits import Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta

ARRAY = {
    "zarr_format": 3,
    "node_type": "array",
    "shape": [4],
    "data_type": "int32",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
    "chunk_key_encoding": {"name": "default"},
    "fill_value": 0,
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
}
GROUP = b'{"zarr_format": 3, "node_type": "group"}'
OLD = {"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<i4", "compressor": None, "fill_value": 0}
OLD |= {"order": "C", "filters": None}
OLD_GROUP = b'{"zarr_format": 2}'
SMALL = Limits(max_document_bytes=10)


@pytest.fixture(autouse=True)
def caches(monkeypatch):
    """Nothing is known yet."""
    for name in ("_parsed_v3", "_siblings_v3", "_parsed_v2"):
        monkeypatch.setattr(parsed, name, {})


def text(**fields):
    return json.dumps({**ARRAY, **fields}).encode()


def old(**fields):
    return json.dumps({**OLD, **fields}).encode()


def test_what_was_parsed_is_known():
    data = text()
    assert known(data) is None
    meta = parse_v3(data, "zarr.json")
    assert isinstance(meta, ArrayMeta)
    assert known(data) is meta is parse_v3(data, "zarr.json") is parse_v3_of("", {"zarr.json": data})
    group = parse_v3(GROUP, "zarr.json")
    assert isinstance(group, GroupMeta)
    assert known(GROUP) is group is parse_v3(GROUP, "zarr.json")
    assert parse_v3_of("", {}) is None


def test_what_was_parsed_of_v2_is_known_by_all_its_documents():
    data, attrs = old(), b'{"a": 1}'
    assert known(None) is known(None, data) is known(None, None, OLD_GROUP) is None
    meta = parse_v2("", {".zarray": data})
    assert isinstance(meta, ArrayMeta)
    assert known(None, data) is meta is parse_v2("", {".zarray": data})
    assert known(None, data, OLD_GROUP) is meta  # an array, which what else is there does not change
    assert known(None, data, None, attrs) is None
    other = parse_v2("", {".zarray": data, ".zattrs": attrs})
    assert other.attributes == {"a": 1}
    assert known(None, data, None, attrs) is other
    group = parse_v2("", {".zgroup": OLD_GROUP, ".zattrs": attrs})
    assert isinstance(group, GroupMeta)
    assert known(None, None, OLD_GROUP, attrs) is group is parse_v2("", {".zgroup": OLD_GROUP, ".zattrs": attrs})
    assert known(None, None, OLD_GROUP) is None
    assert parse_v2("", {".zattrs": attrs}) is None


def test_a_node_with_documents_of_two_formats_is_never_known():
    data = text()
    parse_v3(data, "zarr.json")
    parse_v2("", {".zarray": old()})
    parse_v2("", {".zgroup": OLD_GROUP})
    assert known(data, old()) is None
    assert known(data, None, OLD_GROUP) is None


def test_what_an_array_says_is_not_known_of_a_group():
    data = old()
    parse_v2("", {".zarray": data})
    assert known(None, None, data) is None


@pytest.mark.parametrize("first", [True, False])
def test_other_limits_hold_for_what_is_known_and_are_not_kept(first):
    data = text()
    cases = (
        (lambda **how: parse_v3(data, "k", **how), lambda: known(data)),
        (lambda **how: parse_v2("", {".zarray": old()}, **how), lambda: known(None, old())),
    )
    for parse, stored in cases:
        if first:
            parse()
        with pytest.raises(LimitError):
            parse(limits=SMALL)
        before = stored()
        meta = parse(limits=Limits(max_dimensions=2))
        assert stored() is before
        assert meta is not before
        assert meta.shape == (4,)


def test_siblings_share_what_is_the_same_in_both():
    one = parse_v3(text(attributes={"a": 1}), "k")
    other = parse_v3(text(attributes={"b": 2}, shape=[9], dimension_names=["x"]), "k")
    assert (other.shape, other.dims, other.attributes) == ((9,), ("x",), {"b": 2})
    assert other.codecs is one.codecs
    assert known(text(attributes={"b": 2}, shape=[9], dimension_names=["x"])) is other
    third = parse_v3(text(attributes={"b": 2}, fill_value=1), "k")
    assert third.codecs is not one.codecs
    assert third.fill != one.fill


def test_siblings_are_not_made_of_documents_for_which_there_are_other_limits():
    parse_v3(text(), "k", Limits(max_dimensions=2))
    one = parse_v3(text(), "k")
    other = parse_v3(text(shape=[5]), "k", Limits(max_dimensions=2))
    assert other == one._replace(shape=(5,))
    assert other.codecs is not one.codecs
    with pytest.raises(LimitError, match="dimensions"):
        parse_v3(text(shape=[5]), "k", Limits(max_dimensions=0))


def test_what_is_wrong_with_a_sibling_is_said_as_of_any_other():
    parse_v3(text(), "k")
    for wrong in ({"shape": [-1]}, {"dimension_names": ["a", "b"]}, {"attributes": 5}):
        with pytest.raises(MetadataError):
            parse_v3(text(**wrong), "k")
    with pytest.raises(MetadataError):
        parse_v3(text()[:-1], "k")


def test_large_documents_are_not_kept():
    for size, kept in ((4096, True), (4097, False)):
        data = text(attributes={"a": ""})
        data = data.replace(b'"a": ""', b'"a": "%s"' % (b"x" * (size - len(data))))
        assert len(data) == size
        meta = parse_v3(data, "k")
        assert (known(data) is meta) is kept
        attrs = b'{"a": "%s"}' % (b"x" * (size - len(old()) - 9))
        meta = parse_v2("", {".zarray": old(), ".zattrs": attrs})
        assert len(old()) + len(attrs) == size
        assert (known(None, old(), None, attrs) is meta) is kept


def test_when_there_is_too_much_all_is_forgotten(monkeypatch):
    monkeypatch.setattr(parsed, "_MOST_CACHED", 2)
    texts = [text(attributes={"a": number}) for number in range(3)]
    first, second, third = (parse_v3(data, "k") for data in texts)
    assert known(texts[0]) is known(texts[1]) is None
    assert known(texts[2]) is third
    assert parse_v3(texts[0], "k") == first
    assert known(texts[2]) is third
    assert second == first._replace(attributes={"a": 1})


def test_what_was_written_is_known():
    one, other = parse_v3(text(), "k"), parse_v2("", {".zarray": old()})
    new, attrs = text(shape=[5]), b'{"c": 3}'
    remember({"zarr.json": new}, one)
    assert known(new) is one
    remember({".zarray": old(shape=[5]), ".zattrs": attrs}, other)
    assert known(None, old(shape=[5]), None, attrs) is other
    assert known(None, old(shape=[5])) is None
    large = b'{"c": "%s"}' % (b"x" * 4096)
    remember({".zarray": old(shape=[5]), ".zattrs": large}, other)
    assert known(None, old(shape=[5]), None, large) is None
    remember({"attributes.json": b"{}"}, other)


def test_consolidated_metadata_is_left_out_of_what_a_group_says():
    block = b', "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": {}}}'
    data = GROUP[:-1] + block
    assert parse_v3(data, "k") == parse_v3(GROUP, "k") == parse_v3(data, "k", Limits(max_document_bytes=len(data)))
    with pytest.raises(LimitError):  # which is about the document, not about what is left of it
        parse_v3(data, "k", Limits(max_document_bytes=len(data) - 1))
