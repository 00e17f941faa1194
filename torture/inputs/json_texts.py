"""F17: texts that are no JSON, or JSON that no program should have to read."""

from __future__ import annotations

from collections.abc import Callable

from torture.inputs.case import FOUR, RAW, Case, Cases, Expect, Make, store, text, v2, v3

GROUP3 = {"zarr_format": 3, "node_type": "group", "attributes": {}}


def texts() -> Cases:
    yield from _odd("zarr.json", text(v3()), "c/0")
    yield from _odd(".zarray", text(v2()), "0")
    for name, key, document in (("v3-group", "zarr.json", GROUP3), ("v2-group", ".zgroup", {"zarr_format": 2})):
        for size in range(len(text(document))):
            yield Case("F17", f"{name}-cut-at-{size}", store({key: text(document)[:size]}), act="tree")
    for name, data in (("empty", b""), ("list", b"[]"), ("text", b'"x"'), ("cut", b'{"a":'), ("number", b"1")):
        files = {".zarray": text(v2()), "0": RAW, ".zattrs": data}
        yield Case("F17", f"attributes-{name}", store(files), "either", FOUR)
    attributes = {"a": "x" * 1_000_000}
    files = {"zarr.json": text(v3(attributes=attributes)), "c/0": RAW}
    yield Case("F17", "a-megabyte-of-attributes", store(files), "value", FOUR, decoded=8 << 20)


