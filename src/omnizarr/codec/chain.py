"""What users write for `codecs=`, made into a complete chain: serialiser, byte order, typesizes and shards are added.

Each item may be a name ("zstd"), a v3 object ({"name": "zstd", "configuration": {"level": 3}}), a v2 object
({"id": "zstd", "level": 3}), a codec of numcodecs or of zarr-python, or what the functions of `omnizarr.codec` return.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

from omnizarr.codec.compile import after_array_codecs, compile_chain
from omnizarr.codec.registry import NUMCODECS, kind_of
from omnizarr.codec.stage import Stage, byte_order, fields_order, swap_unit
from omnizarr.codec.steps import is_native
from omnizarr.errors import LimitError, MetadataError, UnsupportedError
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.codec import FROM_NUMCODECS, Codec, canonical, resolve
from omnizarr.model.dtype import DType
from omnizarr.model.jsonvalue import JSON

NESTED = ("numcodecs.json2", "numcodecs.msgpack2", "numcodecs.json", "numcodecs.msgpack")

SMALL_CHUNK = 512
"""Chunks of fewer bytes are not compressed by default: the headers of a compressor would eat what it gains."""

_USER_DEFAULTS: dict[str, dict[str, JSON]] = {"gzip": {"level": 5}, "zlib": {"level": 5}, "bz2": {"level": 9}}


class Layout(NamedTuple):
    """How an array to be created lies on disk, as far as codecs are concerned."""

    dtype: DType
    """With the byte order that elements have in memory."""

    chunks: tuple[int, ...]
    shards: tuple[int, ...] | None = None
    order: str = "C"
    endian: str | None = None
    """Byte order on disk; that of the type in memory if not given."""


def build_chain(given: object, layout: Layout, limits: Limits = DEFAULT_LIMITS) -> tuple[Codec, ...]:
    """Return the complete chain of an array to be created.

    Args:
        given: "auto" for the default, `None` or an empty list for no compression, one codec, or a list of codecs.
        layout: Type, chunks, shards and order of the array.
        limits: Bounds on the size of a chunk.

    Raises:
        MetadataError: If the codecs do not fit the type, the shape or each other.
        UnsupportedError: If a codec is not installed, or is not something that can be recorded.
        LimitError: If a chunk is larger than the limits allow.
    """
    size = layout.dtype.itemsize * prod(layout.chunks)
    if size > limits.max_chunk_bytes:
        raise LimitError(
            f"a chunk of shape {layout.chunks} has {size} bytes; at most {limits.max_chunk_bytes} are allowed",
            hint="choose smaller chunks, or pass limits=Limits()._replace(max_chunk_bytes=…)",
        )
    if given is None or _is_auto(given):
        return _plain_chain(_is_auto(given), layout)
    return _chain(as_codecs(given), layout)


@lru_cache(maxsize=256)
def _plain_chain(automatic: bool, layout: Layout) -> tuple[Codec, ...]:
    # Most arrays are made so, and the same tuple also finds the steps that were compiled from it before.
    return _chain(default_codecs(layout.dtype, layout.chunks) if automatic else [], layout)


def _chain(codecs: list[Codec], layout: Layout) -> tuple[Codec, ...]:
    if any(canonical(codec.name) == "sharding_indexed" for codec in codecs):
        if layout.shards is not None:
            raise MetadataError("shards= and the codec sharding_indexed exclude each other")
        return _finished(codecs, layout.dtype, layout.chunks)
    ndim = len(layout.chunks)
    # What stores nested lists has no order of elements in memory.
    ordered = not (codecs and canonical(codecs[0].name) in ("transpose", *NESTED))
    if layout.order == "F" and ndim > 1 and ordered:
        codecs.insert(0, Codec("transpose", {"order": list(range(ndim))[::-1]}))
    _complete(codecs, layout)
    if layout.shards is None:
        return _finished(codecs, layout.dtype, layout.chunks)
    inner = _finished(codecs, layout.dtype, layout.chunks)
    sharding = Codec(
        "sharding_indexed", {"chunk_shape": list(layout.chunks), "codecs": [codec.to_json() for codec in inner]}
    )
    return _finished([sharding], layout.dtype, layout.shards)


def default_codecs(dtype: DType, chunks: tuple[int, ...]) -> list[Codec]:
    """Return what compresses an array unless the user says otherwise.

    Blosc with LZ4 and a byte shuffle: the fastest to read of what every implementation knows. Strings have no bytes to
    shuffle and take zstd; chunks of a few bytes are stored as they are.
    """
    if dtype.vlen:
        return [Codec("zstd", {"level": 3, "checksum": False})]
    if dtype.itemsize * prod(chunks) < SMALL_CHUNK:
        return []
    return [Codec("blosc", {"cname": "lz4", "clevel": 5, "shuffle": "shuffle" if dtype.itemsize > 1 else "noshuffle"})]


def as_codecs(given: object) -> list[Codec]:
    """Return the codecs that a user gave, none for "auto"."""
    return [] if _is_auto(given) else [as_codec(one) for one in _list(given)]


def as_codec(item: object) -> Codec:
    """Return the codec that a user's word, mapping or object stands for.

    Raises:
        UnsupportedError: If it is none of these, or cannot be recorded in a document.
    """
    if isinstance(item, Codec):
        return item
    if isinstance(item, str):
        return _named(item, {})
    if isinstance(item, Mapping):
        return _from_mapping(item)
    for method in ("get_config", "to_dict"):
        describe = getattr(item, method, None)
        if callable(describe):
            described = describe()
            if isinstance(described, Mapping):
                return _from_mapping(_without(described, getattr(item, "_tunable_attrs", ())))
    raise UnsupportedError(
        f"{item!r} is not a codec that can be recorded",
        hint='give a name such as "zstd", {"name": …, "configuration": {…}}, or a codec of numcodecs',
    )


def _without(described: Mapping[str, Any], open_ones: Collection[str]) -> Mapping[str, Any]:
    """Leave out settings that zarr-python chooses once it knows the array: what it says before means nothing."""
    config = described.get("configuration")
    if not open_ones or not isinstance(config, Mapping):
        return described
    return {**described, "configuration": {key: value for key, value in config.items() if key not in open_ones}}


def _from_mapping(item: Mapping[str, Any]) -> Codec:
    name, identifier = item.get("name"), item.get("id")
    if isinstance(name, str):
        config = item.get("configuration", {})
        if isinstance(config, Mapping):
            return _named(name, config)
    elif isinstance(identifier, str):
        config = {key: value for key, value in item.items() if key != "id"}
        # crc32c of v3 has the checksum at the end only.
        known = identifier in FROM_NUMCODECS and config.get("location", "end") == "end"
        return _named(identifier if known else NUMCODECS + identifier, config)
    raise UnsupportedError(f'{item!r} has neither "name" and "configuration" nor "id"')


def _named(name: str, config: Mapping[str, JSON]) -> Codec:
    if not is_native(name) and canonical(name) == name and kind_of(NUMCODECS + name) is not None:
        name = NUMCODECS + name
    return Codec(name, {**_USER_DEFAULTS.get(name, {}), **config})


def _complete(codecs: list[Codec], layout: Layout) -> None:
    """Insert the codec that turns elements into bytes, and say to compressors how large elements are."""
    split = next((i for i, codec in enumerate(codecs) if kind_of(codec.name) != "array"), len(codecs))
    stage = after_array_codecs(codecs[:split], layout.dtype, layout.chunks)
    if not any(kind_of(codec.name) == "array-bytes" for codec in codecs):
        codecs.insert(split, _serialiser(stage, layout))
    itemsize = stage.itemsize
    for i in range(split + 1, len(codecs)):
        codec = codecs[i]
        if codec.name == "blosc":
            typesize = itemsize if itemsize <= 255 else 1
            codecs[i] = codec._replace(configuration={"typesize": typesize, **codec.configuration})
        elif canonical(codec.name) == "shuffle":
            codecs[i] = codec._replace(configuration={"elementsize": itemsize, **codec.configuration})
            continue  # what comes out still has the elements' size, though not their order
        itemsize = 1


def _serialiser(stage: Stage, layout: Layout) -> Codec:
    if stage.objects is not None and stage.objects.item == "optional":
        return Codec("zarrs.optional")
    if stage.vlen == "object":
        raise MetadataError("arrays of objects need a codec that stores them", hint='codecs=["json2"], say')
    if stage.vlen:
        return Codec("vlen-utf8" if stage.vlen == "string" else "vlen-bytes")
    fields = fields_order(stage.dtype)
    if fields in ("little", "big"):
        return Codec("bytes", {"endian": fields})
    if swap_unit(stage.dtype) == 1:
        return Codec("bytes")
    return Codec("bytes", {"endian": layout.endian or byte_order(stage.dtype)})


def _finished(codecs: Sequence[Codec], dtype: DType, chunks: tuple[int, ...]) -> tuple[Codec, ...]:
    wanted = tuple(resolve(codec)._replace(required=True) for codec in codecs)
    return tuple(compile_chain(wanted, dtype, chunks).codecs)


def _list(given: object) -> list[object]:
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple)) and not isinstance(given, Codec) else [given]


def _is_auto(given: object) -> bool:
    return isinstance(given, str) and given == "auto"
