"""Codecs: functions that name them for `codecs=`, and what turns names into steps of the kernel.

>>> import omnizarr as oz
>>> a = oz.create_array({}, shape=(100,), dtype="i4", codecs=[oz.codec.delta(), oz.codec.zstd(9)])
"""

from __future__ import annotations

from omnizarr.codec.make import (
    adler32,
    bitround,
    blosc,
    bytes_,
    bz2,
    cast_value,
    conditional,
    crc32,
    crc32c,
    delta,
    fletcher32,
    gzip,
    lz4,
    lzma,
    packbits,
    pcodec,
    reshape,
    scale_offset,
    shuffle,
    transpose,
    zfp,
    zlib,
    zstd,
)

__all__ = [
    "adler32",
    "bitround",
    "blosc",
    "bytes_",
    "bz2",
    "cast_value",
    "conditional",
    "crc32",
    "crc32c",
    "delta",
    "fletcher32",
    "gzip",
    "lz4",
    "lzma",
    "packbits",
    "pcodec",
    "reshape",
    "scale_offset",
    "shuffle",
    "transpose",
    "zfp",
    "zlib",
    "zstd",
]
