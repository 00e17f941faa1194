"""Arrays as nested lists in JSON and MessagePack."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import CorruptError, MetadataError, ShapeError, UnsupportedError


def store_of(filters: list[dict[str, Any]], data: bytes, **changes: Any) -> dict[str, bytes]:
    document = {
        "zarr_format": 2,
        "shape": [2, 2],
        "chunks": [2, 2],
        "dtype": "|O",
        "fill_value": None,
        "order": "C",
        "filters": filters,
        "compressor": None,
        **changes,
    }
    key = ".".join("0" for _ in document["shape"]) or "0"
    return {".zarray": json.dumps(document).encode(), key: data}


def read(name: str, data: bytes, **changes: Any) -> Any:
    return oz.open_array(store_of([{"id": name}], data, **changes))[...]


@pytest.mark.parametrize("order", ["C", "F"])
def test_trap_13_the_nesting_is_the_order(order: str) -> None:
    got = read("json2", b'[["a","b"],["c",["d"]],"|O",[2,2]]', order=order)
    assert got.tolist() == [["a", "b"], ["c", ["d"]]]
    assert got.shape == (2, 2)


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_forerunner_has_no_shape(order: str) -> None:
    # Lists of equal length could be another dimension; the array's own shape tells.
    got = read("json", b'[[[1,2],[3,4]],[[5,6],[7,8]],"|O"]', order=order)
    assert got.shape == (2, 2)
    assert got[1, 0] == [5, 6]


def test_the_forerunner_in_messagepack() -> None:
    msgpack = pytest.importorskip("msgpack")
    data = msgpack.packb([["a", "é"], [1, None], "|O"], use_bin_type=False)
    assert read("msgpack", data).tolist() == [["a", "é"], [1, None]]


def test_an_array_without_dimensions() -> None:
    got = read("json2", b'[{"x":[1]},"|O",[]]', shape=[], chunks=[])
    assert got.shape == ()
    assert got[()] == {"x": [1]}
    store = store_of([{"id": "json2"}], b"", shape=[], chunks=[])
    oz.open_array(store, "r+")[...] = [1, 2]
    assert json.loads(store["0"]) == [[1, 2], "|O", []]
    assert oz.open_array(store)[()] == [1, 2]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[",
        b"{}",
        b"null",
        b"[]",
        b'["|O"]',
        b'["|O",[2,2]]',
        b'[["a","b"],"|O",[2,2]]',
        b'[["a","b"],["c"],"|O",[2,2]]',
        b'[["a","b"],["c","d"],"|O",[2,3]]',
        b'[["a","b"],["c","d"],"|O",4]',
        b'[["a","b"],["c","d"],"|O"]',
        b'["a","b","c","|O",[4]]',
        b'[["a","\xff"],["c","d"],"|O",[2,2]]',
        b"[" * 100_000,
    ],
    ids=lambda data: repr(data[:40]),
)
def test_damage(data: bytes) -> None:
    with pytest.raises(CorruptError) as caught:
        read("json2", data)
    assert caught.value.codec == "numcodecs.json2"
    assert caught.value.key == "0.0"


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x93\x01", b"\xdd\xff\xff\xff\xff", b"\x91" * 5000, b"\x94\xc0\xc0"])
def test_damaged_messagepack(data: bytes) -> None:
    pytest.importorskip("msgpack")
    with pytest.raises(CorruptError):
        read("msgpack2", data)


def test_elements_of_a_fixed_type() -> None:
    data = b'[[1,2],[3,4],"<i4",[2,2]]'
    assert read("json2", data, dtype=">i2").tolist() == [[1, 2], [3, 4]]
    with pytest.raises(CorruptError):
        read("json2", b'[[1,2],[3,70000],"<i4",[2,2]]', dtype="<i2")
    with pytest.raises(CorruptError):
        read("json2", b'[[1,2],[3,"x"],"<i4",[2,2]]', dtype="<i2")
    with pytest.raises(MetadataError):
        read("json2", data, dtype="|S3", fill_value="")


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({}, '[["\\u00e9",{"a":1,"b":2}],[null,NaN],"|O",[2,2]]'),
        ({"ensure_ascii": False}, '[["é",{"a":1,"b":2}],[null,NaN],"|O",[2,2]]'),
        ({"sort_keys": False}, '[["\\u00e9",{"b":2,"a":1}],[null,NaN],"|O",[2,2]]'),
        ({"separators": [", ", " : "]}, '[["\\u00e9", {"a" : 1, "b" : 2}], [null, NaN], "|O", [2, 2]]'),
    ],
    ids=str,
)
def test_options(config: dict[str, Any], text: str) -> None:
    store = store_of([{"id": "json2", **config}], b"")
    oz.open_array(store, "r+")[...] = [["é", {"b": 2, "a": 1}], [None, float("nan")]]
    assert store["0.0"].decode() == text


@pytest.mark.parametrize(
    "config",
    [
        {"encoding": 1},
        {"encoding": "no such"},
        {"encoding": "zlib"},
        {"separators": [","]},
        {"separators": 7},
        {"indent": []},
        {"strict": 1},
        {"sort_keys": None},
        {"other": 1},
    ],
    ids=str,
)
def test_wrong_options(config: dict[str, Any]) -> None:
    with pytest.raises((MetadataError, UnsupportedError)) as caught:
        oz.open_array(store_of([{"id": "json2", **config}], b""))[...]
    assert caught.value.codec == "numcodecs.json2"


def test_what_cannot_be_stored() -> None:
    array = oz.create_array({}, shape=3, dtype=object, codecs=["json2"], format="zarr2")
    for value in ({1, 2}, object(), b"bytes", np.arange(3), 1j):
        with pytest.raises(ShapeError):
            array[0] = value
    with pytest.raises(ShapeError):
        array[:] = [1, 2]
    assert array[...].tolist() == [None, None, None]


def test_zarr_python_2_reads_it_no_more_but_numcodecs_does() -> None:
    numcodecs = pytest.importorskip("numcodecs")
    store: dict[str, bytes] = {}
    array = oz.create_array(
        store, shape=(3, 2), chunks=(2, 2), dtype=object, codecs=[numcodecs.JSON(), "zlib"], format="zarr2", order="F"
    )
    array[...] = [[1, [2]], ["x", None], [{"y": 0}, 1.5]]
    document = json.loads(store[".zarray"])
    assert document["filters"] == [json.loads(json.dumps(numcodecs.JSON().get_config()))]
    decoded = numcodecs.JSON().decode(numcodecs.Zlib().decode(store["0.0"]))
    assert decoded.tolist() == [[1, [2]], ["x", None]]


def test_text_may_be_much_longer_than_the_numbers() -> None:
    values = np.arange(300_000) % 3 == 0
    store: dict[str, bytes] = {}
    codecs = [{"id": "json2", "indent": 2}, "zlib"]
    array = oz.create_array(store, shape=values.shape, chunks=False, dtype=bool, codecs=codecs, format="zarr2")
    array[...] = values
    np.testing.assert_array_equal(oz.open_array(store)[...], values)
