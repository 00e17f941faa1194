"""Chains of codecs in documents of Zarr v3."""

from __future__ import annotations

import pytest

from omnizarr.errors import LimitError, MetadataError, OmnizarrWarning, UnsafeError, UnsupportedError
from omnizarr.format import v3
from omnizarr.limits import Limits
from omnizarr.model.codec import Codec, inner_codecs
from omnizarr.model.dtype import JSON_OBJECTS


def step(name: str, **configuration: object) -> dict:
    return {"name": name, "configuration": configuration}


BYTES_LITTLE = step("bytes", endian="little")
ZLIB = step("numcodecs.zlib", level=3)

DOCUMENT = {
    "zarr_format": 3,
    "node_type": "array",
    "shape": [10, 20, 30],
    "data_type": "int32",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 6, 8]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "fill_value": 7,
    "codecs": [BYTES_LITTLE],
    "attributes": {},
}


def chain(*codecs: object) -> dict:
    return {**DOCUMENT, "codecs": list(codecs)}


def refused(document: object, error: type[Exception] = MetadataError, limits: Limits | None = None) -> Exception:
    with pytest.raises(error) as caught:
        v3.parse_array(document, "a/zarr.json", limits or Limits())
    assert caught.value.key == "a/zarr.json"
    return caught.value


def test_missing_byte_order_is_little_endian():
    for codec in ({"name": "bytes"}, "bytes", "endian", {"name": "bytes", "configuration": {}}):
        with pytest.warns(OmnizarrWarning, match="little"):
            meta = v3.parse_array(chain(codec), "k")
        assert meta.codecs[0].configuration == {"endian": "little"}
    one = v3.parse_array({**chain({"name": "bytes"}), "data_type": "uint8"}, "k")
    assert one.codecs == (Codec("bytes", {}),)
    assert v3.render_array(one)["codecs"] == [{"name": "bytes"}]
    given = v3.parse_array({**DOCUMENT, "data_type": "uint8"}, "k")
    assert v3.render_array(given)["codecs"] == [BYTES_LITTLE]


def shard(**changes: object) -> dict:
    configuration = {
        "chunk_shape": [2, 3, 4],
        "codecs": [BYTES_LITTLE, {"name": "zstd", "configuration": {"level": 3, "checksum": False}}],
        "index_codecs": [BYTES_LITTLE, {"name": "crc32c"}],
        "index_location": "end",
        **changes,
    }
    codec = {"name": "sharding_indexed", "configuration": {k: v for k, v in configuration.items() if v is not ...}}
    return chain(codec)


def test_shards():
    meta = v3.parse_array(shard(), "k")
    assert (meta.chunks, meta.shards) == ((2, 3, 4), (4, 6, 8))
    assert [codec.name for codec in inner_codecs(meta.codecs[0])] == ["bytes", "zstd"]
    assert [codec.name for codec in inner_codecs(meta.codecs[0], "index_codecs")] == ["bytes", "crc32c"]
    assert v3.render_array(meta) == shard()
    assert v3.parse_array(shard(index_location=...), "k") == meta
    with pytest.warns(OmnizarrWarning, match="index"):
        assert v3.parse_array(shard(index_codecs=...), "k") == meta


def test_shards_after_a_transpose_are_measured_in_its_axes():
    inner = shard(chunk_shape=[8, 3, 2])["codecs"][0]
    turned = chain({"name": "transpose", "configuration": {"order": [2, 1, 0]}}, inner)
    meta = v3.parse_array(turned, "k")
    assert (meta.chunks, meta.order) == ((2, 3, 8), "F")
    refused(shard(chunk_shape=[8, 3, 2]))


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"chunk_shape": [3, 3, 4]}, "chunk_shape/0"),
        ({"chunk_shape": [2, 3]}, "chunk_shape"),
        ({"chunk_shape": [0, 3, 4]}, "chunk_shape/0"),
        ({"chunk_shape": [8, 6, 8]}, "chunk_shape/0"),
        ({"chunk_shape": ...}, "chunk_shape"),
        ({"codecs": ...}, "codecs"),
        ({"codecs": []}, "codecs"),
        ({"codecs": [{"name": "gzip", "configuration": {"level": 1}}]}, "codecs/0"),
        ({"index_codecs": []}, "index_codecs"),
        ({"index_codecs": [BYTES_LITTLE, {"name": "zstd", "configuration": {"level": 1}}]}, "index_codecs/1"),
        ({"index_location": "middle"}, "index_location"),
        ({"more": 1}, "more"),
    ],
)
def test_shards_that_are_refused(changes, pointer):
    assert refused(shard(**changes)).pointer == f"/codecs/0/configuration/{pointer}"


