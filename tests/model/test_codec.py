"""Names and settings of codecs."""

from __future__ import annotations

import pytest

from omnizarr.model.codec import (
    ALIASES,
    KINDS,
    Codec,
    blosc_shuffle,
    canonical,
    inner_codecs,
    kind_of,
    resolve,
    sharding_of,
    transpose_order,
)


def test_aliases_lead_to_known_names():
    assert all(name in KINDS and name not in ALIASES for name in ALIASES.values())
    assert canonical("endian") == "bytes"
    assert kind_of("numcodecs.zlib") == "bytes"
    assert kind_of("my.codec") is None


@pytest.mark.parametrize(
    ("given", "name", "configuration"),
    [
        (Codec("numcodecs.zlib"), "zlib", {"level": 1}),
        (Codec("numcodecs.zlib", {"level": 5}), "zlib", {"level": 5}),
        (Codec("numcodecs.zstd", {}), "zstd", {"level": 0, "checksum": False}),
        (Codec("numcodecs.crc32c", {}), "crc32c", {}),
        (Codec("numcodecs.crc32c", {"location": "start"}), "numcodecs.crc32c", {"location": "start"}),
        (Codec("numcodecs.delta", {"dtype": "<i4"}), "delta", {"dtype": "<i4", "astype": "<i4"}),
        (
            Codec("numcodecs.blosc", {"clevel": 1}),
            "blosc",
            {"cname": "lz4", "clevel": 1, "shuffle": "shuffle", "typesize": 1, "blocksize": 0},
        ),
        (
            Codec("numcodecs.blosc", {"shuffle": -1}),
            "blosc",
            {"cname": "lz4", "clevel": 5, "shuffle": "bitshuffle", "typesize": 1, "blocksize": 0},
        ),
        (Codec("numcodecs.delta", {"dtype": "<i4", "astype": "<i2"}), "delta", {"dtype": "<i4", "astype": "<i2"}),
        (Codec("numcodecs.zlib", {"level": 2}, required=False), "zlib", {"level": 2}),
        (Codec("my.codec", {"a": 1}), "my.codec", {"a": 1}),
        (Codec("numcodecs.crc32", {}), "numcodecs.crc32", {}),
    ],
)
def test_resolving_completes_the_settings(given, name, configuration):
    assert resolve(given) == Codec(name, configuration, given.required)
    assert resolve(resolve(given)) == resolve(given)


def test_defaults_are_those_of_numcodecs():
    numcodecs = pytest.importorskip("numcodecs")
    for name in ("zlib", "gzip", "zstd", "lz4", "bz2", "lzma", "shuffle"):
        theirs = numcodecs.get_codec({"id": name}).get_config()
        ours = resolve(Codec(f"numcodecs.{name}")).configuration
        assert {"id": name, **ours} == theirs


@pytest.mark.parametrize(
    ("number", "itemsize", "name"),
    [(0, 4, "noshuffle"), (1, 4, "shuffle"), (2, 4, "bitshuffle"), (-1, 4, "shuffle"), (-1, 1, "bitshuffle")],
)
def test_blosc_numbers_its_shuffles(number, itemsize, name):
    assert blosc_shuffle(number, itemsize) == name
    assert blosc_shuffle("shuffle", 1) == "shuffle"
    assert blosc_shuffle(3, 1) == blosc_shuffle(True, 1) == blosc_shuffle(None, 1) == blosc_shuffle("x", 1) == ""


def test_sharding_is_seen_only_where_chunks_can_be_read_alone():
    sharding = Codec("sharding_indexed", {"chunk_shape": [1], "codecs": [{"name": "bytes"}], "index_codecs": []})
    transpose = Codec("transpose", {"order": [0]})
    assert sharding_of((sharding,)) is sharding
    assert sharding_of((transpose, sharding)) is sharding
    assert sharding_of((sharding, Codec("gzip", {"level": 1}))) is None
    assert sharding_of((Codec("delta", {"dtype": "<i4"}), sharding)) is None
    assert sharding_of(()) is None
    assert transpose_order(transpose) == (0,)
    assert inner_codecs(sharding) == (Codec("bytes", {}),)
    assert inner_codecs(sharding, "index_codecs") == ()


def test_objects_as_documents_have_them():
    assert Codec("gzip", {"level": 1}).to_json() == {"name": "gzip", "configuration": {"level": 1}}
    left_out = {"name": "x", "configuration": {"a": 1}, "must_understand": False}
    assert Codec("x", {"a": 1}, required=False).to_json() == left_out
    holder = Codec("conditional", {"codecs": [left_out, {"name": "y", "must_understand": True}]})
    assert inner_codecs(holder) == (Codec("x", {"a": 1}, required=False), Codec("y"))
