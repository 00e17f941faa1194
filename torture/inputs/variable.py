"""F9: items of variable length that lie about their number and their lengths."""

from __future__ import annotations

import struct

import numpy as np

from torture.inputs.case import Case, Cases, Make, array2, array3
from torture.inputs.frames import bomb
from torture.inputs.samples import DATA

TEXTS = np.array(["a", "", "hé"], dtype=object)
BYTES = np.array([b"a", b"", b"hi"], dtype=object)
GOOD = {
    "vlen-utf8": bytes.fromhex("030000000100000061000000000300000068c3a9"),
    "vlen-bytes": bytes.fromhex("03000000010000006100000000020000006869"),
}
LENGTHS = (0, 1, 2, 3, 4, 5, 255, 65535, 1 << 24, (1 << 31) - 1, 1 << 31, (1 << 32) - 4, (1 << 32) - 1)


def items(*parts: bytes, count: int | None = None) -> bytes:
    head = struct.pack("<I", len(parts) if count is None else count)
    return head + b"".join(struct.pack("<I", len(part)) + part for part in parts)


def variable() -> Cases:
    for codec, value in (("vlen-utf8", TEXTS), ("vlen-bytes", BYTES)):
        good = GOOD[codec]
        yield _case(f"{codec}-whole", codec, good, "value", value)
        for size in range(len(good)):
            yield _case(f"{codec}-cut-at-{size}", codec, good[:size], "error", value)
        for bit in range(8 * len(good)):
            changed = bytearray(good)
            changed[bit // 8] ^= 1 << bit % 8
            yield _case(f"{codec}-bit-{bit}", codec, bytes(changed), "any", value)
        for count in LENGTHS:
            expect = "error" if count != 3 else "value"
            yield _case(f"{codec}-count-{count}", codec, struct.pack("<I", count) + good[4:], expect, value)
        for number, at in ((0, 4), (1, 9), (2, 13)):
            for length in LENGTHS:
                data = good[:at] + struct.pack("<I", length) + good[at + 4 :]
                expect = "value" if data == good else "error"
                yield _case(f"{codec}-length-{number}-{length}", codec, data, expect, value)
        yield _case(f"{codec}-more-behind", codec, good + b"\0", "either", value)
        yield _case(f"{codec}-zeros", codec, bytes(4096), "error", value)
        yield _case(f"{codec}-ones", codec, b"\xff" * 4096, "error", value)
    for name, part in (
        ("lone-continuation", b"\x80"),
        ("half-a-character", b"\xc3"),
        ("overlong-slash", b"\xc0\xaf"),
        ("surrogate", b"\xed\xa0\x80"),
        ("above-unicode", b"\xf4\x90\x80\x80"),
        ("latin-1", b"caf\xe9"),
        ("utf-16", "hé".encode("utf-16")),
        ("five-bytes", b"\xf8\x88\x80\x80\x80"),
    ):
        for place in range(3):
            parts = [b"a", b"b", b"c"]
            parts[place] = part
            yield _case(f"utf8-{name}-at-{place}", "vlen-utf8", items(*parts), "error", TEXTS)
        yield Case("F9", f"json2-{name}", array2(b'["a","' + part + b'","|O",[2]]', **_of("json2", [2])))
    yield from _packed()
    yield from _json()
    yield from _fixed()


def _packed() -> Cases:
    for size in (1, 16, 64):
        for codec in ("gzip", "zstd"):
            made = _swollen(codec, size << 20)
            # What strings take up is told by nothing but themselves, so they may take what the stream holds.
            yield Case("F9", f"vlen-utf8-in-{codec}-{size}-MiB", made, decoded=2 * (size << 20))
    data = struct.pack("<I", 3) + b"\xff\xff\xff\x7f" + bytes(100)
    made = array2(
        data, shape=[3], chunks=[3], dtype="|O", filters=[{"id": "vlen-array", "dtype": "<i2"}], fill_value=None
    )
    yield Case("F9", "vlen-array-length-past-the-end", made)
    for length in (1, 3, 5):
        odd = struct.pack("<II", 1, length) + bytes(length)
        made = array2(
            odd, shape=[1], chunks=[1], dtype="|O", filters=[{"id": "vlen-array", "dtype": "<i2"}], fill_value=None
        )
        yield Case("F9", f"vlen-array-of-{length}-bytes", made)
    for count in LENGTHS:
        if count != 8:
            head = struct.pack("<I", count) + DATA["lz4"][4:]
            yield Case("F9", f"lz4-says-{count}", array2(head, shape=[8], chunks=[8], compressor={"id": "lz4"}))


def _swollen(codec: str, size: int) -> Make:
    config = {"id": codec, "level": 3}
    return array2(
        bomb(codec, size),
        shape=[3],
        chunks=[3],
        dtype="|O",
        filters=[{"id": "vlen-utf8"}],
        compressor=config,
        fill_value="",
    )


def _json() -> Cases:
    for name, data in (
        ("empty", b""),
        ("null", b"null"),
        ("object", b"{}"),
        ("deep", b"[" * 100_000),
        ("deep-and-closed", b"[" * 5000 + b"]" * 5000),
        ("short", b'["a","|O",[3]]'),
        ("long", b'["a","b","c","d","|O",[3]]'),
        ("shape-differs", b'["a","b","c","|O",[4]]'),
        ("shape-huge", b'["a","b","c","|O",[1152921504606846976]]'),
        ("shape-negative", b'["a","b","c","|O",[-3]]'),
        ("type-differs", b'["a","b","c","<f8",[3]]'),
        ("no-shape", b'["a","b","c"]'),
        ("not-closed", b'["a","b","c","|O",[3]'),
        ("digits", b"[" + b"9" * 100_000 + b',1,2,"|O",[3]]'),
    ):
        expect = "any" if name in ("type-differs", "digits") else "error"
        yield Case("F9", f"json2-{name}", array2(data, **_of("json2", [3])), expect)
    for name, data in (
        ("empty", b""),
        ("array-of-2-32", b"\xdd\xff\xff\xff\xff"),
        ("text-of-2-32", b"\xdb\xff\xff\xff\xff"),
        ("map-of-2-32", b"\xdf\xff\xff\xff\xff"),
        ("bytes-of-2-32", b"\xc6\xff\xff\xff\xff"),
        ("deep", b"\x91" * 100_000),
        ("reserved", b"\xc1"),
        ("ext", b"\xc7\xff\x05"),
    ):
        yield Case("F9", f"msgpack2-{name}", array2(data, **_of("msgpack2", [3])))


def _of(codec: str, shape: list[int]) -> dict[str, object]:
    return {"shape": shape, "chunks": shape, "dtype": "|O", "filters": [{"id": codec}], "fill_value": None}


def _fixed() -> Cases:
    """Text of a fixed length."""
    for name, point in (("surrogate", 0xD800), ("above-unicode", 0x110000), ("ones", 0xFFFFFFFF)):
        data = struct.pack("<II", 97, point)
        yield Case(
            "F9",
            f"U1-{name}",
            array2(data, shape=[2], chunks=[2], dtype="<U1", fill_value=""),
            "any" if point < 0xE000 else "error",
        )
    for name in ("<U0", "|S0", "<U-1", "<U", "|S99999999999", "<U1073741824", "|V99999999999999999999"):
        yield Case("F9", f"type-{name}", array2(b"ab", shape=[2], chunks=[2], dtype=name, fill_value=None))


def _case(name: str, codec: str, data: bytes, expect: str, value: np.ndarray) -> Case:  # type: ignore[type-arg]
    if codec == "vlen-bytes":
        made = array3(data, shape=[3], chunks=[3], data_type="bytes", codecs=[{"name": codec}], fill_value="")
    else:
        made = array3(data, shape=[3], chunks=[3], data_type="string", codecs=[{"name": codec}], fill_value="")
    return Case("F9", name, made, expect, value)  # type: ignore[arg-type]
