"""Codecs by function, with their options checked by the editor rather than by a document.

>>> import omnizarr as oz
>>> oz.codec.zstd(5)
Codec(name='zstd', configuration={'level': 5, 'checksum': False}, required=True)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from omnizarr.model.codec import Codec
from omnizarr.model.jsonvalue import JSON


def blosc(
    cname: Literal["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"] = "lz4",
    clevel: int = 5,
    shuffle: Literal["noshuffle", "shuffle", "bitshuffle"] = "shuffle",
    *,
    typesize: int | None = None,
    blocksize: int = 0,
) -> Codec:
    """Compress with Blosc; the size of elements is the array's unless given."""
    config: dict[str, JSON] = {"cname": cname, "clevel": clevel, "shuffle": shuffle, "blocksize": blocksize}
    if typesize is not None:
        config["typesize"] = typesize
    return Codec("blosc", config)


def zstd(level: int = 3, *, checksum: bool = False) -> Codec:
    """Compress with Zstandard."""
    return Codec("zstd", {"level": level, "checksum": checksum})


def gzip(level: int = 5) -> Codec:
    """Compress with gzip."""
    return Codec("gzip", {"level": level})


def zlib(level: int = 5) -> Codec:
    """Compress with zlib."""
    return Codec("zlib", {"level": level})


def bz2(level: int = 9) -> Codec:
    """Compress with bzip2."""
    return Codec("bz2", {"level": level})


def lz4(acceleration: int = 1) -> Codec:
    """Compress with LZ4, in the framing of numcodecs."""
    return Codec("lz4", {"acceleration": acceleration})


def lzma(preset: int | None = None) -> Codec:
    """Compress with LZMA, in the xz container."""
    return Codec("lzma", {"format": 1, "check": -1, "preset": preset, "filters": None})


def crc32c() -> Codec:
    """Append a checksum, which is verified when reading."""
    return Codec("crc32c")


def shuffle(elementsize: int | None = None) -> Codec:
    """Group the first bytes of all elements, then the second bytes, and so on."""
    return Codec("shuffle", {} if elementsize is None else {"elementsize": elementsize})


def delta(dtype: str | None = None, astype: str | None = None) -> Codec:
    """Store differences between neighbours, in the type `astype`."""
    given: dict[str, JSON] = {"dtype": dtype, "astype": astype}
    return Codec("delta", {name: value for name, value in given.items() if value is not None})


def transpose(order: Sequence[int]) -> Codec:
    """Store the dimensions in another order."""
    return Codec("transpose", {"order": list(order)})


def bytes_(endian: Literal["little", "big"] = "little") -> Codec:
    """Turn elements into bytes of the given order; added where a list of codecs has no such step."""
    return Codec("bytes", {"endian": endian})
