"""Codecs that hold chains of their own, as zarrs has them: `zarrs.vlen` and `zarrs.optional`.

https://docs.rs/zarrs/latest/zarrs/array/codec/array_to_bytes/vlen/ and …/optional/
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from omnizarr.codec.compile import compile_bytes
from omnizarr.codec.inner import FRAMED, MOST_BYTES, Dense, DenseItems, Framed, Items, Step, codecs_in, split_codecs
from omnizarr.codec.options import Options
from omnizarr.codec.stage import Stage, array_stage
from omnizarr.codec.steps import Lowered
from omnizarr.errors import CodecError, CorruptError, MetadataError
from omnizarr.model.codec import Codec
from omnizarr.model.dtype import DType
from omnizarr.model.jsonvalue import JSON
from omnizarr.native import Stream

_LITTLE = Codec("bytes", {"endian": "little"})
_PLAIN = Codec("bytes")
_BOOL = np.dtype(bool)
_BYTE = np.dtype("u1")


def lower_composite(codec: Codec, stage: Stage) -> Lowered:
    """Return the steps of `zarrs.vlen` or `zarrs.optional`.

    Raises:
        MetadataError: If the configuration, or what reaches the codec, does not suit it.
    """
    dtype = stage.objects or DType(stage.dtype, stage.vlen, "string" if stage.vlen == "string" else "bytes")
    if not stage.vlen:
        raise MetadataError(f"the codec does not hold the type {stage.dtype.str}", codec=codec.name)
    items, config = _optional(codec, dtype) if codec.name == "zarrs.optional" else _vlen(codec, dtype)
    step = {"name": codec.name, "kind": "array-bytes", "encoded_size": None, "decoded_size": None}
    steps = (("python", {**step, "codec": Step(codec.name, items)}),)
    return Lowered(config, ("vlen", {}), stage.to_bytes(None, typed=False), then=steps)


class Indexed:
    """Elements one after the other without anything between them, and where each of them starts."""

    __slots__ = ("_at_end", "_data", "_dtype", "_index")

    def __init__(self, index: Dense, data: Dense, dtype: np.dtype[np.unsignedinteger], *, at_end: bool) -> None:
        self._index = index
        self._data = data
        self._dtype = dtype
        self._at_end = at_end

    def encode(self, items: list[bytes]) -> bytes:
        """Encode elements."""
        offsets = np.cumsum([0, *map(len, items)], dtype=np.uint64)
        if offsets[-1] > np.iinfo(self._dtype).max:
            raise CodecError("the elements of a chunk are too long for an index of 32 bits", codec="zarrs.vlen")
        index = self._index.encode(offsets.astype(self._dtype).tobytes())
        joined = b"".join(items)
        data = self._data.encode(joined) if joined else b""
        length = len(index).to_bytes(8, "little")
        return data + index + length if self._at_end else length + index + data

    def decode(self, data: bytes, count: int) -> list[bytes]:
        """Decode to as many elements as there must be."""
        index, body = self._parts(data)
        offsets = np.frombuffer(self._index.decode(index, count + 1), self._dtype)
        total = int(offsets[-1])
        if total > MOST_BYTES or (offsets[1:] < offsets[:-1]).any():
            raise CorruptError("the index of elements does not ascend", codec="zarrs.vlen")
        joined = self._data.decode(body, total) if total else b""
        starts = offsets.tolist()
        return [joined[start:end] for start, end in pairwise(starts)]

    def _parts(self, data: bytes) -> tuple[bytes, bytes]:
        length = int.from_bytes(data[-8:] if self._at_end else data[:8], "little")
        if len(data) < 8 or length > len(data) - 8:
            raise CorruptError(f"an index of {length} bytes in a chunk of {len(data)}", codec="zarrs.vlen")
        if self._at_end:
            cut = len(data) - 8 - length
            return data[cut:-8], data[:cut]
        return data[8 : 8 + length], data[8 + length :]


class Optional:
    """Which elements are there, and those that are."""

    __slots__ = ("_data", "_mask")

    def __init__(self, mask: Dense, data: Items) -> None:
        self._mask = mask
        self._data = data

    def encode(self, items: list[bytes]) -> bytes:
        """Encode elements, each of which is nothing or a byte 1 and a value."""
        mask = self._mask.encode(bytes(bool(item) for item in items))
        there = [item[1:] for item in items if item]
        data = self._data.encode(there) if there else b""
        return len(mask).to_bytes(8, "little") + len(data).to_bytes(8, "little") + mask + data

    def decode(self, data: bytes, count: int) -> list[bytes]:
        """Decode to as many elements as there must be."""
        start, end = 16, 16 + int.from_bytes(data[:8], "little")
        if len(data) < 16 or end + int.from_bytes(data[8:16], "little") != len(data):
            raise CorruptError("the lengths of mask and data are not those of the chunk", codec="zarrs.optional")
        mask = self._mask.decode(data[start:end], count)
        there = count - mask.count(0)
        values = iter(self._data.decode(data[end:], there) if there else ())
        return [b"\1" + next(values) if bit else b"" for bit in mask]


def _vlen(codec: Codec, dtype: DType) -> tuple[Items, dict[str, JSON]]:
    if dtype.vlen not in ("string", "bytes"):
        raise MetadataError(f"the codec does not hold the type {dtype.name}", codec=codec.name)
    options = Options(codec.name, codec.configuration)
    width = options.choice("index_data_type", "uint64", ("uint32", "uint64"))
    location = options.choice("index_location", "start", ("start", "end"))
    offsets: np.dtype[np.unsignedinteger] = np.dtype(width)
    index = Dense(codecs_in(options, "index_codecs", [_LITTLE]), offsets)
    data = Dense(codecs_in(options, "data_codecs", [_PLAIN]), _BYTE)
    options.done()
    config: dict[str, JSON] = {
        "index_codecs": [one.to_json() for one in index.codecs],
        "data_codecs": [one.to_json() for one in data.codecs],
        "index_data_type": width,
        "index_location": location,
    }
    return Indexed(index, data, offsets, at_end=location == "end"), config


def _optional(codec: Codec, dtype: DType) -> tuple[Items, dict[str, JSON]]:
    inner = dtype.inner
    if dtype.item != "optional" or inner is None:
        raise MetadataError(f"the codec holds optional elements, not {dtype.name}", codec=codec.name)
    options = Options(codec.name, codec.configuration)
    mask = Dense(codecs_in(options, "mask_codecs", [Codec("packbits")]), _BOOL)
    data, chain = _items(codecs_in(options, "data_codecs", _default(inner)), inner)
    options.done()
    config: dict[str, JSON] = {
        "mask_codecs": [one.to_json() for one in mask.codecs],
        "data_codecs": [one.to_json() for one in chain],
    }
    return Optional(mask, data), config


def _default(inner: DType) -> list[Codec]:
    if inner.item == "optional":
        return [Codec("zarrs.optional")]
    if inner.vlen:
        return [Codec("vlen-utf8" if inner.vlen == "string" else "vlen-bytes")]
    return [_LITTLE]


def _items(codecs: Sequence[Codec], dtype: DType) -> tuple[Items, list[Codec]]:
    """Make the chain for elements of any type."""
    if not dtype.vlen:
        dense = Dense(codecs, dtype.numpy)
        return DenseItems(dense), dense.codecs
    first, rest = split_codecs(codecs)
    objects = dtype if dtype.item else None
    stage = array_stage(dtype.numpy, (1,), dtype.vlen, objects=objects).to_bytes(None, typed=False)
    tail = compile_bytes(rest, stage)
    stream = Stream(tail.steps)
    if first.name in FRAMED and dtype.item != "optional":
        return Framed(first.name, stream), [first, *tail.codecs]
    made, config = _optional(first, dtype) if first.name == "zarrs.optional" else _vlen(first, dtype)
    return Streamed(made, stream), [first._replace(configuration=config), *tail.codecs]


class Streamed:
    """A chain for elements given one by one, and codecs of bytes after it."""

    __slots__ = ("_items", "_stream")

    def __init__(self, items: Items, stream: Stream) -> None:
        self._items = items
        self._stream = stream

    def encode(self, items: list[bytes]) -> bytes:
        """Encode elements."""
        return self._stream.encode(self._items.encode(items))

    def decode(self, data: bytes, count: int) -> list[bytes]:
        """Decode to as many elements as there must be."""
        return self._items.decode(self._stream.decode(data, None, MOST_BYTES), count)
