"""Codecs of documents turned into steps of the kernel."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from omnizarr.codec.compile import compile_chain
from omnizarr.errors import LimitError, MetadataError, UnsafeError, UnsupportedError
from omnizarr.limits import DEFAULT_LIMITS
from omnizarr.model.codec import Codec
from omnizarr.model.dtype import DType

OTHER = "big" if sys.byteorder == "little" else "little"


def steps(codecs, dtype="i4", shape=(4, 6)):
    return compile_chain(tuple(Codec(*codec) for codec in codecs), DType.of(dtype), shape).steps


@pytest.mark.parametrize(
    ("dtype", "endian", "swap"),
    [
        ("<i4", "little", 0), ("<i4", "big", 4), (">i4", "big", 0), (">i4", "little", 4), ("<c16", "big", 8),
        ("<U5", "big", 4), ("S5", "big", 0), ("u1", "big", 0), ("bool", None, 0), ("<M8[s]", "big", 8), ("V6", None, 0),
    ],
)  # fmt: skip
def test_bytes_are_swapped_where_disk_and_memory_differ(dtype, endian, swap):
    config = {} if endian is None else {"endian": endian}
    assert steps([("bytes", config)], dtype)[-1] == ("bytes", {"swap": swap})


def test_plain_codecs():
    assert steps(
        [
            ("transpose", {"order": [1, 0]}),
            ("bytes", {"endian": sys.byteorder}),
            ("gzip", {"level": 5}),
            ("zstd", {"level": 3}),
            ("crc32c", {}),
        ]
    ) == [
        ("transpose", {"order": [1, 0]}),
        ("bytes", {"swap": 0}),
        ("gzip", {"level": 5}),
        ("zstd", {"level": 3, "checksum": False}),
        ("crc32c", {}),
    ]


def test_defaults_of_numcodecs():
    chain = [("bytes", {"endian": "little"}), ("numcodecs.lz4", {}), ("numcodecs.bz2", {}), ("numcodecs.lzma", {})]
    assert steps(chain)[1:] == [
        ("lz4", {"acceleration": 1}),
        ("bz2", {"level": 1}),
        ("lzma", {"format": 1, "check": -1, "preset": None, "filters": None}),
    ]


@pytest.mark.parametrize(
    ("config", "dtype", "shuffle", "typesize"),
    [
        ({"shuffle": "shuffle", "typesize": 4}, "i4", 1, 4),
        ({"shuffle": "bitshuffle", "typesize": 2}, "i4", 2, 2),
        ({"shuffle": "noshuffle", "typesize": 300}, "i4", 0, 1),
        ({"shuffle": -1, "typesize": 1}, "u1", 2, 1),
        ({"shuffle": -1, "typesize": 8}, "i8", 1, 8),
    ],
)
def test_blosc(config, dtype, shuffle, typesize):
    ((_, step),) = steps([("bytes", {"endian": "little"}), ("blosc", {"cname": "lz4", "clevel": 5, **config})], dtype)[
        1:
    ]
    assert (step["shuffle"], step["typesize"], step["cname"]) == (shuffle, typesize, "lz4")


def test_delta_changes_the_type_that_bytes_see():
    chain = [("delta", {"dtype": "<i2", "astype": "<i8"}), ("bytes", {"endian": "big"})]
    assert steps(chain, "<i2") == [("delta", {"dtype": "<i2", "astype": "<i8"}), ("bytes", {"swap": 8})]


def test_shards_hold_chains_of_their_own():
    inner = {
        "chunk_shape": [3, 2],
        "codecs": [{"name": "bytes", "configuration": {"endian": OTHER}}, {"name": "zstd"}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": OTHER}}, {"name": "crc32c"}],
        "index_location": "start",
    }
    compiled = compile_chain(
        (Codec("transpose", {"order": [1, 0]}), Codec("sharding_indexed", inner)), DType.of("i4"), (4, 6)
    )
    ((_, step),) = compiled.steps[1:]
    assert step["chunk_shape"] == [3, 2]
    assert step["codecs"] == [("bytes", {"swap": 4}), ("zstd", {"level": 0, "checksum": False})]
    assert step["index_codecs"] == [("bytes", {"swap": 8}), ("crc32c", {})]
    assert step["index_at_start"] is True


@pytest.mark.parametrize(
    "codecs",
    [
        [],
        [("gzip", {"level": 5}), ("transpose", {"order": [0, 1]})],
        [("transpose", {"order": [0, 0]}), ("bytes", {})],
        [("bytes", {"endian": "middle"})],
        [("bytes", {}), ("gzip", {"level": 10})],
        [("bytes", {}), ("gzip", {"level": True})],
        [("bytes", {}), ("gzip", {"level": 1, "speed": 2})],
        [("bytes", {}), ("zstd", {"checksum": 1})],
        [("bytes", {}), ("blosc", {"cname": "lzo"})],
        [("bytes", {}), ("blosc", {"shuffle": 7})],
        [("bytes", {}), ("shuffle", {"elementsize": 7})],
        [("bytes", {}), ("bytes", {}), ("sharding_indexed", {"chunk_shape": [1, 1], "codecs": []})],
        [("delta", {"dtype": "<i8"}), ("bytes", {})],
        [("delta", {"dtype": "nonsense"}), ("bytes", {})],
        [("vlen-utf8", {})],
        [("sharding_indexed", {"chunk_shape": [3, 2], "codecs": [{"name": "bytes"}]})],
        [("sharding_indexed", {"chunk_shape": [2], "codecs": [{"name": "bytes"}]})],
        [("sharding_indexed", {"chunk_shape": [0, 1], "codecs": [{"name": "bytes"}]})],
        [
            (
                "sharding_indexed",
                {
                    "chunk_shape": [2, 2],
                    "codecs": [{"name": "bytes"}],
                    "index_codecs": [{"name": "bytes"}, {"name": "gzip"}],
                },
            )
        ],
        [("delta", {}), ("sharding_indexed", {"chunk_shape": [2, 2], "codecs": [{"name": "bytes"}]})],
    ],
)
def test_what_does_not_fit_is_refused(codecs):
    with pytest.raises(MetadataError):
        steps(codecs)


def test_text_needs_its_own_codec():
    assert steps([("vlen-utf8", {})], str) == [("vlen", {})]
    assert steps([("vlen-bytes", {}), ("zstd", {})], bytes)[0] == ("vlen", {})
    for wrong in (["bytes"], ["vlen-bytes"], ["zstd"]):
        with pytest.raises(MetadataError):
            steps([(name, {}) for name in wrong], str)


def test_nesting_has_a_limit():
    codecs = [{"name": "bytes"}]
    for _ in range(DEFAULT_LIMITS.max_shard_depth + 1):
        codecs = [{"name": "sharding_indexed", "configuration": {"chunk_shape": [1], "codecs": codecs}}]
    with pytest.raises(LimitError):
        steps([("sharding_indexed", codecs[0]["configuration"])], "u1", (1,))


def test_pickle_is_never_run():
    for name in ("pickle", "numcodecs.pickle"):
        with pytest.raises(UnsafeError, match="run any code"):
            steps([(name, {}), ("bytes", {})])


def test_unknown_codecs_are_named():
    with pytest.raises(UnsupportedError, match=r"my\.codec"):
        steps([("bytes", {}), ("my.codec", {})])
    with pytest.raises(UnsupportedError, match="did you mean 'zstd'"):
        steps([("bytes", {}), ("zst", {})])


def test_unknown_codecs_that_may_be_ignored_are_left_out():
    chain = compile_chain((Codec("bytes"), Codec("my.codec", {}, required=False)), DType.of("u1"), (2,))
    assert chain.steps == [("bytes", {"swap": 0})]
    assert chain.skipped == ["my.codec"]


def test_the_same_codecs_are_compiled_once():
    codecs = (Codec("bytes"),)
    assert compile_chain(codecs, DType.of("u1"), (2,)) is compile_chain(codecs, DType.of("u1"), (2,))
    assert compile_chain(codecs, DType.of(np.dtype("<i4")), (2,)) is not compile_chain(codecs, DType.of(">i4"), (2,))
