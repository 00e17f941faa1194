"""zarr-python's documents are read, and it reads ours, with the same meaning."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from omnizarr.format import consolidated, v2, v3
from omnizarr.format.document import dump, load
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import Codec, canonical
from omnizarr.model.dtype import BYTES, STRING, DType
from omnizarr.model.fill import Fill
from omnizarr.model.grid import RegularGrid
from omnizarr.model.keys import default_keys, v2_keys

zarr = pytest.importorskip("zarr", minversion="3.1")
numcodecs = pytest.importorskip("numcodecs")

pytestmark = [
    pytest.mark.peers,
    # zarr-python warns of every type and codec that is not in the core specification.
    pytest.mark.filterwarnings("ignore::UserWarning", "ignore::zarr.errors.UnstableSpecificationWarning"),
]

FILLS: dict[str, list[object]] = {
    "?": [True],
    "i1": [-128, 127],
    "<i2": [-2],
    ">i4": [2**31 - 1],
    "<i8": [-(2**63), 2**53 + 1],
    "u1": [255],
    ">u2": [3],
    "<u4": [2**32 - 1],
    "<u8": [2**64 - 1],
    "<f2": [math.nan, -0.0, 0.1],
    "<f4": [math.nan, math.inf, -math.inf, -0.0, 0.1],
    ">f8": [math.nan, 5e-324, -0.0, 1e300],
    "<c8": [1 - 2j, complex(math.nan, -0.0)],
    ">c16": [complex(math.inf, 0.1)],
    "S3": [b"ab", b""],
    "<U3": ["aé"],
    ">U3": ["", "abc"],
    "V4": [b"\0\1\2\3"],
    "<M8[ns]": ["NaT", 5],
    ">M8[10us]": [5],
    "<m8[s]": [-7],
    "string": ["", "é"],
    "bytes": [b"", b"\xff"],
}
CASES = [(kind, value) for kind, found in FILLS.items() for value in found]
COMPRESSORS_V3 = [
    [],
    [{"name": "gzip", "configuration": {"level": 5}}],
    [{"name": "zstd", "configuration": {"level": 0, "checksum": True}}, {"name": "crc32c"}],
    *(
        [
            {
                "name": "blosc",
                "configuration": {"typesize": 4, "cname": "zstd", "clevel": 5, "shuffle": shuffle, "blocksize": 0},
            }
        ]
        for shuffle in ("noshuffle", "shuffle", "bitshuffle")
    ),
    *([{"name": f"numcodecs.{name}", "configuration": {}}] for name in ("zlib", "bz2", "lzma", "lz4", "blosc", "zstd")),
    *([{"name": f"numcodecs.{name}", "configuration": {}}] for name in ("crc32", "crc32c", "adler32", "fletcher32")),
]
COMPRESSORS_V2 = [
    None,
    {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0},
    {"id": "blosc", "cname": "zstd", "clevel": 1, "shuffle": 2, "blocksize": 4096},
    {"id": "zlib", "level": 1},
    {"id": "gzip", "level": 9},
    {"id": "bz2", "level": 1},
    {"id": "zstd", "level": 0, "checksum": False},
    {"id": "zstd", "level": 3, "checksum": True},
    {"id": "lz4", "acceleration": 1},
    {"id": "lzma", "format": 1, "check": -1, "preset": None, "filters": None},
]


def their_dtype(kind: str) -> object:
    from zarr.dtype import VariableLengthBytes

    return {"string": STRING.numpy, "bytes": VariableLengthBytes()}.get(kind) or np.dtype(kind)


def create(store: dict, kind: str, fill: object, zarr_format: int, **options: object) -> None:
    dtype = their_dtype(kind)
    if isinstance(dtype, np.dtype) and dtype.kind in "Mm" and isinstance(fill, int):
        fill = np.array(fill).astype(dtype)[()]
    zarr.create_array(
        store, shape=(10, 12), chunks=(4, 6), dtype=dtype, fill_value=fill, zarr_format=zarr_format, **options
    )


def stored(store: dict, key: str) -> bytes:
    return store[key].to_bytes()


def put(store: dict, key: str, document: object) -> None:
    put_bytes(store, key, dump(document))


def put_bytes(store: dict, key: str, data: bytes) -> None:
    from zarr.core.buffer import default_buffer_prototype

    store[key] = default_buffer_prototype().buffer.from_bytes(data)


def same(one: object, other: object) -> bool:
    """Compare what zarr-python made of two documents; NaN equals NaN, and padding of bytes does not count."""
    texts = []
    for array in (one, other):
        found = array.metadata.to_dict()  # type: ignore[attr-defined]
        if array.dtype.kind == "S":  # type: ignore[attr-defined]
            found["fill_value"] = bytes(array.fill_value).rstrip(b"\0")  # type: ignore[attr-defined]
        found.pop("storage_transformers", None)
        texts.append(repr(sorted(found.items())))
    return texts[0] == texts[1]


def same_fill(meta: ArrayMeta, theirs: object) -> bool:
    ours = Fill.of(theirs, meta.dtype).bits
    return ours == meta.fill.bits


def check_v3(store: dict) -> ArrayMeta:
    meta = v3.parse_array(load(stored(store, "zarr.json"), "zarr.json"), "zarr.json")
    theirs = zarr.open_array(dict(store), mode="r")
    assert same_fill(meta, theirs.fill_value)
    rewritten: dict = {}
    put(rewritten, "zarr.json", v3.render_array(meta))
    assert same(zarr.open_array(rewritten, mode="r"), theirs)
    return meta


def check_v2(store: dict) -> ArrayMeta:
    attributes = load(stored(store, ".zattrs"), ".zattrs")
    meta = v2.parse_array(load(stored(store, ".zarray"), ".zarray"), attributes, ".zarray")
    theirs = zarr.open_array(dict(store), mode="r", zarr_format=2)
    assert same_fill(meta, theirs.fill_value)
    rewritten: dict = {}
    for key, document in zip((".zarray", ".zattrs"), v2.render_array(meta), strict=True):
        put(rewritten, key, document)
    assert same(zarr.open_array(rewritten, mode="r", zarr_format=2), theirs)
    return meta


@pytest.mark.parametrize(("kind", "fill"), CASES)
def test_v3_types_and_fills(kind, fill):
    store: dict = {}
    create(store, kind, fill, 3)
    meta = check_v3(store)
    assert meta.dtype == DType.of(kind).with_byteorder("native")


@pytest.mark.parametrize("compressors", COMPRESSORS_V3)
@pytest.mark.parametrize("kind", ["<f4", "u1", "S3", "string"])
def test_v3_codecs(kind, compressors):
    store: dict = {}
    create(store, kind, None, 3, compressors=compressors, dimension_names=["y", None], attributes={"a": math.nan})
    meta = check_v3(store)
    assert [codec.name for codec in meta.codecs[1:]] == [codec["name"] for codec in compressors]
    assert meta.dims == ("y", None)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("location", ["start", "end"])
def test_v3_shards_and_transposes(order, location):
    from zarr.codecs import ShardingCodec, TransposeCodec

    inner = ShardingCodec(chunk_shape=(2, 1), index_location=location)
    store: dict = {}
    create(store, "<f4", 0, 3, filters=[TransposeCodec(order=order)], serializer=inner, compressors=None)
    meta = check_v3(store)
    assert meta.shards == (4, 6)
    assert meta.chunks == ((2, 1) if order == (0, 1) else (1, 2))


def test_v3_shards_by_option():
    store: dict = {}
    create(store, "<i4", 0, 3, shards=(8, 12))
    meta = check_v3(store)
    assert (meta.chunks, meta.shards) == ((4, 6), (8, 12))


@pytest.mark.parametrize(("kind", "fill"), CASES)
def test_v2_types_and_fills(kind, fill):
    store: dict = {}
    create(store, kind, fill, 2)
    meta = check_v2(store)
    assert meta.dtype == DType.of(kind)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("compressor", COMPRESSORS_V2, ids=str)
@pytest.mark.parametrize("kind", ["<f4", ">i2", "u1", "<U3", "string"])
def test_v2_codecs(kind, compressor, order):
    store: dict = {}
    codec = None if compressor is None else numcodecs.get_codec(dict(compressor))
    create(store, kind, None, 2, compressors=codec, order=order, attributes={"a": 1})
    meta = check_v2(store)
    assert (meta.order, meta.attributes) == (order, {"a": 1})


@pytest.mark.parametrize(
    "filters",
    [
        [numcodecs.Delta("<i4", "<i2")],
        [numcodecs.Delta(">i4")],
        [numcodecs.FixedScaleOffset(0, 1, "<i4", "u1")],
        [numcodecs.AsType("<i8", "<i4")],
        [numcodecs.Shuffle(4)],
        [numcodecs.Delta("<i4"), numcodecs.Shuffle(4)],
    ],
    ids=str,
)
def test_v2_filters(filters):
    store: dict = {}
    create(store, "<i4", 1, 2, filters=filters, compressors=numcodecs.Zlib(1))
    meta = check_v2(store)
    assert canonical(meta.codecs[-1].name) == "zlib"


CHAINS = {
    "plain": (),
    "zlib": (Codec("zlib", {"level": 1}),),
    "gzip": (Codec("gzip", {"level": 1}),),
    "bz2": (Codec("bz2", {"level": 1}),),
    "lzma": (Codec("lzma", {"format": 1, "check": -1, "preset": None, "filters": None}),),
    "lz4": (Codec("lz4", {"acceleration": 1}),),
    "zstd": (Codec("zstd", {"level": 1}),),
    "shuffle": (Codec("shuffle", {"elementsize": 4}), Codec("zlib", {"level": 1})),
    "blosc": (Codec("blosc", {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}),),
    "crc32c": (Codec("crc32c", {}),),
}


@pytest.mark.parametrize("endian", ["little", "big"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", list(CHAINS))
@pytest.mark.parametrize("dialect", ["zarr2", "zarr3"])
def test_arrays_that_we_describe_work_there(dialect, name, turned, endian):
    dtype = DType.of("<i4").with_byteorder(endian if dialect == "zarr2" else "native")
    codecs = (Codec("bytes", {"endian": endian}), *CHAINS[name])
    if turned:
        codecs = (Codec("transpose", {"order": [1, 0]}), *codecs)
    keys = v2_keys("/") if dialect == "zarr2" else default_keys(".")
    meta = ArrayMeta(
        (10, 12), dtype, RegularGrid((4, 6)), keys, Fill.of(-3, dtype), codecs, ("y", "x"), {"a": 1}, dialect
    )
    store: dict = {}
    if dialect == "zarr3":
        put(store, "zarr.json", v3.render_array(meta))
    else:
        for key, document in zip((".zarray", ".zattrs"), v2.render_array(meta), strict=True):
            put(store, key, document)
    array = zarr.open_array(store, mode="r+", zarr_format=int(dialect[-1]))
    values = np.arange(120, dtype="<i4").reshape(10, 12)
    array[2:] = values[2:]
    assert np.array_equal(zarr.open_array(store, mode="r")[2:], values[2:])
    assert array[0, 0] == -3
    assert keys.key((1, 1)) in store
    again = v3.parse_array(load(stored(store, "zarr.json"), "k"), "k") if dialect == "zarr3" else meta
    assert again._replace(codecs=()) == meta._replace(codecs=())


def test_nan_payloads_are_read_there():
    dtype = DType.of("<f8")
    fill = Fill(0x7FF8000000000123.to_bytes(8, "little"))
    codecs = (Codec("bytes", {"endian": "little"}),)
    meta = ArrayMeta((4,), dtype, RegularGrid((2,)), default_keys(), fill, codecs)
    store: dict = {}
    put(store, "zarr.json", v3.render_array(meta))
    assert np.float64(zarr.open_array(store, mode="r").fill_value).tobytes() == fill.bits


def hierarchy(zarr_format: int) -> dict:
    store: dict = {}
    root = zarr.create_group(store, zarr_format=zarr_format, attributes={"title": "x"})
    group = root.create_group("g", attributes={"k": 1})
    group.create_array("a", shape=(4,), dtype="i4")
    root.create_group("empty")
    return store


def names(group: object) -> list[str]:
    return sorted(name for name, _ in group.members(max_depth=None))  # type: ignore[attr-defined]


def test_consolidated_v3():
    store = hierarchy(3)
    zarr.consolidate_metadata(store)
    data = stored(store, "zarr.json")
    texts = consolidated.split_v3(data, "zarr.json")
    assert texts is not None
    assert sorted(texts) == ["empty/zarr.json", "g/a/zarr.json", "g/zarr.json"]
    assert v3.parse_group(load(texts["g/zarr.json"], "g"), "g").attributes == {"k": 1}
    rendered = {key: dump(render(load(text, key))) for key, text in texts.items()}
    own = dump(v3.render_group(v3.parse_group(load(consolidated.without_block(data), "k"), "k")))
    ours = hierarchy(3)
    put_bytes(ours, "zarr.json", consolidated.render_v3(own, rendered))
    check_consolidated_v3(ours)
    put_bytes(ours, "zarr.json", consolidated.render_v3(data, texts))
    check_consolidated_v3(ours)


def check_consolidated_v3(ours: dict) -> None:
    opened = zarr.open_consolidated(ours, zarr_format=3)
    assert names(opened) == ["empty", "g", "g/a"]
    assert opened["g/a"].shape == (4,)
    assert opened["g"].attrs["k"] == 1


def render(node: object) -> dict:
    if v3.node_type(node, "k") == "array":  # type: ignore[arg-type]
        return v3.render_array(v3.parse_array(node, "k"))  # type: ignore[arg-type]
    return v3.render_group(v3.parse_group(node, "k"))  # type: ignore[arg-type]


def test_consolidated_v2():
    store = hierarchy(2)
    zarr.consolidate_metadata(store)
    texts = consolidated.split_v2(stored(store, ".zmetadata"), ".zmetadata")
    main = [".zgroup", "empty/.zgroup", "g/.zgroup", "g/a/.zarray"]
    assert sorted(key for key in texts if not key.endswith(".zattrs")) == main
    attributes = load(texts["g/a/.zattrs"], "k")
    assert v2.parse_array(load(texts["g/a/.zarray"], "k"), attributes, "k").shape == (4,)
    ours = hierarchy(2)
    put_bytes(ours, ".zmetadata", consolidated.render_v2(texts))
    opened = zarr.open_consolidated(ours, zarr_format=2)
    assert names(opened) == ["empty", "g", "g/a"]
    assert opened["g/a"].shape == (4,)
    assert dict(opened["g"].attrs) == {"k": 1}


def test_documents_are_plain_json():
    meta = ArrayMeta(
        (4,), BYTES, RegularGrid((2,)), default_keys(), Fill(b"\xff"), (Codec("vlen-bytes", {}),), None, {"é": "ü"}
    )
    document = json.loads(dump(v3.render_array(meta)), parse_constant=pytest.fail)
    assert document["fill_value"] == "/w=="
