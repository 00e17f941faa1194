"""zfp against its own package, byte for byte."""

from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

import omnizarr as oz
from omnizarr.errors import CodecError, CorruptError, MetadataError
from omnizarr.model.codec import Codec

MODES = [
    ({}, "reversible"),
    ({"tolerance": 1e-3}, "fixed_accuracy"),
    ({"tolerance": 0.0}, "fixed_accuracy"),
    ({"tolerance": 5e-320}, "fixed_accuracy"),
    ({"rate": 7.3}, "fixed_rate"),
    ({"rate": 3}, "fixed_rate"),  # a block of four needs 12 bits for its exponent
    ({"rate": 32}, "fixed_rate"),
    ({"precision": 11}, "fixed_precision"),
    ({"precision": 64}, "fixed_precision"),
]
SHAPES = [(1,), (4,), (37,), (5, 9), (8, 8), (3, 6, 7), (4, 4, 4), (2, 5, 3, 6), (1, 1, 4, 5)]
DTYPES = ["i4", "i8", "f4", "f8"]


def key(values):
    return "/".join(["c", *["0"] * values.ndim])


def made(values, codec):
    """An array of one chunk, and its bytes."""
    array = oz.create_array({}, data=values, chunks=values.shape, codecs=[codec], write_empty=True)
    return array, array.store.get(key(values))


def smooth(dtype, shape):
    x = np.linspace(0, 3, int(np.prod(shape))).reshape(shape)
    return (np.sin(x * 7) * 1000 + x).astype(dtype)


def compare(values, options, mode):
    zfpy = pytest.importorskip("zfpy")
    bare = zfpy.compress_numpy(values, write_header=False, **options)
    array, raw = made(values, Codec("zfp", {"mode": mode, **options}))
    assert raw == bare
    expected = zfpy.decompress_numpy(zfpy.compress_numpy(values, **options)).reshape(values.shape)
    got = oz.open_array(array.store)[...]
    assert got.tobytes() == expected.tobytes()
    headed = zfpy.compress_numpy(values, **options)
    number = {"fixed_rate": 2, "fixed_precision": 3}.get(mode, 4)
    array, raw = made(values, {"id": "zfpy", "mode": number, **options})
    assert raw == headed
    assert oz.open_array(array.store)[...].tobytes() == expected.tobytes()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(
    ("dtype", "options", "mode"),
    [(dtype, *mode) for dtype in DTYPES for mode in MODES if dtype[0] == "f" or mode[1] != "fixed_accuracy"],
)
def test_the_bytes_are_those_of_the_library(dtype, shape, options, mode):
    compare(smooth(dtype, shape), options, mode)


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_any_numbers(dtype, data):
    shape = data.draw(hn.array_shapes(max_dims=4, max_side=6))
    if dtype[0] == "f":
        # The library's own arithmetic overflows for the smallest numbers.
        least = 1e-25 if dtype == "f4" else 1e-250
        elements = hn.from_dtype(np.dtype(dtype), allow_nan=False, allow_infinity=False)
        values = data.draw(hn.arrays(dtype, shape, elements=elements))
        values = np.where(np.abs(values) < least, 0, values).astype(dtype)
    else:
        # Beyond that the transform of integers overflows.
        most = 1 << (np.dtype(dtype).itemsize * 8 - 2)
        values = data.draw(hn.arrays(dtype, shape, elements=st.integers(-most, most - 1)))
    options, mode = data.draw(st.sampled_from([m for m in MODES if dtype[0] == "f" or "tolerance" not in m[0]]))
    compare(values, options, mode)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u1", "i2", "u2", "i4", "i8", ">f4", ">i8", ">u2"])
@given(data=st.data())
def test_nothing_is_lost_in_the_reversible_mode(dtype, data):
    values = data.draw(hn.arrays(dtype, hn.array_shapes(max_dims=4, max_side=5)))
    array, _ = made(values, oz.codec.zfp())
    got = oz.open_array(array.store)[...]
    if dtype == "f2":  # a payload need not survive the way through wider floats
        np.testing.assert_array_equal(got, values)
    else:
        assert got.tobytes() == values.astype(got.dtype).tobytes()


def test_expert_parameters():
    values = smooth("f8", (9, 9))
    same = {"minbits": 1, "maxbits": 16658, "maxprec": 64, "minexp": -1075}
    assert made(values, Codec("zfp", {"mode": "expert", **same}))[1] == made(values, oz.codec.zfp())[1]
    rate = {"minbits": 160, "maxbits": 160, "maxprec": 64, "minexp": -1074}
    array, raw = made(values, Codec("zfp", {"mode": "expert", **rate}))
    assert raw == made(values, oz.codec.zfp(rate=10))[1]
    np.testing.assert_allclose(oz.open_array(array.store)[...], values, atol=10)
    tight = {"minbits": 100, "maxbits": 200, "maxprec": 30, "minexp": -5}
    array, _ = made(values, Codec("zfp", {"mode": "expert", **tight}))
    np.testing.assert_allclose(oz.open_array(array.store)[...], values, atol=50)


