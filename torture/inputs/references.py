"""F24 to F28: reference sets whose templates, formulas, targets, parts and records lie."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from torture.inputs.case import FOUR, RAW, Case, Cases, Expect, Make, text, v2

ARRAY = json.dumps(v2())
DATA = bytes(100) + RAW + bytes(100)


def _set(refs: dict[str, Any], *, data: bytes = DATA, **members: Any) -> Make:
    """Return what makes a set in the folder "in", a source beside it, and one outside."""
    document = {"version": 1, "refs": {"a/.zarray": ARRAY, **refs}, **members}

    def make(folder: Path) -> None:
        _write(folder, document, data)

    return make


def _write(folder: Path, document: object, data: bytes = DATA) -> None:
    for name in ("in", "secret"):
        (folder / name).mkdir()
        (folder / name / "x.bin").write_bytes(data)
    shown = document if isinstance(document, bytes) else text(document)
    (folder / "in/set.json").write_bytes(shown.replace(b"@FOLDER@", str(folder).encode()))


def _case(group: str, name: str, make: Make, expect: Expect = "error", value: Any = FOUR) -> Case:
    return Case(group, name, make, expect, value, act="references", where="in/set.json", path="a")


PART = ["x.bin", 100, 16]


def templates() -> Cases:
    """F24: templates that are more than expressions."""
    yield _case("F24", "whole", _set({"a/0": ["{{u}}", 100, 16]}, templates={"u": "x.bin"}), "value")
    yield _case("F24", "function", _set({"a/0": ["{{f(c='x')}}", 100, 16]}, templates={"f": "{{c}}.bin"}), "value")
    long = "+".join(["1"] * 200_000)
    for name, expression in (
        ("attribute", "{{u.__class__}}"),
        ("attributes", "{{u.__class__.__mro__[1].__subclasses__()}}"),
        ("attribute-by-filter", "{{u|attr('__class__')}}"),
        ("globals", "{{self.__init__.__globals__}}"),
        ("config", "{{config}}"),
        ("import", "{{__import__('os').system('true')}}"),
        ("call", "{{open('/etc/passwd').read()}}"),
        ("cycler", "{{cycler.__init__.__globals__.os.popen('id').read()}}"),
        ("range", "{{range(1000000000)|list}}"),
        ("range-length", "{{range(1000000000)|length}}"),
        ("loop", "{% for i in range(1000000000) %}x{% endfor %}"),
        ("set", "{% set x = 1 %}{{x}}"),
        ("include", "{% include '/etc/passwd' %}"),
        ("macro", "{% macro m() %}{{m()}}{% endmacro %}{{m()}}"),
        ("item", "{{u[0]}}"),
        ("slice", "{{u[0:1]}}"),
        ("format", "{{'%s'|format(u)}}"),
        ("format-walk", "{0.__class__}"),
        ("percent", "{{'%1000000000d' % 1}}"),
        ("format-wide", "{{'%1000000000d'|format(1)}}"),
        ("format-precise", "{{'%.1000000000f'|format(1)}}"),
        ("format-star", "{{'%*d'|format(1000000000, 1)}}"),
        ("format-method", "{{'{0.__class__}'.format(u)}}"),
        ("center", "{{u|center(1000000000)}}"),
        ("indent", "{{u|indent(1000000000)}}"),
        ("join", "{{u|join(u)}}"),
        ("repeat", "{{'x' * 1000000000}}"),
        ("repeat-number", "{{9**9**9**9}}"),
        ("power", "{{2**1000000}}"),
        ("shift", "{{1 << 1000000000}}"),
        ("division", "{{1 // 0}}"),
        ("modulo", "{{1 % 0}}"),
        ("unknown", "{{nope}}"),
        ("not-closed", "{{u"),
        ("empty", "{{}}"),
        ("long", "{{" + long + "}}"),
        ("long-never-closed", "{{" + "(" * 100_000),
        ("deep", "{{" + "(" * 5000 + "1" + ")" * 5000 + "}}"),
        ("minus", "{{" + "-" * 100_000 + "1}}"),
        ("lambda", "{{(lambda: 1)()}}"),
        ("comprehension", "{{[x for x in 'ab']}}"),
        ("wrong-argument", "{{f(d='x')}}"),
        ("no-argument", "{{f()}}"),
        ("argument-of-itself", "{{f(c=f)}}"),
    ):
        made = _set({"a/0": [expression, 100, 16]}, templates={"u": "x.bin", "f": "{{c}}.bin"})
        expect: Expect = "either" if name == "format" else "error"
        yield _case("F24", name, made, expect)
        made = _set({"a/0": ["{{t}}", 100, 16]}, templates={"u": "x.bin", "t": expression})
        yield _case("F24", f"{name}-in-a-template", made, expect)
    for name, given in (
        ("itself", {"u": "{{u}}"}),
        ("each-other", {"u": "{{t}}", "t": "{{u}}"}),
        ("doubling", {f"t{i}": f"{{{{t{i + 1}}}}}" * 2 for i in range(40)} | {"t40": "x", "u": "{{t0}}"}),
        ("number", {"u": 5}),
        ("null", {"u": None}),
        ("list", ["u"]),
        ("text", "u"),
        ("empty-name", {"": "x.bin"}),
    ):
        yield _case("F24", f"templates-{name}", _set({"a/0": ["{{u}}", 100, 16]}, templates=given))


def formulas() -> Cases:
    """F25: formulas that would make more references than there are atoms."""
    good = {"key": "a/{{i}}", "url": "x.bin", "offset": "{{100 + i}}", "length": "16", "dimensions": {"i": {"stop": 1}}}
    yield _case("F25", "whole", _set({}, gen=[good]), "value")
    counts = (10**6, 10**9, 1 << 31, 1 << 62, 1 << 63, 1 << 70, 10**30)
    for count in counts:
        # Of a formula that is not expanded the chunk that is read is enough.
        one = {**good, "dimensions": {"i": {"stop": count}}}
        yield _case("F25", f"stop-{count}", _set({}, gen=[one]), "either")
        two = {**good, "key": "a/{{i}}.{{j}}", "dimensions": {"i": {"stop": count}, "j": {"stop": count}}}
        yield _case("F25", f"stops-{count}", _set({}, gen=[two]), "either", np.zeros(4, "<i4"))
    for name, dimension in (
        ("negative-step", {"start": 0, "stop": 10, "step": -1}),
        ("no-step", {"start": 0, "stop": 10, "step": 0}),
        ("backwards", {"start": 10, "stop": 0}),
        ("text", "x"),
        ("number", 5),
        ("null", None),
        ("stop-text", {"stop": "10"}),
        ("stop-null", {"stop": None}),
        ("stop-float", {"stop": 1.5}),
        ("stop-negative", {"stop": -1}),
        ("no-stop", {}),
        ("unknown-member", {"stop": 1, "nope": 1}),
        ("list-of-text", ["a", "b"]),
        ("list-of-lists", [[1], [2]]),
    ):
        made = _set({}, gen=[{**good, "dimensions": {"i": dimension}}])
        expect: Expect = (
            "either" if name in ("backwards", "negative-step", "stop-negative", "unknown-member") else "error"
        )
        value = FOUR if name == "unknown-member" else np.zeros(4, "<i4")
        yield _case("F25", name, made, expect, value)
    for name, change in (
        ("no-key", {"key": ...}),
        ("key-number", {"key": 5}),
        ("key-leads-out", {"key": "../{{i}}"}),
        ("key-absolute", {"key": "/{{i}}"}),
        ("key-attribute", {"key": "{{i.__class__}}"}),
        ("url-number", {"url": 5}),
        ("url-null", {"url": None}),
        ("url-attribute", {"url": "{{i.__class__}}"}),
        ("offset-text", {"offset": "x"}),
        ("offset-negative", {"offset": "{{0 - 1}}"}),
        ("offset-huge", {"offset": "{{9999999999999999999999}}"}),
        ("offset-division", {"offset": "{{1 // i}}"}),
        ("offset-float", {"offset": "1.5"}),
        ("length-negative", {"length": "{{0 - 16}}"}),
        ("length-alone", {"offset": ...}),
        ("length-missing", {"length": ...}),
        ("length-repeated", {"length": "{{16 * 10000000000000000000}}"}),
        ("dimensions-list", {"dimensions": ["i"]}),
        ("dimensions-null", {"dimensions": None}),
        ("dimensions-missing", {"dimensions": ...}),
        ("a-thousand-dimensions", {"dimensions": {f"d{i}": {"stop": 10} for i in range(1000)}}),
        ("unknown-member", {"nope": 1}),
    ):
        one = {key: value for key, value in {**good, **change}.items() if value is not ...}
        expect = "either" if name in ("unknown-member", "key-leads-out", "key-absolute") else "error"
        yield _case("F25", name, _set({}, gen=[one]), expect, FOUR if name == "unknown-member" else np.zeros(4, "<i4"))
    for name, gen in (("number", 5), ("text", "x"), ("object", {}), ("list-of-numbers", [5]), ("list-of-null", [None])):
        yield _case("F25", f"gen-{name}", _set({}, gen=gen), "any" if name == "object" else "error")
    long = {**good, "key": "a/{{i}}", "url": "x" * 1_000_000}
    made = _set({}, gen=[long])
    yield Case("F25", "url-of-a-megabyte", made, act="references", where="in/set.json", path="a", decoded=4_000_000)


TARGETS = (
    "file:///etc/passwd", "/etc/passwd", "file:/etc/passwd", "file://localhost/etc/passwd", "FILE:///etc/passwd",
    "local:///etc/passwd", "../secret/x.bin", "./../secret/x.bin", "sub/../../secret/x.bin", "file://@FOLDER@/secret/x.bin",
    "@FOLDER@/secret/x.bin", "file://@FOLDER@/in/../secret/x.bin", "file://@FOLDER@/in/%2e%2e/secret/x.bin",
    "file://@FOLDER@/in/..%2fsecret/x.bin", "file:///proc/self/environ", "file:///dev/zero", "/dev/stdin", "file:///proc/self/mem",
    "http://169.254.169.254/latest/meta-data/", "http://localhost/", "http://localhost.:80/", "http://127.0.0.1:9/x",
    "http://127.1/x", "http://2130706433/x", "http://0x7f000001/x", "http://0177.0.0.1/x", "http://[::1]/x", "http://[::]/x",
    "http://0.0.0.0/x", "http://0/x", "http://[::ffff:127.0.0.1]/x", "http://[::ffff:7f00:1]/x", "http://[fe80::1]/x",
    "http://[fc00::1]/x", "http://10.0.0.1/x", "http://172.16.0.1/x", "http://192.168.1.1/x", "http://100.64.0.1/x",
    "http://metadata.google.internal/x", "http://user:pw@127.0.0.1/x", "http://example.com@127.0.0.1/x", "http://127.0.0.1#@x/",
    "http://127.0.0.1\\@example.com/x", "http:127.0.0.1/x", "http:///127.0.0.1/x", "https://127.0.0.1/x", "//127.0.0.1/x",
    "ftp://127.0.0.1/x", "gopher://127.0.0.1/x", "ssh://127.0.0.1/x", "sftp://127.0.0.1/x", "data:text/plain,x", "jar:file:///x",
    "memory://x", "reference://x", "simplecache::file:///etc/passwd", "zip://x::file:///etc/passwd", "filecache::/etc/passwd",
    "blockcache::file:///etc/passwd", "python:os", "javascript:1", "C:\\x", "\\\\host\\share\\x", "x\0.bin", "", ".", "..", "in", "x.bin/",
    "x.bin/../x.bin/y", "~/.bashrc", "$HOME/.bashrc", "nope.bin", "x.bin?y", "x.bin#y", "x" * 5000, "\n", "http://\n127.0.0.1/",
)  # fmt: skip


def targets() -> Cases:
    """F26: references that lead where they must not."""
    yield _case("F26", "whole", _set({"a/0": PART}), "value")
    yield _case("F26", "whole-by-its-path", _set({"a/0": ["@FOLDER@/in/x.bin", 100, 16]}), "value")
    for target in TARGETS:
        shown = target if len(target) < 60 else f"{len(target)}-characters"
        expect: Expect = "either" if target == "x.bin/" else "error"
        yield _case("F26", f"part-{shown!r}", _set({"a/0": [target, 100, 16]}), expect)
        yield _case("F26", f"whole-{shown!r}", _set({"a/0": [target]}))
        yield _case("F26", f"template-{shown!r}", _set({"a/0": ["{{u}}", 100, 16]}, templates={"u": target}), expect)
    for name, make in (("link", _link), ("folder-link", _folder_link), ("fifo", _fifo), ("folder", _folder)):
        made = _with(_set({"a/0": ["odd/x.bin" if name == "folder-link" else "odd.bin", 100, 16]}), make)
        yield _case("F26", name, made)


def _with(make: Make, more: Callable[[Path], None]) -> Make:
    def made(folder: Path) -> None:
        make(folder)
        more(folder)

    return made


def _link(folder: Path) -> None:
    (folder / "in/odd.bin").symlink_to(folder / "secret/x.bin")


def _folder_link(folder: Path) -> None:
    (folder / "in/odd").symlink_to(folder / "secret")


def _fifo(folder: Path) -> None:
    import os  # noqa: PLC0415 - used here alone

    os.mkfifo(folder / "in/odd.bin")


def _folder(folder: Path) -> None:
    (folder / "in/odd.bin").mkdir()


def parts() -> Cases:
    """F27: parts of sources that are not there, and inline data that is none."""
    size = len(DATA)
    numbers = (-1, -100, size, size + 1, size - 15, 1 << 31, 1 << 32, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64, 1 << 70,
               1.5, "100", None, True, [], {}, 1e300)  # fmt: skip
    for number in numbers:
        yield _case("F27", f"offset-{number}", _set({"a/0": ["x.bin", number, 16]}))
        if number is not True:
            yield _case("F27", f"length-{number}", _set({"a/0": ["x.bin", 100, number]}))
    for length in (0, 1, 15, 17, 32, 100):
        yield _case("F27", f"length-{length}", _set({"a/0": ["x.bin", 100, length]}))
    for name, value in (
        ("empty-list", []),
        ("two", ["x.bin", 100]),
        ("four", ["x.bin", 100, 16, 1]),
        ("number", 5),
        ("object-other", {"nope": {"x": [1]}}),
        ("list-of-lists", [["x.bin", 100, 16]]),
        ("url-number", [5, 100, 16]),
        ("url-null", [None, 100, 16]),
        ("url-list", [["x.bin"], 100, 16]),
        ("true", True),
        ("empty-text", ""),
        ("short-text", "abc"),
        ("base64-short", "base64:" + base64.b64encode(b"abc").decode()),
        ("base64-bad", "base64:****"),
        ("base64-padding", "base64:AAA"),
        ("base64-blank", "base64: AAAA"),
        ("base64-empty", "base64:"),
        ("base64-url", "base64:" + base64.urlsafe_b64encode(b"\xff" * 16).decode()),
        ("base64-long", "base64:" + "A" * 400_000),
    ):
        yield _case("F27", name, _set({"a/0": value}))
    yield _case("F27", "base64-whole", _set({"a/0": "base64:" + base64.b64encode(RAW).decode()}), "value")
    yield _case("F27", "null", _set({"a/0": None}), "either", np.zeros(4, "<i4"))
    for changed in (99, 115, 0, 10_000):
        sources = {"sources": {"x.bin": {"size": changed}}}
        yield _case("F27", f"source-of-{changed}-bytes-then", _set({"a/0": PART}, omnizarr=sources))
    yield _case("F27", "source-of-another-time", _set({"a/0": PART}, omnizarr={"sources": {"x.bin": {"modified": 1}}}))
    for name, document in (
        ("version-2", {"version": 2, "refs": {"a/.zarray": ARRAY, "a/0": PART}}),
        ("version-text", {"version": "x", "refs": {"a/.zarray": ARRAY, "a/0": PART}}),
        ("refs-list", {"version": 1, "refs": []}),
        ("refs-null", {"version": 1, "refs": None}),
        ("refs-missing", {"version": 1}),
        ("list", []),
        ("text", "x"),
        ("cut", text({"version": 1, "refs": {"a/.zarray": ARRAY, "a/0": PART}})[:-3]),
        ("key-leads-out", {"version": 1, "refs": {"a/.zarray": ARRAY, "a/0": PART, "../x": "y"}}),
        ("key-empty", {"version": 1, "refs": {"a/.zarray": ARRAY, "a/0": PART, "": "y"}}),
        ("deep", b'{"version":1,"refs":{"a":' + b"[" * 200_000),
        ("bad-utf-8", b'{"version":1,"refs":{"a":"\xff"}}'),
        ("gzip-bomb", None),
        ("zstd-cut", bytes.fromhex("28b52ffd2020b500")),
    ):
        made = _document(document) if document is not None else _bomb
        yield _case("F27", name, made, "either" if name.startswith("key") else "error")


def _document(document: object) -> Make:
    return lambda folder: _write(folder, document)


def _bomb(folder: Path) -> None:
    import gzip  # noqa: PLC0415 - used here alone

    _write(folder, gzip.compress(bytes(16 << 20), 9))


def records() -> Cases:
    """F28: sets in parquet, whose records are no parquet, or lie."""
    metadata = {"metadata": {".zgroup": {"zarr_format": 2}, "a/.zarray": v2()}, "record_size": 4}
    end = struct.pack("<I", 8) + b"PAR1"
    for name, data in (
        ("empty", b""),
        ("magic", b"PAR1"),
        ("magic-twice", b"PAR1PAR1"),
        ("zeros", bytes(1000)),
        ("ones", b"\xff" * 1000),
        ("footer-of-zeros", b"PAR1" + bytes(8) + end),
        ("footer-of-ones", b"PAR1" + b"\xff" * 8 + end),
        ("footer-beyond", b"PAR1" + bytes(8) + struct.pack("<I", 1 << 31) + b"PAR1"),
        ("footer-most", b"PAR1" + bytes(8) + struct.pack("<I", (1 << 32) - 1) + b"PAR1"),
        ("encrypted", b"PARE" + bytes(8) + struct.pack("<I", 8) + b"PARE"),
        ("html", b"<html><body>Sign in</body></html>"),
        ("list-of-2-31", b"PAR1" + bytes.fromhex("150219fcffffffff07") + bytes(3) + struct.pack("<I", 12) + b"PAR1"),
        ("nested-1000", b"PAR1" + b"\x1c" * 1000 + struct.pack("<I", 1000) + b"PAR1"),
        ("nested-100000", b"PAR1" + b"\x1c" * 100_000 + struct.pack("<I", 100_000) + b"PAR1"),
        ("lists-1000", b"PAR1" + b"\x19\x19" * 1000 + struct.pack("<I", 2000) + b"PAR1"),
    ):
        yield _records(name, metadata, data)
    for size in (0, -1, 1.5, "4", None, True, 1 << 63, 1 << 70, [], {}):
        yield _records(f"record-size-{size}", {**metadata, "record_size": size}, b"PAR1")
    for name, changed in (
        ("no-record-size", {"metadata": metadata["metadata"]}),
        ("no-metadata", {"record_size": 4}),
        ("metadata-list", {"metadata": [], "record_size": 4}),
        ("array-text", {"metadata": {"a/.zarray": "x"}, "record_size": 4}),
        ("array-null", {"metadata": {"a/.zarray": None}, "record_size": 4}),
        ("array-huge", {"metadata": {"a/.zarray": v2(shape=[1 << 62], chunks=[1])}, "record_size": 1}),
        ("leads-out", {"metadata": {"../a/.zarray": v2()}, "record_size": 4}),
    ):
        # Without a size of records it is no such set, but consolidated metadata of an array without chunks.
        yield _records(name, changed, b"PAR1", "either" if name == "no-record-size" else "error")
    yield _records("cut", text(metadata)[:-3], b"PAR1")
    yield _records("no-file", metadata, None, "either")


def _records(name: str, metadata: object, data: bytes | None, expect: Expect = "error") -> Case:
    files = {".zmetadata": metadata if isinstance(metadata, bytes) else text(metadata)}
    if data is not None:
        files["a/refs.0.parq"] = data

    def make(folder: Path) -> None:
        for key, content in files.items():
            path = folder / "in/set.parq" / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    return Case("F28", name, make, expect, np.zeros(4, "<i4"), act="references", where="in/set.parq", path="a")
