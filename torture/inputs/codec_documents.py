"""F7, F8 and F10: what documents say of codecs that do not exist, do not fit, or would run code."""

from __future__ import annotations

import base64
import os
import pickle
from typing import Any

from torture.inputs.case import BYTES, FOUR, RAW, Case, Cases, Expect, array2, array3, store, text, v2

WRONG: tuple[object, ...] = (None, True, -1, 1.5, 1 << 70, "x", [], {}, [[]], "9" * 400)


def unknown() -> Cases:
    """F7: codecs that nobody knows, configurations of wrong types, chains in a wrong order."""
    for name in ("", "nope", "no/pe", "../gzip", "GZIP", "gzip ", "zarr.gzip", "os.system", "builtins.eval", "é", "\0"):
        yield Case("F7", f"v3-unknown-{name!r}", array3(codecs=[BYTES, {"name": name}]))
        yield Case("F7", f"v2-unknown-{name!r}", array2(compressor={"id": name}))
        yield Case("F7", f"v2-unknown-filter-{name!r}", array2(filters=[{"id": name}]))
    for value in WRONG:
        shown = repr(value)[:20]
        yield Case("F7", f"v3-codecs-are-{shown}", array3(codecs=value))
        yield Case("F7", f"v3-codec-is-{shown}", array3(codecs=[BYTES, value]))
        yield Case("F7", f"v3-codec-name-is-{shown}", array3(codecs=[BYTES, {"name": value}]))
        if value not in ({}, None):
            yield Case("F7", f"v3-configuration-is-{shown}", array3(codecs=[{"name": "bytes", "configuration": value}]))
            yield Case("F7", f"v2-filters-are-{shown}", array2(filters=value) if value != [] else array2(b""))
            yield Case("F7", f"v2-compressor-is-{shown}", array2(compressor=value))
        yield Case("F7", f"v2-filter-is-{shown}", array2(filters=[value]))
        yield Case("F7", f"v2-id-is-{shown}", array2(compressor={"id": value}))
    yield from _configurations()
    gz, crc = {"name": "gzip", "configuration": {"level": 1}}, {"name": "crc32c"}
    turn = {"name": "transpose", "configuration": {"order": [0]}}
    for name, codecs in (
        ("no-codecs", []),
        ("no-bytes", [gz]),
        ("bytes-twice", [BYTES, BYTES]),
        ("gzip-first", [gz, BYTES]),
        ("transpose-last", [BYTES, turn]),
        ("crc-first", [crc, BYTES]),
        ("transpose-alone", [turn]),
        ("bytes-between", [gz, BYTES, gz]),
        ("vlen-for-numbers", [{"name": "vlen-utf8"}]),
        ("bytes-without-endian", [{"name": "bytes"}]),
    ):
        # Some writers leave out the byte order, and mean the usual one.
        expect: Expect = "either" if name == "bytes-without-endian" else "error"
        yield Case("F7", f"v3-{name}", array3(codecs=codecs), expect, FOUR)


def _configurations() -> Cases:
    numbers = {"gzip": "level", "zstd": "level", "blosc": "clevel"}
    good: dict[str, dict[str, Any]] = {
        "gzip": {"level": 5},
        "zstd": {"level": 3, "checksum": False},
        "blosc": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0},
    }
    for name, member in numbers.items():
        for value in (None, "5", [5], {}, 1 << 70, 5.5, True):
            codec = {"name": name, "configuration": {**good[name], member: value}}
            yield Case("F7", f"v3-{name}-{member}-{value!r}", array3(codecs=[BYTES, codec]))
    for member, values in {
        "cname": (None, 1, "nope", ""),
        "shuffle": (None, 1, "nope", True),
        "typesize": ("4", -1, 1 << 40, 4.5),
        "blocksize": ("0", -1, 1 << 70),
    }.items():
        for value in values:
            codec = {"name": "blosc", "configuration": {**good["blosc"], member: value}}
            yield Case("F7", f"v3-blosc-{member}-{value!r}", array3(codecs=[BYTES, codec]))
    for value in (None, "", "middle", "LITTLE", 1, ["little"]):
        codec = {"name": "bytes", "configuration": {"endian": value}}
        yield Case("F7", f"v3-endian-{value!r}", array3(codecs=[codec]))
    for name in ("gzip", "zstd", "crc32c", "bytes", "transpose", "blosc"):
        codec = {"name": name, "configuration": {**good.get(name, {}), "nobody": 1}}
        chain = [codec, BYTES] if name == "transpose" else [codec] if name == "bytes" else [BYTES, codec]
        yield Case("F7", f"v3-{name}-with-a-member-that-nobody-knows", array3(codecs=chain))


