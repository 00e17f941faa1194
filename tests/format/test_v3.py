"""Documents of Zarr v3."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from omnizarr.errors import LimitError, MetadataError, NodeTypeError, UnsupportedError
from omnizarr.format import v3
from omnizarr.format.document import load
from omnizarr.limits import Limits
from omnizarr.model.codec import Codec
from omnizarr.model.dtype import BYTES, STRING
from omnizarr.model.fill import Fill
from omnizarr.model.keys import Keys, default_keys, v2_keys

BYTES_LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
DOCUMENT = {
    "zarr_format": 3,
    "node_type": "array",
    "shape": [10, 20, 30],
    "data_type": "int32",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 6, 8]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "fill_value": 7,
    "codecs": [BYTES_LITTLE],
    "attributes": {"units": "K"},
    "dimension_names": ["t", None, ""],
}


def with_field(path: str, value: object, document: dict = DOCUMENT) -> dict:
    """Return a copy of a document with one value replaced, or taken out where the value is `...`."""
    made = copy.deepcopy(document)
    *parents, last = path.split("/")
    node = made
    for part in parents:
        node = node[int(part) if isinstance(node, list) else part]
    where = int(last) if isinstance(node, list) else last
    if value is ...:
        del node[where]
    else:
        node[where] = value
    return made


def refused(document: object, error: type[Exception] = MetadataError, limits: Limits | None = None) -> Exception:
    with pytest.raises(error) as caught:
        v3.parse_array(document, "a/zarr.json", limits or Limits())
    assert caught.value.key == "a/zarr.json"
    return caught.value


def test_a_plain_array():
    meta = v3.parse_array(DOCUMENT, "zarr.json")
    assert meta.shape == (10, 20, 30)
    assert meta.dtype.numpy == np.dtype("i4")
    assert meta.dtype.numpy.isnative
    assert meta.chunks == meta.grid.chunk_shape == (4, 6, 8)
    assert meta.keys == default_keys()
    assert meta.fill.value(meta.dtype) == 7
    assert meta.codecs == (Codec("bytes", {"endian": "little"}),)
    assert meta.dims == ("t", None, "")
    assert meta.attributes == {"units": "K"}
    assert (meta.format, meta.extra, meta.order, meta.shards) == ("zarr3", {}, "C", None)
    assert v3.render_array(meta) == DOCUMENT


def test_documents_are_not_changed_by_reading():
    before = copy.deepcopy(DOCUMENT)
    v3.parse_array(DOCUMENT, "zarr.json")
    assert before == DOCUMENT


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("chunk_key_encoding", {"name": "default"}, default_keys("/")),
        ("chunk_key_encoding", "default", default_keys("/")),
        ("chunk_key_encoding", {"name": "v2"}, v2_keys(".")),
        ("chunk_key_encoding", {"name": "v2", "configuration": {"separator": "/"}}, v2_keys("/")),
        ("chunk_key_encoding", {"name": "default", "configuration": {}, "must_understand": True}, default_keys("/")),
    ],
)
def test_key_encodings(field, value, expected):
    meta = v3.parse_array(with_field(field, value), "k")
    assert meta.keys == expected
    assert set(v3.render_array(meta)[field]) == {"name", "configuration"}


def test_optional_fields():
    for field in ("attributes", "dimension_names"):
        for value in (..., None):
            v3.parse_array(with_field(field, value), "k")
    assert v3.parse_array(with_field("attributes", ...), "k").attributes == {}
    meta = v3.parse_array(with_field("dimension_names", ...), "k")
    assert meta.dims is None
    assert "dimension_names" not in v3.render_array(meta)
    v3.parse_array({**DOCUMENT, "storage_transformers": [], "consolidated_metadata": None}, "k")
    v3.parse_array({**DOCUMENT, "zarr_format": 3.0}, "k")


def test_extra_fields():
    kept = {"proj": {"must_understand": False, "x": [1, None]}}
    meta = v3.parse_array({**DOCUMENT, **kept}, "k")
    assert meta.extra == kept
    assert v3.render_array(meta) == {**DOCUMENT, **kept}
    for value in ({}, {"must_understand": True}, [], None, 1, {"must_understand": 0}):
        error = refused({**DOCUMENT, "a/b": value}, UnsupportedError)
        assert error.pointer == "/a~1b"
    refused({**DOCUMENT, "extensions": []}, UnsupportedError)


@pytest.mark.parametrize("field", ["shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs"])
def test_required_fields(field):
    assert field in str(refused(with_field(field, ...)))
    refused(with_field(field, None))
    refused(with_field(field, {}))
    refused(with_field(field, [[]]))
    refused(with_field(field, "no such"))
    refused(with_field(field, True))


@pytest.mark.parametrize("size", [-1, 1.0, True, "10", 2**63, 2**70, None, [1], float("nan"), 1e400])
def test_sizes_are_whole_numbers(size):
    assert refused(with_field("shape/1", size)).pointer == "/shape/1"
    pointer = "chunk_grid/configuration/chunk_shape/2"
    assert refused(with_field(pointer, size)).pointer == "/" + pointer


def test_chunks_of_no_length():
    pointer = "chunk_grid/configuration/chunk_shape/1"
    assert refused(with_field(pointer, 0)).pointer == "/" + pointer
    meta = v3.parse_array(with_field("shape/1", 0, with_field(pointer, 0)), "k")
    assert meta.grid.counts(meta.shape) == (3, 0, 4)
    assert v3.render_array(meta)["chunk_grid"]["configuration"]["chunk_shape"] == [4, 1, 8]
    assert v3.parse_array(with_field("shape", [0, 0, 0]), "k").shape == (0, 0, 0)


def test_ranks():
    assert refused(with_field("shape", [10, 20])).pointer == "/chunk_grid/configuration/chunk_shape"
    assert refused(with_field("dimension_names", ["a"])).pointer == "/dimension_names"
    assert refused(with_field("dimension_names/1", 3)).pointer == "/dimension_names/1"
    refused(with_field("dimension_names", "abc"))
    scalar = {**DOCUMENT, "shape": [], "dimension_names": []}
    scalar["chunk_grid"] = {"name": "regular", "configuration": {"chunk_shape": []}}
    assert v3.parse_array(scalar, "k").ndim == 0


@pytest.mark.parametrize("ndim", [65, 1000])
def test_too_many_dimensions(ndim):
    document = {**DOCUMENT, "shape": [1] * ndim}
    document["chunk_grid"] = {"name": "regular", "configuration": {"chunk_shape": [1] * ndim}}
    refused(document, LimitError)


def test_products():
    assert refused(with_field("shape", [2**62, 2, 1])).pointer == "/shape"
    assert v3.parse_array(with_field("shape", [2**62, 2, 0]), "k").shape[0] == 2**62
    refused(with_field("chunk_grid/configuration/chunk_shape", [2**62, 2**62, 2**62]), LimitError)
    refused(with_field("chunk_grid/configuration/chunk_shape", [1 << 10, 1 << 10, (1 << 10) + 1]), LimitError)
    limits = Limits(max_chunk_bytes=4 * 4 * 6 * 8)
    v3.parse_array(DOCUMENT, "k", limits)
    refused(DOCUMENT, LimitError, limits._replace(max_chunk_bytes=4 * 4 * 6 * 8 - 1))


def test_nodes():
    with pytest.raises(NodeTypeError):
        v3.parse_group(DOCUMENT, "k")
    with pytest.raises(NodeTypeError):
        v3.parse_array({"zarr_format": 3, "node_type": "group"}, "k")
    for version in (2, "3", True, None, "https://purl.org/zarr/spec/protocol/core/3.0", [3]):
        assert refused({**DOCUMENT, "zarr_format": version}).pointer == "/zarr_format"
    for kind in (None, "Array", 1, ["array"]):
        assert refused({**DOCUMENT, "node_type": kind}).pointer == "/node_type"
    for document in (None, [], "x", 3):
        refused(document)
    assert v3.node_type(DOCUMENT, "k") == "array"


def test_groups():
    meta = v3.parse_group({"zarr_format": 3, "node_type": "group", "consolidated_metadata": None}, "k")
    assert (meta.attributes, meta.extra, meta.format) == ({}, {}, "zarr3")
    assert v3.render_group(meta) == {"zarr_format": 3, "node_type": "group", "attributes": {}}
    block = {"kind": "inline", "must_understand": False, "metadata": {}}
    document = {"zarr_format": 3, "node_type": "group", "attributes": {"a": 1}, "consolidated_metadata": block}
    assert v3.render_group(v3.parse_group(document, "k")) == document
    with pytest.raises(UnsupportedError):
        v3.parse_group({**document, "shape": []}, "k")
    with pytest.raises(MetadataError):
        v3.parse_group({**document, "attributes": []}, "k")


@pytest.mark.parametrize(
    ("data_type", "kind", "fill", "name"),
    [
        ({"name": "null_terminated_bytes", "configuration": {"length_bytes": 3}}, "S3", "", None),
        ({"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}}, "U3", "", None),
        ({"name": "raw_bytes", "configuration": {"length_bytes": 3}}, "V3", "YWJj", None),
        ({"name": "numpy.datetime64", "configuration": {"unit": "ns", "scale_factor": 10}}, "M8[10ns]", 0, None),
        ({"name": "numpy.timedelta64", "configuration": {"unit": "generic", "scale_factor": 1}}, "m8", 0, None),
        ("r24", "V3", [1, 2, 3], "r24"),
        ({"name": "int32", "configuration": {}}, "i4", 0, "int32"),
        ({"name": "int32"}, "i4", 0, "int32"),
        ("complex_float32", "c8", [0, 0], "complex64"),
    ],
)
def test_types(data_type, kind, fill, name):
    meta = v3.parse_array({**DOCUMENT, "data_type": data_type, "fill_value": fill}, "k")
    assert meta.dtype.numpy == np.dtype(kind)
    rendered = v3.render_array(meta)
    assert rendered["data_type"] == (name or data_type)
    assert v3.parse_array(rendered, "k") == meta


def test_units_of_time():
    for unit in ("us", "μs", "\u00b5s"):
        data_type = {"name": "numpy.datetime64", "configuration": {"unit": unit, "scale_factor": 1}}
        assert v3.parse_array({**DOCUMENT, "data_type": data_type}, "k").dtype.numpy == np.dtype("M8[us]")


def test_types_of_variable_length():
    text = {**DOCUMENT, "data_type": "string", "codecs": [{"name": "vlen-utf8"}], "fill_value": "é"}
    meta = v3.parse_array(text, "k")
    assert (meta.dtype, meta.fill) == (STRING, Fill("é".encode()))
    assert v3.render_array(meta)["codecs"] == [{"name": "vlen-utf8", "configuration": {}}]
    for name in ("bytes", "variable_length_bytes", "binary"):
        for fill in ("YWI=", [97, 98]):
            raw = {**DOCUMENT, "data_type": name, "codecs": [{"name": "vlen-bytes"}], "fill_value": fill}
            meta = v3.parse_array(raw, "k")
            assert (meta.dtype, meta.fill) == (BYTES, Fill(b"ab"))
            rendered = v3.render_array(meta)
            assert (rendered["data_type"], rendered["fill_value"]) == ("variable_length_bytes", "YWI=")
    refused({**text, "codecs": [BYTES_LITTLE]})
    refused({**text, "codecs": [{"name": "vlen-bytes"}]})
    refused(with_field("codecs", [{"name": "vlen-utf8"}]))


@pytest.mark.parametrize(
    "data_type",
    [
        *(
            "int3",
            "bfloat",
            "float128",
            "complex_int4",
            "r7",
            "r0",
            "r08",
            "r99999999999",
            "",
            "Int32",
            3,
            None,
            True,
            [],
            {},
        ),
        *("complex_int4", {"name": 3}, {"name": "int32", "configuration": {"a": 1}}, {"name": "int32", "x": 1}),
        *({"name": "int32", "must_understand": False}, {"name": "int32", "configuration": []}),
        {"name": "struct", "configuration": {"fields": []}},
        {"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "int32"}], "x": 1}},
        *(
            {"name": "structured", "configuration": {"fields": fields}}
            for fields in (
                *([["a"]], [["a", "int3"]], [[3, "int32"]], [["", "int32"]], [["a", "int32"], ["a", "int8"]], {}, None),
                *([["a", "string"]], [["a", "complex_float16"]], [{"name": "a"}], [{"name": "a", "data_type": []}]),
                [["a", {"name": "raw_bytes", "configuration": {"length_bytes": 2**30}}], ["b", f"r{2**33}"]],
            )
        ),
        *({"name": "raw_bytes", "configuration": {"length_bytes": n}} for n in (0, -1, 1.0, True, 2**31, None)),
        {"name": "raw_bytes"},
        {"name": "fixed_length_utf32", "configuration": {"length_bytes": 6}},
        {"name": "numpy.datetime64", "configuration": {"unit": "x", "scale_factor": 1}},
        {"name": "numpy.datetime64", "configuration": {"unit": ["s"], "scale_factor": 1}},
        {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 0}},
        {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 2**31}},
        {"name": "numpy.datetime64"},
    ],
)
def test_types_that_are_refused(data_type):
    error = refused(with_field("data_type", data_type))
    assert error.pointer is not None
    assert error.pointer.startswith("/data_type")


def test_grids_and_transformers_that_are_refused():
    hexagonal = {"name": "hexagonal", "configuration": {"chunk_shape": [1, 1, 1]}}
    assert "hexagonal" in str(refused(with_field("chunk_grid", hexagonal), UnsupportedError))
    refused(with_field("chunk_grid/must_understand", False))
    refused(with_field("chunk_grid/configuration/more", 1))
    refused(with_field("chunk_key_encoding/name", "fanout"), UnsupportedError)
    refused(with_field("chunk_key_encoding/configuration/separator", "-"))
    refused(with_field("chunk_key_encoding/configuration/separator", ["/"]))
    assert "shuttle" in str(refused({**DOCUMENT, "storage_transformers": [{"name": "shuttle"}]}, UnsupportedError))
    for value in ("x", {}, [1], [{}]):
        refused({**DOCUMENT, "storage_transformers": value})


def test_rendering_needs_keys_that_v3_has():
    meta = v3.parse_array(DOCUMENT, "k")
    odd = type(meta)(meta.shape, meta.dtype, meta.grid, Keys("", ".", ".blosc", "0"), meta.fill, meta.codecs)
    with pytest.raises(UnsupportedError):
        v3.render_array(odd)


def test_bare_nan_in_a_document():
    document = load(b'{"a": NaN}', "k")
    meta = v3.parse_array({**DOCUMENT, "data_type": "float32", "fill_value": document["a"]}, "k")
    assert v3.render_array(meta)["fill_value"] == "NaN"
