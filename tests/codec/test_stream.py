"""Chains of byte codecs run over one buffer."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

from omnizarr import errors
from omnizarr.native import Stream

CHAINS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "none": [],
    "zlib": [("zlib", {"level": 1})],
    "shuffle-zstd": [("shuffle", {"elementsize": 4}), ("zstd", {"level": 3, "checksum": False})],
    "three": [("shuffle", {"elementsize": 2}), ("gzip", {"level": 1}), ("crc32c", {})],
}


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("size", [0, 4, 4096, 300_000])
def test_round_trip(name: str, size: int) -> None:
    data = (np.arange(size, dtype=np.uint32) // 7).astype(np.uint8).tobytes()
    stream = Stream(CHAINS[name])
    encoded = stream.encode(data)
    assert stream.decode(encoded, size, 0) == data
    assert stream.decode(encoded, None, size) == data
    assert stream.decode(memoryview(bytearray(encoded)), None, 1 << 30) == data


def test_is_the_codecs_one_after_the_other() -> None:
    assert zlib.decompress(Stream(CHAINS["zlib"]).encode(np.arange(9).data)) == np.arange(9).tobytes()


@pytest.mark.parametrize("name", CHAINS)
def test_size_is_a_promise(name: str) -> None:
    stream = Stream(CHAINS[name])
    encoded = stream.encode(bytes(1000))
    for size, most in ((996, 0), (1004, 0), (None, 996)):
        with pytest.raises(errors.CorruptError):
            stream.decode(encoded, size, most)


def test_damage_is_named() -> None:
    stream = Stream(CHAINS["three"])
    encoded = bytearray(stream.encode(bytes(1000)))
    encoded[5] ^= 1
    with pytest.raises(errors.ChecksumError) as raised:
        stream.decode(encoded, 1000, 0)
    assert raised.value.codec == "crc32c"
    assert raised.value.key is None


def test_steps_in_python() -> None:
    class Turn:
        def encode(self, data: memoryview) -> bytes:
            return bytes(data)[::-1]

        def decode(self, data: memoryview, size: int | None) -> bytes:
            del size
            return bytes(data)[::-1]

    step = {"codec": Turn(), "name": "turn", "kind": "bytes", "encoded_size": None, "decoded_size": None}
    stream = Stream([("python", step)])
    assert stream.encode(b"abc") == b"cba"
    assert stream.decode(b"cba", 3, 0) == b"abc"


def test_array_steps_are_refused() -> None:
    with pytest.raises(ValueError, match="no codec"):
        Stream([("transpose", {"order": [0]})])
