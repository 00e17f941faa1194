"""Small chunks as other programs have written them, by the name of their encoding."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

NUMBERS: Final = np.array([7, 7, 7, 7, 300, 300, -1, 5], "<i4")
MANY: Final = NUMBERS.repeat(16)
"""What the samples of Blosc hold: enough to be split into four streams."""

HEX: Final = {
    "gzip": "1f8b08004b75fb6a00ff636760606047c23a8c10fc1f0858817c00cfcf9a0d20000000",
    "zlib": "785e636760606047c23a8c10fc1f0858817c0021dc0478",
    "bz2": "425a6831314159265359f3e91d0c00000bd000e28000040000a000211100c02e054c3aaf116b3c5dc914e14243cfa47430",
    "lzma": "fd377a585a000004e6d6b446020021010c0000008f98419ce0001f00115d00038036edb8f106a8c7d5eef42956b4000000000000"
    "0acab0c1d6609cfd00012d200ccfc23b1fb6f37d010000000004595a",
    "zstd": "28b52ffd2020b5000070070000002c01ffffffff05000000020060c0738e08",
    "zstd-checksum": "28b52ffd2420b5000070070000002c01ffffffff05000000020060c0738e0873a32f86",
    "lz4": "2000000048070000000400222c01040080ffffffff05000000",
    "fletcher32": "070000000700000007000000070000002c0100002c010000ffffffff05000000027911de",
    "crc32": "cfcf9a0d070000000700000007000000070000002c0100002c010000ffffffff05000000",
    "adler32": "7804dc21070000000700000007000000070000002c0100002c010000ffffffff05000000",
    "jenkins_lookup3": "070000000700000007000000070000002c0100002c010000ffffffff05000000d116b9cc",
    "shuffle": "070707072c2cff05000000000101ff00000000000000ff00000000000000ff00",
    "delta": "070000000000000000000000000000002501000000000000d3feffff06000000",
    "blosclz": "0201010400020000000200007c000000140000001a0000002307070707e03303002ce0160000ffe006000005e004000105051800"
    "00002300000000e033030001e0160000ffe00600e0056b010000130000002300000000e0530300ffe00600e0056b01000013000000230000"
    "0000e0530300ffe00600e0056b010000",
    "blosc-lz4": "020120040002000000020000810000001400000016000000cf0700000007000000070000000c005c50000700000016000000cf0700"
    "000007000000070000000c005c50000700000016000000cf2c0100002c0100002c0100000c005c50002c0100001b0000001fff01002ccf05"
    "00000005000000050000000c001c500005000000",
    "blosc-lz4hc": "0201210400020000000200007700000014000000180000001f0701002c1f2c01000c1bff01001605010050050505050517000000"
    "1f0001002c1f0101000c1bff0100073b00500000000000120000001f0001004c1bff0100071b00500000000000120000001f0001004c1bff"
    "0100071b00500000000000",
    "blosc-zlib": "0201610400020000000200006b0000001400000014000000785e6367a70ce81000ffd1002b1a00003d6d178113000000785e6360"
    "a00c301200ffd100ba7e008d17101110000000785e6360a02df88f06d0e50187070ff110000000785e6360a02df88f06d0e50187070ff1",
    "blosc-zstd": "02019404000200000002000048000000140000003000000028b52ffd60000135010040ffff00000000ff000c8080c93a45406daa"
    "082087c267728a3b4f6d3b899bf24c3c60640024",
}

DATA: Final = {name: bytes.fromhex(text) for name, text in HEX.items()}


class Sample(NamedTuple):
    """A chunk, and what its document says of it."""

    name: str
    data: bytes
    values: np.ndarray[Any, Any]
    compressor: dict[str, Any] | None = None
    filters: list[dict[str, Any]] | None = None
    checked: bool = False
    """Whether a checksum covers what is stored, so that a change of it is seen."""


def _blosc(name: str) -> Sample:
    cname = name.removeprefix("blosc-")
    config = {"id": "blosc", "cname": cname, "clevel": 5, "shuffle": 1, "blocksize": 0}
    return Sample(name, DATA[name], MANY, config)


def _compressed(name: str, config: dict[str, Any] | None = None, *, checked: bool) -> Sample:
    return Sample(name, DATA[name], NUMBERS, {"id": name, **(config or {})}, checked=checked)


def _filtered(name: str, config: dict[str, Any] | None = None, *, checked: bool = True) -> Sample:
    return Sample(name, DATA[name], NUMBERS, None, [{"id": name, **(config or {})}], checked=checked)


SAMPLES: Final = (
    _compressed("gzip", {"level": 5}, checked=True),
    _compressed("zlib", {"level": 5}, checked=True),
    _compressed("bz2", {"level": 1}, checked=True),
    _compressed("lzma", {"format": 1, "check": -1, "preset": 0, "filters": None}, checked=True),
    _compressed("zstd", {"level": 3}, checked=False),
    Sample("zstd-checksum", DATA["zstd-checksum"], NUMBERS, {"id": "zstd", "level": 3, "checksum": True}, checked=True),
    _compressed("lz4", {"acceleration": 1}, checked=False),
    _filtered("fletcher32"),
    _filtered("crc32"),
    _filtered("adler32"),
    _filtered("jenkins_lookup3", {"initval": 0, "prefix": None}),
    _filtered("shuffle", {"elementsize": 4}, checked=False),
    _filtered("delta", {"dtype": "<i4", "astype": "<i4"}, checked=False),
    *(_blosc(name) for name in ("blosclz", "blosc-lz4", "blosc-lz4hc", "blosc-zlib", "blosc-zstd")),
)
