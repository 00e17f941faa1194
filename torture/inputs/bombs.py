"""F2 to F4: streams that swell, frames of zstd that lie, containers of Blosc that lie."""

from __future__ import annotations

import struct

import numpy as np

from torture.inputs.case import BYTES, MEGABYTE, Case, Cases, Make, array2, array3
from torture.inputs.crc import crc32c
from torture.inputs.frames import MAGIC, blosc, bomb, layers, lz4_block_bomb, skippable, zstd_block, zstd_frame
from torture.inputs.samples import DATA, MANY

ITEMS = 16
CONFIG = {"gzip": {"level": 5}, "zlib": {"level": 5}, "bz2": {"level": 9}, "lzma": {"preset": 0}}
VALUES = np.arange(ITEMS, dtype="<i4")
PLAIN = VALUES.tobytes()
SMALL = {"shape": [ITEMS], "chunks": [ITEMS]}
ZSTD3 = [BYTES, {"name": "zstd", "configuration": {"level": 3, "checksum": False}}]
GZIP3 = [BYTES, {"name": "gzip", "configuration": {"level": 5}}]


def bombs() -> Cases:
    """F2: a chunk of a few bytes that decodes to megabytes."""
    for name in ("gzip", "zlib", "zstd", "zstd-claimed", "lz4", "bz2", "lzma"):
        codec = name.removesuffix("-claimed")
        for size in (1, 4, 16, 64) if codec not in ("bz2", "lzma") else (1, 4, 16):
            for items in (1, ITEMS, 1000):
                made = _late2(name, size * MEGABYTE, items, {"id": codec, **CONFIG.get(codec, {})})
                yield Case("F2", f"{name}-{size}-MiB-into-{items}", made, decoded=4 * items)
    for name, codecs in (("gzip", GZIP3), ("zstd", ZSTD3)):
        for size in (1, 16, 64):
            yield Case("F2", f"v3-{name}-{size}-MiB", _late3(name, size * MEGABYTE, codecs), decoded=64)
            yield Case("F2", f"v3-{name}-{size}-MiB-in-a-shard", _in_shard(name, size * MEGABYTE, codecs), decoded=64)
    for count in (2, 3):
        codecs = [BYTES, *[GZIP3[1]] * count]
        yield Case("F2", f"gzip-{count}-layers", _layered(count, codecs), decoded=64)
    for name, payload in (("lz4", lz4_block_bomb(16 * MEGABYTE)), ("zstd", bomb("zstd", 16 * MEGABYTE))):
        number = {"lz4": 1, "zstd": 4}[name]
        for nbytes in (64, 16 * MEGABYTE, (1 << 31) - 17):
            data = blosc(payload, nbytes, codec=number)
            config = {"id": "blosc", "cname": name, "clevel": 5, "shuffle": 0}
            yield Case("F2", f"blosc-{name}-{nbytes}", array2(data, **SMALL, compressor=config), decoded=64)
    for id_ in ("fletcher32", "crc32", "shuffle"):
        filters = [{"id": id_, **({"elementsize": 4} if id_ == "shuffle" else {})}]
        made = _late2("gzip", 16 * MEGABYTE, ITEMS, {"id": "gzip", "level": 5}, filters)
        yield Case("F2", f"gzip-before-{id_}", made, decoded=64)


def _late2(name: str, size: int, items: int, compressor: dict[str, object], filters: object = None) -> Make:
    return array2(bomb(name, size), shape=[items], chunks=[items], compressor=compressor, filters=filters)


def _late3(name: str, size: int, codecs: object) -> Make:
    return array3(bomb(name, size), **SMALL, codecs=codecs)


def _layered(count: int, codecs: object) -> Make:
    return array3(layers(count, 64 * MEGABYTE), **SMALL, codecs=codecs)


def _in_shard(name: str, size: int, codecs: object) -> Make:
    def make(folder):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202 - a maker
        data = bomb(name, size)
        index = struct.pack("<QQ", 0, len(data))
        shard = data + index + struct.pack("<I", crc32c(index))
        config = {"chunk_shape": [ITEMS], "codecs": codecs, "index_codecs": [BYTES, {"name": "crc32c"}]}
        array3(shard, **SMALL, codecs=[{"name": "sharding_indexed", "configuration": config}])(folder)

    return make


