"""Chains of codecs in v3 documents.

https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html#chunk-encoding
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from omnizarr.errors import LimitError, MetadataError, UnsupportedError, warn
from omnizarr.format.check import choice, chunk_bytes, part, sizes
from omnizarr.format.codec_config import check_config, check_safe
from omnizarr.format.document import describe
from omnizarr.format.flow import Flow
from omnizarr.format.v3_dtype import parse_dtype
from omnizarr.late import LateModule
from omnizarr.model.codec import ALIASES, INDEX_CODECS, KINDS, Codec, inner_codecs, resolve, sharding_of
from omnizarr.model.dtype import DType
from omnizarr.model.jsonvalue import JSON

if TYPE_CHECKING:
    from omnizarr.format import v3_composite as composite
    from omnizarr.model import reshape
else:
    composite = LateModule("omnizarr.format.v3_composite")
    reshape = LateModule("omnizarr.model.reshape")

_NUMCODECS_ONLY: Final = frozenset(("zlib", "bz2", "lzma", "lz4", "shuffle", "delta"))
_UINT64: Final = DType.of("uint64")
# A shard's index is found by its length, so no step may make that depend on the data.
_NOT_FOR_INDEX: Final = frozenset(
    (
        *("gzip", "zlib", "zstd", "blosc", "numcodecs.blosc", "lz4", "bz2", "lzma"),
        *(
            "sharding_indexed",
            "numcodecs.pcodec",
            "numcodecs.zfpy",
            "zfp",
            "n5_default",
            "conditional",
            "n5.lz4",
            "zarrs.gdeflate",
        ),
    )
)


def parse_named(value: JSON, pointer: str, key: str) -> Codec:
    """Read an extension: an object with a name, or since Zarr 3.1 the bare name.

    Raises:
        MetadataError: It is neither.
    """
    if isinstance(value, dict):
        name = value.get("name")
        if isinstance(name, str) and name:
            configuration = value.get("configuration", {})
            if not isinstance(configuration, dict):
                message = f"an object is needed, not {describe(configuration)}"
                raise MetadataError(message, pointer=f"{pointer}/configuration", key=key)
            # The usual case is an object of a name and a configuration; only others need a closer look.
            if len(value) == 1 or (len(value) == 2 and "configuration" in value):
                return Codec(name, configuration)
            return Codec(name, configuration, _required(value, pointer, key))
        raise MetadataError(f"a name is needed, not {describe(name)}", pointer=f"{pointer}/name", key=key)
    if isinstance(value, str) and value:
        return Codec(value, {})
    raise MetadataError(f"an object with a name is needed, not {describe(value)}", pointer=pointer, key=key)


def _required(value: dict[str, JSON], pointer: str, key: str) -> bool:
    for field in value:
        if field not in ("name", "configuration", "must_understand"):
            message = f"an extension has name, configuration and must_understand, but not {field!r}"
            raise MetadataError(message, pointer=f"{pointer}/{part(field)}", key=key)
    must_understand = value.get("must_understand", True)
    if not isinstance(must_understand, bool):
        message = f"true or false is needed, not {describe(must_understand)}"
        raise MetadataError(message, pointer=f"{pointer}/must_understand", key=key)
    return must_understand


def parse_chain(value: JSON, pointer: str, flow: Flow) -> tuple[Codec, ...]:
    """Read a chain of codecs and check that its steps fit each other and the array.

    Args:
        value: The list in the document.
        pointer: Where it stands.
        flow: The chunk that enters the chain.

    Raises:
        MetadataError: A step is malformed, or does not fit.
        LimitError: A chunk is too large, or shards are nested too deep.
        UnsafeError: A step would run code from data.
    """
    if not isinstance(value, list):
        raise MetadataError(f"a list of codecs is needed, not {describe(value)}", pointer=pointer, key=flow.key)
    shape, dtype = flow.shape, flow.dtype
    chain: list[Codec] = []
    for at, item in enumerate(value):
        place = f"{pointer}/{at}"
        codec = parse_named(item, place, flow.key)
        name = ALIASES.get(codec.name, codec.name)
        kind = KINDS.get(name)
        if kind is None:
            check_safe(name, place, flow.key)
        flow.enter(kind, codec, place)
        step = _STEPS.get(name)
        if step is not None:
            codec = step(codec, f"{place}/configuration", flow)
        elif kind == "array":
            flow.through_filter(codec, f"{place}/configuration")
        else:
            known = codec.name if codec.name in KINDS else name
            check_config(known, codec.configuration, f"{place}/configuration", flow.key)
            flow.nbytes = None
        chain.append(codec)
    flow.finish(pointer)
    codecs = tuple(chain)
    if shape is not None and dtype is not None and sharding_of(codecs) is None:
        chunk_bytes(shape, dtype, pointer, flow.key, flow.limits)
    return codecs


def _transpose(codec: Codec, pointer: str, flow: Flow) -> Codec:
    order = codec.configuration.get("order")
    place = f"{pointer}/order"
    if len(codec.configuration) != 1 or order is None:
        flow.fail(codec, pointer, "needs the setting 'order' and no other")
    if flow.shape is None:
        return codec
    ndim = len(flow.shape)
    if order == "C" or order == "F":  # noqa: PLR1714  # a list has no hash
        permutation = tuple(range(ndim)) if order == "C" else tuple(reversed(range(ndim)))
        flow.shape = tuple(flow.shape[axis] for axis in permutation)
        return Codec(codec.name, {"order": list(permutation)}, codec.required)
    permutation = sizes(order, place, flow.key)
    if sorted(permutation) != list(range(ndim)):
        flow.fail(codec, place, f"has an order that is not a permutation of {ndim} axes")
    flow.shape = tuple(flow.shape[axis] for axis in permutation)
    return codec


def _bytes(codec: Codec, pointer: str, flow: Flow) -> Codec:
    dtype = flow.dtype
    flow.through_bytes()
    if dtype is not None and dtype.is_vlen:
        flow.fail(codec, pointer, f"cannot store {dtype.name}, whose values vary in length")
    endian = codec.configuration.get("endian")
    if len(codec.configuration) > (endian is not None):
        flow.fail(codec, pointer, "has no setting but 'endian'")
    if endian is not None:
        choice(endian, f"{pointer}/endian", flow.key, ("little", "big"))
    elif dtype is not None and dtype.has_order:
        message = f"{flow.key}: the byte order of {dtype.name} is not given; little-endian is assumed (at {pointer})"
        warn(message)
        return Codec(codec.name, {"endian": "little"}, codec.required)
    return codec


def _vlen(codec: Codec, pointer: str, flow: Flow) -> Codec:
    check_config(ALIASES.get(codec.name, codec.name), codec.configuration, pointer, flow.key)
    dtype = flow.dtype
    text = codec.name.endswith("utf8")
    if dtype is not None and dtype.vlen != ("string" if text else "bytes"):
        flow.fail(codec, pointer, f"cannot store {dtype.name}")
    return codec


def _shuffle(codec: Codec, pointer: str, flow: Flow) -> Codec:
    if "element_size" in codec.configuration:  # as the registry spells it, in an example of `conditional`
        settings = {"elementsize" if name == "element_size" else name: it for name, it in codec.configuration.items()}
        codec = codec._replace(configuration=settings)
    check_config("shuffle", codec.configuration, pointer, flow.key)
    size = codec.configuration.get("elementsize", 4)
    if flow.nbytes is not None and isinstance(size, int) and size and flow.nbytes % size:
        flow.fail(codec, f"{pointer}/elementsize", f"sees elements of {size} bytes in {flow.nbytes} bytes")
    return codec


def _crc32c(codec: Codec, pointer: str, flow: Flow) -> Codec:
    check_config(codec.name, codec.configuration, pointer, flow.key)
    flow.nbytes = None if flow.nbytes is None else flow.nbytes + 4
    return codec


def _rounding(codec: Codec, pointer: str, flow: Flow) -> Codec:
    check_config("bitround", codec.configuration, pointer, flow.key)
    if "keepbits" not in codec.configuration:
        flow.fail(codec, pointer, "needs the setting 'keepbits'")
    return codec


def _values(codec: Codec, pointer: str, flow: Flow) -> Codec:
    """Pass a codec that computes with each value, and perhaps gives it another type."""
    check_config(codec.name, codec.configuration, pointer, flow.key)
    if codec.name == "cast_value":
        if "data_type" not in codec.configuration:
            flow.fail(codec, pointer, "needs the setting 'data_type'")
        flow.dtype = parse_dtype(codec.configuration["data_type"], flow.key)
    return codec


def _reshape(codec: Codec, pointer: str, flow: Flow) -> Codec:
    check_config("reshape", codec.configuration, pointer, flow.key)
    if flow.shape is not None:
        lengths = codec.configuration.get("shape")
        flow.shape, problem = reshape.reshaped(lengths, flow.shape)
        if problem:
            flow.fail(codec, f"{pointer}/shape", f"needs {problem} as its shape, not {str(lengths)[:80]}")
    return codec


def _squeeze(codec: Codec, pointer: str, flow: Flow) -> Codec:
    check_config("zarrs.squeeze", codec.configuration, pointer, flow.key)
    flow.shape = None if flow.shape is None else tuple(size for size in flow.shape if size != 1)
    return codec


def _holder(codec: Codec, pointer: str, flow: Flow) -> Codec:
    """Read a codec that holds others: those of bytes, or a whole chain."""
    check_config(codec.name, codec.configuration, pointer, flow.key)
    if flow.depth >= flow.limits.max_shard_depth:
        message = f"codecs are nested deeper than {flow.limits.max_shard_depth} levels (at {pointer})"
        raise LimitError(message, key=flow.key)
    inner = Flow(flow.shape or (), flow.dtype or _UINT64, flow.key, flow.limits, flow.depth + 1)
    inner.shape, inner.dtype = flow.shape, flow.dtype
    if codec.name == "conditional":
        inner.stage, inner.nbytes = 1, flow.nbytes
    chain = parse_chain(codec.configuration.get("codecs"), f"{pointer}/codecs", inner)
    flow.nbytes = None
    configuration: dict[str, JSON] = {**codec.configuration, "codecs": [step.to_json() for step in chain]}
    return Codec(codec.name, configuration, codec.required)


def _sharding(codec: Codec, pointer: str, flow: Flow) -> Codec:
    given, key, limits = codec.configuration, flow.key, flow.limits
    for field in given:
        if field not in ("chunk_shape", "codecs", "index_codecs", "index_location"):
            flow.fail(codec, f"{pointer}/{part(field)}", f"has no setting {field!r}")
    if flow.depth >= limits.max_shard_depth:
        raise LimitError(f"shards are nested deeper than {limits.max_shard_depth} levels (at {pointer})", key=key)
    inner = sizes(given.get("chunk_shape"), f"{pointer}/chunk_shape", key, least=1)
    location = choice(given.get("index_location", "end"), f"{pointer}/index_location", key, ("start", "end"))
    index_codecs = given.get("index_codecs")
    if index_codecs is None:
        message = f"{key}: the codecs of the shard index are not given; bytes and crc32c are assumed (at {pointer})"
        warn(message)
        index_codecs = [step.to_json() for step in INDEX_CODECS]
    if flow.shape is None or flow.dtype is None:
        raise UnsupportedError("sharding after a codec that changes the shape", pointer=pointer, key=key)
    counts = _inner_counts(codec, inner, f"{pointer}/chunk_shape", flow)
    chain = parse_chain(given.get("codecs"), f"{pointer}/codecs", _inside(inner, flow.dtype, flow))
    index = _index_chain(index_codecs, counts, f"{pointer}/index_codecs", flow)
    configuration: dict[str, JSON] = {
        "chunk_shape": list(inner),
        "codecs": [step.to_json() for step in chain],
        "index_codecs": [step.to_json() for step in index],
        "index_location": location,
    }
    return Codec(codec.name, configuration, codec.required)


def _inside(shape: tuple[int, ...], dtype: DType, flow: Flow) -> Flow:
    return Flow(shape, dtype, flow.key, flow.limits, flow.depth + 1)


def _inner_counts(codec: Codec, inner: tuple[int, ...], pointer: str, flow: Flow) -> tuple[int, ...]:
    shard = flow.shape or ()
    if len(inner) != len(shard):
        flow.fail(codec, pointer, f"has {len(inner)} chunk sizes for {len(shard)} dimensions")
    for at, (outer, size) in enumerate(zip(shard, inner, strict=True)):
        if outer % size:
            flow.fail(codec, f"{pointer}/{at}", f"cannot cut a shard of {outer} into chunks of {size}")
    return tuple(outer // size for outer, size in zip(shard, inner, strict=True))


def _index_chain(value: JSON, counts: tuple[int, ...], pointer: str, flow: Flow) -> tuple[Codec, ...]:
    # The index itself is bounded like a chunk, for it is read as a whole.
    chunk_bytes((*counts, 2), _UINT64, pointer, flow.key, flow.limits)
    chain = parse_chain(value, pointer, _inside((*counts, 2), _UINT64, flow))
    for at, step in enumerate(chain):
        if ALIASES.get(step.name, step.name) in _NOT_FOR_INDEX:
            flow.fail(step, f"{pointer}/{at}", "gives no fixed length, so it cannot encode a shard index")
    return chain


# By the codec's one name; codecs that need no more than a look at their settings are in codec_config.
_STEPS: Final[dict[str, Callable[[Codec, str, Flow], Codec]]] = {
    "transpose": _transpose,
    "bytes": _bytes,
    "vlen-utf8": _vlen,
    "vlen-bytes": _vlen,
    "shuffle": _shuffle,
    "crc32c": _crc32c,
    "bitround": _rounding,
    "scale_offset": _values,
    "cast_value": _values,
    "reshape": _reshape,
    "zarrs.squeeze": _squeeze,
    "conditional": _holder,
    "n5_default": _holder,
    "sharding_indexed": _sharding,
    "zarrs.vlen": lambda codec, pointer, flow: composite.parse_vlen(codec, pointer, flow, parse_chain),
    "zarrs.optional": lambda codec, pointer, flow: composite.parse_optional(codec, pointer, flow, parse_chain),
}


def render_chain(codecs: tuple[Codec, ...], dtype: DType) -> list[JSON]:
    """Write a chain of codecs as objects that every reader takes.

    Args:
        codecs: The chain; the names that only v2 has are written as zarr-python writes them, with `numcodecs.` before.
        dtype: The array's type, for settings that v3 needs and v2 leaves out.
    """
    return [_render(codec, dtype) for codec in codecs]


def _render(codec: Codec, dtype: DType) -> JSON:
    name, given, required = codec
    configuration = dict(given)
    if name == "blosc":
        configuration = _render_blosc(given, dtype)
    elif name in ("gzip", "zstd"):
        configuration = dict(resolve(codec).configuration)  # most readers need every setting
    elif name == "sharding_indexed":
        for field in ("codecs", "index_codecs"):
            inner = dtype if field == "codecs" else _UINT64
            configuration[field] = render_chain(inner_codecs(codec, field), inner)
    elif ALIASES.get(name, name) in ("zarrs.vlen", "zarrs.optional"):
        configuration = composite.render_composite(codec, dtype, render_chain)
    elif name in ("conditional", "n5_default"):
        configuration["codecs"] = render_chain(inner_codecs(codec), dtype)
    elif name == "bytes" and not given and dtype.has_order:
        configuration = {"endian": dtype.byteorder if dtype.family == "struct" else "little"}
    elif name == "crc32c":
        configuration = {}  # v3 has the checksum at the end only, and no setting to say so
    made: dict[str, JSON] = {"name": f"numcodecs.{name}" if name in _NUMCODECS_ONLY else name}
    if configuration or name not in ("bytes", "crc32c"):
        made["configuration"] = configuration
    if not required:
        made["must_understand"] = False
    return made


def _render_blosc(given: Mapping[str, JSON], dtype: DType) -> dict[str, JSON]:
    # tensorstore needs blocksize, and all need typesize unless nothing is shuffled; its range in blosc is one byte.
    itemsize = 1 if dtype.is_vlen or dtype.itemsize > 255 else dtype.itemsize
    return {"typesize": itemsize, "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0, **given}
