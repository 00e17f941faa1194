"""Documents of Zarr v2."""

from __future__ import annotations

import numpy as np
import pytest

from omnizarr.errors import LimitError, MetadataError, OmnizarrWarning, UnsafeError, UnsupportedError
from omnizarr.format import v2, v3
from omnizarr.format.v2_dtype import parse_dtype
from omnizarr.limits import Limits
from omnizarr.model.codec import Codec
from omnizarr.model.dtype import BYTES, STRING
from omnizarr.model.fill import Fill
from omnizarr.model.keys import default_keys, v2_keys

DOCUMENT = {
    "zarr_format": 2,
    "shape": [10, 20],
    "chunks": [4, 6],
    "dtype": "<i4",
    "fill_value": 7,
    "order": "C",
    "filters": None,
    "compressor": {"id": "zlib", "level": 1},
    "dimension_separator": ".",
}


def parse(**changes: object) -> v2.ArrayMeta:
    document = {field: value for field, value in {**DOCUMENT, **changes}.items() if value is not ...}
    return v2.parse_array(document, None, "a/.zarray")


def refused(error: type[Exception] = MetadataError, **changes: object) -> Exception:
    with pytest.raises(error) as caught:
        parse(**changes)
    assert caught.value.key == "a/.zarray"
    return caught.value


def again(meta: v2.ArrayMeta) -> v2.ArrayMeta:
    return v2.parse_array(*v2.render_array(meta), "a/.zarray")


def test_a_plain_array():
    meta = v2.parse_array(DOCUMENT, {"units": "K"}, "k")
    assert (meta.shape, meta.chunks, meta.order, meta.shards) == ((10, 20), (4, 6), "C", None)
    assert meta.dtype.numpy == np.dtype("<i4")
    assert meta.keys == v2_keys(".")
    assert meta.fill.value(meta.dtype) == 7
    assert meta.codecs == (Codec("bytes", {"endian": "little"}), Codec("zlib", {"level": 1}))
    assert (meta.attributes, meta.dims, meta.format, meta.extra) == ({"units": "K"}, None, "zarr2", {})
    assert v2.render_array(meta) == (DOCUMENT, {"units": "K"})


@pytest.mark.parametrize(
    ("dtype", "codec"),
    [
        ("<i4", Codec("bytes", {"endian": "little"})),
        (">i4", Codec("bytes", {"endian": "big"})),
        (">U3", Codec("bytes", {"endian": "big"})),
        ("<c8", Codec("bytes", {"endian": "little"})),
        (">M8[25us]", Codec("bytes", {"endian": "big"})),
        ("<m8", Codec("bytes", {"endian": "little"})),
        ("|b1", Codec("bytes", {})),
        ("|u1", Codec("bytes", {})),
        ("|S3", Codec("bytes", {})),
        ("|V3", Codec("bytes", {})),
    ],
)
def test_types_carry_their_byte_order(dtype, codec):
    meta = parse(dtype=dtype, fill_value=None, compressor=None)
    assert meta.dtype.numpy == np.dtype(dtype)
    assert meta.codecs == (codec,)
    assert v2.render_array(meta)[0]["dtype"] == dtype
    assert again(meta) == meta


@pytest.mark.parametrize(
    ("spelling", "dtype"), [("i4", "<i4"), ("int32", "<i4"), ("=i4", "<i4"), ("|i4", "<i4"), (">i1", "|i1")]
)
def test_loose_spellings(spelling, dtype):
    assert v2.render_array(parse(dtype=spelling))[0]["dtype"] == dtype


@pytest.mark.parametrize(
    "dtype",
    [
        *("<f12", "<c24", "<i3", "|O8", "|O", "x", "", "<U0", "|S", "|V0", "|S99999999999", "<U999999999"),
        *(3, None, True, {}, [], "<M8[x]", "<M8[0s]", "<M8[99999999999s]", "<M8[5generic]", "<M4[s]"),
        *("bfloat", "complex_bfloat16"),
        *([["a"]], ["a", "<i4"], [["a", "<i4"], ["a", "<f4"]], [[["title", "a"], "<i4"]], [["a", "|O"]], [[3, "<i4"]]),
        *([["a", "<i4", [0]]], [["a", "<i4", ["x"]]], [["a", "|V1073741824", [2]]], [["", "|V3"], ["", "|V3"]]),
    ],
)
def test_types_that_are_refused(dtype):
    error = refused(dtype=dtype, fill_value=None)
    assert error.pointer.startswith(("/dtype", "/filters"))


