"""Codecs by function, with their options checked by the editor rather than by a document.

>>> import omnizarr as oz
>>> oz.codec.zstd(5)
Codec(name='zstd', configuration={'level': 5, 'checksum': False}, required=True)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from omnizarr.errors import MetadataError
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
    return Codec("delta", _given(given))


def bitround(keepbits: int) -> Codec:
    """Set the bits of least weight to zero, of a float's fraction or of an integer, so that compressors gain more."""
    return Codec("bitround", {"keepbits": keepbits})


def packbits(
    padding_encoding: Literal["none", "first_byte", "last_byte"] = "none",
    *,
    first_bit: int | None = None,
    last_bit: int | None = None,
) -> Codec:
    """Store elements of few bits close together: eight booleans in a byte, or some bits of each number."""
    given: dict[str, JSON] = {"first_bit": first_bit, "last_bit": last_bit}
    return Codec("packbits", {"padding_encoding": padding_encoding, **_given(given)})


def pcodec(level: int = 8) -> Codec:
    """Compress numbers of 2, 4 or 8 bytes with Pcodec, without loss."""
    return Codec("numcodecs.pcodec", {"level": level})


def zfp(*, tolerance: float | None = None, rate: float | None = None, precision: int | None = None) -> Codec:
    """Compress numbers with zfp: up to an error, with so many bits or bit planes for each, or else without loss."""
    given = {"tolerance": tolerance, "rate": rate, "precision": precision}
    modes = {"tolerance": "fixed_accuracy", "rate": "fixed_rate", "precision": "fixed_precision"}
    chosen = [name for name, value in given.items() if value is not None]
    if len(chosen) > 1:
        raise MetadataError(f"{' and '.join(chosen)} exclude each other", codec="zfp")
    if not chosen:
        return Codec("zfp", {"mode": "reversible"})
    return Codec("zfp", {"mode": modes[chosen[0]], chosen[0]: given[chosen[0]]})


def reshape(shape: Sequence[int | Sequence[int]]) -> Codec:
    """Store chunks in another shape: of lengths, -1 for what is left, and lists of dimensions to be joined."""
    return Codec("reshape", {"shape": [one if isinstance(one, int) else list(one) for one in shape]})


def conditional(codecs: Sequence[Codec], *, header_bits: int | None = None) -> Codec:
    """Apply compressors only to the chunks that they make smaller; each chunk says which were applied."""
    held: list[JSON] = [codec.to_json() for codec in codecs]
    return Codec("conditional", {"codecs": held, **_given({"header_bits": header_bits})})


def scale_offset(offset: float | str | None = None, scale: float | str | None = None) -> Codec:
    """Store `(x - offset) * scale`, in the arithmetic of the array's type."""
    return Codec("scale_offset", _given({"offset": offset, "scale": scale}))


def cast_value(
    data_type: str,
    *,
    rounding: Literal[
        "nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"
    ] = "nearest-even",
    out_of_range: Literal["clamp", "wrap"] | None = None,
    scalar_map: Mapping[str, JSON] | None = None,
) -> Codec:
    """Store values as those of another type; what that cannot hold is an error unless `out_of_range` says otherwise."""
    given: dict[str, JSON] = {"rounding": rounding, "out_of_range": out_of_range}
    table = None if scalar_map is None else dict(scalar_map)
    return Codec("cast_value", {"data_type": data_type, **_given({**given, "scalar_map": table})})


def crc32(location: Literal["start", "end"] = "start") -> Codec:
    """Add a CRC-32 checksum, which is verified when reading."""
    return Codec("numcodecs.crc32", {"location": location})


def adler32(location: Literal["start", "end"] = "start") -> Codec:
    """Add an Adler-32 checksum, which is verified when reading."""
    return Codec("numcodecs.adler32", {"location": location})


def fletcher32() -> Codec:
    """Append the Fletcher-32 checksum of HDF5, which is verified when reading."""
    return Codec("numcodecs.fletcher32")


def _given(options: dict[str, JSON]) -> dict[str, JSON]:
    return {name: value for name, value in options.items() if value is not None}


def transpose(order: Sequence[int]) -> Codec:
    """Store the dimensions in another order."""
    return Codec("transpose", {"order": list(order)})


def bytes_(endian: Literal["little", "big"] = "little") -> Codec:
    """Turn elements into bytes of the given order; added where a list of codecs has no such step."""
    return Codec("bytes", {"endian": endian})