def test_shards_in_shards():
    codecs = [BYTES_LITTLE]
    for depth in range(9):
        codecs = [shard(chunk_shape=[1, 1, 1], codecs=codecs)["codecs"][0]]
        document = chain(*codecs)
        if depth < 8:
            assert v3.parse_array(document, "k").chunks == (1, 1, 1)
        else:
            assert "nested" in str(refused(document, LimitError))


def test_only_what_is_held_at_once_is_limited():
    limits = Limits(max_chunk_bytes=2 * 3 * 4 * 4 + 100)
    v3.parse_array(shard(), "k", limits)
    refused(shard(), LimitError, limits._replace(max_chunk_bytes=95))
    refused(chain(*shard()["codecs"], {"name": "crc32c"}), LimitError, limits)
    huge = {**shard(chunk_shape=[1, 1, 1]), "shape": [2**40, 1, 1]}
    huge["chunk_grid"] = {"name": "regular", "configuration": {"chunk_shape": [2**40, 1, 1]}}
    assert "index_codecs" in str(refused(huge, LimitError))


@pytest.mark.parametrize(
    ("codecs", "pointer"),
    [
        ([], "/codecs"),
        ([ZLIB], "/codecs/0"),
        ([ZLIB, BYTES_LITTLE], "/codecs/0"),
        ([BYTES_LITTLE, BYTES_LITTLE], "/codecs/1"),
        ([BYTES_LITTLE, step("transpose", order=[0, 1, 2])], "/codecs/1"),
        ([step("transpose", order=[0, 1, 2])], "/codecs"),
        ([{"name": "foreign"}, ZLIB, BYTES_LITTLE], "/codecs/2"),
        ([1], "/codecs/0"),
        ([{}], "/codecs/0/name"),
        ([{"name": ""}], "/codecs/0/name"),
        ([{"name": "bytes", "configuration": [1]}], "/codecs/0/configuration"),
        ([{"name": "bytes", "endian": "little"}], "/codecs/0/endian"),
        ([{"name": "bytes", "must_understand": 1}], "/codecs/0/must_understand"),
        ([step("bytes", endian="middle")], "/codecs/0/configuration/endian"),
        ([step("bytes", endian="little", x=1)], "/codecs/0/configuration"),
        ([BYTES_LITTLE, step("gzip", level="5")], "/codecs/1/configuration/level"),
        ([BYTES_LITTLE, step("gzip", level=10)], "/codecs/1/configuration/level"),
        ([BYTES_LITTLE, step("gzip", levle=1)], "/codecs/1/configuration/levle"),
        ([BYTES_LITTLE, step("zstd", checksum=1)], "/codecs/1/configuration/checksum"),
        ([BYTES_LITTLE, step("blosc", shuffle=1)], "/codecs/1/configuration/shuffle"),
        ([BYTES_LITTLE, step("blosc", cname=["lz4"])], "/codecs/1/configuration/cname"),
        ([BYTES_LITTLE, step("blosc", typesize=0)], "/codecs/1/configuration/typesize"),
        ([BYTES_LITTLE, step("numcodecs.blosc", shuffle="x")], "/codecs/1/configuration/shuffle"),
        ([BYTES_LITTLE, step("crc32c", x=1)], "/codecs/1/configuration/x"),
        ([BYTES_LITTLE, step("numcodecs.shuffle", elementsize=5)], "/codecs/1/configuration/elementsize"),
        ([BYTES_LITTLE, step("numcodecs.shuffle", elementsize=-1)], "/codecs/1/configuration/elementsize"),
        ([step("numcodecs.delta"), BYTES_LITTLE], "/codecs/0/configuration"),
        ([step("cast_value"), BYTES_LITTLE], "/codecs/0/configuration"),
        ([step("bitround"), BYTES_LITTLE], "/codecs/0/configuration"),
        ([step("reshape", shape=[7, -1]), BYTES_LITTLE], "/codecs/0/configuration/shape"),
        ([step("reshape"), BYTES_LITTLE], "/codecs/0/configuration/shape"),
        ([step("zarrs.vlen", index_data_type="uint32")], "/codecs/0/configuration"),
        ([step("zarrs.optional", mask_codecs=[], data_codecs=[])], "/codecs/0/configuration"),
        ([step("zarrs.vlen", x=1)], "/codecs/0/configuration/x"),
        ([step("vlen-utf8")], "/codecs/0/configuration"),
        ([step("numcodecs.delta", dtype="<i3"), BYTES_LITTLE], "/codecs/0/configuration/dtype"),
        ([step("numcodecs.delta", dtype="S7"), BYTES_LITTLE], "/codecs/0/configuration/dtype"),
        *(
            ([step("transpose", order=order), BYTES_LITTLE], pointer)
            for order, pointer in (
                ([0, 1], "/codecs/0/configuration/order"),
                ([0, 0, 1], "/codecs/0/configuration/order"),
                ([1, 2, 3], "/codecs/0/configuration/order"),
                ([0, 1, -1], "/codecs/0/configuration/order/2"),
                ([0, 1, True], "/codecs/0/configuration/order/2"),
                ("A", "/codecs/0/configuration/order"),
                (None, "/codecs/0/configuration"),
            )
        ),
    ],
)
def test_chains_that_are_refused(codecs, pointer):
    assert refused(chain(*codecs)).pointer == pointer


