"""F11 to F14: shards whose index lies, overlaps, is damaged, or is too deep."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from torture.inputs.case import BYTES, CRC, Case, Cases, Make, array3
from torture.inputs.crc import crc32c

VALUES = np.arange(8, dtype="<i4")
PARTS = [VALUES[i : i + 2].tobytes() for i in range(0, 8, 2)]
NONE = (1 << 64) - 1
SMALL = {"shape": [8], "chunks": [8]}
Entries = list[tuple[int, int]]
GOOD: Entries = [(0, 8), (8, 8), (16, 8), (24, 8)]
BODY = b"".join(PARTS)


def sharding(
    inner: object = None, *, chunk: object = (2,), location: object = "end", index: object = None
) -> list[Any]:
    config = {
        "chunk_shape": list(chunk) if isinstance(chunk, tuple) else chunk,
        "codecs": [BYTES] if inner is None else inner,
        "index_codecs": [BYTES, CRC] if index is None else index,
        "index_location": location,
    }
    return [{"name": "sharding_indexed", "configuration": config}]


def index_of(entries: Entries, *, crc: bool = True) -> bytes:
    index = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    return index + struct.pack("<I", crc32c(index)) if crc else index


def shard(entries: Entries, body: bytes = BODY, *, start: bool = False) -> Make:
    index = index_of(entries)
    data = index + body if start else body + index
    return array3(data, **SMALL, codecs=sharding(location="start" if start else "end"))


def entries() -> Cases:
    """F11: entries that lead out of the shard; with a part read that they are no part of, too."""
    yield Case("F11", "whole", shard(GOOD), "value", VALUES)
    head = 4 * 16 + 4
    moved = [(at + head, size) for at, size in GOOD]
    yield Case("F11", "whole-index-at-the-start", shard(moved, start=True), "value", VALUES)
    numbers = (1, 25, 31, 33, 99, 100, 101, 1000, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40, (1 << 62) - 1,
               1 << 62, (1 << 63) - 1, 1 << 63, NONE - 8, NONE - 7, NONE - 1, NONE)  # fmt: skip
    for place in range(4):
        for number in numbers:
            for name, entry in (
                ("offset", (number, 8)),
                ("size", (GOOD[place][0], number)),
                ("both", (number, number)),
                ("wrapping", (number, ((1 << 64) - number + 8) % (1 << 64))),
            ):
                changed = [*GOOD]
                changed[place] = entry
                legal = name == "both" and number == NONE
                value = VALUES.copy()
                value[2 * place : 2 * place + 2] = 0
                # An offset that points between others is an overlap: those are F12.
                if name == "offset" and number < 32:
                    continue
                made = shard(changed)
                yield Case("F11", f"{name}-{number}-of-{place}", made, "value" if legal else "error", value)
                part = (slice(2 * place, 2 * place + 1),)
                wanted = value[part[0]]
                yield Case(
                    "F11", f"{name}-{number}-of-{place}-part", made, "value" if legal else "error", wanted, select=part
                )
    empty: Entries = [(NONE, NONE)] * 4
    yield Case("F11", "nothing-stored", shard(empty, b""), "value", np.zeros(8, "<i4"))
    yield Case("F11", "zero-sizes", shard([(0, 0)] * 4))


def overlaps() -> Cases:
    """F12: entries that overlap the index, or one another in part."""
    size = len(BODY)
    for offset in range(size - 7, size + 4 * 16 + 4 - 7):
        yield Case("F12", f"into-the-index-at-{offset}", shard([*GOOD[:3], (offset, 8)]))
    for offset in range(60):
        moved = [(at + 68, length) for at, length in GOOD[:3]]
        yield Case("F12", f"into-the-index-at-the-start-{offset}", shard([*moved, (offset, 8)], start=True))
    for shift in range(1, 8):
        for place in range(1, 4):
            changed = [*GOOD]
            changed[place] = (8 * place - shift, 8)
            yield Case("F12", f"over-the-one-before-{place}-by-{shift}", shard(changed))
            part = (slice(2 * place, 2 * place + 2),)
            yield Case("F12", f"over-the-one-before-{place}-by-{shift}-part", shard(changed), "any", select=part)
    # The same bytes for equal chunks are a saving that some writers make.
    same = np.tile(VALUES[:2], 4)
    yield Case("F12", "all-the-same", shard([(0, 8)] * 4), "either", same)
    yield Case("F12", "one-within-another", shard([(0, 32), (8, 8), (16, 8), (24, 8)]))


def damage() -> Cases:
    """F13: the index is damaged, cut, or not where the document says."""
    index = index_of(GOOD)
    whole = BODY + index
    codecs = sharding()
    for size in range(len(whole)):
        yield Case("F13", f"cut-at-{size}", array3(whole[:size], **SMALL, codecs=codecs))
    for bit in range(8 * len(index)):
        changed = bytearray(index)
        changed[bit // 8] ^= 1 << bit % 8
        yield Case("F13", f"index-bit-{bit}", array3(BODY + bytes(changed), **SMALL, codecs=codecs))
    for more in (1, 4, 16, 68):
        yield Case("F13", f"{more}-more-behind", array3(whole + bytes(more), **SMALL, codecs=codecs))
        yield Case("F13", f"{more}-more-before", array3(bytes(more) + whole, **SMALL, codecs=codecs), "any")
    yield Case("F13", "said-at-the-start-is-at-the-end", array3(whole, **SMALL, codecs=sharding(location="start")))
    moved = index_of([(at + 68, size) for at, size in GOOD])
    yield Case("F13", "said-at-the-end-is-at-the-start", array3(moved + BODY, **SMALL, codecs=codecs))
    for value in (None, "", "middle", 1, ["end"]):
        yield Case("F13", f"location-{value!r}", array3(whole, **SMALL, codecs=sharding(location=value)))
    swapped = b"".join(struct.pack(">QQ", *entry) for entry in GOOD)
    swapped += struct.pack("<I", crc32c(swapped))
    yield Case("F13", "index-of-the-other-byte-order", array3(BODY + swapped, **SMALL, codecs=codecs))
    for name, chain in (
        ("gzip", [BYTES, {"name": "gzip", "configuration": {"level": 1}}]),
        ("nothing", []),
        ("crc-alone", [CRC]),
        ("sharded", sharding()),
        ("strings", [{"name": "vlen-utf8"}]),
        ("a-number", 3),
        ("unknown", [BYTES, {"name": "nope"}]),
    ):
        yield Case("F13", f"index-codecs-{name}", array3(whole, **SMALL, codecs=sharding(index=chain)))


def depth() -> Cases:
    """F14: shards in shards, and shards of very many chunks."""
    for count in (9, 16, 32, 150):
        codecs: list[Any] = [BYTES]
        for _ in range(count):
            codecs = sharding(codecs, chunk=(8,))
        yield Case("F14", f"{count}-deep", array3(BODY, **SMALL, codecs=codecs))
    for count in (10**7, 10**8, 1 << 32, 1 << 40, 1 << 60, (1 << 63) - 1):
        chunk = {"shape": [count], "chunks": [count], "data_type": "int8"}
        part = (slice(0, 10),)
        yield Case("F14", f"{count}-chunks", array3(BODY, **chunk, codecs=sharding(chunk=(1,))), select=part)
        square = {"shape": [count, count], "chunks": [count, count], "data_type": "int8"}
        made = array3(BODY, **square, codecs=sharding(chunk=(1, 1)))
        yield Case("F14", f"{count}-squared-chunks", made, select=(slice(0, 1), slice(0, 1)))
    for chunk_shape in ([], [0], [-1], [3], [16], [2, 2], [2.5], ["2"], [True], None, 2, [1 << 63], [1 << 70], "2"):
        made = array3(BODY + index_of(GOOD), **SMALL, codecs=sharding(chunk=chunk_shape))
        yield Case("F14", f"chunk-shape-{chunk_shape}", made)
    for inner in (None, [], [BYTES, BYTES], "bytes", {}, [{"name": "gzip"}]):
        made = array3(BODY + index_of(GOOD), **SMALL, codecs=[{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [2], "codecs": inner, "index_codecs": [BYTES, CRC]}}])  # fmt: skip
        yield Case("F14", f"inner-codecs-{inner}", made)
