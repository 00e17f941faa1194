"""Arrays of other implementations: they read ours and we read theirs, bit for bit."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import omnizarr as oz

pytestmark = [
    pytest.mark.peers,
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

NUMBERS = ["bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
OTHERS = ["S3", "U3", "V4", "M8[ns]", "m8[s]", "M8[10us]"]
BIG = [">i2", ">u4", ">f8", ">c16", ">U2"]

SHAPE, CHUNKS, SHARDS = (7, 10, 5), (2, 5, 3), (4, 10, 3)


def sample(dtype: str, shape: tuple[int, ...] = SHAPE, seed: int = 0) -> Any:
    """Values with every kind of bits, and a region of zeros that is not stored."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype)
    if kind.kind == "b":
        values = rng.integers(0, 2, shape).astype(bool)
    elif kind.kind in "SU":
        values = rng.choice(np.array(["", "a", "bc", "xyz"], kind), shape)
    else:
        raw = rng.integers(0, 256, (*shape, kind.itemsize), dtype="u1")
        values = np.ascontiguousarray(raw).view(kind).reshape(shape)
    values[:2, :5] = np.zeros((), kind)
    return values


def bits(array: Any) -> bytes:
    """The bytes of the elements in native order."""
    array = np.asarray(array)
    if array.dtype.kind in "OT":
        return repr(array.astype(object).tolist()).encode()
    native = array.dtype.newbyteorder("=")
    return (array if array.dtype == native else array.byteswap().view(native)).tobytes()


def assert_same(left: Any, right: Any) -> None:
    left, right = np.asarray(left), np.asarray(right)
    assert left.shape == right.shape
    assert bits(left) == bits(right)


V3_CODECS: dict[str, Any] = {
    "none": None,
    "gzip": "gzip",
    "zstd": {"name": "zstd", "configuration": {"level": 3, "checksum": True}},
    "blosc-lz4": oz.codec.blosc("lz4", 5, "shuffle"),
    "blosc-zstd-bit": oz.codec.blosc("zstd", 1, "bitshuffle"),
    "blosc-zlib-plain": oz.codec.blosc("zlib", 9, "noshuffle"),
    "blosc-blosclz": oz.codec.blosc("blosclz", 5, "shuffle"),
    "blosc-lz4hc": oz.codec.blosc("lz4hc", 5, "shuffle", blocksize=512),
    "crc32c": [oz.codec.crc32c()],
    "zstd-crc32c": ["zstd", oz.codec.crc32c()],
}
NUMCODECS: dict[str, Any] = {
    "zlib": oz.codec.zlib(),
    "lz4": oz.codec.lz4(),
    "bz2": oz.codec.bz2(),
    "lzma": oz.codec.lzma(),
    "shuffle-zstd": [oz.codec.shuffle(), "zstd"],
    "delta-zstd": [oz.codec.delta(), "zstd"],
    "adler32": {"id": "adler32"},
    "fletcher32": {"id": "fletcher32"},
    "fixedscaleoffset": {"id": "fixedscaleoffset", "offset": 10, "scale": 1, "dtype": "<i4", "astype": "<i8"},
}


def combinations(dtypes: list[str], codecs: dict[str, Any], formats: list[str]) -> list[tuple[Any, ...]]:
    """Every type with one codec, and every codec, order and sharding with one type: the two do not touch each other."""
    plain = [(fmt, dtype, "zstd", "C", None) for fmt, dtype in itertools.product(formats, dtypes)]
    rest = [
        (fmt, "i4", codec, order, shards)
        for fmt, codec, order in itertools.product(formats, codecs, ["C", "F"])
        for shards in ([None, SHARDS] if fmt == "zarr3" else [None])
    ]
    return plain + rest


ALL = combinations(NUMBERS + OTHERS + BIG, {**V3_CODECS, **NUMCODECS}, ["zarr3", "zarr2"])


