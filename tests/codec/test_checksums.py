"""Checksums and base64 against numcodecs, byte for byte."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.codec.compile import compile_chain
from omnizarr.errors import ChecksumError, CorruptError, MetadataError
from omnizarr.model.codec import Codec
from omnizarr.model.dtype import DType
from omnizarr.native import Stream

CONFIGS = [
    {"id": "crc32"},
    {"id": "crc32", "location": "end"},
    {"id": "adler32"},
    {"id": "adler32", "location": "end"},
    {"id": "crc32c", "location": "start"},
    {"id": "crc32c"},
    {"id": "fletcher32"},
    {"id": "jenkins_lookup3"},
    {"id": "jenkins_lookup3", "initval": 123456789},
    {"id": "base64"},
]


def stream(config, size=16):
    """The kernel's step for a codec of numcodecs, as one buffer goes through it."""
    options = {name: value for name, value in config.items() if name != "id"}
    chain = (Codec("bytes"), Codec("numcodecs." + config["id"], options))
    return Stream(compile_chain(chain, DType.of("u1"), (size,)).steps[1:])


@pytest.mark.parametrize("config", CONFIGS, ids=str)
@given(data=st.binary(min_size=1, max_size=2000))
def test_the_bytes_are_those_of_numcodecs(config, data):
    numcodecs = pytest.importorskip("numcodecs")
    peer = numcodecs.get_codec(dict(config))
    mine = stream(config, len(data))
    encoded = bytes(memoryview(peer.encode(data)))
    assert mine.encode(data) == encoded
    assert mine.decode(encoded, len(data), 0) == data


@pytest.mark.parametrize("size", [719, 720, 721, 100_000])
def test_fletcher32_of_long_data(size):
    numcodecs = pytest.importorskip("numcodecs")
    data = np.full(size, 255, np.uint8).tobytes()
    assert stream({"id": "fletcher32"}).encode(data) == numcodecs.get_codec({"id": "fletcher32"}).encode(data)


@pytest.mark.parametrize("prefix", [b"", b"abc", bytes(range(12)), bytes(30)])
def test_jenkins_with_a_prefix(prefix):
    from numcodecs.checksum32 import JenkinsLookup3

    peer = JenkinsLookup3(initval=5, prefix=prefix)
    mine = stream({"id": "jenkins_lookup3", "initval": 5, "prefix": list(prefix)})
    for size in (1, 9, 12, 18, 100):
        data = bytes(range(size))
        assert mine.encode(data) == peer.encode(data)


@pytest.mark.parametrize("fmt", ["zarr2", "zarr3"])
@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_arrays(fmt, config):
    values = np.arange(60, dtype=">f4").reshape(6, 10)
    array = oz.create_array({}, data=values, chunks=(4, 3), codecs=[config], format=fmt, order="F")
    reopened = oz.open_array(array.store)
    np.testing.assert_array_equal(reopened[...], values)
    np.testing.assert_array_equal(reopened[1:5, 2], values[1:5, 2])
    if fmt == "zarr3":
        sharded = oz.create_array({}, data=values, chunks=(2, 5), shards=(4, 5), codecs=[config])
        np.testing.assert_array_equal(oz.open_array(sharded.store)[...], values)


@pytest.mark.parametrize("config", [config for config in CONFIGS if config["id"] != "base64"], ids=str)
def test_damage_is_found(config):
    array = oz.create_array({}, data=np.arange(10), codecs=[config], format="zarr2")
    raw = bytearray(array.store.get("0"))
    for at in (0, 5, len(raw) - 1):
        broken = bytearray(raw)
        broken[at] ^= 16
        array.store.put("0", bytes(broken))
        with pytest.raises(ChecksumError, match=config["id"]):
            array[...]
    array.store.put("0", bytes(raw[:3]))
    with pytest.raises(CorruptError):
        array[...]


def test_base64_that_is_none():
    array = oz.create_array({}, data=np.arange(10), codecs=[{"id": "base64"}], format="zarr2")
    raw = array.store.get("0")
    for broken in (raw[:-1], raw[:-4], b"*" + raw[1:]):
        array.store.put("0", broken)
        with pytest.raises(CorruptError, match="base64"):
            array[...]


def test_a_checksum_in_the_index_of_a_shard():
    index = [{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "numcodecs.crc32"}]
    inner = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "numcodecs.adler32"}]
    options = {"chunk_shape": [5], "codecs": inner, "index_codecs": index}
    array = oz.create_array({}, data=np.arange(20), chunks=(20,), codecs=[Codec("sharding_indexed", options)])
    np.testing.assert_array_equal(oz.open_array(array.store)[3:13], np.arange(3, 13))


@pytest.mark.parametrize(
    "config",
    [
        {"id": "crc32", "location": "middle"},
        {"id": "jenkins_lookup3", "initval": -1},
        {"id": "jenkins_lookup3", "prefix": [256]},
    ],
)
def test_wrong_settings(config):
    with pytest.raises(MetadataError, match=config["id"]):
        oz.create_array({}, shape=(3,), dtype="u1", codecs=[config])