def frames() -> Cases:
    """F3: frames of zstd."""
    whole = zstd_block(PLAIN)
    good = zstd_frame(whole, claim=64)
    claims = (0, 1, 63, 65, 1 << 16, (1 << 31) - 1, 1 << 31, 1 << 32, 1 << 40, 1 << 62, (1 << 63) - 1, 1 << 63)
    for claim in (*claims, (1 << 64) - 3, (1 << 64) - 2, (1 << 64) - 1):
        for window in (None, 0, 0x58):
            data = zstd_frame(whole, claim=claim, window=window)
            yield from _frame(f"claims-{claim}-window-{window}", data, "either")
    for window in (0, 8, 0x50, 0x58, 0x60):
        yield from _frame(f"of-unknown-size-window-{window}", zstd_frame(whole, window=window), "value")
    for window in (0x80, 0xA0, 0xA8, 0xF8, 0xFF):
        yield from _frame(f"with-a-huge-window-{window}", zstd_frame(whole, window=window), "either")
    halves = [zstd_frame(zstd_block(PLAIN[i : i + 8]), claim=8) for i in range(0, 64, 8)]
    empty = zstd_frame(zstd_block(b""), claim=0)
    for name, data, expect in (
        ("whole", good, "value"),
        ("in-eight-frames", b"".join(halves), "either"),
        ("in-seven-of-eight-frames", b"".join(halves[:7]), "error"),
        ("in-nine-frames", b"".join(halves) + halves[0], "error"),
        ("after-a-skippable-frame", skippable(b"abc") + good, "either"),
        ("before-a-skippable-frame", good + skippable(b"abc", 15), "either"),
        ("between-skippable-frames", skippable(b"") + good + skippable(b""), "either"),
        ("in-skippable-frames-alone", skippable(PLAIN), "error"),
        ("skippable-frame-past-the-end", good + skippable(b"", size=0xFFFFFFFF), "either"),
        ("skippable-frame-first-past-the-end", skippable(b"", size=0xFFFFFFFF) + good, "error"),
        ("among-10000-empty-frames", empty * 5000 + good + empty * 5000, "either"),
        ("10000-empty-frames", empty * 10_000, "error"),
        ("100000-empty-blocks", zstd_frame(zstd_block(b"", last=False) * 100_000 + whole, claim=64), "either"),
        ("with-a-dictionary", zstd_frame(whole, claim=64, dictionary=77), "either"),
        ("with-a-dictionary-of-32-bits", zstd_frame(whole, claim=64, dictionary=0xFFFFFFFF), "either"),
        ("without-a-last-block", zstd_frame(zstd_block(PLAIN, last=False), claim=64), "error"),
        ("reserved-block", zstd_frame(zstd_block(PLAIN, kind=3), claim=64), "error"),
        ("compressed-block-of-nothing", zstd_frame(zstd_block(b"", kind=2), claim=64), "error"),
        ("block-past-the-end", zstd_frame(zstd_block(PLAIN, size=1 << 20), claim=64), "error"),
        ("repeating-2-MiB", zstd_frame(zstd_block(b"\0", kind=1, size=(1 << 21) - 1), claim=64), "error"),
        ("repeating-65", zstd_frame(zstd_block(b"\0", kind=1, size=65), claim=64), "error"),
        ("magic-alone", MAGIC, "error"),
        ("magic-and-a-byte", MAGIC + b"\xff", "error"),
        ("reserved-bit", MAGIC + bytes([good[4] | 8]) + good[5:], "error"),
        ("twice", good + good, "error"),
    ):
        yield from _frame(name, data, expect)
    for old in range(0x1E, 0x28):  # frames of versions before the format was settled
        magic = bytes([0x1E, 0xB5, 0x2F, 0xFD]) if old == 0x1E else bytes([old, 0xB5, 0x2F, 0xFD])
        yield from _frame(f"old-{old}", magic + good[4:], "error")
    for flags in range(256):
        yield Case("F3", f"flags-{flags}", array3(MAGIC + bytes([flags]) + good[5:], **SMALL, codecs=ZSTD3), "any")


def _frame(name: str, data: bytes, expect: str) -> Cases:
    value = None if expect == "error" else VALUES
    zstd = {"id": "zstd", "level": 3}
    yield Case("F3", f"v2-{name}", array2(data, **SMALL, compressor=zstd), expect, value, decoded=64)  # type: ignore[arg-type]
    yield Case("F3", f"v3-{name}", array3(data, **SMALL, codecs=ZSTD3), expect, value, decoded=64)  # type: ignore[arg-type]
    blosc_ = blosc(data, 64, codec=4)
    config = {"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": 0}
    inside = "either" if expect == "value" else expect
    yield Case("F3", f"blosc-{name}", array2(blosc_, **SMALL, compressor=config), inside, value, decoded=64)  # type: ignore[arg-type]


NUMBERS_TO_CLAIM = (0, 1, 2, 15, 16, 17, 63, 65, 127, 128, 255, 256, 511, 513, 1023, 1024, 4096, 65535, 65536, 1 << 20,
                    (1 << 24) - 1, 1 << 30, (1 << 31) - 17, (1 << 31) - 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 16,
                    (1 << 32) - 4, (1 << 32) - 1)  # fmt: skip


def containers() -> Cases:
    """F4: containers of Blosc."""
    for name in ("blosclz", "blosc-lz4", "blosc-zlib", "blosc-zstd"):
        good = DATA[name]
        for field, at in (("nbytes", 4), ("blocksize", 8), ("cbytes", 12), ("start", 16), ("stream", 20)):
            for number in NUMBERS_TO_CLAIM:
                data = good[:at] + struct.pack("<I", number) + good[at + 4 :]
                expect = "error" if field == "nbytes" else "any" if field in ("start", "stream") else "either"
                yield _container(f"{name}-{field}-{number}", data, expect)
        for field, at in (("version", 0), ("inner-version", 1), ("flags", 2), ("typesize", 3)):
            for number in (0, 1, 2, 3, 4, 5, 7, 8, 16, 17, 32, 33, 64, 96, 127, 128, 129, 160, 192, 224, 254, 255):
                data = good[:at] + bytes([number]) + good[at + 1 :]
                expect = "any" if at > 1 else "either"
                yield _container(f"{name}-{field}-{number}", data, expect)
    for size in (0, 1, 4, 12, 15, 16, 17, 19, 20, 24, 64, 512, 528):
        yield _container(f"zeros-{size}", bytes(size), "error")
        yield _container(f"ones-{size}", b"\xff" * size, "error")
        if size >= 16:
            head = struct.pack("<BBBBIII", 2, 1, 2, 4, 512, 512, size)
            copied = "value" if size == 528 else "error"
            yield _container(f"copied-{size}", (head + MANY.tobytes())[:size].ljust(size, b"\0"), copied)


def _container(name: str, data: bytes, expect: str) -> Case:
    config = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}
    made = array2(data, shape=[128], chunks=[128], compressor=config)
    return Case("F4", name, made, expect, MANY, decoded=512)  # type: ignore[arg-type]
