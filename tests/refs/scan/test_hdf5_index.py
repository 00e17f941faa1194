"""The index of chunks as the kernel reads it, against what h5py tells of each chunk."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnizarr.errors import OmnizarrError
from omnizarr.native import hdf5_chunks
from omnizarr.refs.scanners.hdf5_index import ChunkIndex, chunk_index, chunk_starts, is_misread

Shape = tuple[int, ...]


Row = tuple[int, int, int, int]


def told(dataset: h5py.Dataset) -> list[Row]:
    """Ask h5py for all chunks: number, offset, length and mask, sorted."""
    counts = [-(-n // c) for n, c in zip(dataset.shape, dataset.chunks, strict=True)]
    found: list[Any] = []
    dataset.id.chunk_iter(found.append)
    rows: list[Row] = []
    for info in found:
        number = 0
        for start, chunk, count in zip(info.chunk_offset, dataset.chunks, counts, strict=True):
            number = number * count + start // chunk
        rows.append((number, info.byte_offset, info.size, info.filter_mask))
    return sorted(rows)


def stored(dataset: h5py.Dataset) -> dict[int, bytes]:
    """Return the bytes of each chunk that was written, by number."""
    counts = [-(-n // c) for n, c in zip(dataset.shape, dataset.chunks, strict=True)]
    found: dict[int, bytes] = {}
    for number, place in enumerate(np.ndindex(*counts)):
        start = tuple(int(p) * int(c) for p, c in zip(place, dataset.chunks, strict=True))
        with contextlib.suppress(OSError, RuntimeError, MemoryError):  # for those never written
            found[number] = bytes(dataset.id.read_direct_chunk(start)[1])
    return found


def listed(index: ChunkIndex | None) -> list[tuple[int, int, int, int]]:
    assert index is not None
    return list(zip(*(column.tolist() for column in index), strict=True))


def kind_of(path: Path) -> set[str]:
    """Return the signatures of indexes that a file has."""
    data = path.read_bytes()
    marks = (
        b"TREE\x01",
        b"FAHD",
        b"FADB",
        b"EAHD",
        b"EAIB",
        b"EASB",
        b"EADB",
        b"BTHD\x00\x0a",
        b"BTHD\x00\x0b",
        b"BTIN",
    )
    return {mark[:4].decode() + mark[5:].hex() for mark in marks if mark in data}


LIBRARIES = ["earliest", "v108", "v110", "latest"]
LIMITS: dict[str, tuple[Shape, Shape, tuple[int | None, ...] | None]] = {
    "one chunk": ((5, 6), (5, 6), None),
    "one chunk that reaches beyond": ((5, 6), (7, 9), (7, 9)),
    "fixed": ((20, 33), (3, 5), None),
    "room to grow": ((20, 33), (3, 5), (40, 50)),
    "growing first": ((20, 33), (3, 5), (None, 33)),
    "growing first, with room": ((20, 33), (3, 5), (None, 80)),
    "growing last": ((20, 33), (3, 5), (20, None)),
    "growing last, with room": ((20, 33), (3, 5), (30, None)),
    "growing both": ((20, 33), (3, 5), (None, None)),
    "growing in the middle": ((6, 11, 5), (2, 3, 2), (7, None, 9)),
    "growing all of three": ((6, 11, 5), (2, 3, 2), (None, None, None)),
    "many, fixed": ((5000,), (1,), None),
    "many, growing": ((5000,), (1,), (None,)),
    "many, growing both": ((60, 70), (1, 1), (None, None)),
}


@pytest.mark.parametrize("filtered", [False, True], ids=["plain", "filtered"])
@pytest.mark.parametrize("limits", list(LIMITS))
@pytest.mark.parametrize("library", LIBRARIES)
def test_all_indexes(tmp_path, library, limits, filtered):
    shape, chunks, most = LIMITS[limits]
    how: dict[str, Any] = {"compression": "gzip", "shuffle": True} if filtered else {}
    data = np.arange(np.prod(shape), dtype="<i4").reshape(shape)
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", libver=library) as file:
        file.create_dataset("all", shape, "<i4", chunks=chunks, maxshape=most, data=data, **how)
        file.create_dataset("none", shape, "<i4", chunks=chunks, maxshape=most, **how)
        some = file.create_dataset("some", shape, "<i4", chunks=chunks, maxshape=most, **how)
        if len(shape) == 1:
            some[100:200] = 1
            some[-300:-1:17] = 2
        else:
            some[2:4, -1] = 1
            some[-1, 3:6] = 2
    whole = path.read_bytes()
    with h5py.File(path) as file:
        for name in ("all", "none", "some"):
            rows = listed(chunk_index(str(path), file[name].id))
            if not is_misread(file[name].id):
                assert rows == told(file[name])
            with path.open("rb") as opened:
                assert rows == listed(chunk_index(opened, file[name].id))
            if "many" not in limits:
                assert {row[0]: whole[row[1] : row[1] + row[2]] for row in rows} == stored(file[name])
            assert bool(rows) == (name != "none")


def test_the_indexes_that_are_meant_to_be_tested_are(tmp_path):
    seen: set[str] = set()
    for limits in ("fixed", "growing both", "many, growing", "many, growing both", "growing first", "many, fixed"):
        shape, chunks, most = LIMITS[limits]
        for library, filtered in (("latest", False), ("latest", True), ("earliest", False)):
            path = tmp_path / f"{len(seen)}.h5"
            with h5py.File(path, "w", libver=library) as file:
                data = np.zeros(shape, "u1")
                file.create_dataset("a", chunks=chunks, maxshape=most, data=data, fletcher32=filtered)
            seen |= kind_of(path)
    assert seen >= {"TREE", "FAHD", "FADB", "EAHD", "EAIB", "EASB", "EADB", "BTHD0a", "BTHD0b", "BTIN"}


@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("most", [300_000, None])
def test_pages_some_of_which_are_not_there(tmp_path, most, filtered):
    path = tmp_path / "a.h5"
    numbers = [*range(10, 20), *range(4500, 4550), 131_056, 133_000, 140_000, 299_999]
    with h5py.File(path, "w", libver="latest") as file:
        held = file.create_dataset("a", (300_000,), "u1", chunks=(1,), maxshape=(most,), fletcher32=filtered)
        for number in numbers:
            held[number] = number % 251
    with h5py.File(path) as file:
        rows = listed(chunk_index(str(path), file["a"].id))
        assert rows == told(file["a"])
        assert [row[0] for row in rows] == numbers


@pytest.mark.parametrize("library", ["earliest", "latest"])
def test_chunks_that_were_made_at_once_or_taken_away(tmp_path, library):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", libver=library) as file:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((3, 4))
        plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        h5py.h5d.create(file.id, b"a", h5py.h5t.STD_I16BE, h5py.h5s.create_simple((10, 9), (12, 20)), plist)
        for name, most in (("b", (None, None)), ("c", (None, 20)), ("d", (90, 20))):
            held = file.create_dataset(name, (40, 9), "i2", chunks=(3, 4), maxshape=most, data=np.ones((40, 9)))
            held.resize((20, 5))
            held.resize((90, 7))
    with h5py.File(path) as file:
        for name in file:
            assert listed(chunk_index(str(path), file[name].id)) == told(file[name])


@pytest.mark.parametrize("library", ["earliest", "latest"])
def test_a_user_block(tmp_path, library):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", userblock_size=1024, libver=library) as file:
        data = np.arange(600, dtype="<i4").reshape(20, 30)
        file.create_dataset("a", data=data, chunks=(6, 7), maxshape=(None, 30))
    with h5py.File(path) as file:
        found = chunk_index(str(path), file["a"].id)
        assert found is not None
        whole = path.read_bytes()
        starts = chunk_starts(found.numbers, (20, 30), (6, 7)).tolist()
        for start, offset, length in zip(starts, found.offsets.tolist(), found.lengths.tolist(), strict=True):
            assert whole[offset : offset + length] == file["a"].id.read_direct_chunk(tuple(start))[1]


def test_a_file_of_more_than_four_gigabytes(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", libver="latest") as file:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        plist.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        h5py.h5d.create(file.id, b"hole", h5py.h5t.STD_U8LE, h5py.h5s.create_simple((5 << 30,)), plist)
        file.create_dataset("a", data=np.ones(50), chunks=(7,))
        file.create_dataset("b", data=np.ones(50), chunks=(7,), maxshape=(None,), compression="gzip")
    with h5py.File(path) as file:
        for name in ("a", "b"):
            rows = told(file[name])
            assert listed(chunk_index(str(path), file[name].id)) == rows
        assert max(row[1] for row in rows) > 1 << 32


@pytest.mark.parametrize("attributes", [0, 40])
@pytest.mark.parametrize("library", ["earliest", "latest"])
def test_headers_of_many_blocks(tmp_path, library, attributes):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", libver=library, track_order=True) as file:
        held = file.create_dataset("a", data=np.ones((9, 9)), chunks=(2, 2), track_times=True)
        for i in range(attributes):
            held.attrs[f"attribute {i}"] = "x" * 100
            file.create_dataset(f"b{i}", data=i)
    with h5py.File(path) as file:
        assert listed(chunk_index(str(path), file["a"].id)) == told(file["a"])


SEEDS = [
    (library, limits, filtered)
    for library in ("earliest", "latest")
    for limits in ("fixed", "growing first", "many, growing", "growing both")
    for filtered in (False, True)
]


@pytest.fixture(scope="module")
def samples(tmp_path_factory) -> list[tuple[Path, int, int]]:
    """Return small files, the range of bytes that index one dataset, and its header's address."""
    found: list[tuple[Path, int, int]] = []
    for i, (library, limits, filtered) in enumerate(SEEDS):
        shape, chunks, most = LIMITS[limits]
        path = tmp_path_factory.mktemp("fuzz") / f"{i}.h5"
        with h5py.File(path, "w", libver=library) as file:
            data = np.zeros(shape, "u1")
            file.create_dataset("a", data=data, chunks=chunks, maxshape=most, fletcher32=filtered)
        found.append((path, i, path.stat().st_size))
    return found