def test_pickle_is_never_accepted():
    for name in ("pickle", "numcodecs.pickle"):
        for codecs in ([{"name": name}], [BYTES_LITTLE, name]):
            refused(chain(*codecs), UnsafeError)
        refused(shard(codecs=[{"name": name}]), UnsafeError)


def test_foreign_codecs_are_kept():
    foreign = {"name": "my.codec", "configuration": {"a": {"b": [1]}}}
    for codecs in ([foreign], [foreign, BYTES_LITTLE, foreign], [foreign, ZLIB], [BYTES_LITTLE, foreign, ZLIB]):
        document = chain(*codecs)
        assert v3.render_array(v3.parse_array(document, "k")) == document
    optional = {**foreign, "must_understand": False}
    meta = v3.parse_array(chain(BYTES_LITTLE, optional), "k")
    assert not meta.codecs[1].required
    assert v3.render_array(meta) == chain(BYTES_LITTLE, optional)


def test_transposes():
    for order, expected in (("C", [0, 1, 2]), ("F", [2, 1, 0]), ([1, 2, 0], [1, 2, 0])):
        meta = v3.parse_array(chain({"name": "transpose", "configuration": {"order": order}}, BYTES_LITTLE), "k")
        assert meta.codecs[0].configuration == {"order": expected}


def test_filters_change_what_the_next_step_sees():
    delta = {"name": "numcodecs.delta", "configuration": {"dtype": "<i4", "astype": "|i1"}}
    assert v3.parse_array(chain(delta, {"name": "bytes"}), "k").codecs[1] == Codec("bytes", {})
    packbits = {"name": "numcodecs.packbits", "configuration": {}}
    v3.parse_array(chain(packbits, {"name": "bytes"}), "k")
    scale = {
        "name": "numcodecs.fixedscaleoffset",
        "configuration": {"scale": 1, "offset": 0, "dtype": "float32", "astype": "<i2"},
    }
    with pytest.warns(OmnizarrWarning, match="int16"):
        v3.parse_array(chain(scale, {"name": "bytes"}), "k")
    refused(chain(packbits, shard()["codecs"][0]), UnsupportedError)


@pytest.mark.parametrize(
    ("codec", "expected"),
    [
        (Codec("zlib", {"level": 1}), {"name": "numcodecs.zlib", "configuration": {"level": 1}}),
        (Codec("lz4", {"acceleration": 1}), {"name": "numcodecs.lz4", "configuration": {"acceleration": 1}}),
        (Codec("zstd", {"level": 1}), {"name": "zstd", "configuration": {"level": 1, "checksum": False}}),
        (Codec("crc32c", {"location": "end"}), {"name": "crc32c"}),
        (
            Codec("blosc", {"cname": "zstd", "clevel": 1, "shuffle": "bitshuffle"}),
            {
                "name": "blosc",
                "configuration": {
                    "typesize": 4, "cname": "zstd", "clevel": 1, "shuffle": "bitshuffle", "blocksize": 0
                },
            },
        ),
    ],
)  # fmt: skip
def test_names_that_v3_has_not_are_written_as_zarr_python_does(codec, expected):
    meta = v3.parse_array(DOCUMENT, "k")
    made = type(meta)(meta.shape, meta.dtype, meta.grid, meta.keys, meta.fill, (Codec("bytes", {}), codec))
    assert v3.render_array(made)["codecs"] == [BYTES_LITTLE, expected]


def test_after_a_foreign_codec_shapes_are_not_known():
    foreign = {"name": "my.codec", "configuration": {}}
    for after in (step("transpose", order=[9]), step("reshape", shape=[-1]), step("zarrs.squeeze")):
        meta = v3.parse_array(chain(foreign, after, BYTES_LITTLE), "k")
        assert meta.codecs[1] == Codec(after["name"], after["configuration"])
    refused(chain(foreign, step("transpose"), BYTES_LITTLE))