@pytest.mark.parametrize("fmt", ["zarr3", "zarr2"])
def test_zarr_python_reads_ours(fmt, tmp_path):
    zarr = pytest.importorskip("zarr")
    for i, (form, dtype, codec, order, shards) in enumerate(ALL):
        if form != fmt:
            continue
        values = sample(dtype)
        where = tmp_path / str(i)
        array = oz.create_array(
            where, data=values, chunks=CHUNKS, shards=shards, codecs={**V3_CODECS, **NUMCODECS}[codec], order=order,
            format=fmt, dims=("x", "y", "z"), attrs={"n": i},
        )  # fmt: skip
        theirs = zarr.open_array(where, mode="r")
        assert theirs.chunks == array.chunks
        assert theirs.shards == shards
        assert theirs.attrs["n"] == i
        assert_same(theirs[...], values)
        assert_same(oz.open(where)[...], values)


def zarr_codecs(zarr: Any, name: str, fmt: str) -> dict[str, Any]:
    """Keywords that ask zarr-python for a codec."""
    import numcodecs
    from zarr.codecs import BloscCodec, Crc32cCodec, GzipCodec, ZstdCodec
    from zarr.codecs import numcodecs as wrapped

    if fmt == "zarr2":
        return {
            "none": {"compressors": None},
            "gzip": {"compressors": numcodecs.GZip(5)},
            "zstd": {"compressors": numcodecs.Zstd(3)},
            "blosc-lz4": {"compressors": numcodecs.Blosc("lz4", 5, 1)},
            "blosc-zstd-bit": {"compressors": numcodecs.Blosc("zstd", 1, 2)},
            "blosc-auto": {"compressors": numcodecs.Blosc("lz4", 5, -1)},
            "zlib": {"compressors": numcodecs.Zlib(5)},
            "lz4": {"compressors": numcodecs.LZ4()},
            "bz2": {"compressors": numcodecs.BZ2()},
            "lzma": {"compressors": numcodecs.LZMA()},
            "shuffle-zlib": {"filters": [numcodecs.Shuffle(4)], "compressors": numcodecs.Zlib(1)},
            "delta-zstd": {"filters": [numcodecs.Delta("<i4", "<i8")], "compressors": numcodecs.Zstd(1)},
            "scale": {"filters": [numcodecs.FixedScaleOffset(1, 2, "<i4", "<i8")], "compressors": None},
        }[name]
    return {
        "none": {"compressors": None},
        "gzip": {"compressors": GzipCodec(level=5)},
        "zstd": {"compressors": ZstdCodec(level=3, checksum=True)},
        "blosc-lz4": {"compressors": BloscCodec(cname="lz4", clevel=5, shuffle="shuffle", typesize=4)},
        "blosc-zstd-bit": {"compressors": BloscCodec(cname="zstd", clevel=1, shuffle="bitshuffle", typesize=4)},
        "blosc-auto": {"compressors": BloscCodec()},
        "zlib": {"compressors": wrapped.Zlib(level=5)},
        "lz4": {"compressors": wrapped.LZ4()},
        "bz2": {"compressors": [wrapped.BZ2(), Crc32cCodec()]},
        "lzma": {"compressors": wrapped.LZMA()},
        "shuffle-zlib": {"compressors": [wrapped.Shuffle(elementsize=4), wrapped.Zlib(level=1)]},
        "delta-zstd": {"filters": [wrapped.Delta(dtype="<i4", astype="<i8")], "compressors": ZstdCodec()},
        "scale": {"filters": [wrapped.FixedScaleOffset(scale=2, offset=1, astype="<i8")], "compressors": None},
    }[name]


THEIR_CODECS = [
    "none", "gzip", "zstd", "blosc-lz4", "blosc-zstd-bit", "blosc-auto", "zlib", "lz4", "bz2", "lzma", "shuffle-zlib",
    "delta-zstd", "scale",
]  # fmt: skip


