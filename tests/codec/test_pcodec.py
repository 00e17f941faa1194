"""Pcodec against its own package, both ways."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

import omnizarr as oz
from omnizarr.errors import CorruptError, MetadataError

DTYPES = ["<i2", "<i4", "<i8", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8"]
CONFIGS = [
    {},
    {"level": 3, "mode_spec": "classic"},
    {"delta_spec": "try_consecutive", "delta_encoding_order": 2},
    {"delta_encoding_order": 1},
    {"delta_spec": "try_lookback", "level": 12},
    {"equal_pages_up_to": 300},
]


def smooth(dtype, shape):
    return (np.arange(np.prod(shape)).reshape(shape) * 3 % 1009).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("config", CONFIGS, ids=str)
@pytest.mark.parametrize("fmt", ["zarr2", "zarr3"])
def test_the_peer_reads_it_and_the_reverse(dtype, config, fmt):
    pytest.importorskip("pcodec")
    from numcodecs.pcodec import PCodec

    peer = PCodec(**config)
    values = smooth(dtype, (20, 50))
    array = oz.create_array({}, data=values, chunks=(20, 50), codecs=[{"id": "pcodec", **config}], format=fmt)
    key = "0.0" if fmt == "zarr2" else "c/0/0"
    np.testing.assert_array_equal(peer.decode(array.store.get(key)).reshape(20, 50), values)
    np.testing.assert_array_equal(oz.open_array(array.store)[...], values)
    array.store.put(key, bytes(peer.encode(values + 1)))
    np.testing.assert_array_equal(array[...], values + 1)


@pytest.mark.parametrize("dtype", [*DTYPES, ">i4", ">f8", "<c8", "<M8[s]"])
@given(data=st.data())
def test_nothing_is_lost(dtype, data):
    values = data.draw(hn.arrays(dtype, hn.array_shapes(min_side=1, max_dims=3, max_side=8)))
    order = data.draw(st.sampled_from("CF"))
    array = oz.create_array({}, data=values, chunks=values.shape, codecs="pcodec", order=order, write_empty=True)
    got = oz.open_array(array.store)[...]
    assert got.tobytes() == values.astype(got.dtype).tobytes()


def test_names_and_shards():
    values = smooth("f4", (40, 40))
    array = oz.create_array({}, data=values, chunks=(10, 20), shards=(20, 40), codecs=[oz.codec.pcodec(5), "crc32c"])
    np.testing.assert_array_equal(oz.open_array(array.store)[5:25, ::3], values[5:25, ::3])
    plain = oz.create_array({}, data=values, codecs=["pcodec"])
    document = plain.store.get("zarr.json")
    assert b'"numcodecs.pcodec"' in document
    for name in (b'"pcodec"', b'"https://codec.zarrs.dev/array_to_bytes/pcodec"'):
        plain.store.put("zarr.json", document.replace(b'"numcodecs.pcodec"', name))
        np.testing.assert_array_equal(oz.open_array(plain.store)[...], values)


def test_numbers_of_another_type_but_the_same_size_are_their_bits():
    values = smooth("f4", (50,))
    ints = oz.create_array({}, data=values.view("i4"), codecs="pcodec")
    floats = oz.create_array({}, shape=50, dtype="f4", codecs="pcodec")
    floats.store.put("c/0", ints.store.get("c/0"))
    np.testing.assert_array_equal(floats[...], values)


def test_damage():
    values = smooth("f8", (1000,))
    array = oz.create_array({}, data=values, chunks=1000, codecs="pcodec")
    raw = array.store.get("c/0")
    longer = oz.create_array({}, data=smooth("f8", (1001,)), chunks=1001, codecs="pcodec").store.get("c/0")
    shorter = oz.create_array({}, data=smooth("f8", (999,)), chunks=999, codecs="pcodec").store.get("c/0")
    other = oz.create_array({}, data=smooth("f4", (1000,)), chunks=1000, codecs="pcodec").store.get("c/0")
    for broken in (b"", b"pco!", raw[:-1], raw[: len(raw) // 2], b"x" + raw[1:], longer, shorter, other):
        array.store.put("c/0", broken)
        with pytest.raises(CorruptError, match="pcodec"):
            array[...]


@given(at=st.integers(0, 10**6), byte=st.integers(0, 255))
def test_turned_bytes_do_no_harm(at, byte):
    array = oz.create_array({}, data=smooth("f8", (1000,)), chunks=1000, codecs="pcodec")
    raw = bytearray(array.store.get("c/0"))
    raw[at % len(raw)] = byte
    array.store.put("c/0", bytes(raw))
    with suppress(CorruptError):
        assert array[...].shape == (1000,)


@pytest.mark.parametrize("dtype", ["u1", "i1", "bool", "S4", "V2"])
def test_types_that_it_does_not_take(dtype):
    with pytest.raises(MetadataError, match="pcodec"):
        oz.create_array({}, shape=8, dtype=dtype, codecs="pcodec")


def test_no_differences():
    values = smooth("i8", (500,))
    array = oz.create_array({}, data=values, codecs={"id": "pcodec", "delta_spec": "none"})
    np.testing.assert_array_equal(oz.open_array(array.store)[...], values)


def test_wrong_settings():
    for config in ({"level": 13}, {"mode_spec": "x"}, {"delta_spec": "none", "delta_encoding_order": 2}):
        with pytest.raises(MetadataError, match="pcodec"):
            oz.create_array({}, shape=8, dtype="f4", codecs={"id": "pcodec", **config})