def test_codecs_in_codecs_are_limited():
    nested = [step("gzip", level=1)]
    for _ in range(8):
        nested = [step("conditional", codecs=nested, header_bits=8)]
    v3.parse_array(chain(BYTES_LITTLE, *nested), "k")
    deeper = step("conditional", codecs=nested, header_bits=8)
    assert "nested deeper than 8 levels" in str(refused(chain(BYTES_LITTLE, deeper), LimitError))


def test_a_structure_through_a_foreign_codec_is_little_endian():
    fields = [{"name": "a", "data_type": "int32"}]
    structure = {"name": "struct", "configuration": {"fields": fields}}
    document = {**chain({"name": "my.codec"}), "data_type": structure, "fill_value": {"a": 1}}
    assert v3.parse_array(document, "k").fill.bits == b"\1\0\0\0"
    big = {**chain(step("bytes", endian="big")), "data_type": structure, "fill_value": {"a": 1}}
    assert v3.parse_array(big, "k").fill.bits == b"\0\0\0\1"


@pytest.mark.parametrize(
    "configuration", [{}, {"name": 1}, {"name": "int32", "x": 1}, {"name": "int32", "configuration": 1}]
)
def test_optional_types_that_are_refused(configuration):
    document = {**DOCUMENT, "data_type": {"name": "zarrs.optional", "configuration": configuration}}
    assert str(refused(document).pointer).startswith("/data_type/configuration")


def test_v3_has_no_objects():
    meta = v3.parse_array(DOCUMENT, "k")
    with pytest.raises(UnsupportedError, match="no arrays of Python objects") as caught:
        v3.render_array(meta._replace(dtype=JSON_OBJECTS))
    assert caught.value.pointer == "/data_type"


INDEX = [step("bytes", endian="little")]
VLEN = step("zarrs.vlen", index_codecs=INDEX, data_codecs=[{"name": "bytes"}], index_data_type="uint32")


def test_codecs_of_zarrs_that_hold_chains():
    document = {**chain(VLEN), "data_type": "string", "fill_value": ""}
    meta = v3.parse_array(document, "k")
    assert meta.codecs[0].configuration["index_location"] == "start"
    expected = step("zarrs.vlen", **VLEN["configuration"], index_location="start")
    assert v3.render_array(meta)["codecs"] == [expected]
    optional = {"name": "zarrs.optional", "configuration": {"name": "int32", "configuration": {}}}
    held = step("zarrs.optional", mask_codecs=[{"name": "packbits", "configuration": {}}], data_codecs=INDEX)
    meta = v3.parse_array({**chain(held), "data_type": optional, "fill_value": None}, "k")
    assert v3.render_array(meta)["codecs"] == [held]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"index_data_type": "int32"}, "/index_data_type"),
        ({"index_location": "middle"}, "/index_location"),
        ({"index_codecs": 1}, "/index_codecs"),
        ({"data_codecs": []}, "/data_codecs"),
        ({"index_codecs": [step("bytes", endian="x")]}, "/index_codecs/0/configuration/endian"),
        ({"more": 1}, "/more"),
    ],
)
def test_codecs_of_zarrs_that_are_refused(change, pointer):
    codec = step("zarrs.vlen", **{**VLEN["configuration"], **change})
    found = refused({**chain(codec), "data_type": "string", "fill_value": ""})
    assert found.pointer == f"/codecs/0/configuration{pointer}"


def test_dimensions_of_one_are_gone_behind_a_squeeze():
    document = chain(step("zarrs.squeeze"), step("transpose", order=[1, 0]), BYTES_LITTLE)
    document["chunk_grid"] = {"name": "regular", "configuration": {"chunk_shape": [4, 1, 8]}}
    assert len(v3.parse_array(document, "k").codecs) == 3
    document["codecs"][1] = step("transpose", order=[2, 1, 0])
    refused(document)


def test_settings_of_codecs_that_compute_are_looked_at():
    assert len(v3.parse_array(chain(step("cast_value", data_type="uint8"), step("bytes")), "k").codecs) == 2
    refused(chain(step("cast_value", data_type="uint8", rounding=5), step("bytes")))


def test_how_many_bytes_a_compressor_leaves_is_not_known():
    odd = step("numcodecs.shuffle", elementsize=7)
    refused(chain(BYTES_LITTLE, odd))
    assert len(v3.parse_array(chain(BYTES_LITTLE, ZLIB, odd), "k").codecs) == 3
    assert len(v3.parse_array(chain(BYTES_LITTLE, step("gzip", level=1), odd), "k").codecs) == 3