@pytest.mark.parametrize("fmt", ["zarr3", "zarr2"])
def test_we_read_and_change_what_zarr_python_writes(fmt, tmp_path):
    zarr = pytest.importorskip("zarr")
    number = {"zarr3": 3, "zarr2": 2}[fmt]
    for i, (form, dtype, codec, order, shards) in enumerate(
        combinations(NUMBERS + OTHERS + (BIG if fmt == "zarr2" else []), dict.fromkeys(THEIR_CODECS), [fmt])
    ):
        assert form == fmt
        if (fmt, order) == ("zarr3", "F") and codec in ("delta-zstd", "scale"):
            continue  # zarr-python loses the order between transpose and a filter, and cannot read what it wrote
        values = sample(dtype) if codec != "scale" else np.abs(sample(dtype) // 4)
        where = tmp_path / str(i)
        options = zarr_codecs(zarr, codec, fmt)
        if order == "F" and fmt == "zarr3":
            options["filters"] = [zarr.codecs.TransposeCodec(order=(2, 1, 0)), *options.get("filters", [])]
        elif fmt == "zarr2":
            options["order"] = order
        theirs = zarr.create_array(
            where, shape=SHAPE, chunks=CHUNKS, shards=shards, dtype=values.dtype, zarr_format=number, **options
        )
        theirs[...] = values
        ours = oz.open_array(where, "r+")
        assert (ours.chunks, ours.shards) == (CHUNKS, shards)
        assert_same(ours[...], values)
        assert_same(ours[1:5, ::-2, 2], values[1:5, ::-2, 2])
        changed = sample(dtype, seed=1) if codec != "scale" else np.abs(sample(dtype, seed=1) // 4)
        ours[2:6, 3:] = changed[2:6, 3:]
        values[2:6, 3:] = changed[2:6, 3:]
        assert_same(zarr.open_array(where, mode="r")[...], values)


@pytest.mark.parametrize("fmt", ["zarr3", "zarr2"])
@pytest.mark.parametrize("kind", ["string", "bytes"])
def test_text_and_bytes_of_any_length_go_both_ways(fmt, kind, tmp_path):
    zarr = pytest.importorskip("zarr")
    texts = np.array([["", "a", "häß"], ["日本", "x" * 100, "\N{GRINNING FACE}"]], object)
    values = texts if kind == "string" else np.array([[t.encode() for t in row] for row in texts], object)
    for i, (codecs, shards) in enumerate(
        itertools.product([None, "zstd"], [None, (2, 4)] if fmt == "zarr3" else [None])
    ):
        where = tmp_path / f"ours{i}"
        oz.create_array(where, data=values, dtype=kind, chunks=(1, 2), shards=shards, codecs=codecs, format=fmt)
        assert zarr.open_array(where, mode="r")[...].tolist() == values.tolist()
    where = tmp_path / "theirs"
    dtype = zarr.dtype.VariableLengthUTF8() if kind == "string" else zarr.dtype.VariableLengthBytes()
    theirs = zarr.create_array(where, shape=(2, 3), chunks=(2, 2), dtype=dtype, zarr_format=int(fmt[-1]))
    theirs[...] = values
    ours = oz.open_array(where)
    assert ours[...].tolist() == values.tolist()


FILLS = [
    ("f4", np.nan), ("f4", -0.0), ("f4", np.inf), ("f8", -np.inf), ("f8", 0.1), ("f2", 1.5), ("i8", 2**63 - 1),
    ("u8", 2**64 - 1), ("i1", -128), ("bool", True), ("c8", 1 + 2j), ("c16", complex(np.nan, -0.0)), ("U3", "né"),
    ("M8[s]", np.datetime64("NaT", "s")), ("M8[D]", np.datetime64("2020-02-29", "D")), ("string", "nothing"),
    ("S4", b"ab"),
]  # fmt: skip


@pytest.mark.parametrize("fmt", ["zarr3", "zarr2"])
@pytest.mark.parametrize(("dtype", "fill"), FILLS)
def test_fill_values_go_both_ways(fmt, dtype, fill, tmp_path):
    zarr = pytest.importorskip("zarr")
    ours = oz.create_array(tmp_path / "ours", shape=(3,), dtype=dtype, fill_value=fill, format=fmt)
    expected = np.empty(3, object if dtype == "string" else dtype)
    expected[...] = fill
    assert_same(ours[...], expected)
    theirs = zarr.open_array(tmp_path / "ours", mode="r")
    assert_same(theirs[...], expected)
    kind = zarr.dtype.VariableLengthUTF8() if dtype == "string" else dtype
    zarr.create_array(tmp_path / "theirs", shape=(3,), dtype=kind, fill_value=fill, zarr_format=int(fmt[-1]))
    assert_same(oz.open_array(tmp_path / "theirs")[...], expected)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,)])
