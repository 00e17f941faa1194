"""No damage to a document is met with an error that is not Omnizarr's own."""

from __future__ import annotations

import contextlib
import copy
import warnings

from hypothesis import example, given
from hypothesis import strategies as st

from omnizarr.errors import LimitError, MetadataError, NodeTypeError, OmnizarrWarning, UnsafeError
from omnizarr.format import v2, v3
from omnizarr.format.consolidated import render_v2, render_v3, split_v2, split_v3
from omnizarr.format.document import dump, load

# Errors that a document may be met with; whatever else comes up is a bug.
ALLOWED = (MetadataError, LimitError, UnsafeError, NodeTypeError)

names = st.text(st.characters(), max_size=8)
scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | names
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=6
)

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
BLOSC = {"typesize": 4, "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0}


def of_v3(data_type: object, fill: object, *codecs: object) -> dict:
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [10, 20],
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 6]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": fill,
        "codecs": list(codecs),
        "attributes": {"a": [1, {"b": None}]},
        "dimension_names": ["x", None],
        "extra": {"must_understand": False},
    }


def of_v2(dtype: object, fill: object, filters: object, compressor: object) -> dict:
    return {
        "zarr_format": 2,
        "shape": [10, 20],
        "chunks": [4, 6],
        "dtype": dtype,
        "fill_value": fill,
        "order": "F",
        "filters": filters,
        "compressor": compressor,
        "dimension_separator": "/",
    }


INNER = {
    "chunk_shape": [2, 3],
    "codecs": [LITTLE, {"name": "zstd", "configuration": {"level": 1, "checksum": True}}],
    "index_codecs": [LITTLE, {"name": "crc32c"}],
    "index_location": "end",
}
V3 = [
    of_v3("float32", "0x7fc00001", {"name": "transpose", "configuration": {"order": [1, 0]}}, LITTLE),
    of_v3("complex64", [1, "NaN"], LITTLE, {"name": "blosc", "configuration": BLOSC}),
    of_v3("int64", 2**62, {"name": "sharding_indexed", "configuration": INNER}),
    of_v3("string", "x", {"name": "vlen-utf8", "configuration": {}}),
    of_v3({"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 2}}, "NaT", LITTLE),
    of_v3({"name": "raw_bytes", "configuration": {"length_bytes": 3}}, "YWJj", {"name": "bytes"}),
    of_v3(
        "int32",
        0,
        {"name": "numcodecs.delta", "configuration": {"dtype": "<i4", "astype": "<i2"}},
        LITTLE,
        {"name": "numcodecs.shuffle", "configuration": {"elementsize": 2}},
        {"name": "numcodecs.lzma", "configuration": {"preset": 1, "filters": [{"id": 3}]}},
    ),
]
V2 = [
    of_v2("<f4", "NaN", [{"id": "delta", "dtype": "<f4", "astype": "<f4"}], {"id": "blosc", "shuffle": -1}),
    of_v2(">U3", "abc", None, {"id": "zstd", "level": 1}),
    of_v2("|S3", "YWJj", [{"id": "shuffle", "elementsize": 3}], None),
    of_v2("|O", "", [{"id": "vlen-utf8"}], {"id": "gzip", "level": 1}),
    of_v2("<M8[ns]", 0, [{"id": "astype", "encode_dtype": "<i8", "decode_dtype": "<M8[ns]"}], {"id": "foreign"}),
]

ODD = [
    *(None, True, False, 0, -1, 1, 1.0, 1.5, 2**63, 2**70, -(2**63), "10", "", "x", "NaN", "0x7fc00001", "-0.0"),
    *([], {}, [0], [1.0], [None], [[]], [2**63], [1] * 70, {"name": "bytes"}, {"name": []}, {"id": "pickle"}),
    *(float("nan"), float("inf"), "\ud800", {"must_understand": False}, {"id": "zlib"}, "bytes", "|O", "<M8[s]"),
    *({"name": "sharding_indexed", "configuration": {}}, {"name": "pickle"}, [{"name": "transpose"}], "default"),
]

odd_values = st.sampled_from(ODD).map(copy.deepcopy)


def places(value: object, place: tuple = ()) -> list[tuple]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place, *(found for name, item in items for found in places(item, (*place, name)))]


def damaged(document: dict, data: st.DataObject) -> object:
    document = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(places(document)))
        if not place:
            return data.draw(odd_values)
        node = document
        for name in place[:-1]:
            node = node[name]
        action = data.draw(st.sampled_from(["replace", "delete", "add", "repeat"]))
        if action == "replace":
            node[place[-1]] = data.draw(odd_values | values)
        elif action == "delete":
            del node[place[-1]]
        elif isinstance(node, dict):
            node[data.draw(names)] = data.draw(odd_values)
        else:
            node.insert(0, copy.deepcopy(node[place[-1]]) if action == "repeat" else data.draw(odd_values))
    return document


