"""Chains inside a codec: for the index and the data of `zarrs.vlen`, for the mask and the data of `zarrs.optional`.

How many elements such a chain is given differs from chunk to chunk, so it is not the kernel's engine that runs it. Here
elements become bytes in NumPy, and the kernel's codecs of bytes follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Protocol

import numpy as np

from omnizarr.codec.compile import compile_bytes
from omnizarr.codec.framing import join, split
from omnizarr.codec.options import Options
from omnizarr.codec.stage import Stage
from omnizarr.codec.steps import lower
from omnizarr.errors import CorruptError, MetadataError, UnsupportedError
from omnizarr.model.codec import Codec, resolve
from omnizarr.model.jsonvalue import JSON
from omnizarr.native import Stream

MOST_BYTES = (1 << 31) - 1
"""Most bytes that a chain of elements of any length may decode to."""

FRAMED = ("vlen-utf8", "vlen-bytes", "numcodecs.vlen-array", "zarrs.vlen_v2")


class Items(Protocol):
    """A chain for elements that are given as one byte string each."""

    def encode(self, items: list[bytes]) -> bytes:
        """Encode elements."""
        ...

    def decode(self, data: bytes, count: int) -> list[bytes]:
        """Decode to as many elements as there must be."""
        ...


class Dense:
    """A chain for elements of a fixed size, given as their dense bytes in C order."""

    __slots__ = ("_bits", "_stream", "_swap", "codecs", "itemsize")

    def __init__(self, codecs: Sequence[Codec], dtype: np.dtype[np.generic]) -> None:
        first, rest = split_codecs(codecs)
        stage = Stage(dtype, (1,), None)
        self.itemsize = dtype.itemsize
        self._bits, self._swap = "", 0
        if first.name == "packbits" and dtype.kind == "b":
            self._bits, config = _packbits(first)
            stage = stage.to_bytes(None, typed=False)
        elif first.name == "bytes":
            lowered = lower(first, stage)
            if lowered is None:
                raise MetadataError("the codec cannot stand here", codec=first.name)
            self._swap, config, stage = lowered.step[1]["swap"], lowered.config, lowered.stage
        else:
            raise UnsupportedError("inside another codec, it cannot make bytes of elements", codec=first.name)
        tail = compile_bytes(rest, stage)
        self._stream = Stream(tail.steps)
        self.codecs = [first._replace(configuration=config), *tail.codecs]

    def encode(self, dense: bytes) -> bytes:
        """Encode elements."""
        if self._bits:
            return self._stream.encode(_pack(dense, self._bits))
        return self._stream.encode(self._swapped(dense))

    def decode(self, data: bytes, count: int) -> bytes:
        """Decode to as many elements as there must be."""
        if self._bits:
            size = -(-count // 8) + (self._bits != "none")
            return _unpack(self._stream.decode(data, size, 0), count, self._bits)
        # Not told the size, which a file may claim: only what really comes out takes memory.
        size = count * self.itemsize
        dense = self._stream.decode(data, None, size)
        if len(dense) != size:
            raise CorruptError(f"{len(dense)} bytes where {size} were expected")
        return self._swapped(dense)

    def _swapped(self, dense: bytes) -> bytes:
        return np.frombuffer(dense, f"u{self._swap}").byteswap().tobytes() if self._swap > 1 else dense


class DenseItems:
    """A chain for elements of a fixed size, given one by one."""

    __slots__ = ("_dense",)

    def __init__(self, dense: Dense) -> None:
        self._dense = dense

    def encode(self, items: list[bytes]) -> bytes:
        """Encode elements."""
        return self._dense.encode(b"".join(items))

    def decode(self, data: bytes, count: int) -> list[bytes]:
        """Decode to as many elements as there must be."""
        size, dense = self._dense.itemsize, self._dense.decode(data, count)
        return [dense[at : at + size] for at in range(0, count * size, size)]


class Framed:
    """A chain for elements of any length, each of which has its length before it."""

    __slots__ = ("_name", "_stream")

    def __init__(self, name: str, stream: Stream) -> None:
        self._name = name
        self._stream = stream

    def encode(self, items: list[bytes]) -> bytes:
        """Encode elements."""
        return self._stream.encode(join(items))

    def decode(self, data: bytes, count: int) -> list[bytes]:
        """Decode to as many elements as there must be."""
        return split(self._stream.decode(data, None, MOST_BYTES), count, self._name)


class Step:
    """The kernel's step for a chain of elements that have been given one by one."""

    __slots__ = ("_items", "_name")

    def __init__(self, name: str, items: Items) -> None:
        self._name = name
        self._items = items

    def encode(self, data: bytes | memoryview, shape: tuple[int, ...]) -> bytes:
        """Encode framed elements."""
        return self._items.encode(split(data, prod(shape), self._name))

    def decode(self, data: bytes | memoryview, size: int | None, shape: tuple[int, ...]) -> bytes:
        """Decode to framed elements."""
        del size  # nobody can know it
        return join(self._items.decode(bytes(data), prod(shape)))


def codecs_in(options: Options, field: str, default: Sequence[Codec]) -> list[Codec]:
    """Read a list of codecs in the configuration of another.

    Raises:
        MetadataError: If it is not one.
    """
    given = options.raw(field)
    if given is None:
        return list(default)
    if not isinstance(given, list | tuple):
        raise options.wrong(field, given, "a list of codecs")
    found: list[Codec] = []
    for item in given:
        name = item.get("name") if isinstance(item, Mapping) else item
        config: JSON = item.get("configuration", {}) if isinstance(item, Mapping) else {}
        if not isinstance(name, str) or not isinstance(config, Mapping):
            raise options.wrong(field, given, "a list of codecs")
        found.append(Codec(name, config))
    return found


def split_codecs(codecs: Sequence[Codec]) -> tuple[Codec, list[Codec]]:
    """Split a chain into the codec that makes bytes and those after it.

    Raises:
        MetadataError: If it is empty.
    """
    if not codecs:
        raise MetadataError("the list of codecs has none that turns an array into bytes", hint='add the codec "bytes"')
    return resolve(codecs[0]), list(codecs[1:])


def _packbits(codec: Codec) -> tuple[str, dict[str, JSON]]:
    options = Options(codec.name, codec.configuration)
    padding = options.choice("padding_encoding", "none", ("none", "first_byte", "last_byte"))
    for bit in ("first_bit", "last_bit"):
        if options.raw(bit) not in (None, 0):
            raise options.wrong(bit, options.raw(bit), "0 for booleans")
    options.done()
    return padding, {"padding_encoding": padding}


def _pack(dense: bytes, padding: str) -> bytes:
    bits = np.frombuffer(dense, bool)
    packed = np.packbits(bits, bitorder="little").tobytes()
    if padding == "none":
        return packed
    pad = bytes([-len(bits) % 8])
    return pad + packed if padding == "first_byte" else packed + pad


def _unpack(data: bytes, count: int, padding: str) -> bytes:
    if padding != "none":
        pad, data = (data[0], data[1:]) if padding == "first_byte" else (data[-1], data[:-1])
        if pad != -count % 8:
            raise CorruptError(f"{pad} bits are left over where {-count % 8} should be", codec="packbits")
    return np.unpackbits(np.frombuffer(data, np.uint8), count=count, bitorder="little").tobytes()