@pytest.mark.parametrize("fmt", ["zarr3", "zarr2"])
def test_odd_shapes_go_both_ways(fmt, shape, tmp_path):
    zarr = pytest.importorskip("zarr")
    values = np.full(shape, 5, "i4")
    oz.create_array(tmp_path / "ours", data=values, format=fmt)
    assert_same(zarr.open_array(tmp_path / "ours", mode="r")[...], values)
    theirs = zarr.create_array(tmp_path / "theirs", shape=shape, dtype="i4", zarr_format=int(fmt[-1]))
    theirs[...] = values
    assert_same(oz.open_array(tmp_path / "theirs")[...], values)


@pytest.mark.parametrize("fmt", ["zarr3", "zarr2"])
def test_groups_and_consolidated_metadata_go_both_ways(fmt, tmp_path):
    zarr = pytest.importorskip("zarr")
    number = int(fmt[-1])
    ours = oz.create_group(tmp_path / "ours", format=fmt, attrs={"title": "x"})
    ours.create_array("a/b/c", data=np.arange(6), dims=("x",))
    ours.create_group("a/empty", attrs={"n": [1, 2]})
    ours.consolidate()
    for use in (True, False):
        theirs = zarr.open_group(tmp_path / "ours", mode="r", use_consolidated=use, zarr_format=number)
        assert dict(theirs.attrs) == {"title": "x"}
        assert sorted(path for path, _ in theirs.members(max_depth=None)) == ["a", "a/b", "a/b/c", "a/empty"]
        assert_same(theirs["a/b/c"][...], np.arange(6))
        assert theirs["a/empty"].attrs["n"] == [1, 2]
    theirs = zarr.open_group(tmp_path / "theirs", mode="w", zarr_format=number)
    theirs.create_group("g").create_array("x", shape=(4,), dtype="i4")[...] = 3
    theirs.attrs["k"] = "v"
    zarr.consolidate_metadata(tmp_path / "theirs", zarr_format=number)
    for use in (None, True, False):
        read = oz.open_group(tmp_path / "theirs", consolidated=use)
        assert read.attrs.asdict() == {"k": "v"}
        assert [path for path, _ in read.members(None)] == ["g", "g/x"]
        assert_same(dict(read.members(None))["g/x"][...], np.full(4, 3, "i4"))
    changed = oz.open_group(tmp_path / "theirs", "r+")
    changed.create_array("g/y", data=[1, 2])
    changed["g/x"].attrs["unit"] = "K"
    read = zarr.open_group(tmp_path / "theirs", mode="r", use_consolidated=True, zarr_format=number)
    assert sorted(path for path, _ in read.members(max_depth=None)) == ["g", "g/x", "g/y"]
    assert read["g/x"].attrs["unit"] == "K"


def tensorstore_metadata(values: Any, codecs: list[Any], fmt: str, shards: Any, order: str) -> dict[str, Any]:
    """Metadata with which tensorstore creates an array."""
    if fmt == "zarr2":
        return {
            "shape": list(SHAPE), "chunks": list(CHUNKS), "dtype": values.dtype.str, "order": order, "filters": None,
            "fill_value": None, "compressor": codecs[0] if codecs else None,
        }  # fmt: skip
    chain: list[Any] = [{"name": "transpose", "configuration": {"order": [2, 1, 0]}}] if order == "F" else []
    chain += [
        {"name": "bytes", "configuration": {"endian": "big"}} if values.itemsize > 1 else {"name": "bytes"},
        *codecs,
    ]
    if shards:
        index = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
        inner = {"chunk_shape": list(CHUNKS), "codecs": chain, "index_codecs": index, "index_location": "start"}
        chain = [{"name": "sharding_indexed", "configuration": inner}]
    name = {"c8": "complex64", "c16": "complex128"}.get(values.dtype.str[1:], values.dtype.name)
    return {
        "shape": list(SHAPE), "data_type": name, "codecs": chain,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(shards or CHUNKS)}},
        "fill_value": [0, 0] if values.dtype.kind == "c" else False if values.dtype.kind == "b" else 0,
    }  # fmt: skip