@pytest.mark.parametrize("size", [-1, 1.0, True, "10", 2**63, 2**70, None])
def test_sizes_are_whole_numbers(size):
    assert refused(shape=[10, size]).pointer == "/shape/1"
    assert refused(chunks=[size, 6]).pointer == "/chunks/0"


def test_ranks_and_limits():
    assert refused(shape=[10]).pointer == "/chunks"
    assert refused(shape=[2**62, 2]).pointer == "/shape"
    refused(LimitError, chunks=[2**40, 2**40])
    refused(LimitError, shape=[1] * 65, chunks=[1] * 65)
    with pytest.raises(LimitError):
        v2.parse_array(DOCUMENT, None, "k", Limits(max_chunk_bytes=95))
    assert parse(shape=[0, 20], chunks=[0, 6]).grid.counts((0, 20)) == (0, 4)
    assert refused(chunks=[0, 6]).pointer == "/chunks/0"
    assert parse(shape=[], chunks=[]).keys.key(()) == "0"


@pytest.mark.parametrize("field", ["shape", "chunks", "dtype"])
def test_required_fields(field):
    assert field in str(refused(**{field: ...}))


@pytest.mark.parametrize(
    ("field", "value"), [("filters", None), ("order", "C"), ("fill_value", None), ("compressor", None)]
)
def test_fields_that_old_writers_left_out(field, value):
    with pytest.warns(OmnizarrWarning, match=field):
        meta = parse(**{field: ...})
    assert meta == parse(**{field: value})


def test_versions_and_shapes_of_documents():
    for version in (3, "2", None, True):
        assert refused(zarr_format=version).pointer == "/zarr_format"
    assert parse(zarr_format=2.0) == parse()
    for document in (None, [], 3, "x"):
        with pytest.raises(MetadataError):
            v2.parse_array(document, None, "k")
    with pytest.raises(MetadataError) as caught:
        v2.parse_array(DOCUMENT, [1], "a/.zarray")
    assert caught.value.key == "a/.zattrs"
    assert refused(order="A").pointer == "/order"
    assert refused(dimension_separator="-").pointer == "/dimension_separator"


def test_separators():
    assert parse(dimension_separator="/").keys == v2_keys("/")
    assert parse(dimension_separator=...).keys == parse(dimension_separator=None).keys == v2_keys(".")
    assert v2.render_array(parse(dimension_separator=...))[0]["dimension_separator"] == "."
    with pytest.raises(UnsupportedError):
        v2.render_array(parse()._replace(keys=default_keys()))


def test_extra_fields_are_kept():
    meta = parse(_nczarr_array={"storage": "chunked"}, other=None)
    assert meta.extra == {"_nczarr_array": {"storage": "chunked"}, "other": None}
    assert v2.render_array(meta)[0] == {**DOCUMENT, **meta.extra}


def test_dimensions_are_named_by_an_attribute():
    attributes = {"_ARRAY_DIMENSIONS": ["y", "x"]}
    meta = v2.parse_array(DOCUMENT, attributes, "k")
    assert (meta.dims, meta.attributes) == (("y", "x"), attributes)
    assert again(meta) == meta
    for odd in (["y"], ["y", None], "yx", [1, 2], None):
        assert v2.parse_array(DOCUMENT, {"_ARRAY_DIMENSIONS": odd}, "k").dims is None
    named = parse()._replace(dims=("y", "x"))
    assert v2.render_array(named)[1] == attributes
    assert v2.render_array(parse()._replace(dims=(None, None)))[1] == {}
    with pytest.raises(UnsupportedError):
        v2.render_array(parse()._replace(dims=("y", None)))


