"""What reading and writing the chunks of an array takes: time as a rough ratio, memory as a bound."""

from __future__ import annotations

from math import prod

from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import Codec, canonical, inner_codecs, kind_of, sharding_of

_COSTS = {"blosc": 0.5, "lz4": 0.5, "zstd": 1.0, "crc32c": 0.1, "shuffle": 0.3}
"""The cost of decoding a byte; zstd's is the measure."""

_PLAIN_COST = 0.3
_OTHER_COST = 3.0

_PAGE = 16 << 10
"""Raw chunks are read by ranges; below this it makes no difference how long these are."""

_BLOCK = 256 << 10
"""About what blosc compresses at once."""


def decode_cost(meta: ArrayMeta | None) -> float:
    """Say what decoding one byte of an array costs; None stands for chunks that are not compressed."""
    cost = _PLAIN_COST
    if meta is not None:
        for codec in _chain(meta.codecs):
            name = canonical(codec.name)
            if name not in ("bytes", "transpose"):
                cost += _COSTS.get(name.removeprefix("numcodecs."), _OTHER_COST)
    return cost


def unit_of(meta: ArrayMeta) -> tuple[int, ...]:
    """Give the shape of what can be decoded by itself, in the array's order of axes: a chunk, or a part of it.

    Chunks that are not compressed can be read by ranges, those of blosc be decoded by blocks.
    """
    chunk = meta.cells.longest
    chain = _chain(meta.codecs)
    packed = [codec for codec in chain if kind_of(codec.name) == "bytes"]
    if meta.dtype.vlen or len(chain) - len(packed) != 1 or canonical(chain[0].name) != "bytes" or len(packed) > 1:
        return chunk
    if packed and canonical(packed[0].name).removeprefix("numcodecs.") != "blosc":
        return chunk
    most = (_BLOCK if packed else _PAGE) // meta.dtype.itemsize
    unit: list[int] = []
    for length in reversed(chunk):
        unit.append(max(1, min(length, most)))
        most //= max(1, length)
    return tuple(reversed(unit))


def reader_bytes(meta: ArrayMeta, element: int) -> int:
    """Bound the buffers of one thread that reads: a chunk as it is stored, decoded, and between two steps."""
    return prod(meta.cells.longest) * element * min(4, 1 + len(_steps(meta.codecs)))


def writer_bytes(meta: ArrayMeta, element: int) -> int:
    """Bound the buffers of one thread that writes: what goes under one key, before a step and after it."""
    size = prod(meta.grid.longest) * element
    if meta.is_sharded:
        return 2 * size + 2 * prod(meta.cells.longest) * element
    return size * min(3, 1 + len(_steps(meta.codecs)))


def _chain(codecs: tuple[Codec, ...]) -> tuple[Codec, ...]:
    """The steps between elements and stored bytes, those of the chunks in shards included."""
    shard = sharding_of(codecs)
    return codecs if shard is None else (*codecs[:-1], *_chain(inner_codecs(shard)))


def _steps(codecs: tuple[Codec, ...]) -> list[Codec]:
    """Those of them that need a buffer for what they make."""
    return [codec for codec in _chain(codecs) if canonical(codec.name) not in ("bytes", "transpose", "crc32c")]