TENSORSTORE: dict[str, dict[str, list[Any]]] = {
    "zarr3": {
        "none": [],
        "gzip": [{"name": "gzip", "configuration": {"level": 5}}],
        "zstd": [{"name": "zstd", "configuration": {"level": 3}}],
        "blosc": [
            {
                "name": "blosc",
                "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0},
            }
        ],
        "crc32c": [{"name": "crc32c"}],
    },
    "zarr2": {
        "none": [],
        "zlib": [{"id": "zlib", "level": 5}],
        "gzip": [{"id": "gzip", "level": 5}],
        "zstd": [{"id": "zstd", "level": 3}],
        "bz2": [{"id": "bz2", "level": 5}],
        "blosc": [{"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1, "blocksize": 0}],
    },
}


@pytest.mark.skipif(sys.platform == "win32", reason="tensorstore has no wheels there")
def test_tensorstore_reads_ours_and_we_read_its(tmp_path):
    pytest.importorskip("tensorstore")
    manifest: dict[str, list[Any]] = {"read": [], "write": []}
    expected = {}
    drivers = {"zarr3": "zarr3", "zarr2": "zarr"}
    for fmt, driver in drivers.items():
        dtypes = NUMBERS + ([">i2", ">f8"] if fmt == "zarr2" else [])
        for i, (_, dtype, codec, order, shards) in enumerate(combinations(dtypes, TENSORSTORE[fmt], [fmt])):
            values = sample(dtype)
            codecs = TENSORSTORE[fmt][codec]
            folder = tmp_path / f"ours-{fmt}-{i}"
            oz.create_array(
                folder / "array", data=values, chunks=CHUNKS, shards=shards, order=order, format=fmt, codecs=codecs
            )
            manifest["read"].append((driver, str(folder)))
            expected[folder / "read.npy"] = values
            folder = tmp_path / f"theirs-{fmt}-{i}"
            folder.mkdir()
            np.save(folder / "values.npy", values)
            metadata = tensorstore_metadata(values, codecs, fmt, shards, order)
            manifest["write"].append((driver, str(folder), metadata))
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    child = Path(__file__).with_name("_tensorstore_child.py")
    done = subprocess.run(
        [sys.executable, child, tmp_path / "manifest.json"], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for path, values in expected.items():
        assert_same(np.load(path), values)
    for _, folder, _ in manifest["write"]:
        assert_same(oz.open_array(f"{folder}/array")[...], np.load(f"{folder}/values.npy"))


BYTES = {"name": "bytes", "configuration": {"endian": "big"}}
TRANSPOSE = {"name": "transpose", "configuration": {"order": [1, 0]}}


def shard(chunk_shape: list[int], codecs: list[Any], location: str) -> dict[str, Any]:
    index = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
    inner = {"chunk_shape": chunk_shape, "codecs": codecs, "index_codecs": index, "index_location": location}
    return {"name": "sharding_indexed", "configuration": inner}


@pytest.mark.parametrize(
    "codecs",
    [
        [shard([6, 6], [shard([3, 2], [BYTES, {"name": "zstd"}], "start")], "end")],
        [TRANSPOSE, shard([6, 4], [shard([3, 2], [BYTES], "start")], "start")],
        [shard([6, 6], [TRANSPOSE, shard([2, 3], [BYTES, oz.codec.blosc().to_json()], "end")], "start")],
        [shard([6, 6], [BYTES], "end"), {"name": "zstd"}],
    ],
    ids=["nested", "transposed", "transposed inside", "compressed whole"],
)
def test_zarr_python_reads_our_shards_of_every_build(codecs, tmp_path):
    zarr = pytest.importorskip("zarr")
    values = np.arange(24 * 36, dtype="i4").reshape(24, 36)
    array = oz.create_array(tmp_path, shape=values.shape, dtype="i4", chunks=(12, 12), codecs=codecs)
    array[...] = values
    array[3:10, 5:20] = values[3:10, 5:20] = -1
    assert_same(oz.open(tmp_path)[...], values)
    assert_same(oz.open(tmp_path)[4:9:2, ::-3], values[4:9:2, ::-3])
    assert_same(zarr.open_array(tmp_path, mode="r")[...], values)
