"""Steps between an array's elements and stored bytes, by name; what a name does is the codec layer's business.

A chain is any number of array→array steps, one array→bytes step, and any number of bytes→bytes steps:
https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html#chunk-encoding
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias, cast

from omnizarr.model.jsonvalue import JSON

Kind: TypeAlias = Literal["array", "array-bytes", "bytes"]
"""What a step does: array→array, array→bytes or bytes→bytes."""


class Codec(NamedTuple):
    """One step: a name as the document spells it, and its configuration."""

    name: str
    configuration: Mapping[str, JSON] = {}  # never changed: Mapping has no setter
    required: bool = True
    """False if the document allows readers that do not know the codec to leave it out."""

    def to_json(self) -> dict[str, JSON]:
        """Render as a v3 codec object."""
        if self.required:
            return {"name": self.name, "configuration": self.configuration}
        return {"name": self.name, "configuration": self.configuration, "must_understand": False}


FROM_NUMCODECS: Final = frozenset(
    (
        *("gzip", "zlib", "zstd", "blosc", "lz4", "bz2", "lzma", "crc32c", "shuffle", "delta"),
        *("vlen-utf8", "vlen-bytes"),
    )
)
"""Ids of numcodecs that are the names of the same codecs here; all others get `numcodecs.` before them."""

OWN: Final = "omnizarr."
"""How the names of codecs begin that only Omnizarr has; in every version they are spelled the same."""

KINDS: Final[dict[str, Kind]] = {
    "transpose": "array",
    "delta": "array",
    "bitround": "array",
    "reshape": "array",
    "zarrs.squeeze": "array",
    "scale_offset": "array",
    "cast_value": "array",
    "numcodecs.fixedscaleoffset": "array",
    "numcodecs.quantize": "array",
    "numcodecs.bitround": "array",
    "numcodecs.astype": "array",
    "numcodecs.packbits": "array",
    "numcodecs.categorize": "array",
    "bytes": "array-bytes",
    "vlen-utf8": "array-bytes",
    "vlen-bytes": "array-bytes",
    "sharding_indexed": "array-bytes",
    "packbits": "array-bytes",
    "zfp": "array-bytes",
    "n5_default": "array-bytes",
    "numcodecs.pcodec": "array-bytes",
    "numcodecs.zfpy": "array-bytes",
    "numcodecs.vlen-array": "array-bytes",
    "numcodecs.json2": "array-bytes",
    "numcodecs.msgpack2": "array-bytes",
    "numcodecs.json": "array-bytes",
    "numcodecs.msgpack": "array-bytes",
    "zarrs.vlen": "array-bytes",
    "zarrs.vlen_v2": "array-bytes",
    "zarrs.optional": "array-bytes",
    "gzip": "bytes",
    "zlib": "bytes",
    "zstd": "bytes",
    "blosc": "bytes",
    "lz4": "bytes",
    "bz2": "bytes",
    "lzma": "bytes",
    "crc32c": "bytes",
    "shuffle": "bytes",
    "conditional": "bytes",
    "n5.lz4": "bytes",
    "zarrs.gdeflate": "bytes",
    "numcodecs.blosc": "bytes",
    "numcodecs.crc32": "bytes",
    "numcodecs.crc32c": "bytes",
    "numcodecs.adler32": "bytes",
    "numcodecs.fletcher32": "bytes",
    "numcodecs.jenkins_lookup3": "bytes",
    "numcodecs.base64": "bytes",
    "numcodecs.szip": "bytes",
    "numcodecs.imagecodecs_szip": "bytes",
    "numcodecs.imagecodecs_lzf": "bytes",
    "numcodecs.imagecodecs_lz4h5": "bytes",
    "numcodecs.imagecodecs_bitshuffle": "bytes",
    "omnizarr.hdf5_bitshuffle": "bytes",
    "omnizarr.hdf5_shuffle": "bytes",
    "omnizarr.hdf5_scaleoffset": "bytes",
    "omnizarr.hdf5_nbit": "bytes",
    "omnizarr.hdf5_zfp": "bytes",
    "numcodecs.imagecodecs_lzw": "bytes",
    "numcodecs.imagecodecs_packbits": "bytes",
    "numcodecs.imagecodecs_bitorder": "bytes",
    "numcodecs.imagecodecs_zlib": "bytes",
    "numcodecs.imagecodecs_zstd": "bytes",
    "numcodecs.imagecodecs_rcomp": "bytes",
    "numcodecs.imagecodecs_delta": "array",
    "numcodecs.imagecodecs_floatpred": "array-bytes",
    "numcodecs.imagecodecs_packints": "array-bytes",
    "numcodecs.grib": "array-bytes",
    "numcodecs.omnizarr.grib": "array-bytes",
}
"""The kind of each codec known by name; names that are not here are judged by the codec layer."""

ALIASES: Final[dict[str, str]] = {
    "endian": "bytes",
    "numcodecs.vlen-utf8": "vlen-utf8",
    "numcodecs.vlen-bytes": "vlen-bytes",
    "numcodecs.zlib": "zlib",
    "numcodecs.gzip": "gzip",
    "numcodecs.zstd": "zstd",
    "numcodecs.lz4": "lz4",
    "numcodecs.bz2": "bz2",
    "numcodecs.lzma": "lzma",
    "numcodecs.shuffle": "shuffle",
    "numcodecs.delta": "delta",
    "numcodecs.crc32c": "crc32c",
    "vlen-array": "numcodecs.vlen-array",
    "optional": "zarrs.optional",
    "https://codec.zarrs.dev/array_to_bytes/vlen": "zarrs.vlen",
    "https://codec.zarrs.dev/array_to_bytes/vlen_v2": "zarrs.vlen_v2",
    "https://codec.zarrs.dev/array_to_bytes/vlen_array": "numcodecs.vlen-array",
    "https://codec.zarrs.dev/array_to_bytes/optional": "zarrs.optional",
    "https://codec.zarrs.dev/array_to_bytes/bitround": "bitround",
    "zarrs.zfp": "zfp",
    "https://codec.zarrs.dev/array_to_bytes/zfp": "zfp",
    "zfpy": "numcodecs.zfpy",
    "https://codec.zarrs.dev/array_to_bytes/zfpy": "numcodecs.zfpy",
    "pcodec": "numcodecs.pcodec",
    "imagecodecs_szip": "numcodecs.imagecodecs_szip",
    "imagecodecs_lzf": "numcodecs.imagecodecs_lzf",
    "imagecodecs_lz4h5": "numcodecs.imagecodecs_lz4h5",
    "imagecodecs_bitshuffle": "numcodecs.imagecodecs_bitshuffle",
    "https://codec.zarrs.dev/array_to_bytes/pcodec": "numcodecs.pcodec",
    "https://codec.zarrs.dev/array_to_array/bitround": "bitround",
    "https://codec.zarrs.dev/array_to_array/squeeze": "zarrs.squeeze",
    "https://codec.zarrs.dev/bytes_to_bytes/bz2": "bz2",
    "https://codec.zarrs.dev/bytes_to_bytes/fletcher32": "numcodecs.fletcher32",
}
"""Names whose bytes are the same as another name's. Not `numcodecs.blosc`: its configuration is spelled otherwise."""