def test_groups():
    meta = v2.parse_group({"zarr_format": 2, "_NCZARR_GROUP": {}}, {"a": 1}, "k")
    assert v2.render_group(meta) == ({"zarr_format": 2, "_NCZARR_GROUP": {}}, {"a": 1})
    assert v2.parse_group({"zarr_format": 2}, None, "k").attributes == {}
    for document in ({}, {"zarr_format": 3}, []):
        with pytest.raises(MetadataError):
            v2.parse_group(document, None, "k")


def test_objects():
    text = parse(dtype="|O", filters=[{"id": "vlen-utf8"}], fill_value="")
    assert (text.dtype, text.fill) == (STRING, Fill(b""))
    assert text.codecs == (Codec("vlen-utf8", {}), Codec("zlib", {"level": 1}))
    raw = parse(dtype="|O", filters=[{"id": "vlen-bytes"}], fill_value=0, compressor=None)
    assert (raw.dtype, raw.fill) == (BYTES, Fill(b""))
    assert again(text) == text
    assert again(raw) == raw
    assert v2.render_array(raw)[0]["filters"] == [{"id": "vlen-bytes"}]
    refused(UnsafeError, dtype="|O", filters=[{"id": "pickle", "protocol": 5}])
    refused(UnsafeError, dtype="|O", filters=[{"id": "vlen-utf8"}, {"id": "pickle"}])
    refused(UnsafeError, compressor={"id": "pickle"})
    for filters in (None, [], [{"id": "zlib"}], [{"id": "delta", "dtype": "<i4"}], [{}], [1], "x"):
        refused(UnsupportedError, dtype="|O", filters=filters)


def test_strings_of_fixed_length_in_the_form_for_any_length():
    # As zarr-python 3.0 wrote them.
    meta = parse(dtype="<U3", filters=[{"id": "vlen-utf8"}], fill_value="")
    assert meta.dtype.numpy == np.dtype("<U3")
    assert meta.codecs[0] == Codec("vlen-utf8", {})
    assert again(meta) == meta
    parse(dtype="|S3", filters=[{"id": "vlen-bytes"}], fill_value="")
    refused(filters=[{"id": "vlen-utf8"}])
    refused(dtype="|S3", filters=[{"id": "vlen-utf8"}], fill_value="")


def test_from_v3_to_v2_and_back():
    meta = v3.parse_array(
        {
            "zarr_format": 3,
            "node_type": "array",
            "shape": [10, 20],
            "data_type": "int16",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 6]}},
            "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "."}},
            "fill_value": -2,
            "codecs": [
                {"name": "transpose", "configuration": {"order": [1, 0]}},
                {"name": "bytes", "configuration": {"endian": "big"}},
                {"name": "zstd", "configuration": {"level": 3, "checksum": False}},
            ],
            "attributes": {},
        },
        "k",
    )
    document, _ = v2.render_array(meta._replace(format="zarr2"))
    assert document["dtype"] == ">i2"
    assert document["order"] == "F"
    assert document["compressor"] == {"id": "zstd", "level": 3}
    read = v2.parse_array(document, None, "k")
    assert read.fill.value(read.dtype) == -2
    rendered = v3.render_array(read)
    assert v3.parse_array(rendered, "k") == meta


def test_raw_bytes_with_a_name_are_a_field():
    dtype = parse_dtype([["a", "|V2"], ["", "|V3"], ["b", "<i4"]], "/dtype", "k").numpy
    assert dtype.names == ("a", "b")
    assert (dtype.fields["b"][1], dtype.itemsize) == (5, 9)


def test_lengths_up_to_the_longest():
    assert parse_dtype("|S1000000000", "/dtype", "k").itemsize == 10**9
    assert parse_dtype("<U500000000", "/dtype", "k").itemsize == 2 * 10**9
    for text in ("<U1000000000", "|S2147483648", "|S0", "|V"):
        with pytest.raises(MetadataError, match="no usable length") as caught:
            parse_dtype(text, "/dtype", "k")
        assert (caught.value.pointer, caught.value.key) == ("/dtype", "k")
