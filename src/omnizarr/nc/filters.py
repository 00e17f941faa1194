"""Filters by their numbers in HDF5's registry, and the attributes that tell of rounding."""

from __future__ import annotations

from typing import Final

DEFLATE: Final = 1
SHUFFLE: Final = 2
FLETCHER32: Final = 3
SZIP: Final = 4
BZIP2: Final = 307
BLOSC: Final = 32001
ZSTD: Final = 32015

NUMBERS: Final = {
    "deflate": DEFLATE, "zlib": DEFLATE, "shuffle": SHUFFLE, "fletcher32": FLETCHER32, "szip": SZIP, "nbit": 5,
    "scaleoffset": 6, "bzip2": BZIP2, "lzf": 32000, "blosc": BLOSC, "lz4": 32004, "bitshuffle": 32008, "zfp": 32013,
    "zstd": ZSTD,
}  # fmt: skip
"""The number of each filter that has a name."""

BIT_GROOM: Final = "_QuantizeBitGroomNumberOfSignificantDigits"
GRANULAR: Final = "_QuantizeGranularBitRoundNumberOfSignificantDigits"
BIT_ROUND: Final = "_QuantizeBitRoundNumberOfSignificantBits"
QUANTIZE: Final = (BIT_GROOM, GRANULAR, BIT_ROUND)
