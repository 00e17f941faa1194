"""The codecs of TIFF against those of imagecodecs, both ways, through documents of Zarr v2."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import omnizarr as oz
from omnizarr.errors import CorruptError, MetadataError, OmnizarrError

imagecodecs = pytest.importorskip("imagecodecs")
peers = pytest.importorskip("imagecodecs.numcodecs")
peers.register_codecs(verbose=False)


def chunk_of(values, codecs):
    """Encode an array as one chunk, and give its bytes."""
    store = oz.MemoryStore()
    a = oz.create_array(
        store,
        shape=values.shape,
        chunks=values.shape,
        dtype=values.dtype,
        codecs=codecs,
        format="zarr2",
        fill_value=None,
    )
    a[...] = values
    key = ".".join("0" * values.ndim)
    return bytes(store.get(key)), json.loads(bytes(store.get(".zarray")))


def read_chunk(data, shape, dtype, **document):
    """Read an array that has one chunk of these bytes."""
    store = oz.MemoryStore()
    common = {"zarr_format": 2, "shape": shape, "chunks": shape, "dtype": dtype, "order": "C", "fill_value": None}
    store.put(".zarray", json.dumps({**common, "filters": None, "compressor": None, **document}).encode())
    store.put(".".join("0" * len(shape)), data)
    return oz.open(store)[...]


@settings(max_examples=60)
@given(st.binary(max_size=5000) | st.integers(1, 70_000).map(lambda n: bytes(i * i // 7 % 9 for i in range(n))))
@pytest.mark.parametrize("name", ["lzw", "packbits"])
def test_streams(name, data):
    codec = {"id": f"imagecodecs_{name}"}
    values = np.frombuffer(data + b"\1", np.uint8)
    packed, _ = chunk_of(values, [codec])
    decode, encode = (getattr(imagecodecs, f"{name}_{what}") for what in ("decode", "encode"))
    assert decode(packed) == values.tobytes()
    assert np.array_equal(read_chunk(encode(values.tobytes()), values.shape, "|u1", compressor=codec), values)


DTYPES = ["|u1", "|i1", "<u2", ">u2", "<i4", ">i4", "<u8", ">i8", "<f4", ">f4", "<f8", "<f2"]


@settings(max_examples=20)
@given(data=st.data(), axis=st.sampled_from([-1, -2, 1, 2]))
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["delta", "floatpred"])
def test_predictors(name, dtype, data, axis):
    if name == "floatpred" and np.dtype(dtype).kind != "f":
        pytest.skip("for floats only")
    values = data.draw(hnp.arrays(dtype, hnp.array_shapes(min_dims=3, max_dims=3, min_side=2, max_side=7)))
    values = np.nan_to_num(values)
    peer = peers.get_codec(
        {"id": f"imagecodecs_{name}", "shape": values.shape, "dtype": dtype, "axis": axis, "dist": 1}
    )
    config = {**peer.get_config(), "shape": list(values.shape)}
    packed, document = chunk_of(values, [config])
    assert packed == peer.encode(values)
    assert {**(document["filters"] or [document["compressor"]])[0]} == config
    np.testing.assert_array_equal(read_chunk(packed, values.shape, dtype, filters=[config]), values)


@pytest.mark.parametrize(("bits", "dtype"), [(1, "|u1"), (2, "|u1"), (4, "|u1"), (5, "|u1"), (12, "<u2"), (12, ">u2")])
def test_few_bits(bits, dtype):
    values = (np.arange(7 * 11).reshape(7, 11) * 5 % (1 << bits)).astype(dtype)
    config = {"id": "imagecodecs_packints", "dtype": dtype, "bitspersample": bits, "runlen": 11}
    packed = imagecodecs.packints_encode(values, bits, runlen=11) if bits in (1, 2, 4) else None
    ours, _ = chunk_of(values, [config])
    assert packed is None or ours == packed
    assert np.array_equal(read_chunk(ours, values.shape, dtype, compressor=config), values)
    theirs = imagecodecs.packints_decode(ours, values.dtype, bits, runlen=11)
    assert np.array_equal(np.asarray(theirs).reshape(values.shape), values)


def test_bit_order():
    packed, _ = chunk_of(np.array([1, 2, 0x70], np.uint8), [{"id": "imagecodecs_bitorder"}])
    assert packed == bytes([0x80, 0x40, 0x0E])


@pytest.mark.parametrize("dtype", ["|u1", "<i2", ">i2", ">i4"])
def test_rice(dtype):
    values = np.concatenate([np.zeros(70), np.arange(200) % 17 * 3, np.arange(99) ** 3 % 120, np.full(40, 5)]).astype(
        dtype
    )
    packed = imagecodecs.rcomp_encode(values.astype(values.dtype.newbyteorder("=")))
    config = {"id": "imagecodecs_rcomp", "shape": [409], "dtype": dtype, "nblock": 32}
    assert np.array_equal(read_chunk(packed, values.shape, dtype, compressor=config), values)
    with pytest.raises(CorruptError):
        read_chunk(packed[:20], values.shape, dtype, compressor=config)


@pytest.mark.parametrize("config", [{"shape": [9]}, {"dtype": "<u4"}, {"axis": 7}, {"dist": 0}])
def test_wrong_settings(config):
    with pytest.raises(MetadataError):
        read_chunk(b"", (4,), "<u2", filters=[{"id": "imagecodecs_delta", **config}])


def test_an_image_through_imagecodecs():
    values = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    packed = imagecodecs.png_encode(values)
    np.testing.assert_array_equal(read_chunk(packed, (4, 4, 3), "|u1", compressor={"id": "imagecodecs_png"}), values)
    with pytest.raises(OmnizarrError):
        read_chunk(b"nonsense", (4, 4, 3), "|u1", compressor={"id": "imagecodecs_png"})
