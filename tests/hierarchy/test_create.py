"""Creating arrays: defaults, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ExistsError, MetadataError, ShapeError, UnsupportedError
from omnizarr.format.parsed import parse_v2, parse_v3
from omnizarr.hierarchy.nodes import documents


def names(array):
    return [codec.name for codec in array.codecs]


def test_defaults_go_by_type_and_size():
    assert names(oz.create_array({}, shape=(1000,), dtype="f4")) == ["bytes", "blosc"]
    assert names(oz.create_array({}, shape=(10,), dtype="f4")) == ["bytes"]
    assert names(oz.create_array({}, shape=(10,), dtype=str)) == ["vlen-utf8", "zstd"]
    assert names(oz.create_array({}, shape=(10,), dtype=bytes)) == ["vlen-bytes", "zstd"]
    assert oz.create_array({}, shape=(3,)).dtype == np.float64
    assert oz.create_array({}, shape=7, dtype="i4").shape == (7,)
    big = oz.create_array({}, shape=(10_000, 10_000), dtype="f8", shards="auto")
    assert big.chunks != big.shape
    assert big.format == "zarr3"


def test_fill_values_by_default():
    for dtype, fill in (("i4", 0), ("bool", False), (str, ""), (bytes, b""), ("U3", ""), ("c8", 0)):
        assert oz.create_array({}, shape=(1,), dtype=dtype).fill_value == fill
    assert np.isnat(oz.create_array({}, shape=(1,), dtype="M8[ns]").fill_value)


def test_data_give_shape_and_type():
    values = np.arange(6, dtype=">i2").reshape(2, 3)
    for fmt, kind in (("zarr3", "=i2"), ("zarr2", ">i2")):
        array = oz.create_array({}, data=values, format=fmt)
        assert (array.shape, array.dtype) == ((2, 3), np.dtype(kind))
        assert array.codecs[0].configuration == {"endian": "big"}
        np.testing.assert_array_equal(array[...], values)
    assert oz.create_array({}, data=["a", "bc"]).dtype == oz.create_array({}, shape=(1,), dtype=str).dtype
    assert oz.create_array({}, data=np.array(["a", "bc"])).dtype == np.dtype("U2")
    assert oz.create_array({}, data=5, shape=(2, 2))[...].tolist() == [[5, 5], [5, 5]]


@pytest.mark.parametrize("fmt", ["zarr3", "zarr2"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"dims": ("x", "y")},
        {"codecs": None, "order": "F"},
        {"codecs": ["gzip"], "attrs": {"a": [1.5]}},
        {"codecs": [oz.codec.delta(), oz.codec.blosc("zstd")], "separator": "/"},
        {"codecs": [oz.codec.shuffle(), "zlib"], "separator": "."},
    ],
)
def test_what_is_made_is_what_the_documents_say(fmt, options):
    array = oz.create_array({}, shape=(50, 20), dtype=">i4", chunks=(10, 20), format=fmt, **options)
    texts = documents(array.metadata)
    if fmt == "zarr3":
        read = parse_v3(texts["zarr.json"] + b" ", "zarr.json")
    else:
        read = parse_v2("", {**texts, ".zarray": texts[".zarray"] + b" "})
    for field in ("shape", "dtype", "grid", "keys", "fill", "dims", "attributes", "format", "extra", "chunks", "order"):
        assert getattr(read, field) == getattr(array.metadata, field)
    assert oz.open(array.store).metadata == array.metadata


def test_arrays_that_are_alike_share_nothing_that_changes():
    first = oz.create_array({}, shape=(3,), dtype="i4", fill_value=1)
    second = oz.create_array({}, shape=(3,), dtype="i4", fill_value=1)
    first.attrs["a"] = 1
    first.resize(4)
    assert (second.shape, dict(second.attrs)) == ((3,), {})
    third = oz.create_array({}, shape=(3,), dtype="i4", fill_value=True)
    assert third.fill_value == 1
    for fill in (0.0, -0.0):
        assert np.signbit(oz.create_array({}, shape=(1,), dtype="f4", fill_value=fill).fill_value) == (
            str(fill)[0] == "-"
        )
    assert oz.create_array({}, shape=(3,), chunks=1).chunks == (1,)
    assert oz.create_array({}, shape=(3,), chunks=True).chunks == (3,)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({}, ShapeError),
        ({"shape": (-1,)}, ShapeError),
        ({"shape": (2, 2), "chunks": (1,)}, ShapeError),
        ({"shape": (2, 2), "chunks": (2, 2), "shards": (3, 2)}, ShapeError),
        ({"shape": (2,), "dims": ("a", "b")}, ShapeError),
        ({"shape": (2,), "dims": (1,)}, ShapeError),
        ({"shape": (2,), "fill_value": 300, "dtype": "i1"}, ShapeError),
        ({"shape": (2,), "order": "X"}, MetadataError),
        ({"shape": (2,), "separator": "-"}, MetadataError),
        ({"shape": (2,), "dtype": object}, UnsupportedError),
        ({"shape": (2,), "dtype": "nonsense"}, UnsupportedError),
        ({"shape": (2,), "codecs": "nonsense"}, UnsupportedError),
        ({"shape": (2,), "attrs": {"a": b""}}, MetadataError),
        ({"shape": (2,), "shards": (2,), "format": "zarr2"}, UnsupportedError),
    ],
)
def test_what_does_not_fit_is_refused(options, error):
    store = {}
    with pytest.raises(error):
        oz.create_array(store, **options)
    assert not store


def test_overwriting():
    store = {}
    oz.create_array(store, data=[1, 2])
    with pytest.raises(ExistsError):
        oz.create_array(store, shape=(1,))
    oz.create_array(store, shape=(2,), dtype="i4", overwrite=True)
    assert sorted(store) == ["zarr.json"]


def test_documents_are_plain_json():
    store = {}
    oz.create_array(store, shape=(3,), dtype="f4", fill_value=np.nan, dims=("x",))
    document = json.loads(store["zarr.json"], parse_constant=pytest.fail)
    assert document["fill_value"] == "NaN"
    assert document["dimension_names"] == ["x"]
    assert all(set(codec) <= {"name", "configuration"} for codec in document["codecs"])


@pytest.mark.parametrize("endian", ["little", "big"])
@pytest.mark.parametrize("given", ["<", ">"])
def test_fields_take_the_byte_order_of_the_codec(endian, given):
    values = np.array([(1, 2.5), (3, 4.5)], [("a", f"{given}i4"), ("b", f"{given}f8")])
    store = {}
    oz.create_array(store, data=values, codecs={"name": "bytes", "configuration": {"endian": endian}})
    found = oz.open(store)
    assert found.dtype == values.dtype.newbyteorder(endian)
    assert found[...].tolist() == values.tolist()
    assert store["c/0"][:4] == (1).to_bytes(4, endian)


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"shape": (2.5,), "dtype": "i4"}, ShapeError, "whole numbers"),
        ({"shape": "3", "dtype": "i4"}, ShapeError, "whole numbers"),
        ({"shape": "", "dtype": "i4"}, ShapeError, "whole numbers"),
        ({"shape": 3, "dtype": "i4", "chunks": [1], "shards": [10**6000]}, MetadataError, "digits"),
        ({"data": [[1, 2], [3]]}, ShapeError, "no array"),
        ({"shape": (3,), "dtype": "i4", "attrs": [("units", "K")]}, MetadataError, "not a list"),
    ],
)
def test_options_of_the_wrong_kind_are_errors_of_this_package(options, kind, words):
    store = {}
    with pytest.raises(kind, match=words):
        oz.create_array(store, **options)
    assert not store


def test_what_a_format_cannot_have_is_said_with_a_way_out():
    with pytest.raises(MetadataError) as caught:
        oz.create_array({}, shape=(3,), dtype="i4", format="n5")
    assert caught.value.hint == "n5 can only be read."
    with pytest.raises(UnsupportedError) as caught:
        oz.create_array({}, shape=(4,), dtype="i4", chunks=(2,), shards=(4,), format="zarr2")
    assert caught.value.hint == 'Shards need format="zarr3".'
