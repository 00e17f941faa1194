"""Filters, compressor and order of Zarr v2 as one chain."""

from __future__ import annotations

import pytest

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.format import v2
from omnizarr.model.codec import Codec

LITTLE = Codec("bytes", {"endian": "little"})
ONE_BYTE = Codec("bytes", {})


def parse(dtype="<i4", filters=None, compressor=None, order="C", shape=(10, 20)):
    document = {
        "zarr_format": 2,
        "shape": list(shape),
        "chunks": [4, 6, 8][: len(shape)],
        "dtype": dtype,
        "order": order,
    }
    return v2.parse_array({**document, "filters": filters, "compressor": compressor, "fill_value": None}, None, "k")


def render(*codecs, dtype="<i4"):
    document, _ = v2.render_array(parse(dtype)._replace(codecs=codecs))
    return document


@pytest.mark.parametrize(
    ("compressor", "codec"),
    [
        ({"id": "gzip", "level": 1}, Codec("gzip", {"level": 1})),
        ({"id": "bz2", "level": 9}, Codec("bz2", {"level": 9})),
        ({"id": "lz4", "acceleration": 1}, Codec("lz4", {"acceleration": 1})),
        ({"id": "zstd", "level": 0}, Codec("zstd", {"level": 0})),
        ({"id": "zstd"}, Codec("zstd", {})),
        ({"id": "omnizarr.hdf5_shuffle", "elementsize": 4}, Codec("omnizarr.hdf5_shuffle", {"elementsize": 4})),
        ({"id": "zstd", "level": 0, "checksum": True}, Codec("zstd", {"level": 0, "checksum": True})),
        (
            {"id": "lzma", "format": 1, "check": -1, "preset": None, "filters": None},
            Codec("lzma", {"format": 1, "check": -1, "preset": None, "filters": None}),
        ),
        ({"id": "my_codec", "a": [1, {"b": 2}]}, Codec("numcodecs.my_codec", {"a": [1, {"b": 2}]})),
        ({"id": "zfpy", "mode": 4, "tolerance": 0.1}, Codec("numcodecs.zfpy", {"mode": 4, "tolerance": 0.1})),
    ],
)
def test_compressors(compressor, codec):
    meta = parse(compressor=compressor)
    foreign = codec.name.startswith("numcodecs.")
    assert meta.codecs == ((codec,) if foreign else (LITTLE, codec))
    document, _ = v2.render_array(meta)
    assert (document["compressor"], document["filters"]) == (compressor, None)


@pytest.mark.parametrize(
    ("dtype", "shuffle", "name", "typesize"),
    [("<i4", 1, "shuffle", 4), ("<i4", -1, "shuffle", 4), ("|u1", -1, "bitshuffle", 1), ("|S300", 2, "bitshuffle", 1)],
)
def test_blosc(dtype, shuffle, name, typesize):
    compressor = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": shuffle, "blocksize": 0}
    codec = parse(dtype, compressor=compressor).codecs[-1]
    expected = {"cname": "lz4", "clevel": 5, "shuffle": name, "typesize": typesize, "blocksize": 0}
    assert codec == Codec("blosc", expected)
    rendered = render(LITTLE, codec)["compressor"]
    assert rendered == {**compressor, "shuffle": ["noshuffle", "shuffle", "bitshuffle"].index(name)}


def test_blosc_defaults_and_what_it_is_handed():
    blosc = parse(compressor={"id": "blosc"}).codecs[-1]
    assert blosc.configuration == {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}
    narrow = [{"id": "delta", "dtype": "<i4", "astype": "<i2"}]
    assert parse(filters=narrow, compressor={"id": "blosc"}).codecs[-1].configuration["typesize"] == 2
    shuffled = [{"id": "shuffle", "elementsize": 4}]
    assert parse(filters=shuffled, compressor={"id": "blosc"}).codecs[-1].configuration["typesize"] == 1
    text = parse("|O", filters=[{"id": "vlen-utf8"}], compressor={"id": "blosc", "shuffle": -1})
    assert text.codecs[-1].configuration["shuffle"] == "bitshuffle"
    document = render(LITTLE, Codec("numcodecs.blosc", {"clevel": 1}))
    assert document["compressor"] == {"id": "blosc", "cname": "lz4", "clevel": 1, "shuffle": 1, "blocksize": 0}


