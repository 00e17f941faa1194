"""Codecs: functions that name them for `codecs=`, and what turns names into steps of the kernel.

>>> import omnizarr as oz
>>> a = oz.create_array({}, shape=(100,), dtype="i4", codecs=[oz.codec.delta(), oz.codec.zstd(9)])
"""

from __future__ import annotations

from omnizarr.codec.make import (
    blosc,
    bytes_,
    bz2,
    crc32c,
    delta,
    gzip,
    lz4,
    lzma,
    shuffle,
    transpose,
    zlib,
    zstd,
)

__all__ = [
    "blosc",
    "bytes_",
    "bz2",
    "crc32c",
    "delta",
    "gzip",
    "lz4",
    "lzma",
    "shuffle",
    "transpose",
    "zlib",
    "zstd",
]
