"""From the codecs of a document to the steps of the kernel: byte order, element sizes and shards are settled here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from omnizarr.codec.composite import COMPOSITES
from omnizarr.codec.lowered import Lowered, Step
from omnizarr.codec.options import Options
from omnizarr.codec.ragged import lower_ragged
from omnizarr.codec.registry import lower_foreign
from omnizarr.codec.stage import Stage, array_stage
from omnizarr.codec.steps import lower
from omnizarr.errors import LimitError, MetadataError, UnsupportedError
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.codec import Codec, inner_codecs, kind_of, resolve
from omnizarr.model.dtype import DType
from omnizarr.model.jsonvalue import JSON

_DEFAULT_INDEX: tuple[Codec, ...] = (Codec("bytes", {"endian": "little"}), Codec("crc32c"))


class Chain(NamedTuple):
    """A compiled chain."""

    steps: list[Step]
    codecs: list[Codec]
    """The same codecs with every option spelled out."""

    skipped: list[str]
    """Names of codecs that are not installed and that the document allows readers to leave out."""

    stage: Stage
    """What the chain emits."""


def compile_chain(
    codecs: tuple[Codec, ...], dtype: DType, chunk_shape: tuple[int, ...], *, limits: Limits = DEFAULT_LIMITS
) -> Chain:
    """Compile the codecs of an array whose chunks have the given type and shape.

    Raises:
        MetadataError: If the codecs do not fit the type, the shape or each other.
        UnsupportedError: If a codec is not installed.
        UnsafeError: If a codec would run code from data.
        LimitError: If shards are nested deeper than the limits allow.
    """
    key = (id(codecs), dtype, chunk_shape, limits)
    known = _compiled.get(key)
    if known is None:
        stage = array_stage(dtype.numpy, chunk_shape, dtype.vlen, dtype.name)
        known = codecs, _compile(codecs, stage, limits.max_shard_depth)
        if len(_compiled) >= _MOST_COMPILED:
            _compiled.clear()
        _compiled[key] = known
    return known[1]


# By the identity of the codecs, which stay alive here: arrays of equal documents share them, and so do all states of an
# array that changes its shape or attributes.
_compiled: dict[tuple[int, DType, tuple[int, ...], Limits], tuple[tuple[Codec, ...], Chain]] = {}
_MOST_COMPILED = 256


def after_array_codecs(codecs: Iterable[Codec], dtype: DType, chunk_shape: tuple[int, ...]) -> Stage:
    """Return what the array codecs at the head of a chain make of a chunk."""
    stage = array_stage(dtype.numpy, chunk_shape, dtype.vlen, dtype.name)
    chain = Chain([], [], [], stage)
    for codec in codecs:
        full = resolve(codec)
        holds = full.name == "sharding_indexed" or full.name in COMPOSITES
        lowered = None if holds else _lower_one(full, stage, chain)
        if lowered is None or not lowered.stage.is_array:
            break
        stage = lowered.stage
    return stage


def _compile(codecs: Iterable[Codec], stage: Stage, depth: int) -> Chain:
    chain = Chain([], [], [], stage)
    only_transposed = True
    for codec in codecs:
        full = resolve(codec)
        if full.name == "sharding_indexed":
            if not only_transposed:
                raise UnsupportedError("only transpose may stand before it", codec=full.name)
            lowered = _lower_sharding(full, stage, depth)
        elif full.name in COMPOSITES:
            lowered = _lower_composite(full, stage, depth)
        else:
            found = _lower_one(full, stage, chain)
            if found is None:
                continue
            lowered = found
        only_transposed = only_transposed and full.name == "transpose"
        stage = lowered.stage
        chain.steps.extend(lowered.before)
        chain.steps.append(lowered.step)
        chain.codecs.append(full._replace(configuration=lowered.config))
    if stage.is_array:
        raise MetadataError("the list of codecs has none that turns an array into bytes", hint='add the codec "bytes"')
    return chain._replace(stage=stage)


def _lower_one(codec: Codec, stage: Stage, chain: Chain) -> Lowered | None:
    """Lower any codec but sharding; `None` where it may be left out and is not installed."""
    if codec.name in ("vlen-utf8", "vlen-bytes") and not stage.vlen and stage.dtype.kind in "SUV" and stage.is_array:
        return lower_ragged(codec.name, stage)
    try:
        lowered = lower(codec, stage) or lower_foreign(codec.name, codec.configuration, stage)
    except UnsupportedError:
        if codec.required:
            raise
        chain.skipped.append(codec.name)
        return None
    _check_place(codec.name, lowered, stage)
    return lowered


def _check_place(name: str, lowered: Lowered, stage: Stage) -> None:
    """Raise if a codec of bytes stands before there are any, or a codec of arrays after."""
    step, config = lowered.step
    kind = config["kind"] if step == "python" else kind_of(name)
    if stage.is_array and kind == "bytes":
        raise MetadataError("a codec must come first that turns the array into bytes", codec=name)
    if not stage.is_array and kind != "bytes":
        raise MetadataError("an array codec cannot follow one that emits bytes", codec=name)


def _lower_composite(codec: Codec, stage: Stage, depth: int) -> Lowered:
    if depth <= 0:
        raise LimitError("codecs are nested too deeply", codec=codec.name)

    def inner(codecs: tuple[Codec, ...], start: Stage) -> tuple[list[Step], list[Codec]]:
        made = _compile(codecs, start, depth - 1)
        for skipped in made.skipped:
            raise UnsupportedError("no such codec is installed", codec=skipped)
        return made.steps, made.codecs

    return COMPOSITES[codec.name](codec, stage, inner)


def _lower_sharding(codec: Codec, stage: Stage, depth: int) -> Lowered:
    if depth <= 0:
        raise LimitError("shards are nested too deeply", codec=codec.name)
    if not stage.is_array:
        raise MetadataError("it cannot follow a codec that emits bytes", codec=codec.name)
    options = Options(codec.name, codec.configuration)
    shape = options.integers("chunk_shape")
    if len(shape) != len(stage.shape) or 0 in shape or any(n % c for n, c in zip(stage.shape, shape, strict=False)):
        raise options.wrong("chunk_shape", list(shape), f"a divisor of the shard's shape {list(stage.shape)}")
    at_start = options.choice("index_location", "end", ("start", "end")) == "start"
    inner = _compile(inner_codecs(codec), array_stage(stage.dtype, shape, stage.vlen, stage.name), depth - 1)
    given = inner_codecs(codec, "index_codecs") if "index_codecs" in codec.configuration else _DEFAULT_INDEX
    counts = tuple(n // c for n, c in zip(stage.shape, shape, strict=True))
    index = _compile(given, array_stage(np.dtype(np.uint64), (*counts, 2)), 0)
    if index.stage.size is None:
        raise MetadataError("the index of a shard must have a fixed size", codec=codec.name)
    for skipped in (*inner.skipped, *index.skipped):
        raise UnsupportedError("no such codec is installed", codec=skipped)
    options.raw("codecs")
    options.raw("index_codecs")
    options.done()
    config: dict[str, JSON] = {
        "chunk_shape": list(shape),
        "codecs": [one.to_json() for one in inner.codecs],
        "index_codecs": [one.to_json() for one in index.codecs],
        "index_location": "start" if at_start else "end",
    }
    step = {
        "chunk_shape": list(shape),
        "codecs": inner.steps,
        "index_codecs": index.steps,
        "index_at_start": at_start,
    }
    return Lowered(config, ("sharding", step), stage.to_bytes(None, typed=False))
