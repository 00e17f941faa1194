"""Parts of large chunks of Blosc in files: only the blocks that a selection touches are read, whatever their order."""

from __future__ import annotations

from pathlib import Path

import numcodecs
import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import CorruptError, StoreError

SHAPE = (2, 400, 500)


def values() -> np.ndarray:
    rng = np.random.default_rng(3)
    smooth = np.add.outer(np.arange(2) * 1000, np.add.outer(np.arange(400), np.arange(500)))
    return (smooth + rng.integers(0, 50, SHAPE)).astype("<i4")


def made(where, **blosc):
    settings = {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 16384, **blosc}
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "blosc", "configuration": settings}]
    array = oz.create_array(where, shape=SHAPE, dtype="<i4", chunks=(1, 400, 500), codecs=codecs)
    array[...] = values()
    return array


SELECTIONS = [
    np.s_[:, 10:30],
    np.s_[1, 399, 499],
    np.s_[0, ::97, ::13],
    np.s_[:, 5:9, 100:110],
    np.s_[0, 100:140, :],
    np.s_[::-1, 7:3:-1, :4],
]


@pytest.mark.parametrize("selection", SELECTIONS, ids=str)
@pytest.mark.parametrize(
    "settings", [{}, {"shuffle": "bitshuffle"}, {"shuffle": "noshuffle", "cname": "zstd"}, {"clevel": 0}]
)
def test_parts_are_what_the_whole_says(tmp_path, settings, selection):
    array = made(tmp_path, **settings)
    assert all(one.stat().st_size > 65536 for one in tmp_path.rglob("c/*/*/*") if one.is_file())
    assert np.array_equal(array[selection], values()[selection])


def test_values_of_the_other_byte_order(tmp_path):
    array = oz.create_array(
        tmp_path, shape=SHAPE, dtype=">i4", chunks=(1, 400, 500), format="zarr2", codecs=[numcodecs.Blosc("lz4")]
    )
    array[...] = values()
    assert np.array_equal(array[:, 20:40], values()[:, 20:40])


def blocks_of(container: bytes) -> tuple[int, np.ndarray]:
    """The size of blocks, and where each begins."""
    nbytes, blocksize = np.frombuffer(container, "<i4", 2, 4)
    return int(blocksize), np.frombuffer(container, "<i4", -(-nbytes // blocksize), 16)


def test_blocks_in_any_order(tmp_path):
    """The C library's threads store blocks as they finish them."""
    array = made(tmp_path)
    path: Path = tmp_path / "c/0/0/0"
    data = path.read_bytes()
    _, starts = blocks_of(data)
    assert len(starts) > 5
    ends = [*starts[1:], len(data)]
    order = np.random.default_rng(5).permutation(len(starts))
    body, places = b"", np.empty_like(starts)
    for i in order:
        places[i] = starts[0] + len(body)
        body += data[starts[i] : ends[i]]
    path.write_bytes(data[:16] + places.tobytes() + body)
    for low in range(0, 400, 40):
        assert np.array_equal(array[0, low : low + 5], values()[0, low : low + 5])
    assert np.array_equal(array[...], values())


@pytest.mark.parametrize("left", [0, 10, 60, 100_000])
def test_what_was_cut_off_is_noticed(tmp_path, left):
    array = made(tmp_path)
    path: Path = tmp_path / "c/0/0/0"
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises((CorruptError, StoreError)):
        array[0, 390:]


def test_a_damaged_block_is_noticed_where_it_is_read(tmp_path):
    array = made(tmp_path)
    path: Path = tmp_path / "c/0/0/0"
    data = bytearray(path.read_bytes())
    blocksize, starts = blocks_of(bytes(data))
    data[starts[3] : starts[3] + 4] = b"\xff\xff\xff\x7f"
    path.write_bytes(data)
    assert np.array_equal(array[0, :10], values()[0, :10])
    with pytest.raises(CorruptError, match="leaves"):
        array[0, 3 * blocksize // 2000 + 1]
