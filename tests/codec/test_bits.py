"""packbits and bitround, of the registry and of numcodecs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

import omnizarr as oz
from omnizarr.errors import CorruptError, MetadataError

SAMPLE = {
    "float32": (
        [0.0, 0.1, 1.2, 12.3, 123.4, 1234.5, np.nan, np.inf, -np.inf],
        [0.0, 0.1015625, 1.25, 12.0, 120.0, 1280.0, np.nan, np.inf, -np.inf],
    ),
    "uint8": ([0, 1, 10, 11, 100, 123, 200, 208, 209, 255], [0, 1, 10, 12, 96, 128, 192, 192, 224, 224]),
}


def stored(values, codecs, **options):
    """The bytes of an array of one chunk."""
    array = oz.create_array({}, data=values, chunks=values.shape, codecs=codecs, write_empty=True, **options)
    key = "/".join(["c", *["0"] * values.ndim]) if array.format == "zarr3" else ".".join(["0"] * values.ndim)
    return array, array.store.get(key)


@pytest.mark.parametrize("dtype", SAMPLE)
def test_rounding_as_in_the_sample_of_the_registry(dtype):
    before, after = (np.array(values, dtype) for values in SAMPLE[dtype])
    array, raw = stored(before, [oz.codec.bitround(3)])
    np.testing.assert_array_equal(np.frombuffer(raw, after.dtype), after)
    np.testing.assert_array_equal(oz.open_array(array.store)[...], after)
    assert json.loads(array.store.get("zarr.json"))["codecs"][0] == {
        "name": "bitround",
        "configuration": {"keepbits": 3},
    }


def rounded(number: int, keepbits: int, least: int, most: int) -> int:
    """The registry's text on integers, for numbers of either sign: half to even, and never out of the type's range."""
    drop = max(abs(number).bit_length() - keepbits, 0)
    whole, rest = divmod(abs(number), 1 << drop)
    whole += 2 * rest > 1 << drop or (2 * rest == 1 << drop > 1 and whole % 2 == 1)
    room = most if number >= 0 else -least
    size = min(whole << drop, room >> drop << drop)
    return size if number >= 0 else -size


@pytest.mark.parametrize("dtype", ["i1", "u1", "<i2", ">i2", "<u2", ">i4", "<i8", ">u8", "<m8[s]"])
@given(data=st.data())
def test_rounding_of_integers_of_either_sign(dtype, data):
    integer = np.dtype(dtype.replace("m8[s]", "i8"))
    values = data.draw(hn.arrays(integer, 20))
    keepbits = data.draw(st.integers(1, 8 * integer.itemsize))
    raw = stored(values.view(dtype), [oz.codec.bitround(keepbits)])[1]
    info = np.iinfo(integer)
    expected = [rounded(int(value), keepbits, int(info.min), int(info.max)) for value in values]
    assert np.frombuffer(raw, integer).tolist() == expected


@pytest.mark.parametrize("dtype", ["bool", "int4", "float8_e5m2", "float4_e2m1fn", "U3"])
def test_rounding_of_what_is_no_plain_number_is_refused(dtype):
    with pytest.raises(MetadataError, match="does not take the type"):
        oz.create_array({}, shape=4, dtype=dtype, codecs=[oz.codec.bitround(3)])


@pytest.mark.parametrize("dtype", ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8"])
@given(data=st.data())
def test_rounding_as_numcodecs_does(dtype, data):
    numcodecs = pytest.importorskip("numcodecs")
    values = data.draw(hn.arrays(dtype, 20, elements={"allow_nan": False}))
    keepbits = data.draw(st.integers(0, {2: 10, 4: 23, 8: 52}[values.itemsize]))
    config = {"id": "bitround", "keepbits": keepbits}
    with np.errstate(over="ignore"):
        # numcodecs knows the native byte order only.
        expected = numcodecs.get_codec(dict(config)).encode(values.astype(dtype.replace(">", "<")))
    raw = stored(values, [config], format=data.draw(st.sampled_from(["zarr2", "zarr3"])))[1]
    assert raw == (expected.byteswap() if dtype[0] == ">" else expected).tobytes()


@pytest.mark.parametrize("dtype", ["<i2", ">i4", "u8", "c8", ">c16", "M8[s]"])
def test_rounding_of_other_numbers_keeps_the_type(dtype):
    values = (np.arange(1000, 1060) * 7).astype(dtype).reshape(6, 10)
    array, _ = stored(values, [oz.codec.bitround(20), "zstd"])
    np.testing.assert_array_equal(oz.open_array(array.store)[...], values)
    sharded = oz.create_array({}, data=values, chunks=(2, 5), shards=(4, 10), codecs=[oz.codec.bitround(20)], order="F")
    np.testing.assert_array_equal(oz.open_array(sharded.store)[1:4], values[1:4])


@pytest.mark.parametrize("value", [np.nan, -np.nan, np.uint32(0x7F800001).view("f4"), np.uint32(0x7FFFFFFF).view("f4")])
@pytest.mark.parametrize("name", ["bitround", "numcodecs.bitround"])
def test_nan_stays_nan(name, value):
    values = np.full(3, value, "f4")
    array, _ = stored(values, [{"name": name, "configuration": {"keepbits": 1}}])
    assert np.isnan(array[...]).all()


@given(values=hn.arrays(bool, hn.array_shapes(max_dims=3)))
def test_booleans_as_numcodecs_packs_them(values):
    numcodecs = pytest.importorskip("numcodecs")
    peer = numcodecs.get_codec({"id": "packbits"})
    for fmt in ("zarr2", "zarr3"):
        array, raw = stored(values, [{"id": "packbits"}], format=fmt)
        assert raw == peer.encode(values).tobytes()
        np.testing.assert_array_equal(oz.open_array(array.store)[...], values)


def test_order_f_packs_columns():
    numcodecs = pytest.importorskip("numcodecs")
    values = np.arange(60).reshape(6, 10) % 3 == 0
    array, raw = stored(values, [{"id": "packbits"}], format="zarr2", order="F")
    assert raw == numcodecs.get_codec({"id": "packbits"}).encode(np.asfortranarray(values)).tobytes()
    np.testing.assert_array_equal(oz.open_array(array.store)[...], values)


@pytest.mark.parametrize(("padding", "expected"), [("none", "1902"), ("first_byte", "061902"), ("last_byte", "190206")])
def test_booleans_as_the_registry_packs_them(padding, expected):
    values = np.array([1, 0, 0, 1, 1, 0, 0, 0, 0, 1], bool)
    array, raw = stored(values, [oz.codec.packbits(padding)])
    assert raw.hex() == expected
    np.testing.assert_array_equal(oz.open_array(array.store)[...], values)


def packed(values, first, last):
    """The registry's text, literally: bits first to last of each number, one after the other."""
    words = np.frombuffer(values.astype(values.dtype.newbyteorder("<")).tobytes(), np.uint8)
    bits = np.unpackbits(words, bitorder="little").reshape(-1, 8 * values.dtype.itemsize)
    return np.packbits(bits[:, first : last + 1].ravel(), bitorder="little").tobytes()


