"""The settings that each codec takes, by the codec's one name; wrong ones are found when an array is opened.

v3 codecs: https://zarr-specs.readthedocs.io/en/latest/v3/codecs/index.html and the registry zarr-extensions.
The rest are those of numcodecs: https://numcodecs.readthedocs.io
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from omnizarr.errors import MetadataError, UnsafeError
from omnizarr.format.check import part
from omnizarr.format.document import describe
from omnizarr.model.codec import BLOSC_NAMES, BLOSC_SHUFFLES, is_unsafe
from omnizarr.model.jsonvalue import JSON

_MAX_BLOCK: Final = 2**31 - 1


class _Rule(NamedTuple):
    """What a setting may be: a test, and the words for it."""

    test: Callable[[JSON], bool]
    words: str


def _within(least: int, most: int) -> _Rule:
    def test(value: JSON) -> bool:
        return type(value) is int and least <= value <= most

    return _Rule(test, f"a whole number from {least} to {most}")


def _one_of(*words: str) -> _Rule:
    return _Rule(lambda value: value in words, " or ".join(repr(word) for word in words))


def _either(one: _Rule, other: _Rule) -> _Rule:
    return _Rule(lambda value: one.test(value) or other.test(value), f"{one.words} or {other.words}")


def _or_null(rule: _Rule) -> _Rule:
    return _Rule(lambda value: value is None or rule.test(value), f"{rule.words} or null")


_ANY_INT: Final = _within(-(2**31), 2**31 - 1)
_BOOL: Final = _Rule(lambda value: isinstance(value, bool), "true or false")
_LIST: Final = _Rule(lambda value: isinstance(value, list), "a list")
_SCALAR: Final = _Rule(lambda value: isinstance(value, int | float | str), "a scalar, spelled as a fill value")
_LOCATION: Final = _one_of("start", "end")
_SHUFFLES: Final = _one_of(*BLOSC_SHUFFLES)
_BLOSC: Final = {
    "cname": _one_of(*BLOSC_NAMES),
    "clevel": _within(0, 9),
    "typesize": _within(1, _MAX_BLOCK),
    "blocksize": _within(0, _MAX_BLOCK),
}

_PARAMETERS: Final = {"parameters": _LIST}

_RULES: Final[dict[str, dict[str, _Rule]]] = {
    "gzip": {"level": _within(-1, 9)},
    "zlib": {"level": _within(-1, 9)},
    "bz2": {"level": _within(1, 9)},
    "zstd": {"level": _within(-131072, 22), "checksum": _BOOL},
    "lz4": {"acceleration": _ANY_INT},
    "lzma": {
        "format": _within(0, 3),
        "check": _within(-1, 16),
        "preset": _or_null(_within(0, 2**32 - 1)),
        "filters": _or_null(_LIST),
    },
    "blosc": {**_BLOSC, "shuffle": _SHUFFLES},
    # VirtualiZarr puts the names of v3 into documents of v2, and numcodecs reads them.
    "numcodecs.blosc": {
        **_BLOSC,
        "shuffle": _either(_within(-1, 2), _SHUFFLES),
        "typesize": _or_null(_BLOSC["typesize"]),
    },
    "crc32c": {"location": _one_of("end")},
    "numcodecs.crc32c": {"location": _LOCATION},
    "numcodecs.crc32": {"location": _LOCATION},
    "numcodecs.adler32": {"location": _LOCATION},
    "numcodecs.fletcher32": {},
    "numcodecs.jenkins_lookup3": {"initval": _within(0, 2**32 - 1), "prefix": _or_null(_LIST)},
    "numcodecs.base64": {},
    "shuffle": {"elementsize": _within(0, _MAX_BLOCK)},
    "vlen-utf8": {},
    "vlen-bytes": {},
    "packbits": {
        "padding_encoding": _one_of("none", "first_byte", "last_byte"),
        "first_bit": _or_null(_within(0, 63)),
        "last_bit": _or_null(_within(0, 63)),
    },
    "numcodecs.packbits": {},
    "bitround": {"keepbits": _within(1, 64)},
    "numcodecs.bitround": {"keepbits": _within(0, 52)},
    "numcodecs.pcodec": {
        "level": _within(0, 12),
        "mode_spec": _one_of("auto", "classic"),
        "delta_spec": _one_of("auto", "none", "no_op", "try_consecutive", "try_lookback"),
        "paging_spec": _one_of("equal_pages_up_to"),
        "delta_encoding_order": _or_null(_within(0, 7)),
        "equal_pages_up_to": _within(1, 2**32),
    },
    "scale_offset": {"offset": _SCALAR, "scale": _SCALAR},
    "cast_value": {
        "data_type": _Rule(lambda value: isinstance(value, str | dict), "a data type"),
        "rounding": _one_of("nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"),
        "out_of_range": _one_of("clamp", "wrap"),
        "scalar_map": _Rule(lambda value: isinstance(value, dict), "an object"),
    },
    "reshape": {"shape": _LIST},
    "zarrs.squeeze": {},
    "conditional": {"codecs": _LIST, "header_bits": _within(0, 2**16)},
    "n5_default": {"codecs": _LIST},
    "n5.lz4": {"block_size": _within(64, 2**25)},
    "numcodecs.imagecodecs_bitshuffle": {"itemsize": _within(1, _MAX_BLOCK), "blocksize": _within(0, _MAX_BLOCK)},
    "omnizarr.hdf5_shuffle": {"elementsize": _within(1, _MAX_BLOCK)},
    **dict.fromkeys((f"omnizarr.hdf5_{name}" for name in ("bitshuffle", "scaleoffset", "nbit", "zfp")), _PARAMETERS),
}


def check_config(name: str, configuration: Mapping[str, JSON], pointer: str, key: str) -> None:
    """Check the settings of a codec; names without rules pass, for the codec itself knows better.

    Args:
        name: The codec's one name, or `numcodecs.…` where that spells its settings otherwise.
        configuration: The settings.
        pointer: Where they stand in the document.
        key: The document's key.

    Raises:
        MetadataError: A setting is unknown or wrong.
    """
    rules = _RULES.get(name)
    if rules is None:
        return
    for field, value in configuration.items():
        rule = rules.get(field)
        if rule is None:
            message = f"the codec has no setting {field!r}"
            raise MetadataError(message, pointer=f"{pointer}/{part(field)}", key=key, codec=name)
        if not rule.test(value):
            message = f"{field} must be {rule.words}, not {describe(value)}"
            raise MetadataError(message, pointer=f"{pointer}/{part(field)}", key=key, codec=name)


def check_safe(name: str, pointer: str, key: str) -> None:
    """Refuse codecs that would run code from data.

    Raises:
        UnsafeError: The name is such a codec's.
    """
    if is_unsafe(name):
        message = f"the codec would run code that the stored data hold (at {pointer})"
        hint = "Rewrite the data with the library that made them, on a machine that may be lost."
        raise UnsafeError(message, key=key, codec=name, hint=hint)
