"""Codecs of HDF5's filters: chunks that the library wrote, decoded without it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import h5py
import hdf5plugin
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.codec.hdf5_filters import codec_of, codecs_of
from omnizarr.errors import CorruptError, OmnizarrError, UnsupportedError

Array = np.ndarray[Any, Any]


def written(data: Array, **how: Any) -> tuple[Array, int, bytes, list[tuple[int, tuple[int, ...]]]]:
    """Let HDF5 write one chunk: the values it reads back, the mask, the chunk and the filters."""
    with h5py.File.in_memory() as file:
        held = file.create_dataset("d", data=data, chunks=data.shape, **how)
        mask, chunk = held.id.read_direct_chunk((0,) * data.ndim)
        plist = held.id.get_create_plist()
        filters = [plist.get_filter(i) for i in range(plist.get_nfilters())]
        return held[...], mask, bytes(chunk), [(number, tuple(words)) for number, _, words, _ in filters]


def document(shape: Sequence[int], dtype: np.dtype[Any], codecs: list[Any]) -> dict[str, bytes]:
    fields = dtype.descr if dtype.names else dtype.str
    text = {
        "zarr_format": 2,
        "shape": list(shape),
        "chunks": list(shape),
        "dtype": fields,
        "fill_value": None,
        "order": "C",
        "compressor": None,
        "filters": codecs or None,
    }
    return {".zarray": json.dumps(text).encode()}


def read(data: Array, chunk: bytes, codecs: list[Any]) -> Array:
    key = ".".join("0" * data.ndim)
    found = oz.open_array({**document(data.shape, data.dtype, codecs), key: chunk})[...]
    assert isinstance(found, np.ndarray)
    return found


def samples(count: int, dtype: str) -> dict[str, Array]:
    random = np.random.default_rng(3)
    with np.errstate(all="ignore"):
        return {
            "zeros": np.zeros(count, dtype),
            "ramp": (np.arange(count) // 3).astype(dtype),
            "repeats": (np.arange(count) % 7).astype(dtype),
            "noise": random.integers(0, 100, count).astype(dtype),
        }


TYPES = ["i1", "<u2", ">i4", "<f4", ">f8"]
CHAINS: dict[str, Callable[[str], dict[str, Any]]] = {
    "gzip": lambda _: {"compression": "gzip", "compression_opts": 4, "shuffle": True, "fletcher32": True},
    "szip": lambda _: {"compression": "szip", "compression_opts": ("nn", 8), "fletcher32": True},
    "lzf": lambda _: {"compression": "lzf"},
    "shuffled lzf": lambda _: {"compression": "lzf", "shuffle": True, "fletcher32": True},
    "lz4": lambda _: {**hdf5plugin.LZ4()},
    "lz4 in blocks": lambda _: {**hdf5plugin.LZ4(nbytes=1024)},
    "bitshuffle": lambda _: {**hdf5plugin.Bitshuffle(cname="none")},
    "bitshuffle in blocks": lambda _: {**hdf5plugin.Bitshuffle(nelems=64, cname="none")},
    "bitshuffle, lz4": lambda _: {**hdf5plugin.Bitshuffle(cname="lz4")},
    "bitshuffle in blocks, lz4": lambda _: {**hdf5plugin.Bitshuffle(nelems=128, cname="lz4")},
    "bitshuffle, zstd": lambda _: {**hdf5plugin.Bitshuffle(cname="zstd"), "fletcher32": True},
    "blosc": lambda _: {**hdf5plugin.Blosc(cname="zstd", shuffle=1)},
    "blosc bits": lambda _: {**hdf5plugin.Blosc(cname="blosclz", shuffle=2)},
    "zstd": lambda _: {**hdf5plugin.Zstd(clevel=4), "shuffle": True},
    "bzip2": lambda _: {**hdf5plugin.BZip2()},
    "checksum": lambda _: {"fletcher32": True},
    "shuffle": lambda _: {"shuffle": True},
}


@pytest.mark.parametrize("chain", list(CHAINS))
@pytest.mark.parametrize("dtype", TYPES)
def test_what_hdf5_writes(dtype, chain):
    tried = 0
    for shape in ((5000,), (37, 13), (11,), (9, 3, 5)):
        for name, flat in samples(int(np.prod(shape)), dtype).items():
            data = flat.reshape(shape)
            values, mask, chunk, filters = written(data, **CHAINS[chain](dtype))
            if mask:
                continue
            tried += 1
            codecs = codecs_of(filters, data.dtype, shape)
            assert read(data, chunk, codecs).tobytes() == values.tobytes(), (name, shape)
            if chain in ("lzf", "lz4", "lz4 in blocks") or chain.startswith("bitshuffle"):
                array = oz.open_array(document(data.shape, data.dtype, codecs), mode="r+")
                array[...] = data
                assert array[...].tobytes() == data.tobytes(), (name, shape)
    assert tried >= 4


@pytest.mark.parametrize("dtype", ["i1", "u1", "<i2", ">u2", "<i4", ">i4", "<u8", ">i8"])
@pytest.mark.parametrize("fill", [None, 0, 5])
def test_scale_offset_of_whole_numbers(dtype, fill):
    random = np.random.default_rng(5)
    info = np.iinfo(dtype)
    for low, high in ((0, 1), (3, 9), (0, 100), (int(info.min), int(info.max)), (int(info.max) - 2, int(info.max))):
        for bits in (0, 3, 8 * np.dtype(dtype).itemsize):
            data = random.integers(low, high, 700, dtype=np.dtype(dtype).newbyteorder("="), endpoint=True).astype(dtype)
            values, mask, chunk, filters = written(data, scaleoffset=bits, fillvalue=fill)
            assert mask == 0
            codecs = codecs_of(filters, data.dtype, data.shape)
            assert read(data, chunk, codecs).tobytes() == values.tobytes(), (low, high, bits)


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8", ">f8"])
@pytest.mark.parametrize("fill", [None, -1.5])
@pytest.mark.parametrize("more", [{}, {"shuffle": True, "compression": "gzip"}])
def test_scale_offset_of_floats(dtype, fill, more):
    random = np.random.default_rng(6)
    for digits, scale in ((1, 1.0), (3, 100.0), (0, 1e5), (5, 0.1), (9, 1e4)):
        data = (random.standard_normal(600) * scale).astype(dtype)
        data[::7] = -1.5
        values, mask, chunk, filters = written(data, scaleoffset=digits, fillvalue=fill, **more)
        if mask == 0:
            codecs = codecs_of(filters, data.dtype, data.shape)
            assert read(data, chunk, codecs).tobytes() == values.tobytes(), digits


def low_level(
    kind: h5py.h5t.TypeID, data: Array, *steps: tuple[Any, ...]
) -> tuple[Array, bytes, list[tuple[int, tuple[int, ...]]]]:
    """Let HDF5 write one chunk of a type of its own through filters in any order."""
    with h5py.File.in_memory() as file:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk(data.shape)
        for step, *words in steps:
            getattr(plist, f"set_{step}")(*words)
        held = h5py.h5d.create(file.id, b"d", kind, h5py.h5s.create_simple(data.shape), plist)
        held.write(h5py.h5s.ALL, h5py.h5s.ALL, data)
        mask, chunk = held.read_direct_chunk((0,) * data.ndim)
        assert mask == 0
        plist = held.get_create_plist()
        filters = [plist.get_filter(i) for i in range(plist.get_nfilters())]
        return file["d"][...], bytes(chunk), [(number, tuple(words)) for number, _, words, _ in filters]


NBIT = ("filter", 5, 0, ())


def narrow(dtype: str, bits: int, low: int) -> h5py.h5t.TypeIntegerID:
    kind = h5py.h5t.py_create(np.dtype(dtype)).copy()
    kind.set_precision(bits)
    kind.set_offset(low)
    return kind


@pytest.mark.parametrize("dtype", ["<i2", ">u2", "<i4", ">i4", "<u8", ">i8", "i1"])
@pytest.mark.parametrize("low", [0, 1, 3])
def test_n_bit_of_whole_numbers(dtype, low):
    size = 8 * np.dtype(dtype).itemsize
    # HDF5 refuses types that use less than half of their bits.
    for bits in {size // 2 + 1, size * 3 // 4, size - low}:
        if bits + low > size:
            continue
        least, most = (0, 2**bits - 1) if "u" in dtype else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        drawn = np.random.default_rng(1).integers(
            least, most, (31, 7), np.dtype(dtype).newbyteorder("="), endpoint=True
        )
        data = drawn.astype(dtype)
        values, chunk, filters = low_level(narrow(dtype, bits, low), data, NBIT)
        assert values.tobytes() == data.tobytes()
        assert read(data, chunk, codecs_of(filters, data.dtype, data.shape)).tobytes() == data.tobytes()


def test_n_bit_of_structures_and_arrays():
    dtype = np.dtype([("a", "<i4"), ("b", "<f4"), ("c", ">u2", (2, 3)), ("d", "S3"), ("e", [("f", "<i2")], (2,))])
    kind = h5py.h5t.create(h5py.h5t.COMPOUND, dtype.itemsize)
    inner = h5py.h5t.create(h5py.h5t.COMPOUND, 2)
    inner.insert(b"f", 0, narrow("<i2", 11, 3))
    members = {
        "a": narrow("<i4", 17, 4),
        "b": h5py.h5t.IEEE_F32LE,
        "c": h5py.h5t.array_create(narrow(">u2", 9, 0), (2, 3)),
        "d": h5py.h5t.py_create(np.dtype("S3")),
        "e": h5py.h5t.array_create(inner, (2,)),
    }
    fields = dtype.fields
    assert fields is not None
    for name, member in members.items():
        kind.insert(name.encode(), fields[name][1], member)
    data = np.zeros(50, dtype)
    random = np.random.default_rng(2)
    data["a"] = random.integers(-(2**16), 2**16, 50)
    data["b"] = random.standard_normal(50)
    data["c"] = random.integers(0, 2**9, (50, 2, 3))
    data["d"] = [b"ab", b"xyz"] * 25
    data["e"]["f"] = random.integers(-1024, 1024, (50, 2))
    values, chunk, filters = low_level(kind, data, NBIT)
    assert (values == data).all()
    assert read(data, chunk, codecs_of(filters, dtype, data.shape)).tobytes() == data.tobytes()


def test_n_bit_of_all_bits_changes_nothing():
    values, chunk, filters = low_level(
        h5py.h5t.STD_I32LE, np.arange(40, dtype="<i4"), NBIT, ("shuffle",), ("fletcher32",)
    )
    codecs = codecs_of(filters, values.dtype, values.shape)
    assert codec_of(5, filters[0][1], values.dtype, values.shape) is None
    assert (read(values, chunk, codecs) == values).all()


ZFP = [
    {"rate": 7.0},
    {"precision": 11},
    {"accuracy": 0.01},
    {"reversible": True},
    {"minbits": 1, "maxbits": 300, "maxprec": 20, "minexp": -9},
]


@pytest.mark.parametrize("mode", ZFP, ids=lambda mode: next(iter(mode)))
@pytest.mark.parametrize("dtype", ["<f4", "<f8", "<i4", "<i8"])
def test_zfp(dtype, mode):
    if "accuracy" in mode and dtype[1] == "i":
        pytest.skip("zfp has no accuracy for whole numbers")
    for shape in ((200,), (20, 30), (5, 1, 40), (7, 8, 9), (1, 3, 4, 5)):
        data = (np.cumsum(np.random.default_rng(1).standard_normal(int(np.prod(shape)))) * 50).astype(dtype)
        values, mask, chunk, filters = written(data.reshape(shape), **hdf5plugin.Zfp(**mode))
        assert mask == 0
        codecs = codecs_of(filters, values.dtype, shape)
        assert read(values, chunk, codecs).tobytes() == values.tobytes(), shape


def test_the_checksum_may_come_first():
    data = np.arange(301, dtype="<f8")
    steps = (("fletcher32",), ("shuffle",), ("deflate", 3))
    _, chunk, filters = low_level(h5py.h5t.IEEE_F64LE, data, *steps)
    assert [number for number, _ in filters] == [3, 2, 1]
    assert (read(data, chunk, codecs_of(filters, data.dtype, data.shape)) == data).all()


def test_scale_offset_before_a_checksum():
    data = np.linspace(-5e4, 5e4, 333).astype("<f4")
    values, chunk, filters = low_level(h5py.h5t.IEEE_F32LE, data, ("scaleoffset", 0, 2), ("fletcher32",), ("shuffle",))
    assert read(data, chunk, codecs_of(filters, data.dtype, data.shape)).tobytes() == values.tobytes()


@pytest.mark.parametrize("dtype", TYPES)
def test_peers_read_the_same_codecs(dtype):
    registry = pytest.importorskip("numcodecs.registry")
    pytest.importorskip("imagecodecs.numcodecs").register_codecs(verbose=False)
    data = samples(3000, dtype)["ramp"]
    for chain in ("gzip", "szip", "lzf", "lz4", "bitshuffle", "blosc", "zstd", "bzip2", "checksum"):
        values, mask, chunk, filters = written(data, **CHAINS[chain](dtype))
        assert mask == 0
        for config in reversed(codecs_of(filters, data.dtype, data.shape)):
            chunk = bytes(registry.get_codec(config).decode(chunk))
        assert chunk == values.tobytes(), chain


def test_what_there_is_no_codec_for():
    dtype = np.dtype("f4")
    with pytest.raises(UnsupportedError, match=r"SZ3 \(number 32024\)"):
        codec_of(32024, (1,), dtype, (10,))
    with pytest.raises(UnsupportedError, match="filter 4711"):
        codec_of(4711, (), dtype, (10,))
    with pytest.raises(UnsupportedError, match="1 parameters"):
        codec_of(6, (1,), dtype, (10,))
    with pytest.raises(UnsupportedError, match="chunks of 9 elements"):
        codec_of(6, (2, 0, 9, 0, 4, *(0,) * 15), dtype, (10,))
    assert codec_of(32022, (3,), dtype, (10,)) is None


DAMAGED = ["lzf", "lz4 in blocks", "bitshuffle in blocks, lz4", "bitshuffle, zstd", "szip"]


@pytest.mark.parametrize("chain", [*DAMAGED, "scaleoffset", "zfp", "nbit"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1))
def test_damage_is_an_error_and_no_more(chain, seed):
    random = np.random.default_rng(seed)
    data = np.arange(900, dtype="<i4") // 3
    if chain == "nbit":
        _, chunk, filters = low_level(narrow("<i4", 19, 2), data, NBIT)
    else:
        special = {"scaleoffset": {"scaleoffset": 0}, "zfp": {**hdf5plugin.Zfp(reversible=True)}}
        _, _, chunk, filters = written(data, **(special.get(chain) or CHAINS[chain]("<i4")))
    codecs = codecs_of(filters, data.dtype, data.shape)
    broken = bytearray(chunk[: int(random.integers(0, len(chunk) + 1))] if seed % 3 == 0 else chunk)
    for _ in range(int(random.integers(0, 5))):
        if broken:
            broken[int(random.integers(0, min(len(broken), 30 if seed % 2 else 10**6)))] = int(random.integers(0, 256))
    try:
        read(data, bytes(broken), codecs)
    except OmnizarrError as error:
        assert isinstance(error, CorruptError)  # noqa: PT017 - most are errors, not all


@pytest.mark.parametrize("name", ["scaleoffset", "nbit", "zfp", "bitshuffle"])
@settings(max_examples=80, deadline=None)
@given(
    words=st.lists(st.one_of(st.integers(0, 9), st.integers(0, 2**32 - 1)), max_size=24), chunk=st.binary(max_size=80)
)
def test_parameters_at_random(name, words, chunk):
    data = np.zeros(20, "<i4")
    with suppress(OmnizarrError, ValueError):
        read(data, chunk, [{"id": f"omnizarr.hdf5_{name}", "parameters": words}])
