"""Consolidated metadata of both dialects."""

from __future__ import annotations

import json

import pytest

from omnizarr.errors import LimitError, MetadataError, UnsafeError, UnsupportedError
from omnizarr.format.consolidated import (
    _LEVELS_OF_A_BLOCK,
    is_document,
    render_v2,
    render_v3,
    split_v2,
    split_v3,
    without_block,
)
from omnizarr.limits import DEFAULT_LIMITS

GROUP2 = {"zarr_format": 2}
ARRAY2 = {"zarr_format": 2, "shape": []}
GROUP3 = {"zarr_format": 3, "node_type": "group", "attributes": {}}
ARRAY3 = {"zarr_format": 3, "node_type": "array", "shape": []}


def text(value: object) -> bytes:
    return json.dumps(value).encode()


def parsed(texts: dict[str, bytes] | None) -> dict[str, object]:
    assert texts is not None
    return {key: json.loads(value) for key, value in texts.items()}


def test_v2():
    document = {
        "zarr_consolidated_format": 1,
        "metadata": {
            ".zgroup": GROUP2,
            ".zattrs": {"a": 1},
            "g/.zgroup": {**GROUP2, "consolidated_metadata": {"metadata": {}}},
            "g/.zattrs": {"consolidated_metadata": "a name like any other here"},
            "g/x/.zarray": ARRAY2,
            "g/x/.zattrs": {"b": 2},
            "g/x/.nczarray": ["consolidated_metadata"],
            "g/y/.zarray": {**ARRAY2, "note": ["consolidated_metadata"]},
            "gone/.zattrs": {},
            "null/.zarray": None,
        },
    }
    texts = split_v2(text(document), ".zmetadata")
    expected = {**document["metadata"], "g/.zgroup": GROUP2}
    del expected["null/.zarray"]
    assert parsed(texts) == expected
    assert texts["g/x/.zarray"] == text(ARRAY2)
    rendered = render_v2(texts)
    assert json.loads(rendered) == {"metadata": expected, "zarr_consolidated_format": 1}
    assert list(json.loads(rendered)["metadata"]) == list(texts)
    assert split_v2(rendered, "k") == texts
    assert split_v2(render_v2({}), "k") == {}


def test_v2_with_documents_as_strings():
    document = {"metadata": {".zgroup": json.dumps(GROUP2), "/x//.zarray": "\ufeff " + json.dumps(ARRAY2) + "\n"}}
    assert split_v2(text(document), "k") == {".zgroup": text(GROUP2), "x/.zarray": text(ARRAY2)}


def test_names_are_brought_to_their_one_form():
    names = ["/a/.zgroup", "b//.zgroup", "c/.zgroup/", "d\\e/.zgroup", "é\n/.zgroup", ".f./..g/.zgroup"]
    found = split_v2(text({"metadata": dict.fromkeys(names, GROUP2)}), "k")
    assert [key.removesuffix("/.zgroup") for key in found] == ["a", "b", "c", "d/e", "é\n", ".f./..g"]
    assert split_v2(render_v2(found), "k") == found


@pytest.mark.parametrize("version", ["1", "1.0", "1 "])
def test_v2_of_format_1(version):
    assert split_v2(b'\xef\xbb\xbf{"metadata": {}, "zarr_consolidated_format": %s}' % version.encode(), "k") == {}


@pytest.mark.parametrize(
    ("document", "error", "pointer"),
    [
        ([], MetadataError, "/"),
        ({}, MetadataError, "/"),
        ({"metadata": []}, MetadataError, "/metadata"),
        ({"metadata": None}, MetadataError, "/metadata"),
        ({"metadata": {".zgroup": 1}}, MetadataError, "/metadata/.zgroup"),
        ({"metadata": {"a/.zattrs": [{}]}}, MetadataError, "/metadata/a~1.zattrs"),
        ({"metadata": {".zgroup": "{"}}, MetadataError, "/metadata/.zgroup"),
        ({"metadata": {".zgroup": '{}, ".zattrs": {}'}}, MetadataError, "/metadata/.zgroup"),
        ({"metadata": {".zgroup": "\ud800"}}, MetadataError, "/metadata/.zgroup"),
        ({"metadata": {".zgroup": "[]"}}, MetadataError, "/metadata/.zgroup"),
        ({"metadata": {}, "zarr_consolidated_format": 2}, UnsupportedError, "/zarr_consolidated_format"),
        ({"metadata": {}, "zarr_consolidated_format": None}, UnsupportedError, "/zarr_consolidated_format"),
        ({"metadata": {}, "record_size": 10}, UnsupportedError, None),
    ],
)
def test_v2_that_is_broken(document, error, pointer):
    with pytest.raises(error) as caught:
        split_v2(text(document), "k")
    assert (caught.value.key, caught.value.pointer) == ("k", pointer)


