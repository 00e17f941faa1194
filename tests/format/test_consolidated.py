"""Consolidated metadata of both dialects."""

from __future__ import annotations

import json

import pytest

from omnizarr.errors import MetadataError, UnsafeError, UnsupportedError
from omnizarr.format.consolidated import V2Node, read_v2, read_v3, render_v2, render_v3

GROUP2 = {"zarr_format": 2}
ARRAY2 = {"zarr_format": 2, "shape": []}
GROUP3 = {"zarr_format": 3, "node_type": "group", "attributes": {}}
ARRAY3 = {"zarr_format": 3, "node_type": "array", "shape": []}


def test_v2():
    document = {
        "zarr_consolidated_format": 1,
        "metadata": {
            ".zgroup": GROUP2,
            ".zattrs": {"a": 1},
            "g/.zgroup": {**GROUP2, "consolidated_metadata": {"metadata": {}}},
            "g/x/.zarray": ARRAY2,
            "g/x/.zattrs": {"b": 2},
            "g/x/.nczarray": {},
            "gone/.zattrs": {},
            "null/.zarray": None,
        },
    }
    nodes = read_v2(document, ".zmetadata")
    assert nodes == {
        "": V2Node(GROUP2, {"a": 1}, is_array=False),
        "g": V2Node(GROUP2, None, is_array=False),
        "g/x": V2Node(ARRAY2, {"b": 2}, is_array=True),
    }
    rendered = render_v2(nodes)
    assert rendered["zarr_consolidated_format"] == 1
    assert list(rendered["metadata"]) == [".zgroup", ".zattrs", "g/.zgroup", "g/.zattrs", "g/x/.zarray", "g/x/.zattrs"]
    again = read_v2(rendered, "k")
    assert again == {**nodes, "g": V2Node(GROUP2, {}, is_array=False)}


def test_v2_with_documents_as_strings():
    document = {"metadata": {".zgroup": json.dumps(GROUP2), "/x//.zarray": json.dumps(ARRAY2)}}
    assert set(read_v2(document, "k")) == {"", "x"}


def test_an_array_wins_over_a_group():
    assert read_v2({"metadata": {"x/.zgroup": GROUP2, "x/.zarray": ARRAY2}}, "k")["x"].is_array


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ([], MetadataError),
        ({}, MetadataError),
        ({"metadata": []}, MetadataError),
        ({"metadata": {".zgroup": 1}}, MetadataError),
        ({"metadata": {".zgroup": "{"}}, MetadataError),
        ({"metadata": {".zgroup": "\ud800"}}, MetadataError),
        ({"metadata": {".zgroup": "[]"}}, MetadataError),
        ({"metadata": {}, "zarr_consolidated_format": 2}, UnsupportedError),
        ({"metadata": {"../.zgroup": GROUP2}}, UnsafeError),
    ],
)
def test_v2_that_is_broken(document, error):
    with pytest.raises(error):
        read_v2(document, "k")


def block(nodes: dict, **more: object) -> dict:
    return {"kind": "inline", "must_understand": False, "metadata": nodes, **more}


def test_v3():
    empty = {**GROUP3, "consolidated_metadata": block({})}
    document = {**GROUP3, "consolidated_metadata": block({"g": empty, "g/x": ARRAY3, "h": None})}
    nodes = read_v3(document, "zarr.json")
    assert nodes == {"g": GROUP3, "g/x": ARRAY3}
    rendered = render_v3(document, nodes)
    assert rendered == {**GROUP3, "consolidated_metadata": block({"g": GROUP3, "g/x": ARRAY3})}
    assert read_v3(rendered, "k") == nodes
    assert render_v3(document, None) == GROUP3


def test_v3_without():
    assert read_v3(GROUP3, "k") is None
    assert read_v3({**GROUP3, "consolidated_metadata": None}, "k") is None
    assert read_v3({**GROUP3, "consolidated_metadata": block({})}, "k") == {}


def test_v3_in_other_forms():
    nested = {**GROUP3, "consolidated_metadata": block({"x": json.dumps(ARRAY3), "y": ARRAY3})}
    document = {**GROUP3, "consolidated_metadata": {"metadata": {"g/y": {**ARRAY3, "shape": [1]}, "/g/": nested}}}
    assert read_v3(document, "k") == {"g": GROUP3, "g/x": ARRAY3, "g/y": {**ARRAY3, "shape": [1]}}


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ([], MetadataError),
        ({}, MetadataError),
        (block([]), MetadataError),
        (block({"a": 1}), MetadataError),
        (block({}, kind="external"), UnsupportedError),
        (block({"../a": GROUP3}), UnsafeError),
        (block({"a": {**GROUP3, "consolidated_metadata": 1}}), MetadataError),
    ],
)
def test_v3_that_is_broken(value, error):
    with pytest.raises(error):
        read_v3({**GROUP3, "consolidated_metadata": value}, "k")
