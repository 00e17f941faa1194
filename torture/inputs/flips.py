"""F1, F5 and F6: chunks that are cut, lengthened, or have a bit changed."""

from __future__ import annotations

import struct

import numpy as np

from torture.inputs.case import BYTES, CRC, Case, Cases, Make, array2, array3, store, text, v2
from torture.inputs.crc import crc32c
from torture.inputs.samples import DATA, NUMBERS, SAMPLES, Sample

RAW = NUMBERS.tobytes()


def raw() -> Cases:
    """F1: raw chunks of a wrong length."""
    for size in (*range(len(RAW)), *(len(RAW) + more for more in (1, 2, 3, 4, 5, 31, 32, 33, 1000, 100_000))):
        data = (RAW * (size // len(RAW) + 1))[:size]
        yield Case("F1", f"v2-{size}-bytes", array2(data, shape=[8], chunks=[8]))
        yield Case("F1", f"v3-{size}-bytes", array3(data, shape=[8], chunks=[8]))
    for order, shape in (("F", [2, 4]), ("C", [4, 2])):
        for size in (0, 1, 31, 33):
            data = (RAW * 2)[:size]
            part = (slice(0, 1), slice(0, 1))
            document = {"shape": shape, "chunks": shape, "order": order, "dimension_separator": "/"}
            yield Case("F1", f"v2-{order}-{size}-bytes", _nested2(data, **document))
            yield Case("F1", f"v2-{order}-{size}-bytes-part", _nested2(data, **document), select=part)


def illegal() -> Cases:
    """F1: bits that the type has no value for: true for all but zero, and text beyond Unicode."""
    for byte in (0, 1, 2, 3, 127, 128, 255):
        value = np.array([True, byte != 0, False])
        for name, dtype in (("v2", "|b1"), ("v3", "bool")):
            data = bytes([1, byte, 0])
            made = array2(data, shape=[3], chunks=[3], dtype=dtype, fill_value=False)
            if name == "v3":
                made = array3(data, shape=[3], chunks=[3], data_type=dtype, fill_value=False)
            yield Case("F1", f"{name}-boolean-{byte}", made, "either", value)
            yield Case("F1", f"{name}-boolean-{byte}-part", made, "either", value[1:2], select=(slice(1, 2),))


def _nested2(data: bytes, **document: object) -> Make:
    return store({".zarray": text(v2(**document)), "0/0": data})


def damaged() -> Cases:
    """F5: streams cut at each byte, and with each bit changed."""
    for sample in SAMPLES:
        yield Case("F5", f"{sample.name}-whole", _made(sample, sample.data), "value", sample.values)
        for size in range(len(sample.data)):
            yield Case("F5", f"{sample.name}-cut-at-{size}", _made(sample, sample.data[:size]))
        for more in (b"\0", b"\xff" * 3, sample.data):
            made = _made(sample, sample.data + more)
            yield Case("F5", f"{sample.name}-and-{len(more)}-more", made, "either", sample.values)
        for bit in range(8 * len(sample.data)):
            changed = bytearray(sample.data)
            changed[bit // 8] ^= 1 << bit % 8
            expect = "either" if sample.checked else "any"
            yield Case("F5", f"{sample.name}-bit-{bit}", _made(sample, bytes(changed)), expect, sample.values)


def _made(sample: Sample, data: bytes) -> Make:
    size = [sample.values.size]
    return array2(data, shape=size, chunks=size, compressor=sample.compressor, filters=sample.filters)


def checksums() -> Cases:
    """F6: checksums that do not match, or are not there."""
    small = {"shape": [8], "chunks": [8]}
    good = RAW + struct.pack("<I", crc32c(RAW))
    codecs = [BYTES, CRC]
    yield Case("F6", "crc32c-whole", array3(good, **small, codecs=codecs), "value", NUMBERS)
    for size in range(len(good)):
        yield Case("F6", f"crc32c-cut-at-{size}", array3(good[:size], **small, codecs=codecs))
    for bit in range(8 * len(good)):
        changed = bytearray(good)
        changed[bit // 8] ^= 1 << bit % 8
        yield Case("F6", f"crc32c-bit-{bit}", array3(bytes(changed), **small, codecs=codecs))
    for name, end in (("zero", b"\0" * 4), ("big-endian", good[-4:][::-1]), ("twice", good[-4:] * 2), ("none", b"")):
        yield Case("F6", f"crc32c-{name}", array3(RAW + end, **small, codecs=codecs))
    for name, ids in (("fletcher32", 4), ("crc32", 0), ("adler32", 0), ("jenkins_lookup3", 4)):
        config = {"initval": 0, "prefix": None} if name == "jenkins_lookup3" else {}
        data = DATA[name]
        values = data[:-4] if ids else data[4:]
        for wrong, made in (
            ("none", values),
            ("zero", values + b"\0" * 4 if ids else b"\0" * 4 + values),
            ("at-the-other-end", data[-4:] + data[:-4] if ids else data[4:] + data[:4]),
            ("of-other-values", bytes(32) + data[-4:] if ids else data[:4] + bytes(32)),
        ):
            filters = [{"id": name, **config}]
            yield Case("F6", f"{name}-{wrong}", array2(made, **small, filters=filters))
    gz = DATA["gzip"]
    for name, data in (
        ("crc", gz[:-8] + b"\0\0\0\0" + gz[-4:]),
        ("size", gz[:-4] + b"\0\0\0\1"),
        ("no-trailer", gz[:-8]),
        ("half-a-trailer", gz[:-4]),
    ):
        yield Case("F6", f"gzip-{name}", array2(data, **small, compressor={"id": "gzip", "level": 5}))
        gzip3 = [BYTES, {"name": "gzip", "configuration": {"level": 5}}]
        yield Case("F6", f"v3-gzip-{name}", array3(data, **small, codecs=gzip3))
    z = DATA["zlib"]
    yield Case("F6", "zlib-adler", array2(z[:-1] + b"\0", **small, compressor={"id": "zlib", "level": 5}))
    c = DATA["zstd-checksum"]
    for name, data in (("wrong", c[:-1] + b"\0"), ("none", c[:-4]), ("half", c[:-2])):
        zstd3 = [BYTES, {"name": "zstd", "configuration": {"level": 3, "checksum": True}}]
        yield Case("F6", f"zstd-checksum-{name}", array3(data, **small, codecs=zstd3))
