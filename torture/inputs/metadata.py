"""F16, F18, F19 and F21: documents that claim what cannot be, or contradict one another."""

from __future__ import annotations

import base64
import struct
from typing import Any

import numpy as np

from torture.inputs.case import BYTES, FOUR, RAW, Case, Cases, Expect, array2, array3, store, text, v2, v3

NUMBERS: tuple[object, ...] = (0, -1, -4, 1.0, 4.5, True, "4", "", None, [], [4], {}, 1 << 31, 1 << 32, 1 << 62, (1 << 63) - 1,
                               1 << 63, 1 << 64, 1 << 70, -(1 << 63), -(1 << 64), 1e308, "0x4", "٤")  # fmt: skip


def sizes() -> Cases:
    """F16: shapes and chunk shapes."""
    one = (slice(0, 1),)
    for number in NUMBERS:
        shown = str(number)[:24] + ("" if not isinstance(number, str) else "-text")
        legal = type(number) is int and 0 <= number < 1 << 63
        if number == 0 and type(number) is int:
            yield Case("F16", "v2-no-elements", array2(shape=[0]), "value", np.zeros(0, "<i4"))
            yield Case("F16", "v3-no-elements", array3(shape=[0]), "value", np.zeros(0, "<i4"))
        else:
            expect: Expect = "either" if legal or number == 1.0 else "error"
            yield Case("F16", f"v2-shape-{shown}", array2(shape=[number]), expect, FOUR[:1], select=one)
            yield Case("F16", f"v3-shape-{shown}", array3(shape=[number]), expect, FOUR[:1], select=one)
        # A chunk of more than four elements would need more bytes than there are.
        yield (
            Case("F16", f"v2-chunk-{shown}", array2(chunks=[number]), select=one)
            if number != 1.0
            else Case("F16", "v2-chunk-1.0", array2(chunks=[number]), "either", FOUR[:1], select=one)
        )
        yield Case("F16", f"v3-chunk-{shown}", array3(chunks=[number]), select=one)
        yield Case("F16", f"v2-shape-is-{shown}", array2(shape=number), "error" if number != [4] else "value", FOUR)
        yield Case("F16", f"v3-shape-is-{shown}", array3(shape=number), "error" if number != [4] else "value", FOUR)
        yield Case("F16", f"v2-chunks-are-{shown}", array2(chunks=number), "error" if number != [4] else "value", FOUR)
        yield Case("F16", f"v3-chunks-are-{shown}", array3(chunks=number), "error" if number != [4] else "value", FOUR)
        if number not in (2, 3):
            yield Case("F16", f"v2-format-{shown}", array2(zarr_format=number))
            yield Case("F16", f"v3-format-{shown}", array3(zarr_format=number))
    for rank in (0, 2, 3, 64, 65, 100, 1000, 100_000):
        yield Case("F16", f"v2-rank-{rank}-of-1", array2(shape=[1] * rank))
        yield Case("F16", f"v3-rank-{rank}-of-1", array3(shape=[1] * rank))
        if rank > 64:
            made = {"shape": [1] * rank, "chunks": [1] * rank}
            yield Case("F16", f"v2-rank-{rank}", array2(**made), decoded=100 * rank)
            yield Case("F16", f"v3-rank-{rank}", array3(**made), decoded=100 * rank)
    for length, rank in (
        (1 << 32, 2),
        (1 << 21, 3),
        (1 << 62, 2),
        ((1 << 63) - 1, 8),
        (2, 64),
        (10**6, 4),
        (1 << 16, 4),
    ):
        shape = [length] * rank
        part = (slice(0, 1),) * rank
        yield Case("F16", f"v2-chunk-{length}-to-the-{rank}", array2(shape=shape, chunks=shape), select=part)
        yield Case("F16", f"v3-chunk-{length}-to-the-{rank}", array3(shape=shape, chunks=shape), select=part)
        ones = [1] * rank
        zero = np.zeros([1] * rank, "<i4")
        yield Case(
            "F16", f"v2-shape-{length}-to-the-{rank}", array2(shape=shape, chunks=ones), "either", zero, select=part
        )
        yield Case(
            "F16", f"v3-shape-{length}-to-the-{rank}", array3(shape=shape, chunks=ones), "either", zero, select=part
        )
        yield Case("F16", f"v3-all-of-{length}-to-the-{rank}", array3(shape=shape, chunks=ones))
    for count in (1 << 20, 1 << 28, 1 << 40):  # one chunk that claims far more than is stored
        made = {"shape": [count], "chunks": [count]}
        yield Case(
            "F16", f"v2-one-chunk-of-{count}", array2(**made), select=one, decoded=0 if count > 1 << 28 else 4 * count
        )
        yield Case(
            "F16", f"v3-one-chunk-of-{count}", array3(**made), select=one, decoded=0 if count > 1 << 28 else 4 * count
        )
    yield from _members()


