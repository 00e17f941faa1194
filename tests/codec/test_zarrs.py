"""Codecs of zarrs that hold chains of their own."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import CorruptError, MetadataError, UnsupportedError

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
BIG = {"name": "bytes", "configuration": {"endian": "big"}}
GZIP = {"name": "gzip", "configuration": {"level": 1}}
BLOSC = {
    "name": "blosc",
    "configuration": {"cname": "zstd", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0},
}


def vlen(**config: Any) -> dict[str, Any]:
    full = {"index_codecs": [LITTLE], "data_codecs": ["bytes"], "index_data_type": "uint64", **config}
    return {"name": "zarrs.vlen", "configuration": full}


def optional(inner: str, /, **configuration: Any) -> dict[str, Any]:
    return {"name": "zarrs.optional", "configuration": {"name": inner, "configuration": configuration}}


def store_of(data_type: Any, codec: Any, fill: Any, data: bytes | None = None) -> dict[str, bytes]:
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4],
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": fill,
        "codecs": codec if isinstance(codec, list) else [codec],
    }
    return {"zarr.json": json.dumps(document).encode(), **({} if data is None else {"c/0": data})}


TEXTS = ["a", "", "\N{PARTY POPPER}", "bc"]


@pytest.mark.parametrize("kind", ["string", "bytes"])
@pytest.mark.parametrize(
    "codec",
    [
        vlen(),
        vlen(index_location="end"),
        vlen(index_data_type="uint32", index_codecs=[BIG, BLOSC], data_codecs=["bytes", GZIP, "crc32c"]),
        {**vlen(), "name": "https://codec.zarrs.dev/array_to_bytes/vlen"},
        {"name": "zarrs.vlen_v2"},
        "https://codec.zarrs.dev/array_to_bytes/vlen_v2",
        {"name": "vlen-array"},
        {"name": "numcodecs.vlen-array", "configuration": {}},
    ],
    ids=lambda codec: str(codec)[:60],
)
def test_round_trip(codec: Any, kind: str) -> None:
    values = TEXTS if kind == "string" else [text.encode() for text in TEXTS]
    for chain in ([codec], [codec, GZIP]):
        store = store_of(kind, chain, "")
        oz.open_array(store, "r+")[...] = values
        assert oz.open_array(store)[...].tolist() == values
        oz.open_array(store, "r+").attrs["x"] = 1  # the document is written again
        assert oz.open_array(store)[...].tolist() == values


def test_form_of_vlen() -> None:
    store = store_of("string", vlen(index_data_type="uint32"), "")
    oz.open_array(store, "r+")[...] = ["a", "", "bcd", "e"]
    offsets = np.array([0, 1, 1, 4, 5], "<u4").tobytes()
    assert store["c/0"] == (20).to_bytes(8, "little") + offsets + b"abcde"
    store = store_of("string", vlen(index_data_type="uint32", index_location="end"), "")
    oz.open_array(store, "r+")[...] = ["a", "", "bcd", "e"]
    assert store["c/0"] == b"abcde" + offsets + (20).to_bytes(8, "little")


def test_empty_data_passes_no_codec() -> None:
    store = store_of("string", vlen(data_codecs=["bytes", GZIP]), "x")
    oz.open_array(store, "r+")[...] = ""
    assert store["c/0"] == (40).to_bytes(8, "little") + bytes(40)
    assert oz.open_array(store)[...].tolist() == [""] * 4


def offsets(*numbers: int) -> bytes:
    index = np.array(numbers, "<u8").tobytes()
    return len(index).to_bytes(8, "little") + index


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"1234567",
        offsets(0, 1, 1, 1) + b"a",
        offsets(0, 1, 1, 1, 1),
        offsets(0, 1, 1, 1, 1) + b"ab",
        offsets(0, 2, 1, 1, 2) + b"ab",
        offsets(0, 0, 0, 0, 2**63) + b"ab",
        offsets(0, 0, 0, 0, 2**40) + b"ab",
        (2**64 - 1).to_bytes(8, "little") + b"ab",
        offsets(0, 1, 1, 1, 1) + b"\xff",
    ],
    ids=lambda data: data[:48].hex(),
)
def test_damage_of_vlen(data: bytes) -> None:
    with pytest.raises(CorruptError):
        oz.open_array(store_of("string", vlen(), "", data))[...]


OPTIONALS = [
    (optional("uint8"), [0, None, 255, None], None),
    (optional("bool"), [True, None, False, None], None),
    (optional("float64"), [0.5, None, float("inf"), -0.0], 1.5),
    (optional("complex64"), [1j, None, 2, 0], None),
    (optional("string"), ["", None, "é", "abc"], "x"),
    (optional("variable_length_bytes"), [b"", None, b"\xff", b"abc"], None),
    (optional("numpy.datetime64", unit="s", scale_factor=1), [np.datetime64(5, "s"), None, None, None], None),
    (optional("fixed_length_utf32", length_bytes=12), ["abc", None, "", "é"], None),
    (optional("zarrs.optional", name="int16", configuration={}), [1, None, (None,), -5], None),
    (optional("zarrs.optional", name="string", configuration={}), ["", None, (None,), "x"], (None,)),
]


@pytest.mark.parametrize(("dtype", "values", "fill"), OPTIONALS, ids=lambda value: str(value)[:70])
@pytest.mark.parametrize("codecs", ["auto", None, ["gzip", "crc32c"]], ids=str)
@pytest.mark.parametrize("shards", [None, 4])
def test_optional(dtype: Any, values: list[Any], fill: Any, codecs: Any, shards: int | None) -> None:
    store: dict[str, bytes] = {}
    array = oz.create_array(store, shape=7, chunks=2, shards=shards, dtype=dtype, fill_value=fill, codecs=codecs)
    assert array[...].tolist() == [fill] * 7
    array[1:5] = values
    again = oz.open_array(store)
    assert again[...].tolist() == [fill, *values, fill, fill]
    assert again[1] == values[0]
    assert again.fill_value == fill
    assert again.dtype == object


def test_form_of_optional() -> None:
    codec = {"name": "zarrs.optional", "configuration": {"mask_codecs": ["packbits"], "data_codecs": [BIG]}}
    store = store_of(optional("uint16"), codec, None)
    oz.open_array(store, "r+")[...] = [1, None, None, 258]
    assert store["c/0"] == bytes([1, *[0] * 7, 4, *[0] * 7, 0b1001, 0, 1, 1, 2])


@pytest.mark.parametrize("padding", ["none", "first_byte", "last_byte"])
def test_masks(padding: str) -> None:
    mask = {"name": "packbits", "configuration": {"padding_encoding": padding}}
    for masks in ([mask], [mask, GZIP], ["bytes"]):
        codec = {"name": "optional", "configuration": {"mask_codecs": masks, "data_codecs": [LITTLE]}}
        store = store_of(optional("uint16"), codec, None)
        oz.open_array(store, "r+")[...] = [1, None, None, 2]
        assert oz.open_array(store)[...].tolist() == [1, None, None, 2]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        bytes(15),
        bytes(16),
        bytes([1, *[0] * 7, 2, *[0] * 7, 0b11, 1]),
        bytes([1, *[0] * 7, 1, *[0] * 7, 0b11, 1]),
        bytes([1, *[0] * 7, 3, *[0] * 7, 0b11, 1, 2, 3]),
        bytes([2, *[0] * 7, 2, *[0] * 7, 0b11, 0, 1, 2]),
        bytes([*[255] * 16, 0b11, 1, 2]),
    ],
    ids=lambda data: data.hex() or "empty",
)
def test_damage_of_optional(data: bytes) -> None:
    codec = {"name": "optional", "configuration": {"mask_codecs": ["packbits"], "data_codecs": ["bytes"]}}
    with pytest.raises(CorruptError):
        oz.open_array(store_of(optional("uint8"), codec, None, data))[...]


@pytest.mark.parametrize(
    ("data_type", "codec"),
    [
        ("uint8", vlen()),
        (optional("string"), vlen()),
        ("uint8", {"name": "zarrs.optional", "configuration": {"mask_codecs": ["packbits"], "data_codecs": ["bytes"]}}),
        ("string", vlen(index_data_type="int8")),
        ("string", vlen(index_location="middle")),
        ("string", vlen(other=1)),
        ("string", vlen(index_codecs=[])),
        ("string", vlen(index_codecs=None)),
        ("string", vlen(index_codecs=["gzip"])),
        ("string", vlen(data_codecs=["bytes", "no such codec"])),
        ("string", vlen(data_codecs=["vlen-utf8"])),
        (optional("uint8"), {"name": "zarrs.optional", "configuration": {"mask_codecs": ["packbits"]}}),
        (optional("uint8"), {"name": "zarrs.optional", "configuration": {"data_codecs": ["bytes"], "mask_codecs": 1}}),
        (optional("uint8"), "bytes"),
        (optional("no such type"), "zarrs.optional"),
        ({"name": "zarrs.optional"}, "zarrs.optional"),
        ({"name": "zarrs.optional", "configuration": {"name": "uint8", "x": 1}}, "zarrs.optional"),
    ],
    ids=lambda value: str(value)[:70],
)
def test_what_is_refused(data_type: Any, codec: Any) -> None:
    with pytest.raises((MetadataError, UnsupportedError)):
        oz.open_array(store_of(data_type, codec, None if "optional" in str(data_type) else ""))[...]


@pytest.mark.parametrize("fill", [0, [1, 2], [], [300], ["x"], "x", [None]])
def test_wrong_fill_values(fill: Any) -> None:
    codec = {"name": "optional", "configuration": {"mask_codecs": ["packbits"], "data_codecs": ["bytes"]}}
    with pytest.raises(MetadataError) as caught:
        oz.open_array(store_of(optional("uint8"), codec, fill))
    assert caught.value.pointer == "/fill_value"
