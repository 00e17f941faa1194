"""Every name of the registry and of the core, in each form that its text allows, and in forms that it does not.

The documents are in `tests/corpus/registry`: one list of those that are read, with what Omnizarr writes for them, and
one of those that are refused, with the place that the message points to.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

import omnizarr as oz
from omnizarr import errors
from omnizarr.format import v3
from omnizarr.model.grid import RegularGrid

KEY = "zarr.json"
FOLDER = Path(__file__).parents[1] / "corpus" / "registry"
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}


def load(name, which):
    """The cases of one file; they are told apart by what they say."""
    cases = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))[which]
    return [pytest.param(case, id=json.dumps(case)[:120]) for case in cases]


def array(**fields):
    """A whole document with the given fields."""
    shape = fields.get("shape", [4])
    grid = {"name": "regular", "configuration": {"chunk_shape": fields.pop("chunk_shape", [2] * len(shape))}}
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": "int32",
        "chunk_grid": grid,
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": [LITTLE],
        "attributes": {},
        **fields,
    }


def kept(meta):
    """What is written for an array, after checking that it means the same; of codecs, every setting is written."""
    written = v3.render_array(meta)
    again = v3.parse_array(json.loads(json.dumps(written)), KEY)
    assert again._replace(codecs=meta.codecs) == meta
    assert v3.render_array(again) == written
    return written


def codecs_for(case):
    data_type = case["data_type"]
    name = data_type.get("name") if isinstance(data_type, dict) else data_type
    if name == "string":
        return ["vlen-utf8"]
    return ["vlen-bytes"] if name in ("bytes", "variable_length_bytes") else [LITTLE]


def opened(document):
    return oz.open_array({KEY: json.dumps(document).encode()}, mode="r")


def error_of(case):
    return getattr(errors, case.get("error", "MetadataError"))


@pytest.mark.parametrize("case", load("data-types", "accepted"))
def test_data_types(case):
    data_type, fill_value = case["data_type"], case["fill_value"]
    document = array(data_type=data_type, fill_value=fill_value, codecs=codecs_for(case))
    meta = v3.parse_array(document, KEY)
    assert meta.fill.bits is not None
    assert meta.fill.bits.hex() == case["bits"]
    written = kept(meta)
    assert written["data_type"] == case.get("written_type", data_type)
    expected = case.get("written_fill", fill_value)
    assert json.dumps(written["fill_value"]) == json.dumps(expected), "the same number is not enough: 0.0 is not -0.0"
    if not meta.dtype.is_vlen:
        assert opened(document)[:1].tobytes().hex() == case["bits"]


@pytest.mark.parametrize("case", load("data-types", "refused"))
def test_data_types_that_are_refused(case):
    document = array(data_type=case["data_type"], fill_value=case["fill_value"], codecs=codecs_for(case))
    with pytest.raises(errors.MetadataError) as caught:
        v3.parse_array(document, KEY)
    assert caught.value.pointer == case["pointer"]


STRUCTS = [one for one in load("data-types", "accepted") if "struct" in one.id[:40]]


@pytest.mark.parametrize("endian", ["little", "big"])
@pytest.mark.parametrize("case", STRUCTS)
def test_packed_fill_values_have_the_order_of_the_codec(case, endian):
    codecs = [{"name": "bytes", "configuration": {"endian": endian}}]
    document = array(data_type=case["data_type"], fill_value=case["fill_value"], codecs=codecs)
    if endian == "big" and "bfloat16" in str(case["data_type"]):  # which knows the machine's order alone
        with pytest.raises(errors.UnsupportedError, match="big-endian"):
            v3.parse_array(document, KEY)
        return
    meta = v3.parse_array(document, KEY)
    packed = isinstance(case["fill_value"], str)
    assert (meta.fill.bits.hex() == case["bits"]) == (packed or endian == "little")
    if packed:
        assert kept(meta)["fill_value"] == case["fill_value"]


@pytest.mark.parametrize("case", load("codecs", "accepted"))
def test_codecs(case):
    document = array(**{name: value for name, value in case.items() if name not in ("written", "warned")})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if case.get("warned") else "error", errors.OmnizarrWarning)
        meta = v3.parse_array(document, KEY)
    assert kept(meta)["codecs"] == case.get("written", case["codecs"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.OmnizarrWarning)  # of codecs that are left out
        try:
            values = opened(document)[...]
        except errors.UnsupportedError as error:
            pytest.skip(str(error))
    assert values.shape == tuple(document["shape"])


@pytest.mark.parametrize("case", load("codecs", "refused"))
def test_codecs_that_are_refused(case):
    document = array(**{name: value for name, value in case.items() if name not in ("pointer", "error")})
    with pytest.raises(error_of(case)) as caught:
        opened(document)[...]
    assert "memory://" in str(caught.value)
    if "pointer" in case:
        assert caught.value.pointer == case["pointer"]


@pytest.mark.parametrize("case", load("chunk-grids", "accepted"))
def test_chunk_grids(case):
    meta = v3.parse_array(array(shape=case["shape"], chunk_grid=case["chunk_grid"]), KEY)
    assert kept(meta)["chunk_grid"] == case.get("written", case["chunk_grid"])
    assert [lengths(meta, axis) for axis in range(len(case["shape"]))] == case["edges"]


def lengths(meta, axis):
    """All chunk lengths of a dimension, those past its end included."""
    edges = meta.grid.chunk_shape[axis] if isinstance(meta.grid, RegularGrid) else meta.grid.edges[axis]
    if isinstance(edges, int):
        return [edges] * -(-meta.shape[axis] // edges)
    return [length for length, count in edges for _ in range(count)]


@pytest.mark.parametrize("case", load("chunk-grids", "refused"))
def test_chunk_grids_that_are_refused(case):
    with pytest.raises(error_of(case)) as caught:
        v3.parse_array(array(shape=case["shape"], chunk_grid=case["chunk_grid"]), KEY)
    assert caught.value.pointer == case["pointer"]
    assert isinstance(caught.value, errors.UnsupportedError) == (case["error"] == "UnsupportedError")


@pytest.mark.parametrize("case", load("chunk-key-encodings", "accepted"))
def test_chunk_key_encodings(case):
    ndim = len(case["index"])
    document = array(shape=[50] * ndim, chunk_shape=[1] * ndim, chunk_key_encoding=case["chunk_key_encoding"])
    meta = v3.parse_array(document, KEY)
    assert kept(meta)["chunk_key_encoding"] == case["written"]
    assert meta.keys.key(tuple(case["index"])) == case["key"]


@pytest.mark.parametrize("case", load("chunk-key-encodings", "refused"))
def test_chunk_key_encodings_that_are_refused(case):
    with pytest.raises(error_of(case)) as caught:
        v3.parse_array(array(chunk_key_encoding=case["chunk_key_encoding"]), KEY)
    assert caught.value.pointer == case["pointer"]


def node(case):
    base = array() if case["node_type"] == "array" else {"zarr_format": 3, "node_type": "group", "attributes": {}}
    return {**base, **case["fields"]}


@pytest.mark.parametrize("case", load("documents", "accepted"))
def test_fields_of_documents(case):
    document = node(case)
    if case["node_type"] == "array":
        written = v3.render_array(v3.parse_array(document, KEY))
    else:
        written = v3.render_group(v3.parse_group(document, KEY))
    plain = node({**case, "fields": {}})
    assert written == {**plain, **case.get("written", case["fields"])}


@pytest.mark.parametrize("case", load("documents", "refused"))
def test_fields_of_documents_that_are_refused(case):
    parse = v3.parse_array if case["node_type"] == "array" else v3.parse_group
    with pytest.raises(error_of(case)) as caught:
        parse(node(case), KEY)
    assert caught.value.pointer == case["pointer"]