def _members() -> Cases:
    for member in v2():
        if member not in ("filters", "fill_value"):
            yield Case(
                "F16",
                f"v2-without-{member}",
                array2(**{member: ...}),
                "error" if member not in ("order", "compressor") else "either",
                FOUR,
            )
        for value in (-1, 7.5, [1], {"a": 1}, "nope", True):
            if member not in ("fill_value", "shape" if value == [1] else ""):
                yield Case("F16", f"v2-{member}-{value}", array2(**{member: value}))
    for member in v3():
        if member != "attributes":
            yield Case(
                "F16",
                f"v3-without-{member}",
                array3(**{member: ...}),
                "error" if member != "chunk_key_encoding" else "any",
            )
        for value in (-1, 7.5, [1], {"a": 1}, "nope", True):
            if member != "fill_value" and (member, value) not in (("attributes", {"a": 1}), ("shape", [1])):
                yield Case("F16", f"v3-{member}-{value}", array3(**{member: value}))
    for kind in (
        "",
        "int",
        "int31",
        "Int32",
        "float128",
        "r0",
        "r7",
        "r-8",
        "r9999999999999999",
        "<i4",
        "object",
        4,
        None,
    ):
        yield Case("F16", f"v3-type-{kind}", array3(data_type=kind), "any" if kind == "<i4" else "error")
    for kind in ("", "i", "<i3", "<i0", "<i-4", "<i99999999999999999999", "<x4", "=i4x", "<f1", "<M8", "<M8[9999999999999999h]",
                 "|S-1", [], [[]], [["a"]], [["a", "<i4"], ["a", "<i4"]], [["a", "<i4", [-1]]], [["a", "<i4", [1 << 40]]],
                 [["a", "<i4", [1 << 62, 4]]], {"names": []}, "eval", "O", "__import__('os')"):  # fmt: skip
        expect: Expect = "any" if kind in ("<M8", "<M8[9999999999999999h]") else "error"
        yield Case("F16", f"v2-type-{str(kind)[:40]}", array2(dtype=kind), expect)
    deep: Any = "<i4"
    for _ in range(40):
        deep = [["a", deep]]
    yield Case("F16", "v2-type-40-structs-deep", array2(dtype=deep, fill_value=None), "any")
    wide = [[f"f{i}", "<i4"] for i in range(10_000)]
    yield Case("F16", "v2-type-10000-fields", array2(dtype=wide, fill_value=None), "error", decoded=8 << 20)
    for name, encoding in (
        ("unknown", {"name": "nope"}),
        ("separator-x", {"name": "default", "configuration": {"separator": "x"}}),
        ("separator-dots", {"name": "default", "configuration": {"separator": "../"}}),
        ("separator-empty", {"name": "v2", "configuration": {"separator": ""}}),
        ("number", 5),
    ):
        yield Case("F16", f"v3-keys-{name}", array3(chunk_key_encoding=encoding))
    for separator in ("", "x", "//", "../", "\0", None, 5, "\\"):
        # What is not said, or null, is a dot.
        yield Case(
            "F16",
            f"v2-separator-{separator!r}",
            array2(dimension_separator=separator),
            "either" if separator is None else "error",
            FOUR,
        )
    for names in (["x", "y"], [], [1], "x", [["x"]], {"x": 1}, [None, None]):
        yield Case("F16", f"v3-dimension-names-{names}", array3(dimension_names=names))


def unknown_members() -> Cases:
    """F18: members that nobody knows, which may or may not be passed over."""
    for value in (None, 1, "x", [], True, {}, {"a": 1}, {"must_understand": True}, {"must_understand": "false"},
                  {"must_understand": None}, {"must_understand": 0}, {"name": "x"}):  # fmt: skip
        yield Case("F18", f"array-{value}", array3(extension=value))
    for value in ({"must_understand": False}, {"must_understand": False, "name": "x", "deep": {"a": [1, 2, 3]}}):
        yield Case("F18", f"array-{value}", array3(extension=value), "value", FOUR)
        yield Case("F18", f"codec-{value}", array3(codecs=[BYTES, {"name": "nope", **value}]), "any")
        for member in ("chunk_grid", "chunk_key_encoding", "data_type"):
            yield Case("F18", f"{member}-{value}", array3(**{member: {"name": "nope", **value}}))
    for transformers in ([{"name": "nope"}], [{}], "nope", [1], {"name": "x"}):
        yield Case("F18", f"transformers-{transformers}", array3(storage_transformers=transformers))
    yield Case("F18", "no-transformers", array3(storage_transformers=[]), "value", FOUR)
    group = {"zarr_format": 3, "node_type": "group"}
    for value in (1, {"a": 1}, {"must_understand": True}):
        files = {"zarr.json": text({**group, "extension": value}), "a/zarr.json": text(v3()), "a/c/0": RAW}
        yield Case("F18", f"group-{value}", store(files), act="tree")


