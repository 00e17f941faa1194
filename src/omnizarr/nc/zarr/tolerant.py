"""Chunks as netcdf-c leaves them: too long or, if they are raw, too short.

It never truncates a file, so bytes of an older chunk may follow those of the last one; and it takes what is missing at
the end of a raw chunk for zeros. Such arrays are read through a view of the store that gives each chunk the length it
should have. The kernel then works as always, checksums included.
"""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Sequence
from math import prod
from typing import Final, Protocol

from omnizarr.hierarchy.context import Context
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import canonical
from omnizarr.store.protocol import Store
from omnizarr.store.wrap import Wrapper

_PIECE: Final = 1 << 20
_CHECKSUM: Final = 4
_CHECKSUMS: Final = frozenset(("crc32c", "numcodecs.fletcher32", "numcodecs.crc32", "numcodecs.adler32"))
_AS_LONG: Final = frozenset(("bytes", "shuffle", "transpose"))
_EITHER_FRAME: Final = 47
_ZSTD: Final = b"\x28\xb5\x2f\xfd"


def tolerant_context(context: Context, meta: ArrayMeta) -> Context:
    """Return the same for an array whose chunks may be longer than they should be, and raw ones shorter."""
    return Context(
        TolerantStore(context.store, meta), read_only=True, limits=context.limits, cache_bytes=context.cache_bytes
    )


class TolerantStore(Wrapper):
    """A store whose values are all chunks of one array, and as long as these should be."""

    __slots__ = ("_names", "_size")

    def __init__(self, inner: Store, meta: ArrayMeta) -> None:
        super().__init__(inner)
        self._names = [canonical(codec.name) for codec in meta.codecs]
        self._size = prod(meta.grid.longest) * meta.dtype.itemsize

    def get(self, key: str) -> bytes | None:
        """Return a value, cut or filled up."""
        data = self.inner.get(key)
        return None if data is None else fitted(data, self._names, self._size)

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return several values."""
        return [None if data is None else fitted(data, self._names, self._size) for data in self.inner.get_many(keys)]

    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None:
        """Return a part of a value."""
        data = self.get(key)
        if data is None:
            return None
        first = max(0, len(data) + start) if start < 0 else start
        return data[first : None if length is None else first + length]

    def size(self, key: str) -> int | None:
        """Return the number of bytes of a value."""
        data = self.get(key)
        return None if data is None else len(data)


def fitted(data: bytes, names: Sequence[str], size: int) -> bytes:
    r"""Return a chunk without what follows it; a raw one that is too short with zeros behind it.

    Args:
        data: The stored bytes.
        names: The codecs that made them, in the order of writing.
        size: The bytes of a chunk's elements.

    >>> fitted(b"abcdXY", ["bytes"], 4), fitted(b"ab", ["bytes"], 4)
    (b'abcd', b'ab\x00\x00')
    """
    if all(name in _AS_LONG for name in names):
        return data[:size].ljust(size, b"\0")
    end = _end(data, names, size)
    return data if end is None else data[:end]


def _end(data: bytes, names: Sequence[str], size: int) -> int | None:
    """Return where the bytes of a chunk end, or `None` if that cannot be told."""
    if not names or all(name in _AS_LONG for name in names):
        return size
    last = names[-1]
    if last in _CHECKSUMS:
        inner = _end(data, names[:-1], size)
        return None if inner is None else inner + _CHECKSUM
    if last in ("zlib", "gzip"):
        return _stream_end(data, zlib.decompressobj(_EITHER_FRAME))
    if last == "bz2":
        return _stream_end(data, bz2.BZ2Decompressor())
    if last == "zstd":
        return _zstd_end(data)
    return None


class _Stream(Protocol):
    """A decompressor of the standard library."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _stream_end(data: bytes, stream: _Stream) -> int | None:
    """Decode a stream piece by piece, just to see where it ends."""
    rest = data
    try:
        while not stream.eof:
            made = stream.decompress(rest, _PIECE)
            left: bytes = getattr(stream, "unconsumed_tail", b"")
            if not made and not left and not stream.eof:
                return None
            rest = left
    except (zlib.error, OSError, EOFError, ValueError):
        return None
    return len(data) - len(stream.unused_data)


def _zstd_end(data: bytes) -> int | None:
    """Go from block to block of a Zstandard frame, by https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1."""
    if data[:4] != _ZSTD or len(data) < 6:
        return None
    descriptor = data[4]
    single = descriptor >> 5 & 1
    at = 5 + (not single) + (0, 1, 2, 4)[descriptor & 3] + (single, 2, 4, 8)[descriptor >> 6]
    while True:
        header = data[at : at + 3]
        if len(header) < 3:
            return None
        number = int.from_bytes(header, "little")
        kind = number >> 1 & 3
        at += 3 + (1 if kind == 1 else number >> 3)
        if number & 1:
            break
    at += 4 * (descriptor >> 2 & 1)
    return at if at <= len(data) else None