def test_order():
    assert parse(order="F").codecs == (Codec("transpose", {"order": [1, 0]}), LITTLE)
    assert parse(order="F", shape=(10,)).codecs == (LITTLE,)
    assert parse(order="F").order == "F"
    assert v2.render_array(parse(order="F"))[0]["order"] == "F"
    assert render(Codec("transpose", {"order": [0, 1]}), LITTLE)["order"] == "C"
    three = parse(shape=(10, 20, 30))
    turned = three._replace(codecs=(Codec("transpose", {"order": [1, 2, 0]}), LITTLE))
    with pytest.raises(UnsupportedError, match="transpose"):
        v2.render_array(turned)


@pytest.mark.parametrize(
    ("filters", "compressor", "codecs"),
    [
        ([], None, (LITTLE,)),
        (
            [{"id": "delta", "dtype": "<i4", "astype": "<i2"}],
            {"id": "zlib", "level": 1},
            (Codec("delta", {"dtype": "<i4", "astype": "<i2"}), LITTLE, Codec("zlib", {"level": 1})),
        ),
        (
            [{"id": "delta", "dtype": "<i4", "astype": ">i2"}],
            None,
            (Codec("delta", {"dtype": "<i4", "astype": ">i2"}), Codec("bytes", {"endian": "big"})),
        ),
        ([{"id": "delta", "dtype": "<i4"}], None, (Codec("delta", {"dtype": "<i4"}), LITTLE)),
        (
            [{"id": "fixedscaleoffset", "scale": 1, "offset": 0, "dtype": "<i4", "astype": "|u1"}],
            None,
            (
                Codec("numcodecs.fixedscaleoffset", {"scale": 1, "offset": 0, "dtype": "<i4", "astype": "|u1"}),
                ONE_BYTE,
            ),
        ),
        (
            [{"id": "astype", "encode_dtype": "|i1", "decode_dtype": "<i4"}],
            None,
            (Codec("numcodecs.astype", {"encode_dtype": "|i1", "decode_dtype": "<i4"}), ONE_BYTE),
        ),
        ([{"id": "packbits"}], None, (Codec("numcodecs.packbits", {}), ONE_BYTE)),
        (
            [{"id": "shuffle", "elementsize": 4}],
            {"id": "zlib", "level": 1},
            (LITTLE, Codec("shuffle", {"elementsize": 4}), Codec("zlib", {"level": 1})),
        ),
        ([{"id": "crc32c"}], None, (LITTLE, Codec("crc32c", {}))),
        ([{"id": "crc32c", "location": "end"}], None, (LITTLE, Codec("crc32c", {"location": "end"}))),
        ([{"id": "crc32c", "location": "start"}], None, (LITTLE, Codec("numcodecs.crc32c", {"location": "start"}))),
        ([{"id": "adler32"}, {"id": "crc32"}], None, (LITTLE, Codec("numcodecs.adler32"), Codec("numcodecs.crc32"))),
        (
            [{"id": "foreign"}, {"id": "other"}],
            {"id": "zlib", "level": 1},
            (Codec("numcodecs.foreign"), Codec("numcodecs.other"), Codec("zlib", {"level": 1})),
        ),
    ],
)
def test_filters(filters, compressor, codecs):
    meta = parse(filters=filters, compressor=compressor)
    assert meta.codecs == codecs
    document, _ = v2.render_array(meta)
    assert (document["filters"] or [], document["compressor"]) == (filters, compressor)


