"""The szip filter, with HDF5 as the model, and arrays of it that netcdf-c writes."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import h5py
import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import CodecError, CorruptError, MetadataError, OmnizarrError

TYPES = ["i1", "u1", "<i2", ">u2", "<i4", ">f4", "<f8", ">i8"]


def encoded(data: np.ndarray[Any, Any], coding: str, block: int) -> bytes | None:
    """Return what HDF5 makes of one chunk; `None` if it leaves that as it is, which it does with noise."""
    with h5py.File.in_memory() as file:
        held = file.create_dataset(
            "d", data=data, chunks=data.shape, compression="szip", compression_opts=(coding, block)
        )
        mask, chunk = held.id.read_direct_chunk((0,) * data.ndim)
    return None if mask else bytes(chunk)


def stored(shape: tuple[int, ...], dtype: str, chunk: bytes | None, **more: Any) -> dict[str, bytes]:
    codec = {"id": "szip", "mask": more.pop("mask", 32), "pixels-per-block": more.pop("block", 8)}
    document = {
        "zarr_format": 2,
        "shape": list(shape),
        "chunks": list(more.pop("chunks", shape)),
        "dtype": np.dtype(dtype).str,
        "fill_value": 0,
        "order": "C",
        "compressor": codec,
        "filters": None,
        **more,
    }
    store = {".zarray": json.dumps(document).encode()}
    return store if chunk is None else {**store, ".".join("0" * len(shape)): chunk}


def samples(count: int, dtype: str) -> dict[str, np.ndarray[Any, Any]]:
    random = np.random.default_rng(7)
    sparse = np.zeros(count)
    sparse[:: max(1, count // 3)] = 3
    return {
        "zeros": np.zeros(count, dtype),
        "ramp": (np.arange(count) // 3).astype(dtype),
        "steps": (np.arange(count) // 97 % 5).astype(dtype),
        "sparse": sparse.astype(dtype),
        "noise": np.frombuffer(random.bytes(count * np.dtype(dtype).itemsize), dtype),
        "small noise": random.integers(0, 3, count).astype(dtype),
    }


@pytest.mark.parametrize("coding", ["nn", "ec"])
@pytest.mark.parametrize("dtype", TYPES)
def test_what_hdf5_writes(dtype, coding):
    tried: set[str] = set()
    for block, shape in product((4, 8, 32), ((1000,), (5000,), (13, 37), (300, 4))):
        for name, flat in samples(int(np.prod(shape)), dtype).items():
            data = flat.reshape(shape)
            chunk = encoded(data, coding, block)
            if chunk is None:
                continue
            tried.add(name)
            found = oz.open_array(stored(shape, dtype, chunk, mask=32 if coding == "nn" else 4, block=block))[...]
            assert found.tobytes() == data.tobytes(), (name, block, shape)
    assert len(tried) >= 4


# A chunk that libnetcdf 4.10.1 wrote: 1000 numbers of four bytes of a variable of 4000, in blocks of 8.
NETCDF = bytes.fromhex(
    "a00f000005113e0780981fc09fc0c04f03e0240ff027e0701381f813fc0809f03c04c0fe04fe0602781f01207f813f03809c0fc09fe0404f81e02607f027f03013c0f80903fc09f81c04e07e04ff02027c0f01303f813f81d0001ffe0000000080004020001008000402"
)


def test_lines_of_netcdf_depend_on_the_length_of_the_variable():
    mark = {"_nczarr_array": {"dimrefs": ["/x"], "storage": "chunked"}}
    array = oz.open_array({**stored((4000,), "<i4", None, chunks=(1000,), **mark), "1": NETCDF})
    assert array[1000:2000].tolist() == (np.arange(1000, 2000) // 37 * 3).tolist()
    assert array.codecs[-1].configuration["pixels-per-scanline"] == 4000


@pytest.mark.parametrize("cut", [0, 3, 4, 10, -1])
def test_damage(cut):
    data = np.random.default_rng(1).integers(0, 1000, 500).astype("<i2")
    with pytest.raises(CorruptError, match="szip"):
        oz.open_array(stored((500,), "<i2", (encoded(data, "nn", 8) or b"")[:cut]))[...]


def test_bytes_at_random_never_break_it():
    random = np.random.default_rng(5)
    for _ in range(300):
        chunk = (1000).to_bytes(4, "little") + random.bytes(int(random.integers(0, 200)))
        try:
            oz.open_array(stored((500,), "<i2", chunk))[...]
        except OmnizarrError as error:
            assert isinstance(error, CorruptError)  # noqa: PT017 - most are errors, not all


def test_it_is_for_reading(tmp_path):
    place = tmp_path / "a"
    place.mkdir()
    (place / ".zarray").write_bytes(stored((8,), "<i2", None)[".zarray"])
    with pytest.raises((CodecError, MetadataError, CorruptError), match="reading only"):
        oz.open_array(place, mode="r+")[...] = 5