@pytest.mark.parametrize("path", ["..", "a/../b", "./a", "a/.", "..\\a", "a\0", "\ud800", "a/\udcff"])
def test_paths_that_lead_out(path):
    with pytest.raises(UnsafeError):
        split_v2(text({"metadata": {f"{path}/.zgroup": GROUP2}}), "k")
    with pytest.raises(UnsafeError):
        split_v3(group(block({path: GROUP3})), "k")
    with pytest.raises(UnsafeError):
        split_v3(group(block({"g": {**GROUP3, "consolidated_metadata": block({path: GROUP3})}})), "k")


def block(nodes: object, **more: object) -> dict:
    return {"kind": "inline", "must_understand": False, "metadata": nodes, **more}


def group(value: object) -> bytes:
    return text({**GROUP3, "consolidated_metadata": value})


def test_v3():
    empty = {**GROUP3, "consolidated_metadata": block({})}
    none = {**GROUP3, "consolidated_metadata": None}
    named = {**GROUP3, "attributes": {"consolidated_metadata": 1}}
    data = group(block({"g": empty, "g/x": ARRAY3, "h": None, "i": none, "j": empty, "k": named}))
    nodes = {"g": GROUP3, "g/x": ARRAY3, "i": GROUP3, "j": GROUP3, "k": named}
    texts = split_v3(data, "zarr.json")
    assert parsed(texts) == {f"{path}/zarr.json": node for path, node in nodes.items()}
    rendered = render_v3(data, texts)
    assert json.loads(rendered) == {**GROUP3, "consolidated_metadata": block(nodes)}
    assert split_v3(rendered, "k") == texts
    assert json.loads(render_v3(data, None)) == GROUP3
    assert json.loads(render_v3(text(GROUP3), texts)) == json.loads(rendered)


def test_v3_is_written_without_what_would_not_be_kept_in_step():
    nested = {**GROUP3, "consolidated_metadata": block({"x": ARRAY3})}
    rendered = render_v3(text(GROUP3), {"zarr.json": text(GROUP3), "g/zarr.json": text(nested)})
    assert json.loads(rendered) == {**GROUP3, "consolidated_metadata": block({"g": GROUP3})}


def test_v3_without():
    assert split_v3(text(GROUP3), "k") is None
    assert split_v3(group(None), "k") is None
    assert split_v3(group(block({})), "k") == {}


@pytest.mark.parametrize("turned", [False, True])
def test_v3_in_other_forms(turned):
    nested = {**GROUP3, "consolidated_metadata": block({"x": json.dumps(ARRAY3), "y": ARRAY3, "h/": GROUP3})}
    entries = {"g/y": {**ARRAY3, "shape": [1]}, "/g/": nested}
    if turned:
        entries = dict(reversed(entries.items()))
    assert parsed(split_v3(group({"metadata": entries}), "k")) == {
        "g/zarr.json": GROUP3,
        "g/x/zarr.json": ARRAY3,
        "g/y/zarr.json": {**ARRAY3, "shape": [1]},
        "g/h/zarr.json": GROUP3,
    }


def test_v3_nested_in_steps():
    document = GROUP3
    for name in ("c", "b", "a"):
        document = {**GROUP3, "consolidated_metadata": block({name: document})}
    assert set(parsed(split_v3(text(document), "k"))) == {"a/zarr.json", "a/b/zarr.json", "a/b/c/zarr.json"}
    for _ in range(40):
        document = {**GROUP3, "consolidated_metadata": block({"a": document})}
    with pytest.raises(LimitError, match="nested"):
        split_v3(text(document), "k")