# What numcodecs assumes for the settings that a document leaves out.
_DEFAULTS: Final[dict[str, dict[str, JSON]]] = {
    "zlib": {"level": 1},
    "gzip": {"level": 1},
    "zstd": {"level": 0, "checksum": False},
    "lz4": {"acceleration": 1},
    "bz2": {"level": 1},
    "lzma": {"format": 1, "check": -1, "preset": None, "filters": None},
    "shuffle": {"elementsize": 4},
    "blosc": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 1, "blocksize": 0},
}

_UNSAFE: Final = frozenset(("pickle", "dill", "cloudpickle", "joblib", "marshal"))

BLOSC_NAMES: Final = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
"""The compressors inside blosc."""

INDEX_CODECS: Final = (Codec("bytes", {"endian": "little"}), Codec("crc32c"))
"""What encodes the index of a shard unless the document says otherwise."""

BLOSC_SHUFFLES: Final = ("noshuffle", "shuffle", "bitshuffle")
"""The names of blosc's shuffles; numcodecs writes their places in this list, and -1 for "choose by item size"."""


def canonical(name: str) -> str:
    """Give the one name of a codec that has several.

    >>> canonical("numcodecs.zlib"), canonical("endian"), canonical("my.codec")
    ('zlib', 'bytes', 'my.codec')
    """
    return ALIASES.get(name, name)


def is_unsafe(name: str) -> bool:
    """Whether a codec runs whatever code the stored bytes ask for.

    >>> is_unsafe("numcodecs.pickle"), is_unsafe("zstd")
    (True, False)
    """
    return name.removeprefix("numcodecs.") in _UNSAFE


def kind_of(name: str) -> Kind | None:
    """Say what a step of this name does, or None if the name is not known here."""
    return KINDS.get(ALIASES.get(name, name))


def resolve(codec: Codec) -> Codec:
    """Give the codec its one name and every setting that the document left to numcodecs' defaults.

    A codec that only looks like another keeps its own name: `numcodecs.crc32c` with the checksum in front, say.

    >>> resolve(Codec("numcodecs.zlib", {})).configuration
    {'level': 1}
    """
    name, given, required = codec
    if name == "numcodecs.crc32c" and given.get("location", "end") != "end":
        return codec
    if name == "numcodecs.blosc":
        name, given = "blosc", {**given, "shuffle": blosc_shuffle(given.get("shuffle", 1), 1)}
    name = ALIASES.get(name, name)
    defaults = _DEFAULTS.get(name)
    if name == "delta" and "astype" not in given:
        defaults = {"astype": given.get("dtype")}
    return Codec(name, {**defaults, **given} if defaults else given, required)


def blosc_shuffle(number: JSON, itemsize: int) -> str:
    """Give the name of a shuffle that numcodecs numbers; unknown numbers give the empty string."""
    if number == -1:
        return "bitshuffle" if itemsize == 1 else "shuffle"
    if type(number) is int and 0 <= number < len(BLOSC_SHUFFLES):
        return BLOSC_SHUFFLES[number]
    return number if isinstance(number, str) and number in BLOSC_SHUFFLES else ""


def sharding_of(codecs: tuple[Codec, ...]) -> Codec | None:
    """Find the sharding step of a chain whose chunks can be read one by one: after transposes only, and last."""
    if not codecs or codecs[-1].name != "sharding_indexed":
        return None
    if any(canonical(codec.name) != "transpose" for codec in codecs[:-1]):
        return None
    return codecs[-1]


def transpose_order(codec: Codec) -> tuple[int, ...]:
    """Read the permutation of a parsed transpose step."""
    return tuple(cast("list[int]", codec.configuration["order"]))


def inner_codecs(
    codec: Codec, field: Literal["codecs", "index_codecs", "data_codecs", "mask_codecs"] = "codecs"
) -> tuple[Codec, ...]:
    """Read a chain inside a parsed sharding step: that of its chunks, or that of its index."""
    chain = cast("list[dict[str, JSON]]", codec.configuration[field])
    return tuple(
        Codec(
            cast("str", step["name"]),
            cast("Mapping[str, JSON]", step.get("configuration", {})),
            step.get("must_understand") is not False,
        )
        for step in chain
    )