@pytest.mark.parametrize(
    ("filters", "compressor", "pointer"),
    [
        ("x", None, "/filters"),
        ({}, None, "/filters"),
        ([1], None, "/filters/0"),
        ([{}], None, "/filters/0/id"),
        (None, [], "/compressor"),
        (None, {"id": 3}, "/compressor/id"),
        (None, {"id": "zlib", "level": "1"}, "/compressor/level"),
        (None, {"id": "zlib", "lvl": 1}, "/compressor/lvl"),
        (None, {"id": "blosc", "shuffle": "mix"}, "/compressor/shuffle"),
        (None, {"id": "blosc", "shuffle": 3}, "/compressor/shuffle"),
        (None, {"id": "blosc", "cname": "lz5"}, "/compressor/cname"),
        (None, {"id": "crc32c", "location": "middle"}, "/compressor/location"),
        ([{"id": "shuffle", "elementsize": 5}], None, "/filters/0/elementsize"),
        ([{"id": "shuffle", "elementsize": -1}], None, "/filters/0/elementsize"),
        ([{"id": "delta"}], None, "/filters/0"),
        ([{"id": "delta", "dtype": "|S7"}], None, "/filters/0/dtype"),
        ([{"id": "delta", "dtype": "<i4", "astype": "x"}], None, "/filters/0/astype"),
        ([{"id": "shuffle", "elementsize": 4}, {"id": "delta", "dtype": "<i4"}], None, "/filters/1"),
    ],
)
def test_filters_that_are_refused(filters, compressor, pointer):
    with pytest.raises(MetadataError) as caught:
        parse(filters=filters, compressor=compressor)
    assert caught.value.pointer == pointer


@pytest.mark.parametrize(
    "codecs",
    [
        (Codec("sharding_indexed", {"chunk_shape": [1, 1], "codecs": [], "index_codecs": []}),),
        (LITTLE, Codec("my.codec", {})),
        (Codec("delta", {"dtype": "<i4", "astype": "<i4"}), Codec("bytes", {"endian": "big"})),
        (Codec("transpose", {"order": [1, 0]}), Codec("transpose", {"order": [1, 0]}), LITTLE),
    ],
)
def test_what_v2_cannot_say(codecs):
    with pytest.raises(UnsupportedError):
        render(*codecs)


def test_names_of_v3_are_written_as_ids():
    document = render(Codec("numcodecs.delta", {"dtype": "<i4"}), LITTLE, Codec("numcodecs.zlib", {"level": 3}))
    assert document["filters"] == [{"id": "delta", "dtype": "<i4"}]
    assert document["compressor"] == {"id": "zlib", "level": 3}


def test_levels_of_zstd_are_brought_to_what_there_is():
    for given, level in ((100, 22), (22, 22), (-200_000, -131_072)):
        assert parse(compressor={"id": "zstd", "level": given}).codecs[-1] == Codec("zstd", {"level": level})
    assert parse(compressor={"id": "zstd", "level": 1, "checksum": False}).codecs[-1] == Codec("zstd", {"level": 1})


def test_refusals_name_the_codec():
    with pytest.raises(UnsupportedError, match="stands after one on bytes") as caught:
        parse(filters=[{"id": "zlib", "level": 1}, {"id": "delta", "dtype": "<i4"}])
    assert (caught.value.codec, caught.value.pointer, caught.value.key) == ("delta", "/filters/1", "k")


@pytest.mark.parametrize("item", [{"id": ""}, {"id": 5}, {}])
def test_codecs_without_a_name(item):
    with pytest.raises(MetadataError, match="an id is needed") as caught:
        parse(compressor=item)
    assert (caught.value.pointer, caught.value.key) == ("/compressor/id", "k")


def test_elements_of_the_shuffle_have_four_bytes_unless_it_says_otherwise():
    document = {"zarr_format": 2, "shape": [64], "dtype": "|i1", "order": "C", "fill_value": None, "compressor": None}
    for chunk, fits in ((4, True), (12, True), (6, False), (15, False)):
        wanted = {**document, "chunks": [chunk], "filters": [{"id": "shuffle"}]}
        if fits:
            v2.parse_array(wanted, None, "k")
        else:
            with pytest.raises(MetadataError, match="elements of 4 bytes"):
                v2.parse_array(wanted, None, "k")
