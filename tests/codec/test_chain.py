"""What users may write for `codecs=`."""

from __future__ import annotations

import pytest

import omnizarr as oz
from omnizarr.codec.chain import Layout, as_codec, build_chain
from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.model.codec import Codec
from omnizarr.model.dtype import DType


def built(given, dtype="<i4", chunks=(10, 20), **layout):
    return [
        (codec.name, dict(codec.configuration))
        for codec in build_chain(given, Layout(DType.of(dtype), chunks, **layout))
    ]


LITTLE = ("bytes", {"endian": "little"})
ZSTD = ("zstd", {"level": 3, "checksum": False})


@pytest.mark.parametrize(
    "given",
    [
        oz.codec.zstd(3),
        [oz.codec.zstd(3)],
        {"name": "zstd", "configuration": {"level": 3}},
        {"id": "zstd", "level": 3},
        ({"id": "zstd", "level": 3, "checksum": False},),
        [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {"level": 3}}],
    ],
)
def test_one_codec_in_every_spelling(given):
    assert built(given) == [LITTLE, ZSTD]


def test_objects_of_other_packages():
    numcodecs = pytest.importorskip("numcodecs")
    zarr = pytest.importorskip("zarr")
    assert built(numcodecs.Zstd(level=3)) == [LITTLE, ZSTD]
    assert built([zarr.codecs.ZstdCodec(level=3)]) == [LITTLE, ZSTD]
    assert built([numcodecs.Delta("<i4"), numcodecs.Blosc("zstd", 1, 2)])[2][1]["shuffle"] == "bitshuffle"
    assert built(numcodecs.Adler32())[1][0] == "numcodecs.adler32"


def test_nothing_and_automatic():
    assert built(None) == built([]) == [LITTLE]
    assert built("auto")[1][0] == "blosc"
    assert built("auto", chunks=(2,)) == [LITTLE]
    assert built("auto", "u1", (1000,))[1][1]["shuffle"] == "noshuffle"


def test_compressors_learn_the_size_of_elements():
    assert built("blosc")[1][1]["typesize"] == 4
    assert built(oz.codec.blosc(typesize=2))[1][1]["typesize"] == 2
    assert built([oz.codec.delta(astype="<i8"), "blosc"])[2][1]["typesize"] == 8
    assert built(["zstd", "blosc"])[2][1]["typesize"] == 1
    assert built([oz.codec.shuffle(), "zstd"])[1] == ("shuffle", {"elementsize": 4})
    assert built("blosc", "S300", (3,))[1][1]["typesize"] == 1


def test_order_and_byte_order():
    assert built(None, order="F")[0] == ("transpose", {"order": [1, 0]})
    assert built(None, order="F", chunks=(3,)) == [LITTLE]
    assert built(None, ">i4") == [("bytes", {"endian": "big"})]
    assert built(None, "<i4", endian="big") == [("bytes", {"endian": "big"})]
    assert built(None, "u1") == [("bytes", {})]
    assert built(None, str) == [("vlen-utf8", {})]


def test_shards_wrap_the_chain():
    ((name, config),) = built("zstd", shards=(20, 20), order="F")
    assert name == "sharding_indexed"
    assert [codec["name"] for codec in config["codecs"]] == ["transpose", "bytes", "zstd"]
    assert config["chunk_shape"] == [10, 20]
    assert config["index_location"] == "end"
    given = {"name": "sharding_indexed", "configuration": {"chunk_shape": [5, 5], "codecs": [{"name": "bytes"}]}}
    assert built([given])[0][1]["chunk_shape"] == [5, 5]
    with pytest.raises(MetadataError, match="exclude"):
        built([given], shards=(20, 20))


def test_what_cannot_be_recorded_is_refused():
    for wrong in (5, object(), {"level": 3}, {"name": "zstd", "configuration": 3}):
        with pytest.raises(UnsupportedError):
            as_codec(wrong)


def test_functions_and_their_defaults():
    assert oz.codec.gzip() == Codec("gzip", {"level": 5})
    assert built("gzip")[1] == ("gzip", {"level": 5})
    assert built([oz.codec.transpose([1, 0]), oz.codec.bytes_("big"), oz.codec.crc32c()]) == [
        ("transpose", {"order": [1, 0]}),
        ("bytes", {"endian": "big"}),
        ("crc32c", {}),
    ]
    for make in (oz.codec.bz2, oz.codec.lz4, oz.codec.lzma, oz.codec.zlib, oz.codec.blosc):
        assert built(make())[1][0] == make().name
