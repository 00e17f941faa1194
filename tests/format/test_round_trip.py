"""Any array that can be written is read back as it was."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from omnizarr.format import v2, v3
from omnizarr.format.document import dump, load
from omnizarr.limits import Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import Codec
from omnizarr.model.dtype import BYTES, STRING, DType
from omnizarr.model.fill import Fill
from omnizarr.model.grid import RegularGrid
from omnizarr.model.keys import default_keys, v2_keys

LIMITS = Limits(max_chunk_bytes=1 << 62)

names = st.text(st.characters(), max_size=8)
scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | names
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=6
)
attributes = st.dictionaries(names, values, max_size=3)
units = st.sampled_from(["Y", "M", "D", "h", "s", "ms", "us", "ns", "10s", "25us", ""])


@st.composite
def dtypes(draw: st.DrawFn, order: str) -> DType:
    kind = draw(st.sampled_from("?iufcSUVMmsb"))
    if kind == "s":
        return STRING
    if kind == "b":
        return BYTES
    if kind in "Mm":
        unit = draw(units)
        return DType.of(f"{order}{kind}8" + (f"[{unit}]" if unit else ""))
    sizes = {"?": "", "i": "1248", "u": "1248", "f": "248", "c": ["8", "16"]}.get(kind)
    if sizes is None:
        return DType.of(f"{order}{kind}{draw(st.integers(1, 40))}")
    return DType.of(f"{order}{kind}{draw(st.sampled_from(sizes))}" if sizes else "?")


@st.composite
def fills(draw: st.DrawFn, dtype: DType) -> Fill:
    if dtype == STRING:
        return Fill(draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=5)).encode())
    if dtype == BYTES:
        return Fill(draw(st.binary(max_size=5)))
    if dtype.numpy.kind == "U":
        return Fill.of(draw(hnp.arrays(dtype.numpy, 1))[0], dtype)
    bits = draw(st.binary(min_size=dtype.itemsize, max_size=dtype.itemsize))
    if dtype.numpy.kind == "b":
        bits = bytes((bits[0] & 1,))
    if dtype.numpy.kind == "S":  # bytes after a NUL would be cut off by NumPy
        bits = bits.rstrip(b"\0").ljust(dtype.itemsize, b"\0")
    return Fill(bits)


@st.composite
def shapes(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    ndim = draw(st.integers(0, 4))
    shape = draw(st.tuples(*[st.integers(0, 2**15)] * ndim))
    return shape, draw(st.tuples(*[st.integers(1, 12)] * ndim))


def serialiser(dtype: DType, endian: str) -> Codec:
    if dtype.is_vlen:
        return Codec("vlen-utf8" if dtype == STRING else "vlen-bytes", {})
    return Codec("bytes", {"endian": endian} if dtype.swap_unit > 1 else {})


on_bytes_v3 = st.lists(
    st.one_of(
        st.integers(0, 9).map(lambda level: Codec("gzip", {"level": level})),
        st.integers(-7, 22).map(lambda level: Codec("zstd", {"level": level, "checksum": level % 2 == 0})),
        st.just(Codec("crc32c", {})),
        st.just(Codec("numcodecs.zlib", {})),
        st.just(Codec("numcodecs.crc32", {"location": "end"})),
        st.just(Codec("foreign.codec", {"a": [1, {"b": None}]}, required=False)),
        st.sampled_from(["noshuffle", "shuffle", "bitshuffle"]).map(
            lambda shuffle: Codec(
                "blosc", {"typesize": 3, "cname": "lz4", "clevel": 5, "shuffle": shuffle, "blocksize": 0}
            )
        ),
    ),
    max_size=3,
)


@st.composite
def chains_v3(draw: st.DrawFn, dtype: DType, chunk: tuple[int, ...], depth: int = 0) -> tuple[Codec, ...]:
    chain: list[Codec] = []
    if chunk and draw(st.booleans()):
        order = draw(st.permutations(range(len(chunk))))
        chain.append(Codec("transpose", {"order": list(order)}))
        chunk = tuple(chunk[axis] for axis in order)
    if depth < 3 and draw(st.integers(0, 3)) == 0:
        inner = tuple(draw(st.sampled_from([d for d in range(1, size + 1) if size % d == 0])) for size in chunk)
        little = Codec("bytes", {"endian": draw(st.sampled_from(["little", "big"]))})
        configuration = {
            "chunk_shape": list(inner),
            "codecs": [codec.to_json() for codec in draw(chains_v3(dtype, inner, depth + 1))],
            "index_codecs": [little.to_json(), *([Codec("crc32c", {}).to_json()] if draw(st.booleans()) else [])],
            "index_location": draw(st.sampled_from(["start", "end"])),
        }
        chain.append(Codec("sharding_indexed", configuration))
    else:
        chain.append(serialiser(dtype, draw(st.sampled_from(["little", "big"]))))
    return (*chain, *draw(on_bytes_v3))


@st.composite
def arrays_v3(draw: st.DrawFn) -> ArrayMeta:
    dtype = draw(dtypes("="))
    shape, chunk = draw(shapes())
    dims = draw(st.none() | st.tuples(*[st.none() | names] * len(shape)))
    extra = draw(st.dictionaries(names.map("x_".__add__), st.just({"must_understand": False, "x": 1}), max_size=1))
    keys = draw(st.sampled_from([default_keys(), default_keys("."), v2_keys(), v2_keys("/")]))
    codecs = draw(chains_v3(dtype, chunk))
    grid = RegularGrid(chunk)
    return ArrayMeta(shape, dtype, grid, keys, draw(fills(dtype)), codecs, dims, draw(attributes), "zarr3", extra)


compressors_v2 = st.none() | st.sampled_from(
    [
        Codec("zlib", {"level": 1}),
        Codec("gzip", {}),
        Codec("zstd", {"level": 3}),
        Codec("lzma", {"format": 1, "check": -1, "preset": None, "filters": None}),
        Codec("bz2", {"level": 1}),
        Codec("lz4", {"acceleration": 1}),
    ]
)


@st.composite
def arrays_v2(draw: st.DrawFn) -> ArrayMeta:
    dtype = draw(dtypes(draw(st.sampled_from("<>"))))
    shape, chunk = draw(shapes())
    chain = [serialiser(dtype, dtype.byteorder)]
    if dtype.numpy.kind in "iuf" and not dtype.is_vlen and draw(st.booleans()):
        chain.insert(0, Codec("delta", {"dtype": dtype.numpy.str, "astype": dtype.numpy.str}))
    if len(shape) > 1 and draw(st.booleans()):
        chain.insert(0, Codec("transpose", {"order": list(reversed(range(len(shape))))}))
    chain += draw(st.lists(st.sampled_from([Codec("crc32c", {}), Codec("numcodecs.fletcher32", {})]), max_size=1))
    compressor = draw(compressors_v2)
    chain += [] if compressor is None else [compressor]
    dims = draw(st.none() | st.tuples(*[names] * len(shape)))
    attrs = {**draw(attributes), **({} if dims is None else {"_ARRAY_DIMENSIONS": list(dims)})}
    fill = draw(st.just(Fill(None)) | fills(dtype).filter(lambda fill: is_plain(fill, dtype)))
    keys = draw(st.sampled_from([v2_keys(), v2_keys("/")]))
    extra = draw(st.dictionaries(st.just("_nczarr_array"), values, max_size=1))
    return ArrayMeta(shape, dtype, RegularGrid(chunk), keys, fill, tuple(chain), dims, attrs, "zarr2", extra)


def is_plain(fill: Fill, dtype: DType) -> bool:
    """Whether a fill has no NaN, of which v2 knows only one."""
    return dtype.numpy.kind not in "fc" or not bool(np.isnan(fill.value(dtype)))  # type: ignore[arg-type]


def roundtrip(meta: ArrayMeta) -> ArrayMeta:
    if meta.format == "zarr3":
        return v3.parse_array(load(dump(v3.render_array(meta)), "k"), "k", LIMITS)
    zarray, zattrs = (load(dump(document), "k") for document in v2.render_array(meta))
    return v2.parse_array(zarray, zattrs, "k", LIMITS)


@given(arrays_v3())
def test_v3(meta):
    assert roundtrip(meta) == meta


@given(arrays_v2())
def test_v2(meta):
    assert roundtrip(meta) == meta