@pytest.mark.parametrize("dtype", ["i1", "<u2", ">i2", "<i4", ">u4", "i8", ">u8", "<f4", "<f8"])
@given(data=st.data())
def test_some_bits_of_each_number(dtype, data):
    values = data.draw(hn.arrays(dtype, hn.array_shapes(max_dims=2, max_side=9)))
    most = 8 * values.itemsize - 1
    first = data.draw(st.integers(0, most))
    last = data.draw(st.integers(first, most))
    array, raw = stored(values, [oz.codec.packbits(first_bit=first, last_bit=last)])
    assert raw == packed(values, first, last)
    got = oz.open_array(array.store)[...]
    width = last - first + 1
    word = np.dtype(f"u{values.itemsize}")
    kept = (values.astype(dtype.replace(">", "<")).view(word).astype(object) >> first) & ((1 << width) - 1)
    if values.dtype.kind == "i":
        kept = np.where(kept >> (width - 1) == 1, kept - (1 << width), kept)
    expected = ((kept << first) & ((1 << 8 * values.itemsize) - 1)).astype(word)
    np.testing.assert_array_equal(got.astype(got.dtype.newbyteorder("=")).view(word), expected)


def test_complex_numbers_are_packed_by_their_parts():
    values = np.array([1 + 2j, 3 - 4j], "c8")
    array, raw = stored(values, [oz.codec.packbits(first_bit=16)])
    assert raw == packed(values.view("f4"), 16, 31)
    np.testing.assert_array_equal(oz.open_array(array.store)[...], values)


def test_packed_chunks_in_shards_and_behind_compressors():
    values = np.arange(60).reshape(6, 10) % 3 == 0
    for codecs in ([oz.codec.packbits()], [oz.codec.packbits("last_byte"), "zstd", oz.codec.crc32c()]):
        array = oz.create_array({}, data=values, chunks=(3, 5), shards=(6, 10), codecs=codecs)
        np.testing.assert_array_equal(oz.open_array(array.store)[2:5, ::3], values[2:5, ::3])
    options = {
        "chunk_shape": [3, 5],
        "codecs": [{"name": "packbits"}],
        "index_codecs": [{"name": "packbits", "configuration": {"padding_encoding": "first_byte"}}],
    }
    codec = {"name": "sharding_indexed", "configuration": options}
    array = oz.create_array({}, data=values, chunks=(6, 10), codecs=[codec])
    np.testing.assert_array_equal(oz.open_array(array.store)[...], values)


@pytest.mark.parametrize("codec", [oz.codec.packbits("first_byte"), {"id": "packbits"}], ids=["registry", "numcodecs"])
def test_damage(codec):
    array, raw = stored(np.ones(12, bool), [codec])
    for broken in (raw[:-1], raw + b"\0", b"\5" + raw[1:], b""):
        array.store.put("c/0", broken)
        with pytest.raises(CorruptError):
            array[...]


@pytest.mark.parametrize(
    ("codec", "dtype"),
    [
        ({"id": "packbits"}, "u1"),
        (oz.codec.packbits(), "S3"),
        (oz.codec.packbits(last_bit=8), "u1"),
        (oz.codec.packbits(first_bit=4, last_bit=3), "u1"),
        (oz.codec.packbits(last_bit=1), "bool"),
        (oz.codec.bitround(0), "f4"),
        (oz.codec.bitround(3), "S4"),
        (oz.codec.bitround(3), "bool"),
        ({"id": "bitround", "keepbits": 24}, "f4"),
        ({"id": "bitround", "keepbits": 3}, "i4"),
    ],
)
def test_what_does_not_fit_is_refused(codec, dtype):
    with pytest.raises(MetadataError):
        oz.create_array({}, shape=(8,), dtype=dtype, codecs=[codec])