class Broken:
    """A file some bytes of which were changed."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.given = 0

    def size(self) -> int:
        return len(self.data)

    def read_at(self, offset: int, length: int) -> bytes:
        self.given += length
        return self.data[offset : offset + length]


@settings(max_examples=300, deadline=None)
@given(which=st.integers(0, len(SEEDS) - 1), seed=st.integers(0, 2**32 - 1))
def test_damage_never_breaks_it(samples, which, seed):
    random = np.random.default_rng(seed)
    path, i, _ = samples[which]
    shape, chunks, _ = LIMITS[SEEDS[i][1]]
    with h5py.File(path) as file:
        address = h5py.h5o.get_info(file["a"].id).addr
    data = bytearray(path.read_bytes())
    marks = [at for mark in (b"TREE", b"OHDR", b"FAHD", b"FADB", b"EA", b"BT") for at in _places(bytes(data), mark)]
    for _ in range(int(random.integers(1, 6))):
        start = int(random.choice([address, *marks])) if random.random() < 0.8 else int(random.integers(0, len(data)))
        at = min(start + int(random.integers(0, 200)), len(data) - 1)
        data[at] = int(random.integers(0, 256))
    if seed % 5 == 0:
        del data[int(random.integers(0, len(data))) :]
    broken = Broken(bytes(data))
    with contextlib.suppress(OmnizarrError):
        found = hdf5_chunks(broken, address, 0, shape, chunks)
        assert found is None or len(found[0]) <= np.prod([-(-n // c) for n, c in zip(shape, chunks, strict=True)])
    assert broken.given < 20 * len(data) + (1 << 20)


def _places(data: bytes, mark: bytes) -> list[int]:
    places: list[int] = []
    at = data.find(mark)
    while at >= 0 and len(places) < 20:
        places.append(at)
        at = data.find(mark, at + 1)
    return places