@pytest.mark.parametrize(
    ("value", "error", "pointer"),
    [
        ([], MetadataError, ""),
        ({}, MetadataError, ""),
        (block([]), MetadataError, "/metadata"),
        (block({"a": 1}), MetadataError, "/metadata/a"),
        (block({"a": "1"}), MetadataError, "/metadata/a"),
        (block({}, kind="external"), UnsupportedError, "/kind"),
        (block({}, kind=None), UnsupportedError, "/kind"),
        (block({"a": {**GROUP3, "consolidated_metadata": 1}}), MetadataError, "/metadata/a/consolidated_metadata"),
        (
            block({"a": {**GROUP3, "consolidated_metadata": block({"b": 1})}}),
            MetadataError,
            "/metadata/a/consolidated_metadata/metadata/b",
        ),
    ],
)
def test_v3_that_is_broken(value, error, pointer):
    with pytest.raises(error) as caught:
        split_v3(group(value), "k")
    assert (caught.value.key, caught.value.pointer) == ("k", "/consolidated_metadata" + pointer)


@pytest.mark.parametrize(
    "data", [b"", b"[]", b'{"consolidated_metadata": {', b'{"metadata": {}, "metadata": {}}', b"\xff"]
)
def test_what_is_not_json(data):
    for split in (split_v2, split_v3):
        with pytest.raises(MetadataError):
            split(data, "k")
    with pytest.raises(MetadataError):
        render_v3(data, {})
    assert without_block(data) == data


def test_a_document_without_its_block():
    assert json.loads(without_block(group(block({"a": ARRAY3})))) == GROUP3
    assert without_block(text(GROUP3)) == text(GROUP3)
    assert json.loads(without_block(b"\xef\xbb\xbf" + group(None))) == GROUP3


def test_keys_of_documents():
    assert [is_document(key) for key in ("zarr.json", "a/.zarray", "a/.zgroup", ".zattrs")] == [True] * 4
    assert [is_document(key) for key in ("a/.zmetadata", "zarr.json/c", "a/0.0", "")] == [False] * 4


def test_documents_are_not_parsed(monkeypatch):
    monkeypatch.setattr("omnizarr.format.consolidated.load", pytest.fail)
    broken = b'{"consolidated_metadata": {"kind": "inline", "metadata": {"a": {"shape": [1, ]}, "b": {0}}}}'
    assert split_v3(broken, "k") == {"a/zarr.json": b'{"shape": [1, ]}', "b/zarr.json": b"{0}"}
    broken = b'{"metadata": {"a/.zarray": {"shape": ?}}, "zarr_consolidated_format": 1}'
    assert split_v2(broken, "k") == {"a/.zarray": b'{"shape": ?}'}


def test_the_kind_may_be_spelled_in_other_ways():
    data = group(block({"a": GROUP3})).replace(b'"inline"', b'"\\u0069nline"')
    assert list(parsed(split_v3(data, "k"))) == ["a/zarr.json"]


def test_consolidated_metadata_in_consolidated_metadata_are_nested_so_deep_and_no_deeper():
    def nested(levels):
        metadata = {"a": nested(levels - 1)} if levels else {"b": {"zarr_format": 3, "node_type": "group"}}
        block = {"kind": "inline", "must_understand": False, "metadata": metadata}
        return {"zarr_format": 3, "node_type": "group", "consolidated_metadata": block}

    data = json.dumps(nested(2)).encode()
    levels = 2 * _LEVELS_OF_A_BLOCK
    found = split_v3(data, "zarr.json", DEFAULT_LIMITS._replace(max_document_depth=levels))
    assert {"a/zarr.json", "a/a/zarr.json", "a/a/b/zarr.json"} <= set(found)
    with pytest.raises(LimitError, match=f"deeper than {levels - 1} levels"):
        split_v3(data, "zarr.json", DEFAULT_LIMITS._replace(max_document_depth=levels - 1))
