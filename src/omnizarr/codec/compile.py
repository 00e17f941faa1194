"""From the codecs of a document to the steps of the kernel: byte order, element sizes and shards are settled here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from omnizarr.codec.lowered import Lowered, Step
from omnizarr.codec.options import Options
from omnizarr.codec.registry import lower_foreign
from omnizarr.codec.stage import Stage, array_stage
from omnizarr.codec.steps import lower
from omnizarr.errors import LimitError, MetadataError, UnsupportedError
from omnizarr.late import LateModule
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.codec import INDEX_CODECS, Codec, inner_codecs, kind_of, resolve
from omnizarr.model.dtype import DType
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.small import is_small

if TYPE_CHECKING:
    from omnizarr.codec import holders, ragged
else:
    holders = LateModule("omnizarr.codec.holders")
    ragged = LateModule("omnizarr.codec.ragged")

_LATE: Final = {
    "numcodecs.json2": ("nested", "lower_nested"),
    "numcodecs.json": ("nested", "lower_nested"),
    "numcodecs.msgpack2": ("nested", "lower_nested"),
    "numcodecs.msgpack": ("nested", "lower_nested"),
    "numcodecs.categorize": ("categories", "lower_categorize"),
    "zarrs.vlen": ("composite", "lower_composite"),
    "zarrs.optional": ("composite", "lower_composite"),
    "numcodecs.grib": ("grib", "lower_grib"),
    "numcodecs.omnizarr.grib": ("grib", "lower_grib"),
}
"""Codecs in Python that come with Omnizarr but are seldom met: module and function, imported when a chain names one."""

_HOLDERS: Final = ("conditional", "n5_default")
"""Codecs in the kernel that hold others."""


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
        stage = _first_stage(dtype, chunk_shape)
        known = codecs, _compile(codecs, stage, limits.max_shard_depth)
        if len(_compiled) >= _MOST_COMPILED:
            _compiled.clear()
        _compiled[key] = known
    return known[1]


# By the identity of the codecs, which stay alive here: arrays of equal documents share them, and so do all states of an
# array that changes its shape or attributes.
_compiled: dict[tuple[int, DType, tuple[int, ...], Limits], tuple[tuple[Codec, ...], Chain]] = {}
_MOST_COMPILED = 256


def _first_stage(dtype: DType, chunk_shape: tuple[int, ...]) -> Stage:
    objects = dtype if dtype.item else None
    return array_stage(dtype.numpy, chunk_shape, dtype.vlen, name=dtype.name, objects=objects)


def after_array_codecs(codecs: Iterable[Codec], dtype: DType, chunk_shape: tuple[int, ...]) -> Stage:
    """Return what the array codecs at the head of a chain make of a chunk."""
    stage = _first_stage(dtype, chunk_shape)
    chain = Chain([], [], [], stage)
    for codec in codecs:
        full = resolve(codec)
        holds = full.name == "sharding_indexed" or full.name in _HOLDERS
        lowered = None if holds else _lower_one(full, stage, chain)
        if lowered is None or not lowered.stage.is_array:
            break
        stage = lowered.stage
    return stage


def compile_bytes(codecs: Iterable[Codec], stage: Stage) -> Chain:
    """Compile codecs of bytes, which come after those that made the bytes of `stage`.

    Raises:
        MetadataError: If they do not fit each other, or one is not a codec of bytes.
        UnsupportedError: If a codec is not installed.
    """
    chain = _compile(codecs, stage, 0)
    for skipped in chain.skipped:
        raise UnsupportedError("no such codec is installed", codec=skipped)
    return chain


def _compile(codecs: Iterable[Codec], stage: Stage, depth: int) -> Chain:
    chain = Chain([], [], [], stage)
    first = stage
    only_transposed = True
    for codec in codecs:
        full = resolve(codec)
        if full.name == "sharding_indexed":
            if not only_transposed:
                raise UnsupportedError("only transpose may stand before it", codec=full.name)
            lowered = _lower_sharding(full, stage, depth)
        elif full.name in _HOLDERS:
            lowered = _lower_holder(full, stage, depth)
        else:
            found = _lower_one(full, stage, chain)
            if found is None:
                continue
            lowered = found
        only_transposed = only_transposed and full.name == "transpose"
        stage = lowered.stage
        chain.steps.extend((*lowered.before, lowered.step, *lowered.then))
        chain.codecs.append(full._replace(configuration=lowered.config))
    if stage.is_array:
        raise MetadataError("the list of codecs has none that turns an array into bytes", hint='add the codec "bytes"')
    if any(name == "categorize" for name, _ in chain.steps):
        chain = chain._replace(steps=_late("categories", "fold")(chain.steps, chain.codecs, first))
    return chain._replace(stage=stage)


def _lower_one(codec: Codec, stage: Stage, chain: Chain) -> Lowered | None:
    """Lower any codec but sharding; `None` where it may be left out and is not installed."""
    if codec.name in ("vlen-utf8", "vlen-bytes") and not stage.vlen and _is_plain(stage.dtype) and stage.is_array:
        return ragged.lower_ragged(codec.name, stage)
    late = _LATE.get(codec.name)
    if codec.name == "delta" and stage.dtype.kind == "b":
        late = "booleans", "lower_delta"
    try:
        lowered = lower(codec, stage) if late is None else _late(*late)(codec, stage)
        if lowered is None:
            lowered = lower_foreign(codec.name, codec.configuration, stage)
    except UnsupportedError:
        if codec.required:
            raise
        chain.skipped.append(codec.name)
        return None
    _check_place(codec.name, lowered, stage)
    return lowered


def _is_plain(dtype: np.dtype[np.generic]) -> bool:
    """Whether the type is bytes or text of one length."""
    return dtype.kind in "SUV" and dtype.names is None and not is_small(dtype)


def _late(module: str, function: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(import_module(f"omnizarr.codec.{module}"), function)
    return found


def _check_place(name: str, lowered: Lowered, stage: Stage) -> None:
    """Raise if a codec of bytes stands before there are any, or a codec of arrays after."""
    step, config = lowered.step
    kind = config["kind"] if step == "python" and not lowered.then else kind_of(name)
    if stage.is_array and kind == "bytes":
        raise MetadataError("a codec must come first that turns the array into bytes", codec=name)
    if not stage.is_array and kind != "bytes":
        raise MetadataError("an array codec cannot follow one that emits bytes", codec=name)


def _lower_holder(codec: Codec, stage: Stage, depth: int) -> Lowered:
    if depth <= 0:
        raise LimitError("codecs are nested too deeply", codec=codec.name)

    def inner(codecs: tuple[Codec, ...], start: Stage) -> tuple[list[Step], list[Codec]]:
        made = _compile(codecs, start, depth - 1)
        for skipped in made.skipped:
            raise UnsupportedError("no such codec is installed", codec=skipped)
        return made.steps, made.codecs

    return holders.CODECS[codec.name](codec, stage, inner)


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
    chunk = array_stage(stage.dtype, shape, stage.vlen, name=stage.name, objects=stage.objects)
    inner = _compile(inner_codecs(codec), chunk, depth - 1)
    given = inner_codecs(codec, "index_codecs") if "index_codecs" in codec.configuration else INDEX_CODECS
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
