"""Filters, compressor and order of v2 documents, as one chain of codecs and back.

A v2 chunk is laid out in `order`, passed through the filters and then the compressor. In the model that is: a transpose
for order "F", the filters that work on elements, the step that makes bytes, and all that works on bytes.
https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html#filters
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.format.codec_config import check_config, check_safe
from omnizarr.format.document import describe
from omnizarr.format.flow import Flow
from omnizarr.format.v2_objects import ARRAYS, ITEMS, NESTED, is_nested
from omnizarr.limits import DEFAULT_LIMITS
from omnizarr.model.codec import (
    BLOSC_SHUFFLES,
    FROM_NUMCODECS,
    KINDS,
    OWN,
    Codec,
    blosc_shuffle,
    canonical,
    resolve,
    transpose_order,
)
from omnizarr.model.dtype import DType
from omnizarr.model.jsonvalue import JSON

_PREFIX: Final = "numcodecs."
_OBJECT_CODECS: Final = {"vlen-utf8": "string", "vlen-bytes": "bytes"}
# What stays a filter when a document is written, though it comes last; compressors are whatever is not here.
_NEVER_COMPRESSOR: Final = frozenset(
    (
        *("shuffle", "crc32c", "numcodecs.crc32c", "numcodecs.crc32", "numcodecs.adler32"),
        *("numcodecs.fletcher32", "numcodecs.jenkins_lookup3", "numcodecs.base64", *_OBJECT_CODECS, *ITEMS),
    )
)


class Pipeline(NamedTuple):
    """The part of a `.zarray` that says how chunks are encoded."""

    dtype_order: Literal["", "little", "big"]
    order: Literal["C", "F"]
    filters: list[JSON] | None
    compressor: JSON


def parse_codecs(filters: JSON, compressor: JSON, order: str, flow: Flow) -> tuple[Codec, ...]:
    """Read filters and compressor, in the given order of elements, as one chain.

    Raises:
        MetadataError: They are malformed or do not fit the elements.
        UnsupportedError: A filter on elements follows one on bytes.
        UnsafeError: One would run code from data.
    """
    steps: list[tuple[JSON, str]] = []
    if isinstance(filters, list):
        steps = [(item, f"/filters/{at}") for at, item in enumerate(filters)]
    elif filters is not None:
        raise MetadataError(f"a list or null is needed, not {describe(filters)}", pointer="/filters", key=flow.key)
    if compressor is not None:
        steps.append((compressor, "/compressor"))
    ndim = len(flow.shape or ())
    chain: list[Codec] = []
    if order == "F" and ndim > 1 and not (steps and is_nested(steps[0][0])):
        chain.append(Codec("transpose", {"order": list(reversed(range(ndim)))}))
    for item, pointer in steps:
        codec = _parse_codec(item, pointer, flow.key)
        kind = KINDS.get(codec.name)
        if kind == "bytes" and not flow.stage:
            chain.append(_bytes(flow))
        if kind == "bytes" or flow.stage:
            if kind != "bytes" and kind is not None:
                message = f"the filter {codec.name!r} on elements stands after one on bytes"
                raise UnsupportedError(message, pointer=pointer, key=flow.key, codec=codec.name)
            chain.append(_on_bytes(codec, pointer, flow))
        elif kind == "array":
            flow.through_filter(codec, pointer)
            chain.append(codec)
        else:  # makes bytes of elements, which is also the most that can be said of a codec from elsewhere
            chain.append(_to_bytes(codec, pointer, flow))
    if not flow.stage:
        chain.append(_bytes(flow))
    return tuple(chain)


def _parse_codec(item: JSON, pointer: str, key: str) -> Codec:
    if not isinstance(item, dict):
        raise MetadataError(f"an object with an id is needed, not {describe(item)}", pointer=pointer, key=key)
    name = item.get("id")
    if not isinstance(name, str) or not name:
        raise MetadataError(f"an id is needed, not {describe(name)}", pointer=f"{pointer}/id", key=key)
    check_safe(name, pointer, key)
    configuration = {field: value for field, value in item.items() if field != "id"}
    if name == "zstd":
        _normalise_zstd(configuration)
    neutral = name in FROM_NUMCODECS and (name != "crc32c" or configuration.get("location", "end") == "end")
    full = name if neutral or name.startswith(OWN) else _PREFIX + name
    check_config(_PREFIX + name if name == "blosc" else full, configuration, pointer, key)
    return Codec(full, configuration)


def _normalise_zstd(configuration: dict[str, JSON]) -> None:
    level = configuration.get("level")
    if type(level) is int:  # numcodecs takes any number for the nearest level that there is
        configuration["level"] = min(max(level, -131072), 22)
    if configuration.get("checksum") is False:
        del configuration["checksum"]  # the default


def _bytes(flow: Flow) -> Codec:
    dtype = flow.dtype
    flow.stage = 1
    flow.through_bytes()
    order = dtype.byteorder if dtype is not None else ""
    if order and dtype is not None and dtype.family in ("small", "pair"):
        order = "little"  # their names say nothing of it, and tensorstore writes them so
    return Codec("bytes", {"endian": order} if order else {})


def _to_bytes(codec: Codec, pointer: str, flow: Flow) -> Codec:
    dtype = flow.dtype
    wanted = _OBJECT_CODECS.get(codec.name)
    # zarr-python 3.0 passed strings of fixed length through the codecs for strings of any length.
    fixed = ("text",) if wanted == "string" else ("fixed", "raw")
    if wanted is not None and dtype is not None and dtype.vlen != wanted and dtype.family not in fixed:
        flow.fail(codec, pointer, f"cannot store {dtype.name}")
    item = ITEMS.get(codec.name)
    if wanted is None and dtype is not None and dtype.is_vlen and (item is None or item != dtype.item):
        flow.fail(codec, pointer, f"cannot store {dtype.name}")
    if codec.name == ARRAYS and (dtype is None or not dtype.is_vlen):
        flow.fail(codec, pointer, f"stores arrays, and not {dtype.name if dtype is not None else 'numbers'}")
    flow.stage = 1
    flow.nbytes = None
    flow.dtype = None
    return codec


def _on_bytes(codec: Codec, pointer: str, flow: Flow) -> Codec:
    size = flow.nbytes
    itemsize = flow.dtype.itemsize if flow.dtype is not None and size is not None else 1
    # From here on numcodecs sees plain bytes: only the first step knows the elements.
    flow.dtype = None
    if codec.name == "blosc":
        flow.nbytes = None
        return _parse_blosc(codec, itemsize)
    if codec.name == "shuffle":
        elementsize = codec.configuration.get("elementsize", 4)
        # An element of no bytes is one of one byte to numcodecs: nothing is moved.
        if size is not None and isinstance(elementsize, int) and elementsize and size % elementsize:
            flow.fail(codec, f"{pointer}/elementsize", f"sees elements of {elementsize} bytes in {size} bytes")
        return codec
    flow.nbytes = size + 4 if size is not None and codec.name == "crc32c" else None
    return codec


def _parse_blosc(codec: Codec, itemsize: int) -> Codec:
    # The size of an element is not in the document: writers take that of the array that they are handed.
    given = codec.configuration
    typesize = given.get("typesize") or (itemsize if itemsize < 256 else 1)
    shuffle = blosc_shuffle(given.get("shuffle", 1), itemsize)
    full = resolve(Codec("blosc", {**given, "shuffle": shuffle, "typesize": typesize}))
    return Codec("blosc", full.configuration)


def render_codecs(codecs: tuple[Codec, ...], ndim: int, dtype: DType) -> Pipeline:
    """Write a chain as the fields of a v2 document.

    Raises:
        UnsupportedError: v2 cannot express the chain.
    """
    order, rest = _split_order(codecs, ndim)
    if order == "F" and rest and canonical(rest[0].name) in NESTED:
        message = f"the codec {rest[0].name!r} has no order F: it stores the array as nested lists"
        raise UnsupportedError(message, codec=rest[0].name)
    filters = [_render_codec(codec) for codec in rest if canonical(codec.name) != "bytes"]
    compressor: JSON = None
    if filters and canonical(rest[-1].name) != "bytes" and _compresses(rest[-1]):
        compressor = filters.pop()
    return Pipeline(_dtype_order(rest, dtype), order, filters or None, compressor)


def _dtype_order(codecs: tuple[Codec, ...], dtype: DType) -> Literal["", "little", "big"]:
    """Find the byte order to write into the type: v2 has no other place for that of the stored elements."""
    at = next((at for at, codec in enumerate(codecs) if canonical(codec.name) == "bytes"), None)
    if at is None:
        return dtype.byteorder
    endian = codecs[at].configuration.get("endian")
    flow = Flow((), dtype, "", DEFAULT_LIMITS)
    flow.shape = None
    for codec in codecs[:at]:
        flow.through_filter(codec, "/filters")
    emitted = flow.dtype.byteorder if flow.dtype is not None else ""
    if not emitted or endian is None or endian == emitted:
        return dtype.byteorder
    if at == 0:
        return "little" if endian == "little" else "big"
    message = f"Zarr v2 stores what the filters give, which is {emitted}-endian, and not {endian}-endian"
    raise UnsupportedError(message, codec="bytes")


def _compresses(codec: Codec) -> bool:
    name = canonical(codec.name)
    return name not in _NEVER_COMPRESSOR and KINDS.get(name) != "array"


def _split_order(codecs: tuple[Codec, ...], ndim: int) -> tuple[Literal["C", "F"], tuple[Codec, ...]]:
    if not codecs or canonical(codecs[0].name) != "transpose":
        return "C", codecs
    permutation = transpose_order(codecs[0])
    if permutation == tuple(range(ndim)):
        return "C", codecs[1:]
    if permutation == tuple(reversed(range(ndim))):
        return "F", codecs[1:]
    message = f"Zarr v2 has order C and F, but not the transpose {list(permutation)}"
    raise UnsupportedError(message, codec="transpose")


def _render_codec(codec: Codec) -> JSON:
    name, configuration, _ = codec
    if name in ("blosc", "numcodecs.blosc"):
        return {"id": "blosc", **_render_blosc(resolve(codec).configuration)}
    if canonical(name) == "zstd" and configuration.get("checksum") is False:
        # tensorstore, and numcodecs before 0.13, know no such setting.
        return {"id": "zstd", "level": configuration.get("level", 0)}
    if name in FROM_NUMCODECS or name.startswith(OWN):
        return {"id": name, **configuration}
    full = name if name.startswith(_PREFIX) else canonical(name)
    if full.startswith(_PREFIX):
        return {"id": full.removeprefix(_PREFIX), **configuration}
    hint = 'Shards need format="zarr3".' if name == "sharding_indexed" else None
    raise UnsupportedError(f"Zarr v2 cannot express the codec {name!r}", codec=name, hint=hint)


def _render_blosc(configuration: Mapping[str, JSON]) -> dict[str, JSON]:
    # No typesize: numcodecs before 0.16 refuses a document that has it, and every reader takes it from the chunk.
    shuffle = configuration["shuffle"]
    return {
        "cname": configuration["cname"],
        "clevel": configuration["clevel"],
        "shuffle": BLOSC_SHUFFLES.index(shuffle) if isinstance(shuffle, str) else shuffle,
        "blocksize": configuration["blocksize"],
    }