def together() -> Cases:
    """F19: documents of several kinds for one node."""
    a2, a3, g2, g3 = text(v2()), text(v3()), text({"zarr_format": 2}), text({"zarr_format": 3, "node_type": "group"})
    other = FOUR[::-1].copy()
    both = {"0": RAW, "c/0": RAW}
    for name, files in {
        "v2-array-and-group": {".zarray": a2, ".zgroup": g2},
        "v2-and-v3-array": {".zarray": a2, "zarr.json": a3},
        "v2-group-and-v3-array": {".zgroup": g2, "zarr.json": a3},
        "v2-array-beside-broken-v3": {".zarray": a2, "zarr.json": b"{"},
        "v3-array-beside-broken-v2": {".zarray": b"{", "zarr.json": a3},
        "v3-array-beside-broken-attributes": {".zattrs": b"{", "zarr.json": a3},
        "v2-array-and-v0": {".zarray": a2, "__zmeta__": b"{}"},
        "v2-array-and-v1": {".zarray": a2, "meta": b"{}"},
        "v2-array-and-n5": {".zarray": a2, "attributes.json": b'{"dimensions": [9]}'},
    }.items():
        yield Case("F19", name, store({**files, **both}), "either", FOUR)
        cut = store({**files, "0": RAW[:3], "c/0": RAW[:3]})
        yield Case("F19", f"{name}-with-a-bad-chunk", cut)
    two = {".zarray": a2, "0": RAW, "zarr.json": a3, "c/0": other.tobytes()}
    yield Case("F19", "v2-and-v3-with-other-chunks", store(two), "any")
    inside = {"zarr.json": a3, "c/0": RAW, "inner/zarr.json": a3, "inner/c/0": RAW}
    yield Case("F19", "array-in-an-array", store(inside), "either", FOUR)
    nothing = np.zeros(4, "<i4")  # a key that is only a prefix of others is missing, as it is in an object store
    yield Case("F19", "chunks-that-are-an-array", store({"zarr.json": a3, "c/0/zarr.json": a3}), "either", nothing)
    yield Case("F19", "folder-for-a-document", store({"zarr.json/x": b"", "c/0": RAW}))
    yield Case("F19", "folder-for-a-v2-document", store({".zarray/x": b"", "0": RAW}))
    yield Case("F19", "folder-for-a-chunk", store({"zarr.json": a3, "c/0/x": RAW}), "either", nothing)
    yield Case("F19", "folder-for-a-v2-chunk", store({".zarray": a2, "0/x": RAW}), "either", nothing)
    for name, document in (
        ("v2-in-zarr.json", v2()),
        ("v3-without-type", v3(node_type=...)),
        ("v3-other-type", v3(node_type="x")),
    ):
        yield Case("F19", name, store({"zarr.json": text(document), **both}))
    for name, document in (("v3-in-zarray", v3()), ("v1-in-zarray", v2(zarr_format=1))):
        yield Case("F19", name, store({".zarray": text(document), **both}))
    group = {"zarr.json": g3, "a/zarr.json": a3, "a/c/0": RAW}
    for name, files in {"broken-child": {"b/zarr.json": b"{"}, "child-of-no-type": {"b/zarr.json": b"{}"}}.items():
        yield Case("F19", f"group-with-a-{name}", store({**group, **files}), act="tree")