def test_a_rate_that_was_meant_for_three_dimensions():
    """zarrs works out the bits of a block as if it had three dimensions, whatever it has."""
    values = smooth("f4", (8, 12))
    array, _ = made(values, oz.codec.zfp(rate=4))
    bits = {"minbits": 256, "maxbits": 256, "maxprec": 64, "minexp": -1074}
    _, raw = made(values, Codec("zfp", {"mode": "expert", **bits}))
    array.store.put("c/0/0", raw)
    np.testing.assert_allclose(array[...], values, rtol=1e-2, atol=1)


def test_numbers_that_it_cannot_hold():
    for value in (np.nan, np.inf):
        values = np.array([1, value, 3, 4.0])
        assert made(values, oz.codec.zfp())[0][...].tobytes() == values.tobytes()
        with pytest.raises(CodecError, match="reversible"):
            made(values, oz.codec.zfp(tolerance=0.1))
    with pytest.raises(CodecError, match="2147483647"):
        made(np.array([1 << 31], "u4"), oz.codec.zfp())
    array, _ = made(np.array([7, (1 << 31) - 1], "u4"), oz.codec.zfp())
    np.testing.assert_array_equal(array[...], [7, (1 << 31) - 1])


def test_scalars_shards_and_orders():
    values = smooth("f4", (16, 12))
    sharded = oz.create_array(
        {}, data=values, chunks=(4, 6), shards=(8, 12), codecs=[oz.codec.zfp(), "zstd"], order="F"
    )
    np.testing.assert_array_equal(oz.open_array(sharded.store)[3:9, ::5], values[3:9, ::5])
    scalar = oz.create_array({}, data=np.float32(3.25), codecs=[oz.codec.zfp()])
    assert oz.open_array(scalar.store)[()] == 3.25
    five = smooth("f4", (2, 1, 3, 1, 5))
    array = oz.create_array({}, data=five, chunks=five.shape, codecs=[Codec("zarrs.squeeze"), oz.codec.zfp()])
    np.testing.assert_array_equal(oz.open_array(array.store)[...], five)
    with pytest.raises(MetadataError, match="dimensions"):
        oz.create_array({}, data=five, codecs=[oz.codec.zfp()])


@pytest.mark.parametrize("name", ["zarrs.zfp", "https://codec.zarrs.dev/array_to_bytes/zfp"])
def test_other_names(name):
    array, _ = made(smooth("f4", (9,)), oz.codec.zfp())
    document = json.loads(array.store.get("zarr.json"))
    document["codecs"][0]["name"] = name
    array.store.put("zarr.json", json.dumps(document).encode())
    np.testing.assert_array_equal(oz.open_array(array.store)[...], smooth("f4", (9,)))


@pytest.mark.parametrize("codec", [oz.codec.zfp(), oz.codec.zfp(rate=9), {"id": "zfpy", "tolerance": 0.1}], ids=str)
def test_damage(codec):
    values = smooth("f8", (9, 9))
    array, raw = made(values, codec)
    for broken in (b"", raw[: len(raw) // 2]):
        array.store.put("c/0/0", broken)
        with pytest.raises(CorruptError, match="zfp"):
            array[...]


@given(at=st.integers(0, 10**6), byte=st.integers(0, 255))
def test_turned_bytes_do_no_harm(at, byte):
    array, raw = made(smooth("f8", (9, 9)), {"id": "zfpy", "tolerance": 0.1})
    broken = bytearray(raw)
    broken[at % len(raw)] = byte
    array.store.put("c/0/0", bytes(broken))
    with suppress(CorruptError):
        assert array[...].shape == (9, 9)


def test_a_header_of_another_array():
    array, _ = made(smooth("f8", (9, 9)), {"id": "zfpy"})
    _, longer = made(smooth("f8", (9, 10)), {"id": "zfpy"})
    _, floats = made(smooth("f4", (9, 9)), {"id": "zfpy"})
    for other in (longer, floats):
        array.store.put("c/0/0", other)
        with pytest.raises(CorruptError, match="zfpy"):
            array[...]
    _, flat = made(smooth("f8", (81,)), {"id": "zfpy"})
    array.store.put("c/0/0", flat)
    np.testing.assert_array_equal(array[...], smooth("f8", (9, 9)))


@pytest.mark.parametrize(
    ("config", "dtype"),
    [
        ({"mode": "fixed_rate"}, "f4"),
        ({"mode": "lossy"}, "f4"),
        ({"mode": "fixed_rate", "rate": 100}, "f4"),
        ({"mode": "fixed_accuracy", "tolerance": -1}, "f4"),
        ({"mode": "fixed_accuracy", "tolerance": 1}, "i4"),
        ({"mode": "reversible"}, "bool"),
        ({"mode": "reversible"}, "S3"),
        ({"mode": "reversible"}, "c8"),
        ({"mode": "reversible", "rate": 3}, "f4"),
    ],
)
def test_wrong_settings(config, dtype):
    with pytest.raises((MetadataError, oz.errors.UnsupportedError), match="zfp"):
        oz.create_array({}, shape=8, dtype=dtype, codecs=[Codec("zfp", config)])
    with pytest.raises(MetadataError, match="exclude"):
        oz.codec.zfp(rate=1, tolerance=2)
