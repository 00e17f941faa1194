"""Compressed bytes made by hand: frames that claim anything, and streams that swell to any size."""

from __future__ import annotations

import bz2
import functools
import gzip
import lzma
import struct
import zlib
from typing import Final

MAGIC: Final = bytes.fromhex("28b52ffd")
_BLOCK: Final = 128 << 10


def zstd_block(data: bytes, *, kind: int = 0, size: int | None = None, last: bool = True) -> bytes:
    """Return a block: kind 0 is raw, 1 repeats one byte, 2 is compressed, 3 is reserved."""
    size = len(data) if size is None else size
    return struct.pack("<I", (size << 3) | (kind << 1) | last)[:3] + data


def zstd_frame(blocks: bytes, *, claim: int | None = None, window: int | None = None, dictionary: int = 0) -> bytes:
    """Return a frame.

    Args:
        blocks: Its blocks.
        claim: The size of its content, as it says.
        window: The byte that describes its window; none makes it a frame of a single segment.
        dictionary: The dictionary that it says it needs.
    """
    flags = (3 if dictionary else 0) | (0 if window is not None else 1 << 5)
    head = b"" if window is None else bytes([window])
    head += struct.pack("<I", dictionary) if dictionary else b""
    if claim is not None:
        flags |= 3 << 6
        head += struct.pack("<Q", claim)
    elif window is None:
        head += b"\0"  # a single segment has at least one byte for its size
    return MAGIC + bytes([flags]) + head + blocks


def skippable(data: bytes, kind: int = 0, size: int | None = None) -> bytes:
    return struct.pack("<II", 0x184D2A50 + kind, len(data) if size is None else size) + data


def zstd_bomb(size: int, claim: int | None = None) -> bytes:
    """Return a frame of blocks that repeat one byte."""
    count = -(-size // _BLOCK)
    blocks = [zstd_block(b"\0", kind=1, size=_BLOCK, last=i == count - 1) for i in range(count)]
    return zstd_frame(b"".join(blocks), claim=claim, window=0x58)


def lz4_block_bomb(size: int) -> bytes:
    """Return a block of LZ4: one literal, and a match that repeats it."""
    rest = size - 1 - 5 - 4 - 15
    return b"\x1f\0\1\0" + b"\xff" * (rest // 255) + bytes([rest % 255]) + b"\x50" + bytes(5)


@functools.lru_cache(maxsize=32)
def bomb(name: str, size: int) -> bytes:
    """Return a stream that decodes to so many zeros."""
    zeros = bytes(1 << 20)
    if name == "zstd":
        return zstd_bomb(size)
    if name == "zstd-claimed":
        return zstd_bomb(size, -(-size // _BLOCK) * _BLOCK)
    if name == "lz4":
        return struct.pack("<I", size) + lz4_block_bomb(size)
    if name == "bz2":
        packer = bz2.BZ2Compressor(9)
    elif name == "lzma":
        packer = lzma.LZMACompressor(preset=0)
    else:
        packer = zlib.compressobj(9, zlib.DEFLATED, 31 if name == "gzip" else 15)
    return b"".join([packer.compress(zeros) for _ in range(size >> 20)] + [packer.flush()])


def layers(count: int, size: int) -> bytes:
    """Return gzip in gzip, so many times, around zeros."""
    data = bomb("gzip", size)
    for _ in range(count - 1):
        data = gzip.compress(data, 9, mtime=0)
    return data


def blosc(payload: bytes, nbytes: int, *, codec: int = 1, typesize: int = 4, flags: int = 16, **claims: int) -> bytes:
    """Return a container of one block in one stream, around bytes that are compressed already.

    Args:
        payload: The stream.
        nbytes: What it claims to decode to.
        codec: Its compressor: 0 for blosclz, 1 for lz4, 3 for zlib, 4 for zstd.
        typesize: Size of an element.
        flags: The lower bits of the flags; 16 says that blocks are not split.
        **claims: Other values of `version`, `blocksize`, `cbytes`, `start` and `stream`.
    """
    cbytes = claims.get("cbytes", 24 + len(payload))
    blocksize = claims.get("blocksize", nbytes)
    head = struct.pack("<BBBB", claims.get("version", 2), 1, (codec << 5) | flags, typesize)
    head += struct.pack("<III", nbytes, blocksize, cbytes)
    return head + struct.pack("<II", claims.get("start", 20), claims.get("stream", len(payload))) + payload