def fills() -> Cases:
    """F21: fill values, of arrays without chunks."""
    for name, kind, value, expected in (
        ("nan", "float32", "NaN", struct.pack("<I", 0x7FC00000)),
        ("nan-payload", "float32", "0x7fc00001", struct.pack("<I", 0x7FC00001)),
        ("signalling", "float32", "0x7fa00000", struct.pack("<I", 0x7FA00000)),
        ("minus-nan", "float32", "0xffc00000", struct.pack("<I", 0xFFC00000)),
        ("hex-one", "float64", "0x3ff0000000000000", struct.pack("<d", 1)),
        ("infinity", "float64", "Infinity", struct.pack("<d", np.inf)),
        ("minus-infinity", "float64", "-Infinity", struct.pack("<d", -np.inf)),
        ("minus-zero", "float64", -0.0, struct.pack("<d", -0.0)),
        ("tiny", "float64", 5e-324, struct.pack("<d", 5e-324)),
        ("least", "int64", -(1 << 63), struct.pack("<q", -(1 << 63))),
        ("most", "uint64", (1 << 64) - 1, struct.pack("<Q", (1 << 64) - 1)),
        ("odd", "int64", (1 << 53) + 1, struct.pack("<q", (1 << 53) + 1)),
    ):
        value_ = np.frombuffer(expected * 4, np.dtype(kind).newbyteorder("<"))
        yield Case("F21", f"v3-{name}", array3(None, data_type=kind, fill_value=value), "value", value_)
    wrong: dict[str, tuple[object, ...]] = {
        "int8": (128, -129, 1.5, "1", True, None, [1], {}, "NaN", 1e300, 1 << 70),
        "uint8": (-1, 256, 0.5, "0x1"),
        "int32": (1 << 31, -(1 << 31) - 1, "a", "", 1e-5),
        "uint64": (1 << 64, -1),
        "bool": (0, 1, 2, "true", None, [], 0.0),
        "float32": (
            "nan",
            "0x7fc0000",
            "0x7fc000001",
            "0x",
            "0xzzzzzzzz",
            "-0.0x",
            "",
            [1],
            {},
            True,
            None,
            "1.0",
            "inf",
        ),
        "float64": ("0x7fc00000", "0x" + "f" * 17, "++1", "Infinity ", "1e5"),
        "complex64": (1, [1], [1, 2, 3], ["a", 1], "1+2j", [None, None], {}),
        "r16": ([1], [1, 2, 3], [256, 0], [-1, 0], [1.5, 0], 5, "ab"),
        "string": (1, None, [], {}, True),
    }
    for kind, values in wrong.items():
        codecs = [{"name": "vlen-utf8"}] if kind == "string" else [BYTES]
        for value in values:
            made = array3(None, data_type=kind, fill_value=value, codecs=codecs)
            # Whole floats, numbers for truth, and null are written by some; they mean what they say.
            yield Case("F21", f"v3-{kind}-{str(value)[:24]!r}", made, "any" if _lenient(kind, value) else "error")
    for kind, values in {
        "<i4": ("a", 1.5, [], {}, 1 << 40, "NaN", "x" * 1000, True),
        "|b1": ("x", 5, [], {}),
        "<f4": ("nope", [], {}, "0x7fc00000", "nan "),
        "|S4": (5, [], {}, "****", "AAAAAAAAAAAA", "A"),
        "<U2": (5, [], {}),
        "|V4": (5, "****", "AAAA", "AAAAAAAAAAAA", []),
        "<M8[s]": ("x", [], 1.5, 1 << 70),
        "<c8": ("x", [1], [1, 2, 3], ["a", "b"], {}),
    }.items():
        for value in values:
            made = array2(None, dtype=kind, fill_value=value)
            expect: Expect = "any" if _lenient(kind, value) else "error"
            yield Case("F21", f"v2-{kind}-{str(value)[:24]!r}", made, expect)
    struct_ = [["a", "<i4"], ["b", "|S2"]]
    for size in (0, 1, 5, 7, 100):
        value = base64.b64encode(bytes(size)).decode()
        yield Case("F21", f"v2-struct-of-{size}-bytes", array2(None, dtype=struct_, fill_value=value))
    for value in (5, "*", [1, 2], {"a": 1}, "AAAA=A=="):
        yield Case("F21", f"v2-struct-{value}", array2(None, dtype=struct_, fill_value=value), "any")


def _lenient(kind: str, value: object) -> bool:
    """Whether writers exist that store this, so that a reader may take it."""
    if value is None or kind in ("<U2", "bool", "|b1"):
        return True
    if isinstance(value, bool):
        return kind in ("<i4", "int8", "float32")
    if kind in ("|S4", "|V4") and value in (5, "A", "****", "AAAA", "AAAAAAAAAAAA", []):
        return True
    return (kind, value) in (("<f4", "0x7fc00000"), ("float32", "0x7fc0000"), ("uint8", "0x1"), ("float32", "nan"), ("float32", "inf"), ("float32", "1.0"), ("complex64", 1),
                             ("int8", "1"), ("float64", "1e5"), ("float64", "0x7fc00000"), ("<i4", 1.5), ("<M8[s]", 1.5))  # fmt: skip