def _odd(key: str, good: bytes, chunk: str) -> Cases:
    start = good[:-1]
    many = b", ".join(b'"k%d": %d' % (i, i) for i in range(1000))
    # name, text, what may come of it
    plain: tuple[tuple[str, bytes, Expect], ...] = (
        ("bom", b"\xef\xbb\xbf" + good, "either"),
        ("utf-16", good.decode().encode("utf-16"), "error"),
        ("utf-16-le", good.decode().encode("utf-16-le"), "error"),
        ("utf-32", good.decode().encode("utf-32"), "error"),
        ("bad-utf-8", start + b', "x": "\xff"}', "error"),
        ("half-a-character", start + b', "x": "\xc3"}', "error"),
        ("surrogate-bytes", start + b', "x": "\xed\xa0\x80"}', "error"),
        ("lone-surrogate", start + b', "attributes": {"x": "\\ud800"}}', "any"),
        ("raw-newline", start + b', "x": "\n"}', "error"),
        ("nul", start + b', "x": "\0"}', "error"),
        ("nul-behind", good + b"\0", "error"),
        ("nan", start + b', "x": NaN}', "error" if key == "zarr.json" else "either"),
        ("comment", start + b" /* x */}", "error"),
        ("comma", start + b",}", "error"),
        ("single-quotes", good.replace(b'"', b"'"), "error"),
        ("hex-number", start + b', "x": 0x10}', "error"),
        ("leading-zero", start + b', "x": 010}', "error"),
        ("plus", start + b', "x": +1}', "error"),
        ("bad-escape", start + b', "x": "\\x41"}', "error"),
        ("half-an-escape", start + b', "x": "\\u00"}', "error"),
        ("twice", good + good, "error"),
        ("behind", good + b" x", "error"),
        ("white-space-behind", good + b" \n\t\r\n", "either"),
        ("white-space-before", b" \n" * 1000 + good, "either"),
        ("a-megabyte-of-white-space", good + b" " * 1_000_000, "either"),
        ("same-shape-twice", start + b', "shape": [4]}', "error"),
        ("other-shape", start + b', "shape": [400]}', "error"),
        ("other-shape-first", b'{"shape": [400], ' + good[1:], "error"),
        ("escaped-twice", start + b', "sh\\u0061pe": [400]}', "error"),
        ("empty-name-twice", start + b', "": 1, "": 2}', "error"),
        ("same-attribute-twice", start + b', "attributes": {"a": 1, "a": 2}}', "error"),
        ("unknown-members", start + b", " + many + b"}", "error" if key == "zarr.json" else "either"),
        ("list", b"[" + good + b"]", "error"),
        ("null", b"null", "error"),
        ("empty", b"", "error"),
        ("space", b" ", "error"),
        ("html", b"<!DOCTYPE html><html><body>Sign in</body></html>", "error"),
        ("zeros", bytes(1000), "error"),
        ("ones", b"\xff" * 1000, "error"),
    )
    kind = "v3" if key == "zarr.json" else "v2"
    for name, data, expect in plain:
        yield Case("F17", f"{kind}-{name}", store({key: data, chunk: RAW}), expect, FOUR, decoded=2 * len(data))
    for size in range(len(good)):
        yield Case("F17", f"{kind}-cut-at-{size}", store({key: good[:size], chunk: RAW}))
    for at in range(0, len(good), 3):
        changed = good[:at] + b"\x01" + good[at + 1 :]
        yield Case("F17", f"{kind}-a-control-character-at-{at}", store({key: changed, chunk: RAW}))
    for count in (99, 101, 1000, 100_000, 200_000, 1_000_000):
        for name, opened, closed in (("lists", b"[", b"]"), ("objects", b'{"a":', b"}")):
            deep = _deep(start, opened, closed, count)
            expect = "any" if count == 99 else "error"
            yield Case("F17", f"{kind}-{count}-{name}-deep", _late(key, chunk, deep), expect, decoded=14 * count)
            never = _deep(start, opened, b"", count)
            yield Case("F17", f"{kind}-{count}-{name}-never-closed", _late(key, chunk, never), decoded=14 * count)
    for digits in (20, 400, 5000, 1_000_000):
        for name, number in (
            ("digits", b"9" * digits),
            ("fraction", b"0." + b"9" * digits),
            ("minus", b"-" + b"1" * digits),
        ):
            data = start + b', "attributes": {"x": ' + number + b"}}"
            if key == "zarr.json":
                data = text(v3(attributes=...))[:-1] + b', "attributes": {"x": ' + number + b"}}"
            yield Case("F17", f"{kind}-{digits}-{name}", store({key: data, chunk: RAW}), "any", decoded=4 * digits)
            data = good.replace(b'"shape": [4]', b'"shape": [' + number + b"]")
            yield Case("F17", f"{kind}-shape-of-{digits}-{name}", store({key: data, chunk: RAW}), decoded=4 * digits)
    for exponent in ("1e400", "-1e400", "1e-400", "1e999999999999", "4e0", "4.0", "40e-1"):
        data = good.replace(b'"shape": [4]', b'"shape": [' + exponent.encode() + b"]")
        yield Case(
            "F17",
            f"{kind}-shape-{exponent}",
            store({key: data, chunk: RAW}),
            "either" if "4" in exponent[:2] and "400" not in exponent else "error",
            FOUR,
        )
    for count in (50_000, 150_000):
        twice = _late(key, chunk, _last_twice(start, count))
        # As many bytes as a name and its number take in Python.
        yield Case("F17", f"{kind}-the-last-of-{count}-names-twice", twice, decoded=300 * count)
    large = _late(key, chunk, lambda: start + b" " * (65 << 20) + b"}")
    yield Case("F17", f"{kind}-65-MiB", large, decoded=0)


def _deep(start: bytes, opened: bytes, closed: bytes, count: int) -> Callable[[], bytes]:
    return lambda: start + b', "attributes": {"x": ' + opened * count + b"1" + closed * count + b"}}"


def _last_twice(start: bytes, count: int) -> Callable[[], bytes]:
    """One object of many names, of which the very last is there twice."""

    def made() -> bytes:
        names = b",".join(b'"k%d":0' % i for i in range(count))
        return start + b', "x": {' + names + b',"k%d":1}}' % (count - 1)

    return made


def _late(key: str, chunk: str, data: Callable[[], bytes]) -> Make:
    return store({key: data(), chunk: RAW})
