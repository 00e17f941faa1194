"""Every data type under every codec that takes it, in regular and rectilinear grids: what goes in comes out."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import omnizarr as oz

JSON = dict[str, Any]


class Type(NamedTuple):
    """An element type: what `dtype=` takes, what it is made of, and which formats have it."""

    dtype: Any
    family: str
    formats: tuple[str, ...] = ("zarr3", "zarr2")


NEW, OLD = ("zarr3",), ("zarr2",)
SMALL_INTEGERS = {"int2": (-2, 2), "int4": (-8, 8), "uint2": (0, 4), "uint4": (0, 16)}
SMALL_FLOATS = {
    "float4_e2m1fn": 4,
    "float6_e2m3fn": 6,
    "float6_e3m2fn": 6,
    "float8_e3m4": 8,
    "float8_e4m3": 8,
    "float8_e4m3b11fnuz": 8,
    "float8_e4m3fnuz": 8,
    "float8_e5m2": 8,
    "float8_e5m2fnuz": 8,
    "float8_e8m0fnu": 8,
    "bfloat16": 16,
}
TYPES: dict[str, Type] = {
    "bool": Type("bool", "bool"),
    **{name: Type(name, "int") for name in ("int8", "int16", "int32", "int64")},
    **{name: Type(name, "uint") for name in ("uint8", "uint16", "uint32", "uint64")},
    **{name: Type(name, "float") for name in ("float16", "float32", "float64")},
    **{name: Type(name, "complex") for name in ("complex64", "complex128")},
    **{name: Type(name, "complex", NEW) for name in ("complex_float32", "complex_float64")},
    **{name: Type(name, "small int", NEW) for name in SMALL_INTEGERS},
    **{name: Type(name, "small float", NEW) for name in SMALL_FLOATS},
    **{name: Type(name, "pair", NEW) for name in ("complex_float16", *(f"complex_{one}" for one in SMALL_FLOATS))},
    "datetime64": Type("M8[ns]", "time"),
    "datetime64-days": Type("M8[D]", "time"),
    "timedelta64": Type("m8[10us]", "time"),
    "timedelta64-generic": Type("m8", "time", NEW),
    "fixed_length_utf32": Type("U3", "text"),
    "null_terminated_bytes": Type("S3", "fixed"),
    "raw_bytes": Type("V3", "raw"),
    "r8": Type("r8", "raw", NEW),
    "r24": Type("r24", "raw", NEW),
    "struct": Type([("a", "<i4"), ("b", "<f8")], "struct"),
    "struct-nested": Type([("a", "<i2"), ("n", [("x", "u1"), ("y", "S2")])], "struct"),
    "struct-sub-array": Type([("v", "<f4", (2,)), ("w", "u1")], "struct", OLD),
    "long-double": Type(np.dtype("longdouble"), "long", OLD),
    "big-endian": Type(">i4", "int"),
    "big-endian-float": Type(">f8", "float"),
    "string": Type("string", "string"),
    "bytes": Type("bytes", "bytes"),
}
VARIABLE = {"string", "bytes"}
ANY = {one.family for one in TYPES.values()}
FIXED = ANY - VARIABLE
WHOLE = {"int", "uint"}
NUMBERS = {"int", "uint", "float"}


class Spec(NamedTuple):
    """A codec under test."""

    name: str
    families: set[str]
    configs: Callable[[np.dtype[Any]], st.SearchStrategy[JSON]]
    kind: str = "bytes"
    """Where it stands: "array", "array-bytes" or "bytes"."""

    v2: str = ""
    """Its id in v2, if it has one."""

    tame: bool = False
    """Whether values must be small numbers, as they must where codecs compute."""

    error: float = 0.0
    """How far from what was written a value may be."""

    without: tuple[str, ...] = ()
    """Types of its families that it does not take."""

    def __repr__(self) -> str:
        return self.name


def plain(**options: st.SearchStrategy[Any]) -> Callable[[np.dtype[Any]], st.SearchStrategy[JSON]]:
    return lambda _: st.fixed_dictionaries({}, optional=options) if options else st.just({})


def always(*configs: JSON) -> Callable[[np.dtype[Any]], st.SearchStrategy[JSON]]:
    return lambda _: st.sampled_from(configs)


def spelt(dtype: np.dtype[Any]) -> str:
    return dtype.newbyteorder("<").str


def blosc(dtype: np.dtype[Any]) -> st.SearchStrategy[JSON]:
    return st.fixed_dictionaries(
        {
            "cname": st.sampled_from(["lz4", "lz4hc", "blosclz", "zstd", "zlib", "snappy"]),
            "clevel": st.integers(0, 9),
            "shuffle": st.sampled_from(["shuffle", "bitshuffle", "noshuffle"]),
            "typesize": st.just(min(dtype.itemsize, 255)),
            "blocksize": st.sampled_from([0, 128, 4096]),
        }
    )


def numcodecs_blosc(dtype: np.dtype[Any]) -> st.SearchStrategy[JSON]:
    cnames = st.sampled_from(["lz4", "lz4hc", "blosclz", "zstd", "zlib"])
    return st.fixed_dictionaries({}, optional={"cname": cnames, "shuffle": st.integers(-1, 2)})


def scale_offset(dtype: np.dtype[Any]) -> st.SearchStrategy[JSON]:
    shift = {"i": 3, "u": 0, "f": 0.5}[dtype.kind]
    return st.sampled_from([{"offset": shift, "scale": 2}, {"scale": 2}, {"offset": shift}, {}])


def cast(dtype: np.dtype[Any]) -> st.SearchStrategy[JSON]:
    wider = {"data_type": "float64" if dtype.kind == "f" else "int64"}
    return st.sampled_from([wider, {**wider, "rounding": "towards-zero"}, {**wider, "out_of_range": "clamp"}])


def astype(dtype: np.dtype[Any]) -> st.SearchStrategy[JSON]:
    return st.just({"encode_dtype": "<f8" if dtype.kind == "f" else "<i8", "decode_dtype": spelt(dtype)})


def differences(dtype: np.dtype[Any]) -> st.SearchStrategy[JSON]:
    return st.just({"dtype": spelt(dtype)})


def scaled(dtype: np.dtype[Any]) -> st.SearchStrategy[JSON]:
    return st.just({"offset": 1, "scale": 100, "dtype": spelt(dtype), "astype": "<i4"})


def rounded(dtype: np.dtype[Any]) -> st.SearchStrategy[JSON]:
    return st.integers(2, 4).map(lambda digits: {"digits": digits, "dtype": spelt(dtype)})


def elements(dtype: np.dtype[Any]) -> st.SearchStrategy[JSON]:
    return st.just({"elementsize": dtype.itemsize})


LITTLE: JSON = {"name": "bytes", "configuration": {"endian": "little"}}
BIG: JSON = {"name": "bytes", "configuration": {"endian": "big"}}
GZIP: JSON = {"name": "gzip", "configuration": {"level": 1}}
LEVEL = {"level": st.integers(1, 9)}
N5 = [{"codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}, BIG]}, {"codecs": [BIG, GZIP]}]
VLEN: JSON = {"index_data_type": "uint32", "index_codecs": [LITTLE], "data_codecs": [{"name": "bytes"}, GZIP]}
SHARDS: JSON = {"chunk_shape": [1, 1], "codecs": [LITTLE, GZIP], "index_codecs": [LITTLE, {"name": "crc32c"}]}

CODECS = [
    Spec("blosc", ANY, blosc),
    Spec("gzip", ANY, lambda _: st.fixed_dictionaries(LEVEL), v2="gzip"),
    Spec("zstd", ANY, lambda _: st.fixed_dictionaries({**LEVEL, "checksum": st.booleans()})),
    Spec("crc32c", ANY, plain()),
    Spec("conditional", ANY, always({"codecs": [GZIP]}, {"codecs": [GZIP, {"name": "crc32c"}], "header_bits": 16})),
    Spec("numcodecs.blosc", ANY, numcodecs_blosc, v2="blosc"),
    Spec("numcodecs.gzip", ANY, plain(**LEVEL)),
    Spec("numcodecs.zlib", ANY, plain(**LEVEL), v2="zlib"),
    Spec("numcodecs.bz2", ANY, plain(**LEVEL), v2="bz2"),
    Spec("numcodecs.lzma", ANY, plain(preset=st.integers(0, 3)), v2="lzma"),
    Spec("numcodecs.lz4", ANY, plain(acceleration=st.integers(1, 9)), v2="lz4"),
    Spec("numcodecs.zstd", ANY, plain(**LEVEL), v2="zstd"),
    Spec("numcodecs.crc32", ANY, plain(), v2="crc32"),
    Spec("numcodecs.crc32c", ANY, plain(), v2="crc32c"),
    Spec("numcodecs.adler32", ANY, plain(), v2="adler32"),
    Spec("numcodecs.fletcher32", ANY, plain(), v2="fletcher32"),
    Spec("numcodecs.jenkins_lookup3", ANY, plain(initval=st.integers(0, 9)), v2="jenkins_lookup3"),
    Spec("numcodecs.shuffle", FIXED, elements, v2="shuffle"),
    Spec("bytes", FIXED, always(*(one["configuration"] for one in (LITTLE, BIG))), "array-bytes"),
    Spec("packbits", {"bool", "int", "uint", "float", "complex", "small int", "small float", "pair"},
         plain(padding_encoding=st.sampled_from(["none", "first_byte", "last_byte"])), "array-bytes"),
    Spec("sharding_indexed", FIXED, always(SHARDS, {**SHARDS, "index_location": "start"}), "array-bytes"),
    Spec("n5_default", NUMBERS, always(*N5), "array-bytes", without=("float16",)),
    # Unsigned numbers past the signed type's are refused.
    Spec("zfp", NUMBERS, always({"mode": "reversible"}), "array-bytes", tame=True, without=("float16",)),
    Spec("zfp", {"float"}, always({"mode": "fixed_accuracy", "tolerance": 0.05}), "array-bytes", tame=True, error=0.05,
         without=("float16",)),
    Spec("numcodecs.zfpy", {"int", "float"}, always({"mode": 4, "tolerance": -1.0}), "array-bytes", v2="zfpy",
         tame=True, without=("int8", "int16", "float16", "big-endian", "big-endian-float")),
    Spec("numcodecs.pcodec", NUMBERS, plain(level=st.integers(0, 8)), "array-bytes", v2="pcodec",
         without=("int8", "uint8", "big-endian", "big-endian-float")),
    Spec("vlen-utf8", {"string"}, plain(), "array-bytes", v2="vlen-utf8"),
    Spec("vlen-bytes", {"bytes"}, plain(), "array-bytes", v2="vlen-bytes"),
    Spec("zarrs.vlen_v2", VARIABLE, plain(), "array-bytes"),
    Spec("zarrs.vlen", VARIABLE, always(VLEN, {**VLEN, "index_location": "end"}), "array-bytes"),
    Spec("transpose", ANY, always({"order": [1, 0]}), "array"),
    Spec("reshape", ANY, always({"shape": [-1]}, {"shape": [[0, 1]]}, {"shape": [[0], 1, -1]}), "array"),
    Spec("zarrs.squeeze", ANY, plain(), "array"),
    Spec("bitround", {"uint", "float"}, always({"keepbits": 7}, {"keepbits": 9}), "array", tame=True, error=0.5),
    Spec("scale_offset", NUMBERS, scale_offset, "array", tame=True),
    Spec("cast_value", NUMBERS, cast, "array", tame=True),
    Spec("numcodecs.delta", WHOLE, differences, "array", v2="delta", without=("big-endian",)),
    Spec("numcodecs.bitround", {"float"}, always({"keepbits": 7}), "array", v2="bitround", tame=True, error=0.5),
    Spec("numcodecs.fixedscaleoffset", {"float"}, scaled, "array", v2="fixedscaleoffset", tame=True, error=0.01,
         without=("big-endian-float",)),
    Spec("numcodecs.quantize", {"float"}, rounded, "array", v2="quantize", tame=True, error=0.01,
         without=("big-endian-float",)),
    Spec("numcodecs.astype", NUMBERS, astype, "array", v2="astype", tame=True,
         without=("big-endian", "big-endian-float")),
    Spec("numcodecs.packbits", {"bool"}, plain(), "array", v2="packbits"),
]  # fmt: skip


def applies(codec: Spec, name: str) -> bool:
    return TYPES[name].family in codec.families and name not in codec.without


def wild(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    """Values of every kind of bits that a type of one length can have."""
    made = np.empty(shape, dtype)
    if dtype.names:
        for field in dtype.names:
            made[field] = wild(rng, dtype[field].base, made[field].shape)
    elif dtype.name in SMALL_INTEGERS:
        made[...] = rng.integers(*SMALL_INTEGERS[dtype.name], shape).astype(dtype)
    elif dtype.name in SMALL_FLOATS and dtype.itemsize == 1:
        made[...] = rng.integers(0, 1 << SMALL_FLOATS[dtype.name], shape).astype("u1").view(dtype)
    elif dtype.kind == "b":
        made[...] = rng.integers(0, 2, shape).astype(bool)
    elif dtype.kind in "SU":
        made[...] = rng.choice(np.array(["", "a", "bc", "xyz"], dtype), shape)
    elif dtype.itemsize > 8 and dtype.kind == "f":  # the padding within a long double has no meaning
        made[...] = rng.standard_normal(shape)
    else:
        raw = rng.integers(0, 256, (*shape, dtype.itemsize), dtype="u1")
        made[...] = np.ascontiguousarray(raw).view(dtype).reshape(shape)
    return made


def sample(rng: np.random.Generator, kind: Type, dtype: np.dtype[Any], shape: tuple[int, ...], *, tame: bool) -> Any:
    """Values for an array, with a corner that is left as it was created."""
    if kind.family in VARIABLE:
        pool = (
            ["", "a", "é", "日本語", "long " * 9] if kind.family == "string" else [b"", b"\0", b"\xff\xfe", b"x" * 40]
        )
        picks = rng.integers(0, len(pool), shape)
        made = np.empty(shape, object)
        for index in np.ndindex(shape):
            made[index] = pool[picks[index]]
        return made
    if tame:
        quarters = rng.integers(0 if dtype.kind == "u" else -20, 21, shape)
        return (quarters / 4 if dtype.kind == "f" else quarters).astype(dtype)
    return wild(rng, dtype, shape)


def bits(array: Any) -> Any:
    """What must be equal: the bits of each field, in native order, or the objects."""
    array = np.asarray(array)
    if array.dtype.kind in "OT":
        return array.astype(object).tolist()
    if array.dtype.names:
        return [bits(array[name]) for name in array.dtype.names]
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        return array.tolist()
    if array.dtype.name in SMALL_INTEGERS:
        array = array.astype("i1")
    native = array.dtype.newbyteorder("=")
    return (array if array.dtype == native else array.byteswap().view(native)).tobytes()


def in_memory(kind: Type) -> np.dtype[Any]:
    """The NumPy type of an element; any of that size for variable length."""
    if kind.family in VARIABLE:
        return np.dtype("V16")
    return oz.create_array({}, shape=1, dtype=kind.dtype, format=kind.formats[0]).dtype


def chain(codec: Spec, config: JSON, fmt: str) -> list[Any]:
    if fmt == "zarr2":
        return [{"id": codec.v2, **config}]
    return [{"name": codec.name, "configuration": config}]


def check(kind: Type, codecs: list[Any], options: JSON, rng: np.random.Generator, *, tame: bool, error: float) -> None:
    """Write values to a new array and read them from the store alone, whole and in part."""
    store: dict[str, bytes] = {}
    array = oz.create_array(store, dtype=kind.dtype, codecs=codecs, **options)
    expected = sample(rng, kind, array.dtype, array.shape, tame=tame)
    blank = oz.open_array(store)[...]
    corner = tuple(slice(0, n // 2) for n in array.shape)
    expected[corner] = blank[corner]
    array[...] = expected
    read = oz.open_array(store)
    assert (read.shape, read.dtype) == (array.shape, array.dtype)
    values = read[...]
    if error:
        assert np.abs(values.astype("f8") - expected.astype("f8")).max(initial=0) <= error
    else:
        assert bits(values) == bits(expected)
    part = tuple(slice(n // 3, n, 2) for n in array.shape)
    assert bits(read[part]) == bits(values[part])


GRIDS: dict[str, Any] = {"regular": (3, 4), "rectilinear": [[3, 4], [2, 1, 2]]}
PAIRS = [
    (codec, name, fmt)
    for codec in CODECS
    for name in TYPES
    for fmt in TYPES[name].formats
    if applies(codec, name) and (fmt == "zarr3" or codec.v2)
]


@pytest.mark.parametrize(
    ("codec", "name", "fmt"), PAIRS, ids=[f"{codec.name}-{name}-{fmt}" for codec, name, fmt in PAIRS]
)
@pytest.mark.filterwarnings("ignore::omnizarr.OmnizarrWarning")
def test_every_type_under_every_codec(codec, name, fmt, rng):
    kind = TYPES[name]
    dtype = in_memory(kind)
    # The simplest configuration is what the strategy shrinks to, so it is found without search.
    config = simplest(codec.configs(dtype))
    for grid, chunks in GRIDS.items():
        if grid == "regular" or fmt == "zarr3":
            options = {"shape": (7, 5), "chunks": chunks, "format": fmt}
            check(kind, chain(codec, config, fmt), options, rng, tame=codec.tame, error=codec.error)


def simplest(strategy: st.SearchStrategy[JSON]) -> JSON:
    """The first value that a strategy gives, whichever profile is loaded."""
    found: list[JSON] = []

    @settings(max_examples=1, database=None, derandomize=True)
    @given(strategy)
    def take(config: JSON) -> None:
        found.append(config)

    take()
    return found[0]


@st.composite
def lengths(draw: st.DrawFn, total: int) -> list[int]:
    """Lengths of the chunks of one dimension that together are as long as it."""
    cuts = sorted(draw(st.sets(st.integers(1, max(total - 1, 1)), max_size=3)) if total > 1 else ())
    edges = [0, *cuts, total]
    return [b - a for a, b in pairwise(edges)]


@given(st.data())
@pytest.mark.filterwarnings("ignore::omnizarr.OmnizarrWarning")
def test_any_chain_in_any_grid(data):
    name = data.draw(st.sampled_from(sorted(TYPES)), "type")
    kind = TYPES[name]
    fmt = data.draw(st.sampled_from(kind.formats), "format")
    fitting = [one for one in CODECS if applies(one, name) and (fmt == "zarr3" or one.v2)]
    first = data.draw(st.sampled_from(fitting), "codec")
    more = data.draw(
        st.lists(st.sampled_from([one for one in fitting if one.kind == "bytes" and one.families == ANY]), max_size=2),
        "more",
    )
    dtype = in_memory(kind)
    codecs: list[Any] = []
    for codec in [first, *more]:
        codecs += chain(codec, data.draw(codec.configs(dtype), codec.name), fmt)
    shape = (data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9)))
    options: JSON = {"shape": shape, "format": fmt}
    if fmt == "zarr3" and data.draw(st.booleans(), "rectilinear"):
        options["chunks"] = [data.draw(lengths(n)) for n in shape]
    else:
        options["chunks"] = tuple(data.draw(st.integers(1, n + 2)) for n in shape)
        if fmt == "zarr3" and first.name != "sharding_indexed" and data.draw(st.booleans(), "sharded"):
            options["shards"] = tuple(n * data.draw(st.integers(1, 2)) for n in options["chunks"])
    if first.name != "transpose":
        options["order"] = data.draw(st.sampled_from(["C", "F"]))
    note(f"{name} {codecs} {options}")
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32), "seed"))
    check(kind, codecs, options, rng, tame=first.tame, error=first.error)
