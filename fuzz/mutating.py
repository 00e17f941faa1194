"""Mutations that know a little of what they change: members of JSON documents, words of a text, bytes of the rest."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any

from fuzz.target import parts

ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2.5, 1e300, -0.0, 10**30, 2**63, -(2**63), 2**64, "", "x", "/", "//", "..", "\0", "é",
    "\ud800", "|J0", "|S0", "|S99999999999", "<i4", ">U1", "|O", "<M8[s]", "|V3", "NaN", "-Infinity", "0x7fc00001",
    "float32", "string", "r24", "bytes", "default", [], [[]], [None], [0], [-1], [10**9] * 3, [1] * 70, ["x"], {},
    {"": {}}, {"name": "bytes"}, {"name": []}, {"name": "sharding_indexed", "configuration": {}}, {"id": "zlib"},
    {"id": "pickle"}, {"must_understand": False}, {"name": "x", "configuration": None}, [["a", "<i4"], ["a", "|O"]],
    [["a", "<f4", [2, 2]]], {"size": -1, "unlimited": 1}, ["u", 0, 10], ["u", -1, 10], [None], "base64:A", "{{u}}",
    "{{ i * 10 ** 10 }}", {"stop": 10**12}, {"start": 1, "stop": 0, "step": 0},
]  # fmt: skip
WORDS: list[bytes] = [
    *(b"{", b"}", b"(", b")", b";", b":", b"=", b",", b"*", b"_", b'"', b"'", b"\\", b"/", b"\n", b"\0", b"\xff"),
    *(b"unlimited", b"data:", b"group:", b"dimensions:", b"variables:", b"types:", b"NIL", b"99999999999", b"0x"),
    *(b"{{", b"}}", b"{%", b"|", b"~", b"**", b"%", b"@", b"#mode=zarr", b"[", b"]", b"?a=b", b"file://", b"s3://"),
    *(b"1e999", b"//", b".."),
]
_DEEP = (b"[", b'{"a":', b"(", b"{{", b"-")
_WORD = re.compile(rb"[A-Za-z0-9_.+-]+|\S")
_LARGEST = 1 << 16


def mutated(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Change a copy of an input, perhaps by a part of another."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        start, stop = rng.choice(parts(data))
        part = data[start:stop]
        changed = _as_json(rng, part) if rng.random() < 0.5 else None
        if changed is None:
            changed = _as_text(rng, part, other) if rng.random() < 0.6 else _as_bytes(rng, part)
        data = data[:start] + changed + data[stop:]
    return data[:_LARGEST]


def _places(value: object) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from _places(inner)


def _as_json(rng: random.Random, part: bytes) -> bytes | None:
    try:
        document = json.loads(part)
        found = list(_places(document))
    except (ValueError, RecursionError):
        return None
    if not found:
        return None
    holder, key = rng.choice(found)
    way = rng.randrange(6)
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(holder, dict):
        holder[str(rng.choice(ODD))[:20]] = holder.pop(key)
    elif way == 2:
        one, name = rng.choice(found)
        holder[key] = json.loads(json.dumps(one[name])) if one is not holder else rng.choice(ODD)
    elif way == 3 and isinstance(holder[key], int):
        holder[key] += rng.choice((-1, 1, 2**31, -(2**63)))
    else:
        holder[key] = rng.choice(ODD)
    return json.dumps(document, ensure_ascii=rng.random() < 0.8).encode("utf-8", "surrogatepass")


def _as_text(rng: random.Random, part: bytes, other: bytes) -> bytes:
    words = [found.span() for found in _WORD.finditer(part)]
    if not words:
        return part + rng.choice(WORDS)
    start, stop = rng.choice(words)
    others = _WORD.findall(other[:4096]) or WORDS
    way = rng.randrange(5)
    if way == 0:
        return part[:start] + part[stop:]
    if way == 1:
        return part[:start] + rng.choice(WORDS) + part[start if rng.random() < 0.5 else stop :]
    if way == 2:
        return part[:start] + rng.choice(others) + part[stop:]
    if way == 3:
        end = rng.choice(words)[1]
        return part[:start] + part[start:end] * rng.choice((2, 3, 40)) + part[end:]
    return part[:start] + rng.choice(_DEEP) * rng.choice((3, 120, 5000)) + part[start:]


def _as_bytes(rng: random.Random, part: bytes) -> bytes:
    raw = bytearray(part or b"\0")
    at = rng.choice((rng.randrange(len(raw)), min(len(raw) - 1, rng.randrange(40))))
    way = rng.randrange(5)
    if way == 0:
        raw[at] ^= 1 << rng.randrange(8)
    elif way == 1:
        raw[at] = rng.randrange(256)
    elif way == 2:
        del raw[at:]
    elif way == 3:
        raw[at:at] = rng.randbytes(rng.randrange(1, 9))
    else:
        raw[at : at + 4] = rng.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f", b"\0\0\0\x80"))
    return bytes(raw)