def parse_and_render(parse, render) -> None:
    with warnings.catch_warnings(), contextlib.suppress(*ALLOWED):
        warnings.simplefilter("ignore", OmnizarrWarning)
        render(parse())


def test_undamaged_documents_are_read():
    for document in V3:
        v3.render_array(v3.parse_array(document, "k"))
    for document in V2:
        v2.render_array(v2.parse_array(document, None, "k"))


@given(st.sampled_from(V3), st.data())
def test_damage_to_v3(document, data):
    document = damaged(document, data)
    parse_and_render(lambda: v3.parse_array(document, "k"), v3.render_array)


@given(st.sampled_from(V2), st.data())
def test_damage_to_v2(document, data):
    document = damaged(document, data)
    parse_and_render(lambda: v2.parse_array(document, {}, "k"), v2.render_array)


def consolidated(nodes: dict) -> dict:
    return {"consolidated_metadata": {"kind": "inline", "must_understand": False, "metadata": nodes}}


NEW = consolidated({"a": V3[0], "b/c": {}, "d": consolidated({"e": V3[1], "f": '{"zarr_format": 3}'})})
OLD = {
    "zarr_consolidated_format": 1,
    "metadata": {".zgroup": {"zarr_format": 2}, "a/.zarray": V2[0], "a/.zattrs": '{"b": 1}', "a/.nczarray": {}},
}


def split_and_render(new: bytes, old: bytes) -> None:
    """What is read is written so that it is read again alike."""
    texts = None
    with contextlib.suppress(*ALLOWED):
        texts = split_v3(new, "zarr.json")
    if texts is not None:
        again = split_v3(render_v3(new, texts), "zarr.json")
        texts.pop("zarr.json", None)  # a copy of the group itself is not written
        assert again == texts
    texts = None
    with contextlib.suppress(*ALLOWED):
        texts = split_v2(old, ".zmetadata")
    if texts is not None:
        assert split_v2(render_v2(texts), ".zmetadata") == texts


@given(st.data())
def test_damage_to_consolidated_metadata(data):
    split_and_render(dump(damaged(NEW, data)), dump(damaged(OLD, data)))


@given(st.data())
def test_damage_to_the_bytes_of_consolidated_metadata(data):
    new, old = bytearray(dump(NEW)), bytearray(dump(OLD))
    for text in (new, old):
        for _ in range(data.draw(st.integers(1, 3))):
            text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.sampled_from(b'"[]{},:/.\\x\0\xff n'))
    split_and_render(bytes(new), bytes(old))


@given(st.binary(max_size=200))
def test_anything_as_consolidated_metadata(data):
    split_and_render(data, data)


@given(values)
@example({})
def test_anything_as_a_document(value):
    parse_and_render(lambda: v3.parse_array(value, "k"), v3.render_array)
    parse_and_render(lambda: v2.parse_array(value, value, "k"), v2.render_array)
    parse_and_render(lambda: v3.parse_group(value, "k"), v3.render_group)
    parse_and_render(lambda: v2.parse_group(value, value, "k"), v2.render_group)


@given(st.binary(max_size=200))
def test_anything_as_bytes(data):
    with contextlib.suppress(*ALLOWED):
        load(data, "k")


@given(st.sampled_from(V3), st.data())
def test_damaged_bytes(document, data):
    text = bytearray(dump(document))
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.sampled_from(b'"[]{},:0129-.e\\x\0\xff tnN'))
    parse_and_render(lambda: v3.parse_array(load(bytes(text), "k"), "k"), v3.render_array)
