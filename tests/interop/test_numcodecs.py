"""Every filter and compressor of numcodecs, in C and F order: chunks made as zarr-python 2 did, and the reverse."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest

import omnizarr as oz

numcodecs = pytest.importorskip("numcodecs")
pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

SHAPE, CHUNKS = (5, 7), (4, 3)
INTEGERS = ("|i1", "|u1", "<i2", ">i4", "<u4", "<i8", "<u8")
FLOATS = ("<f4", ">f4", "<f8")
ALL = (*INTEGERS, *FLOATS, "<f2", "|b1", "<c8", "|S3", "<U3", ">U3", "<M8[s]", "<m8[ns]", "|V4")


def _codec(identifier: str, **config: Any) -> dict[str, Any]:
    return {"id": identifier, **config}


BLOSC = [
    _codec("blosc", cname=cname, clevel=5, shuffle=shuffle, blocksize=0)
    for cname in ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
    for shuffle in (-1, 0, 1, 2)
]
ON_BYTES = [
    *BLOSC,
    _codec("blosc", cname="lz4", clevel=0, shuffle=1, blocksize=0),
    _codec("blosc", cname="zstd", clevel=9, shuffle=2, blocksize=64),
    _codec("zlib", level=1),
    _codec("gzip", level=6),
    _codec("bz2", level=9),
    _codec("lzma", format=1, check=-1, preset=1, filters=None),
    _codec("lzma", format=2, check=-1, preset=None, filters=None),
    _codec("lzma", format=3, check=-1, preset=None, filters=[{"id": 3, "dist": 2}, {"id": 33, "preset": 1}]),
    _codec("zstd", level=0, checksum=False),
    _codec("zstd", level=5, checksum=True),
    _codec("lz4", acceleration=1),
    _codec("lz4", acceleration=10),
    _codec("base64"),
    _codec("crc32"),
    _codec("crc32", location="end"),
    _codec("crc32c"),
    _codec("crc32c", location="start"),
    _codec("adler32"),
    _codec("adler32", location="end"),
    _codec("fletcher32"),
    _codec("jenkins_lookup3", initval=0, prefix=None),
    _codec("shuffle", elementsize=0),
    _codec("shuffle", elementsize=1),
    _codec("shuffle", elementsize=2),
]
ON_ELEMENTS = [
    *((_codec("delta", dtype=dtype), dtype) for dtype in (*INTEGERS, *FLOATS)),
    (_codec("delta", dtype="<i4", astype="<i2"), "<i4"),
    (_codec("delta", dtype="<u2", astype="<i8"), "<u2"),
    (_codec("fixedscaleoffset", offset=3, scale=2, dtype="<f8", astype="<i2"), "<f8"),
    (_codec("fixedscaleoffset", offset=0, scale=1, dtype="<f4", astype="|u1"), "<f4"),
    (_codec("fixedscaleoffset", offset=1, scale=4, dtype=">f8", astype=">i4"), ">f8"),
    (_codec("fixedscaleoffset", offset=5, scale=1, dtype="<i4", astype="|i1"), "<i4"),
    (_codec("quantize", digits=1, dtype="<f8", astype="<f8"), "<f8"),
    (_codec("quantize", digits=2, dtype="<f8", astype="<f4"), "<f8"),
    (_codec("bitround", keepbits=4), "<f4"),
    (_codec("bitround", keepbits=10), "<f8"),
    (_codec("astype", encode_dtype="<f4", decode_dtype="<f8"), "<f8"),
    (_codec("astype", encode_dtype="|u1", decode_dtype="<i4"), "<i4"),
    (_codec("astype", encode_dtype=">i2", decode_dtype="<f4"), "<f4"),
    (_codec("packbits"), "|b1"),
    (_codec("categorize", labels=["0", "1", "2", "12"], dtype="<U2", astype="|u1"), "<U2"),
    (_codec("categorize", labels=["0", "1", "2", "12"], dtype=">U2", astype="<u2"), ">U2"),
    *((_codec("json2"), dtype) for dtype in ("<i4", ">i2", "<f8", "|b1", "<U3", "|u1")),
    *((_codec("msgpack2"), dtype) for dtype in ("<i4", "<f8", "<U3")),
    *((_codec("pcodec", level=8), dtype) for dtype in ("<i4", "<u8", "<f4", "<f8")),
    *((_codec("zfpy", mode=4, tolerance=0.001), dtype) for dtype in ("<f4", "<f8")),
    (_codec("zfpy", mode=3, precision=20), "<f8"),
    (_codec("zfpy", mode=2, rate=16), "<f4"),
]
OBJECTS = [
    (_codec("vlen-utf8"), ["", "a", "é", "long text"]),
    (_codec("vlen-bytes"), [b"", b"a", b"\0\xff"]),
    (_codec("vlen-array", dtype="<i4"), [np.array([], "i4"), np.array([1], "i4"), np.array([2, -3], "i4")]),
    (_codec("vlen-array", dtype=">f8"), [np.array([0.5], ">f8"), np.array([1.5, 2], ">f8")]),
    (_codec("json2"), [None, "a", 1, 1.5, [1, [2]], {"b": 1, "a": [None]}, True, "é", {}]),
    (_codec("json2", ensure_ascii=False, indent=2, sort_keys=False), [None, "é", {"b": 1, "a": 2}]),
    (_codec("json2", encoding="utf-16"), ["é", 1]),
    (_codec("msgpack2"), [None, "a", 1, 1.5, [1, [2]], {"b": 1}, True, b"\xff", {}]),
    (_codec("msgpack2", use_single_float=True), [0.5, "a", 7]),
    (_codec("categorize", labels=["a", "bb", "é"], dtype="|O", astype="|u1"), ["", "a", "bb", "é"]),
]


def values_of(dtype: str, codec: dict[str, Any]) -> np.ndarray:
    numbers = (np.arange(35).reshape(SHAPE) * 3 % 13).astype("i8")
    kind = np.dtype(dtype).kind
    if codec["id"] == "categorize":
        return np.where(numbers < 3, numbers, 12).astype(dtype)
    if kind == "b":
        return numbers % 3 == 0
    if kind == "V":
        return numbers.astype(">u4").view(dtype)
    return (numbers / 4 if kind == "f" and codec["id"] not in ("astype", "fixedscaleoffset") else numbers).astype(dtype)


def objects_of(items: list[Any]) -> np.ndarray:
    made = np.empty(35, object)
    for at, item in zip(range(35), itertools.cycle(items), strict=False):
        made[at] = item
    return made.reshape(SHAPE)


def document(dtype: str, order: str, filters: list[dict[str, Any]], compressor: dict[str, Any] | None) -> bytes:
    fill = None if dtype != "|O" else 0
    return json.dumps(
        {
            "zarr_format": 2,
            "shape": SHAPE,
            "chunks": CHUNKS,
            "dtype": dtype,
            "fill_value": fill,
            "order": order,
            "filters": filters or None,
            "compressor": compressor,
        }
    ).encode()


def encode(chunk: np.ndarray, filters: list[dict[str, Any]], compressor: dict[str, Any] | None) -> bytes:
    buffer: Any = chunk
    for config in [*filters, *([compressor] if compressor else [])]:
        buffer = numcodecs.get_codec(dict(config)).encode(buffer)
    return buffer if isinstance(buffer, bytes) else np.asarray(buffer).tobytes(order="A")


def decode(data: bytes, dtype: str, order: str, configs: list[dict[str, Any]]) -> np.ndarray:
    buffer: Any = data
    for config in reversed(configs):
        buffer = numcodecs.get_codec(dict(config)).decode(buffer)
    array = np.asarray(buffer) if not isinstance(buffer, bytes) else np.frombuffer(buffer, "u1")
    if configs and configs[0]["id"] in ("json2", "msgpack2"):
        return array.reshape(CHUNKS)  # nested lists: nothing to reorder
    if dtype != "|O":
        array = np.frombuffer(array.tobytes(order="A"), dtype)
    return array.reshape(-1, order="A").reshape(CHUNKS, order=order)


def places() -> list[tuple[str, tuple[slice, slice]]]:
    counts = [-(-n // c) for n, c in zip(SHAPE, CHUNKS, strict=True)]
    return [
        (f"{i}.{j}", (slice(i * CHUNKS[0], (i + 1) * CHUNKS[0]), slice(j * CHUNKS[1], (j + 1) * CHUNKS[1])))
        for i in range(counts[0])
        for j in range(counts[1])
    ]


def check(dtype: str, order: str, filters: list[dict[str, Any]], compressor: Any, values: np.ndarray) -> None:
    configs = [*filters, *([compressor] if compressor else [])]
    store = {".zarray": document(dtype, order, filters, compressor)}
    wanted = np.empty_like(values)
    for key, place in places():
        part = values[place]
        chunk = np.full(CHUNKS, values[0, 0] if dtype != "|O" else None, values.dtype, order=order)
        if dtype == "|O":
            for at in np.ndindex(*CHUNKS):
                chunk[at] = values[0, 0]
        chunk[: part.shape[0], : part.shape[1]] = part
        store[key] = encode(chunk, filters, compressor)
        wanted[place] = decode(store[key], dtype, order, configs)[: part.shape[0], : part.shape[1]]
    same(np.asarray(oz.open_array(store)[...]), wanted)
    ours = {".zarray": store[".zarray"]}
    oz.open_array(ours, "r+")[...] = values
    for key, place in places():
        part = wanted[place]
        same(decode(ours[key], dtype, order, configs)[: part.shape[0], : part.shape[1]], part)


def same(got: np.ndarray, wanted: np.ndarray) -> None:
    assert got.shape == wanted.shape
    if wanted.dtype != object:
        assert got.dtype == wanted.dtype
        assert got.tobytes() == wanted.tobytes()
        return
    for one, other in zip(got.reshape(-1).tolist(), wanted.reshape(-1).tolist(), strict=True):
        if isinstance(other, np.ndarray):
            assert one.dtype == other.dtype
            assert one.tolist() == other.tolist()
        else:
            assert one == other
            assert type(one) is type(other)


def needs(codec: dict[str, Any]) -> None:
    if codec["id"] in ("pcodec", "zfpy"):
        pytest.importorskip({"pcodec": "pcodec", "zfpy": "zfpy"}[codec["id"]])
    if codec["id"] == "msgpack2":
        pytest.importorskip("msgpack")


def label(value: Any) -> str:
    return "-".join(str(part) for part in value.values()) if isinstance(value, dict) else str(value)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("codec", ON_BYTES, ids=label)
def test_codecs_of_bytes(codec: dict[str, Any], order: str) -> None:
    for dtype in ALL:
        size = np.dtype(dtype).itemsize
        if codec["id"] == "shuffle" and codec["elementsize"] > 1 and size % codec["elementsize"]:
            continue
        values = values_of(dtype, codec)
        check(dtype, order, [], codec, values)
        check(dtype, order, [codec], {"id": "zlib", "level": 1}, values)


# Under F numcodecs refuses zfpy; its bitround emits C order, and then reads that as F.
ORDERED = [
    (*one, order) for one in ON_ELEMENTS for order in "CF" if order == "C" or one[0]["id"] not in ("bitround", "zfpy")
]


@pytest.mark.parametrize(("codec", "dtype", "order"), ORDERED, ids=label)
def test_codecs_of_elements(codec: dict[str, Any], dtype: str, order: str) -> None:
    needs(codec)
    values = values_of(dtype, codec)
    check(dtype, order, [codec], None, values)
    check(dtype, order, [codec], {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}, values)
    check(dtype, order, [codec, {"id": "crc32"}], {"id": "zstd", "level": 1}, values)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("codec", "items"), OBJECTS, ids=label)
def test_codecs_of_objects(codec: dict[str, Any], items: list[Any], order: str) -> None:
    needs(codec)
    values = objects_of(items)
    check("|O", order, [codec], None, values)
    check("|O", order, [codec], {"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": 1, "blocksize": 0}, values)
    check("|O", order, [codec, {"id": "adler32"}], {"id": "gzip", "level": 1}, values)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("more", [[_codec("delta", dtype="|u1")], [_codec("delta", dtype="|u1", astype="<i2")]])
def test_filters_on_the_numbers_of_labels(more: list[dict[str, Any]], order: str) -> None:
    first = _codec("categorize", labels=["a", "bb", "é"], dtype="|O", astype="|u1")
    check("|O", order, [first, *more], {"id": "zlib", "level": 1}, objects_of(["", "a", "bb", "é"]))


@pytest.mark.parametrize(("codec", "dtype"), [(_codec("bitround", keepbits=4), "<f4"), *ON_ELEMENTS[-3:]], ids=label)
def test_order_does_not_change_values(codec: dict[str, Any], dtype: str) -> None:
    needs(codec)
    values = values_of(dtype, codec)
    got = []
    for order in ("C", "F"):
        store = {".zarray": document(dtype, order, [codec], None)}
        oz.open_array(store, "r+")[...] = values
        got.append(np.asarray(oz.open_array(store)[...]))
    np.testing.assert_allclose(got[0], got[1], rtol=0, atol=0.01)
    np.testing.assert_allclose(got[0], values, rtol=0.05, atol=0.01)


@pytest.mark.parametrize("order", ["C", "F"])
def test_several_filters(order: str) -> None:
    offset = _codec("fixedscaleoffset", offset=1, scale=2, dtype="<f8", astype="<i4")
    delta = _codec("delta", dtype="<i4", astype="<i2")
    shuffle = _codec("shuffle", elementsize=2)
    values = values_of("<f8", offset)
    check("<f8", order, [offset, delta, shuffle], {"id": "zstd", "level": 1}, values)
    check("<f8", order, [offset, delta, _codec("json2")], {"id": "zstd", "level": 1}, values)