class _Canary:
    """Makes a file when it is taken out of a pickle."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("canary",)  # relative: the folder of the process


def unsafe() -> Cases:
    """F8: codecs that would run code; each case would leave a folder named "canary"."""
    data = pickle.dumps([_Canary(), "|O", [4]], protocol=2)
    python = b'c__builtin__\neval\n(S\'__import__("os").mkdir("canary")\'\ntR.'
    for name, chunk in (("pickle", data), ("python", python)):
        for filters in (
            [{"id": "pickle"}],
            [{"id": "pickle", "protocol": 5}],
            [{"id": "vlen-utf8"}, {"id": "pickle"}],
            [{"id": "pickle"}, {"id": "vlen-utf8"}],
            [{"id": "dill"}],
            [{"id": "joblib"}],
            [{"id": "numcodecs.pickles.Pickle"}],
            [{"id": "numcodecs.pickle"}],
            [{"id": "PICKLE"}],
        ):
            ids = "+".join(one["id"] for one in filters)
            proto = "-5" if "protocol" in filters[0] else ""
            made = array2(chunk, dtype="|O", filters=filters)
            yield Case("F8", f"v2-{name}-filter-{ids}{proto}", made, writes=True)
            made = array2(chunk, dtype="|O", compressor=filters[-1])
            yield Case("F8", f"v2-{name}-compressor-{ids}{proto}", made, writes=True)
        yield Case("F8", f"v2-{name}-objects-without-a-filter", array2(chunk, dtype="|O"), writes=True)
        for codec in ("pickle", "numcodecs.pickle", "numcodecs.pickles.Pickle", "python", "exec"):
            made = array3(chunk, codecs=[{"name": codec}])
            yield Case("F8", f"v3-{name}-{codec}", made, writes=True)
            made = array3(chunk, codecs=[BYTES, {"name": codec}])
            yield Case("F8", f"v3-{name}-bytes-{codec}", made, writes=True)
        meta = {"zarr_format": 2, "metadata": {".zarray": v2(dtype="|O", filters=[{"id": "pickle"}])}}
        files = {".zmetadata": text(meta), ".zarray": text(v2(dtype="|O", filters=[{"id": "pickle"}])), "0": chunk}
        yield Case("F8", f"v2-{name}-consolidated", store(files), writes=True)
        fill = base64.b64encode(chunk).decode()
        made = array2(None, dtype="|O", filters=[{"id": "pickle"}], fill_value=fill)
        yield Case("F8", f"v2-{name}-as-the-fill-value", made, writes=True)
    old = pickle.dumps(_Canary(), protocol=2)
    for member in ("dtype", "shape", "fill_value"):
        made = store({"__zmeta__": text({"shape": [4], "chunks": [4], "dtype": "<i4"}), "meta": old})
        yield Case("F8", f"v0-{member}-pickled", made, writes=True)
    for wrapped in (old, b"\x80\x02" + old, pickle.dumps({"shape": (4,), "chunks": (4,), "dtype": _Canary()}, 2)):
        yield Case("F8", f"v0-meta-pickled-{len(wrapped)}", store({"__zmeta__": wrapped, "0": RAW}), writes=True)


def misfits() -> Cases:
    """F10: codecs whose configuration does not suit the array."""
    grid = {"shape": [2, 2], "chunks": [2, 2]}
    for order in ([], [0], [0, 0], [1, 1], [0, 2], [-1, 0], [0, 1, 2], [1.0, 0.0], ["0", "1"], [True, False], "F", "C",
                  "x", None, 1, [1 << 63, 0], [[0, 1]], {"0": 1}, list(range(1000))):  # fmt: skip
        turn = {"name": "transpose", "configuration": {"order": order}}
        made = array3(**grid, codecs=[turn, BYTES])
        # Early drafts have "C" and "F", and some writers follow them.
        yield Case("F10", f"transpose-{str(order)[:30]}", made, "any" if order in ("C", "F") else "error")
    for size in (0, -1, 3, 5, 1 << 31, 1 << 63, "4", 4.5, None, [4]):
        expect = "any" if size in (0, 3, 5, None) else "error"  # what is left over stays where it is
        yield Case("F10", f"shuffle-{size}", array2(filters=[{"id": "shuffle", "elementsize": size}]), expect)
    for kind in ("<i8", "<f8", "|S3", "nope", "", None, 4, "<i0", "|O", "<i3", "<M8[parsec]", "x" * 10_000):
        yield Case(
            "F10",
            f"delta-{str(kind)[:10]}",
            array2(filters=[{"id": "delta", "dtype": kind}]),
            "any" if kind in ("<i8", "<f8", None) else "error",
        )
        made = array2(filters=[{"id": "fixedscaleoffset", "scale": 1, "offset": 0, "dtype": kind}])
        yield Case(
            "F10", f"fixedscaleoffset-{str(kind)[:10]}", made, "any" if kind in ("<i8", "<f8", None) else "error"
        )
        made = array2(filters=[{"id": "astype", "encode_dtype": kind, "decode_dtype": "<i4"}])
        yield Case("F10", f"astype-{str(kind)[:10]}", made, "any" if kind in ("<i8", "<f8", None) else "error")
    for scale in (0, "x", None, [], 1e999, float("nan")):
        made = array2(filters=[{"id": "fixedscaleoffset", "scale": scale, "offset": 0, "dtype": "<i4"}])
        yield Case("F10", f"fixedscaleoffset-scale-{scale}", made, "any" if isinstance(scale, float | int) else "error")
    for digits in (-1, 400, "x", None, 1.5, 1 << 70):
        made = array2(dtype="<f4", filters=[{"id": "quantize", "digits": digits, "dtype": "<f4"}])
        yield Case("F10", f"quantize-{digits}", made, "any")
    for keep in (-1, 0, 24, 65, 1 << 40, "x", None, 2.5):
        made = array2(dtype="<f4", filters=[{"id": "bitround", "keepbits": keep}])
        yield Case("F10", f"bitround-{keep}", made, "any")
    for id_ in ("packbits", "categorize", "base64"):
        yield Case("F10", f"{id_}-for-numbers", array2(filters=[{"id": id_}]))
