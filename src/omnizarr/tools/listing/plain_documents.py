"""Documents of the plainest kind, read without the model: those that nearly all arrays of Zarr v2 and v3 have.

Listing thousands of arrays needs their shapes and types, and not NumPy, whose import alone takes longer than the list.
Whatever is not of the plainest kind is refused here, with `None`, and then read by the model, which knows all kinds and
says what is wrong. So these functions must be stricter than the model, never laxer; the tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from math import prod
from typing import Final

from omnizarr.format.document import load
from omnizarr.limits import DEFAULT_LIMITS
from omnizarr.model.jsonvalue import JSON
from omnizarr.tools.listing.entries import Layout

_SIZES: Final = {
    "bool": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8,
    "float32": 4, "float64": 8,
}  # fmt: skip
_V2_TYPES: Final = {
    "|b1": "bool", "|i1": "int8", "|u1": "uint8", "<i2": "int16", "<i4": "int32", "<i8": "int64", "<u2": "uint16",
    "<u4": "uint32", "<u8": "uint64", "<f4": "float32", "<f8": "float64",
}  # fmt: skip
_INFINITE: Final = ("NaN", "Infinity", "-Infinity")
_BLOSC: Final = frozenset(("lz4", "lz4hc", "blosclz", "zstd", "zlib"))
_BLOSC_FIELDS: Final = frozenset(("cname", "clevel", "shuffle", "blocksize"))
_LITTLE: Final = {"endian": "little"}
_MOST_CHUNK_BYTES: Final = DEFAULT_LIMITS.max_chunk_bytes
_ARRAY_V3: Final = frozenset(("zarr_format", "node_type", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value",
                              "codecs"))  # fmt: skip
_ARRAY_V2: Final = frozenset(("zarr_format", "chunks", "dtype", "compressor", "fill_value", "order", "filters"))


def sizes(value: JSON) -> tuple[int, ...] | None:
    """Return the shape that a document gives, or `None`."""
    if not isinstance(value, list) or len(value) > 16:
        return None
    found = tuple(size for size in value if type(size) is int and size > 0)
    return found if len(found) == len(value) and prod(found) < 1 << 60 else None


def without_shape(text: bytes) -> tuple[bytes, bytes]:
    """Cut the first list after the word "shape" out of a document: return what is left, and the list.

    Documents of which the same is left have it in the same place; so if one of them is known to be sound, the others
    are, too, if their lists are. What is left keeps two brackets, or the lists of two documents could be cut from
    different places.

    >>> without_shape(b'{"order": "C", "shape": [3, 4]}')
    (b'{"order": "C", "shape": []}', b'[3, 4]')
    """
    start = text.find(b"[", text.find(b'"shape"')) + 1
    end = text.find(b"]", start)
    return (text[:start] + text[end:], text[start - 1 : end + 1]) if 0 < start < end else (text, b"null")


def names(value: JSON, ndim: int) -> tuple[str | None, ...] | None:
    """Return names of dimensions, or `None` if the value is not a list of as many."""
    if not isinstance(value, list) or len(value) != ndim:
        return None
    found = tuple(name for name in value if name is None or isinstance(name, str))
    return found if len(found) == ndim else None


def layout_v3(texts: Mapping[str, bytes]) -> Layout | None:
    """Return the layout that the members of a `zarr.json` give, those that differ from array to array left out.

    Raises:
        MetadataError: If one is not sound JSON.
    """
    if not _has(texts, _ARRAY_V3, {"storage_transformers"}):
        return None
    doc = {name: load(text, "") for name, text in texts.items()}
    dtype, grid = doc["data_type"], doc["chunk_grid"]
    if not isinstance(dtype, str) or dtype not in _SIZES or not _is(doc["zarr_format"], 3):
        return None
    chunks = _chunks_v3(grid)
    if chunks is None or not _is_fill(doc["fill_value"], dtype) or doc.get("storage_transformers", []) != []:
        return None
    if not _is_encoding(doc["chunk_key_encoding"]):
        return None
    return _encoded(doc["codecs"], dtype, chunks)


def layout_v2(texts: Mapping[str, bytes]) -> Layout | None:
    """Return the layout that the members of a `.zarray` give, the shape left out.

    Raises:
        MetadataError: If one is not sound JSON.
    """
    if not _has(texts, _ARRAY_V2, {"dimension_separator"}):
        return None
    doc = {name: load(text, "") for name, text in texts.items()}
    if not _is(doc["zarr_format"], 2):
        return None
    dtype = _V2_TYPES.get(doc["dtype"]) if isinstance(doc["dtype"], str) else None
    chunks = sizes(doc["chunks"])
    if dtype is None or chunks is None or (doc["order"], doc["filters"]) != ("C", None):
        return None
    if doc["fill_value"] is not None and not _is_fill(doc["fill_value"], dtype):
        return None
    codecs = _codecs_v2(doc["compressor"])
    if codecs is None or doc.get("dimension_separator", ".") not in (".", "/"):
        return None
    return _layout(dtype, chunks, None, codecs)


def _codecs_v2(compressor: JSON) -> tuple[str, ...] | None:
    if compressor is None:
        return ("bytes",)
    name = compressor.get("id") if isinstance(compressor, dict) else None
    if not isinstance(compressor, dict) or not isinstance(name, str):
        return None
    rest = {field: value for field, value in compressor.items() if field != "id"}
    return ("bytes", name) if _is_plain_v2(name, rest) else None


def _has(doc: Mapping[str, object], needed: AbstractSet[str], allowed: AbstractSet[str] = frozenset()) -> bool:
    """Whether a document has all needed fields, and no others than the allowed ones."""
    return needed <= doc.keys() and doc.keys() <= needed | allowed


def _is(value: JSON, number: int) -> bool:
    return type(value) is int and value == number


def _between(value: JSON, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def _is_fill(value: JSON, dtype: str) -> bool:
    if dtype == "bool":
        return isinstance(value, bool)
    if dtype.startswith("float"):
        return value in _INFINITE if isinstance(value, str) else type(value) in (int, float) and abs(value) < 1e30  # type: ignore[arg-type]  # one of the two
    bits = 8 * _SIZES[dtype]
    low, high = (0, (1 << bits) - 1) if dtype.startswith("u") else (-1 << (bits - 1), (1 << (bits - 1)) - 1)
    return _between(value, low, high)


def _named(value: JSON) -> tuple[str, Mapping[str, JSON]] | None:
    """Return the name and the configuration of an extension point, if it has nothing else."""
    if not isinstance(value, dict) or not value.keys() <= {"name", "configuration"}:
        return None
    name, configuration = value.get("name"), value.get("configuration", {})
    return (name, configuration) if isinstance(name, str) and isinstance(configuration, dict) else None


def _chunks_v3(grid: JSON) -> tuple[int, ...] | None:
    named = _named(grid)
    if named is None or named[0] != "regular" or not _has(named[1], {"chunk_shape"}):
        return None
    return sizes(named[1]["chunk_shape"])


def _is_encoding(value: JSON) -> bool:
    named = _named(value)
    if named is None or named[0] not in ("default", "v2") or not named[1].keys() <= {"separator"}:
        return False
    return named[1].get("separator", "/") in ("/", ".")


def _encoded(codecs: JSON, dtype: str, chunks: tuple[int, ...]) -> Layout | None:
    if isinstance(codecs, list) and len(codecs) == 1:
        sharding = _named(codecs[0])
        if sharding is not None and sharding[0] == "sharding_indexed":
            return _sharded(sharding[1], dtype, chunks)
    chain = _chain(codecs, dtype)
    return None if chain is None else _layout(dtype, chunks, None, chain)


def _sharded(settings: Mapping[str, JSON], dtype: str, shards: tuple[int, ...]) -> Layout | None:
    if not _has(settings, {"chunk_shape", "codecs", "index_codecs"}, {"index_location"}):
        return None
    inner, chain, index = sizes(settings["chunk_shape"]), _chain(settings["codecs"], dtype), settings["index_codecs"]
    if inner is None or chain is None or len(inner) != len(shards):
        return None
    if any(long % short for long, short in zip(shards, inner, strict=True)):
        return None
    if settings.get("index_location", "end") not in ("start", "end"):
        return None
    if index != [{"name": "bytes", "configuration": _LITTLE}, {"name": "crc32c"}]:
        return None
    return _layout(dtype, inner, shards, chain)


def _chain(codecs: JSON, dtype: str) -> tuple[str, ...] | None:
    """Return the names of codecs: `bytes`, and then any compressors."""
    known = [_named(codec) for codec in codecs] if isinstance(codecs, list) else []
    found = [codec for codec in known if codec is not None]
    if not found or len(found) != len(known):
        return None
    first, *others = found
    if first[0] != "bytes" or not (first[1] == _LITTLE or (_SIZES[dtype] == 1 and not first[1])):
        return None
    if not all(_is_plain_v3(name, settings, _SIZES[dtype]) for name, settings in others):
        return None
    return tuple(name for name, _ in found)


def _is_plain_v3(name: str, settings: Mapping[str, JSON], item: int) -> bool:
    if name == "crc32c":
        return not settings
    if name == "gzip":
        return _has(settings, {"level"}) and _between(settings["level"], 0, 9)
    if name == "zstd":
        fits = _has(settings, {"level", "checksum"}) and isinstance(settings["checksum"], bool)
        return fits and _between(settings["level"], 0, 22)
    if name != "blosc" or not _has(settings, _BLOSC_FIELDS | {"typesize"}):
        return False
    return _is_blosc(settings, ("noshuffle", "shuffle", "bitshuffle")) and _is(settings["typesize"], item)


def _is_plain_v2(name: str, settings: Mapping[str, JSON]) -> bool:
    if name in ("zlib", "gzip", "bz2"):
        return _has(settings, {"level"}) and _between(settings["level"], 1, 9)
    if name == "zstd":
        checksum = settings.get("checksum", False)
        fits = _has(settings, {"level"}, {"checksum"}) and isinstance(checksum, bool)
        return fits and _between(settings["level"], 0, 22)
    return name == "blosc" and _has(settings, _BLOSC_FIELDS) and _is_blosc(settings, (0, 1, 2))


def _is_blosc(settings: Mapping[str, JSON], shuffles: tuple[str | int, ...]) -> bool:
    shuffle, cname = settings["shuffle"], settings["cname"]
    if type(shuffle) is not type(shuffles[0]) or shuffle not in shuffles:
        return False
    return (
        isinstance(cname, str)
        and cname in _BLOSC
        and _between(settings["clevel"], 0, 9)
        and _between(settings["blocksize"], 0, 1 << 24)
    )


def _layout(
    dtype: str, chunks: tuple[int, ...], shards: tuple[int, ...] | None, codecs: tuple[str, ...]
) -> Layout | None:
    item = _SIZES[dtype]
    if prod(shards or chunks) * item > _MOST_CHUNK_BYTES:
        return None
    return Layout(dtype, item, chunks, str(chunks), shards, None if shards is None else str(shards), codecs)
