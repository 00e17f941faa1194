"""F38 and F39: zip archives whose names, sizes and directories lie, or whose end is missing."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from torture.inputs.case import FOUR, RAW, Case, Cases, Expect, text, v3

DOCUMENT = text(v3())


@dataclass
class Entry:
    """An entry whose headers say whatever they are told to."""

    name: bytes
    data: bytes = b""
    claims: dict[str, Any] = field(default_factory=dict)

    def _shared(self, *, central: bool) -> bytes:
        said = {"method": 0, "flags": 0, "crc": zlib.crc32(self.data), "size": len(self.data), "packed": len(self.data)}
        said |= {key: value for key, value in self.claims.items() if key in said}
        if not central:
            said |= self.claims.get("local", {})
        return struct.pack(
            "<HHHHHIII", 45, said["flags"], said["method"], 0, 33, said["crc"], said["packed"], said["size"]
        )

    def local(self) -> bytes:
        name = self.claims.get("local_name", self.name)
        extra = self.claims.get("extra", b"")
        return (
            b"PK\3\4"
            + self._shared(central=False)
            + struct.pack("<HH", len(name), len(extra))
            + name
            + extra
            + self.data
        )

    def central(self, offset: int) -> bytes:
        extra = self.claims.get("central_extra", b"")
        disk = self.claims.get("disk", 0)
        lengths = struct.pack("<HHHHHI", len(self.name), len(extra), 0, disk, 0, 0)
        at = struct.pack("<I", self.claims.get("offset", offset))
        return b"PK\1\2" + b"\x2d\3" + self._shared(central=True) + lengths + at + self.name + extra


def archive(entries: Sequence[Entry], **claims: int) -> bytes:
    body, directory = b"", b""
    for entry in entries:
        directory += entry.central(len(body))
        body += entry.local()
    count = claims.get("count", len(entries))
    size, offset = claims.get("size", len(directory)), claims.get("offset", len(body))
    disk = claims.get("disk", 0)
    return (
        body
        + directory
        + b"PK\5\6"
        + struct.pack("<HHHHIIH", disk, disk, count, count, size, offset, claims.get("comment", 0))
    )


GOOD = (Entry(b"zarr.json", DOCUMENT), Entry(b"c/0", RAW))
WHOLE = archive(GOOD)


def _deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def _case(group: str, name: str, data: bytes, expect: Expect = "error", value: Any = FOUR) -> Case:
    def make(folder: Path) -> None:
        (folder / "store.zip").write_bytes(data)

    return Case(group, name, make, expect, value, act="zip", where="store.zip", decoded=len(data))


def hostile() -> Cases:
    """F38: archives that lie."""
    yield _case("F38", "whole", WHOLE, "value")
    packed = Entry(b"c/0", _deflated(RAW), {"method": 8, "size": 16, "crc": zlib.crc32(RAW)})
    yield _case("F38", "deflated", archive([GOOD[0], packed]), "value")
    for name in (
        b"../x",
        b"/etc/x",
        b"a//b",
        b"a\\b",
        b"a\0b",
        b"..",
        b".",
        b"",
        b"C:x",
        b"c/../x",
        b"\xff\xfe",
        b"x" * 60_000,
        b"a/" * 5000,
    ):
        yield _case("F38", f"another-named-{name[:20]!r}", archive([*GOOD, Entry(name, b"x")]), "either")
    other = FOUR[::-1].tobytes()
    yield _case("F38", "chunk-twice", archive([*GOOD, Entry(b"c/0", other)]), "either", FOUR[::-1])
    yield _case("F38", "chunk-twice-the-same", archive([*GOOD, Entry(b"c/0", RAW)]), "either")
    for claim, values in {
        "size": (0, 1, 15, 17, 100, 1 << 31, (1 << 32) - 2, (1 << 32) - 1),
        "packed": (0, 1, 15, 17, 100, 1 << 31, (1 << 32) - 2, (1 << 32) - 1),
        "offset": (0, 1, 5, 100, 1000, 1 << 31, (1 << 32) - 2, (1 << 32) - 1),
        "method": (1, 2, 6, 8, 9, 12, 14, 93, 95, 97, 99, 0xFFFF),
        "flags": (1, 0x40, 0x2000),
        "crc": (0, 1, 0xFFFFFFFF),
        "disk": (1, 0xFFFE, 0xFFFF),
    }.items():
        for value in values:
            # These change nothing about what is stored; a reader may pass over them.
            harmless = claim == "disk" or (claim == "flags" and value != 1)
            expect: Expect = "either" if harmless else "error"
            yield _case("F38", f"{claim}-{value}", archive([GOOD[0], Entry(b"c/0", RAW, {claim: value})]), expect)
            first = Entry(b"zarr.json", DOCUMENT, {claim: value})
            # That the first entry is at the beginning is no lie.
            yield _case(
                "F38",
                f"{claim}-{value}-of-the-document",
                archive([first, GOOD[1]]),
                "either" if (claim, value) == ("offset", 0) else expect,
            )
    for name, local in (
        ("name", {"local_name": b"c/1"}),
        ("longer-name", {"local_name": b"c/0" + b"x" * 30}),
        ("method", {"local": {"method": 8}}),
        ("size", {"local": {"size": 99}}),
        ("packed", {"local": {"packed": 99}}),
        ("crc", {"local": {"crc": 1}}),
        ("flags", {"local": {"flags": 1}}),
        ("extra", {"extra": b"\xff" * 100}),
    ):
        # What the directory says counts; a reader may also refuse.
        yield _case(
            "F38",
            f"local-{name}-differs",
            archive([GOOD[0], Entry(b"c/0", RAW, local)]),
            "any" if name == "longer-name" else "either",
        )
    for claim, values in {
        "count": (0, 1, 3, 1000, 0xFFFE, 0xFFFF),
        "size": (0, 1, 10, 1000, 1 << 31, (1 << 32) - 1),
        "offset": (0, 1, 10, 1000, 1 << 31, (1 << 32) - 1),
        "disk": (1, 0xFFFF),
        "comment": (1, 100, 0xFFFF),
    }.items():
        for value in values:
            # Where the directory is found all the same, nothing else is told by its size or by disks.
            found: Expect = "either" if claim in ("size", "disk") else "error"
            yield _case("F38", f"end-{claim}-{value}", archive(GOOD, **{claim: value}), found)
    yield from _overlaps()
    yield from _sizes64()
    for more in (1, 4, 100, 70_000):
        yield _case("F38", f"{more}-bytes-before", bytes(more) + WHOLE, "either")
        yield _case("F38", f"{more}-bytes-behind", WHOLE + bytes(more), "either")
    comment = archive((Entry(b"zarr.json", DOCUMENT), Entry(b"c/0", other)))
    false = WHOLE[:-2] + struct.pack("<H", len(comment)) + comment
    yield _case("F38", "an-archive-in-the-comment", false, "any")
    for size in (4, 22, 1000):
        yield _case("F38", f"zeros-{size}", bytes(size))
        yield _case("F38", f"ends-{size}", b"PK\5\6" * size)
    for bit in range(8 * len(WHOLE)):
        changed = bytearray(WHOLE)
        changed[bit // 8] ^= 1 << bit % 8
        # Under another name in the directory a chunk is not there.
        renamed = len(WHOLE) - 25 <= bit // 8 < len(WHOLE) - 22
        yield _case("F38", f"bit-{bit}", bytes(changed), "any" if renamed else "either")
    bomb = _deflated(bytes(64 << 20))
    claims = {"method": 8, "crc": zlib.crc32(bytes(64 << 20))}
    for size in (16, 64 << 20, (1 << 32) - 2):
        yield _case("F38", f"bomb-that-says-{size}", archive([GOOD[0], Entry(b"c/0", bomb, {**claims, "size": size})]))


def _overlaps() -> Cases:
    kernel = Entry(b"c/0", RAW)
    body = GOOD[0].local() + kernel.local()
    start = len(GOOD[0].local())
    for count in (2, 10, 1000, 60_000):  # one entry's bytes under many names
        directory = GOOD[0].central(0) + kernel.central(start)
        directory += b"".join(Entry(b"n%d" % i, RAW).central(start) for i in range(count))
        end = struct.pack("<HHHHIIH", 0, 0, count + 2, count + 2, len(directory), len(body), 0)
        made = _case("F38", f"one-entry-under-{count}-names", body + directory + b"PK\5\6" + end, "either")
        yield replace(made, decoded=4 * len(directory))
    inner = Entry(b"c/0", RAW)
    outer = Entry(b"zarr.json", DOCUMENT + inner.local())
    data = outer.local()
    directory = outer.central(0) + inner.central(len(data) - len(inner.local()))
    end = struct.pack("<HHHHIIH", 0, 0, 2, 2, len(directory), len(data), 0)
    yield _case("F38", "entry-within-an-entry", data + directory + b"PK\5\6" + end)


def _sizes64() -> Cases:
    top = (1 << 32) - 1
    for name, numbers in (
        ("right", (16, 16, None)),
        ("size-2-63", (1 << 63, 16, None)),
        ("packed-2-63", (16, 1 << 63, None)),
        ("both-2-64", ((1 << 64) - 1, (1 << 64) - 1, None)),
        ("offset-2-63", (16, 16, 1 << 63)),
        ("offset-2-64", (16, 16, (1 << 64) - 1)),
        ("wrapping", (16, 16, (1 << 64) - 100)),
    ):
        numbers_ = [number for number in numbers if number is not None]
        extra = struct.pack("<HH", 1, 8 * len(numbers_)) + b"".join(struct.pack("<Q", number) for number in numbers_)
        claims: dict[str, Any] = {"size": top, "packed": top, "central_extra": extra, "extra": extra}
        if numbers[2] is not None:
            claims["offset"] = top
        yield _case(
            "F38",
            f"zip64-{name}",
            archive([GOOD[0], Entry(b"c/0", RAW, claims)]),
            "either" if name == "right" else "error",
        )
    short = struct.pack("<HH", 1, 8)
    claims = {"size": top, "packed": top, "central_extra": short}
    yield _case("F38", "zip64-extra-past-its-end", archive([GOOD[0], Entry(b"c/0", RAW, claims)]))
    size = len(WHOLE)
    start = len(GOOD[0].local()) + len(GOOD[1].local())
    length = size - 22 - start
    for name, numbers in (("count", (1 << 62, length, start)), ("size", (2, 1 << 62, start)), ("offset", (2, length, 1 << 62)),
                          ("all", ((1 << 64) - 1,) * 3)):  # fmt: skip
        count, long, at = numbers
        end = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, long, at)
        where = b"PK\6\7" + struct.pack("<IQI", 0, size - 22, 1)
        tail = b"PK\5\6" + struct.pack("<HHHHIIH", 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, top, top, 0)
        yield _case(
            "F38", f"zip64-end-{name}", WHOLE[:-22] + end + where + tail, "either" if name == "size" else "error"
        )
    for at in (0, 1 << 62, (1 << 64) - 1, size - 21):
        tail = (
            b"PK\6\7"
            + struct.pack("<IQI", 0, at, 1)
            + b"PK\5\6"
            + struct.pack("<HHHHIIH", 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, top, top, 0)
        )
        yield _case("F38", f"zip64-end-at-{at}", WHOLE[:-22] + tail)


def cut() -> Cases:
    """F39: archives whose tail is missing, as a kill leaves them."""
    for size in range(len(WHOLE)):
        yield _case("F39", f"cut-at-{size}", WHOLE[:size])
    for size in range(0, 90, 5):
        yield _case(
            "F39", f"grown-by-half-an-entry-of-{size}", WHOLE + Entry(b"c/1", bytes(50)).local()[:size], "either"
        )
    yield _case("F39", "no-chunk", archive(GOOD[:1]), "value", np.zeros(4, "<i4"))
