"""Chunks that are stored longer than what they hold: the grid that combined files need, against NumPy."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.model.grid import RectilinearGrid, runs_of
from omnizarr.refset.model import Chunks, References
from omnizarr.refset.store import store_of

CODECS = {
    "raw": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "turned": [
        {"name": "transpose", "configuration": {"order": [1, 0]}},
        {"name": "bytes", "configuration": {"endian": "little"}},
    ],
    "gzip": [{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "gzip", "configuration": {"level": 1}}],
}


def document(shape, held, stored, codecs="raw"):
    grid = {"name": "omnizarr.padded", "configuration": {"chunk_shapes": held, "stored_shapes": stored}}
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": "int32",
        "chunk_grid": grid,
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": -1,
        "codecs": CODECS[codecs],
    }


def encoded(block, codecs):
    """The stored bytes of one chunk."""
    if codecs == "turned":
        return block.T.tobytes()
    return gzip.compress(block.astype(">i4").tobytes(), 1) if codecs == "gzip" else block.tobytes()


axes = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 3)), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.data(), axes, axes, st.sampled_from(sorted(CODECS)))
def test_reads_what_chunks_hold(data, rows, columns, codecs):
    lengths = [[held for held, _ in one] for one in (rows, columns)]
    kept = [[held + more for held, more in one] for one in (rows, columns)]
    shape = [sum(one) for one in lengths]
    values = np.arange(shape[0] * shape[1], dtype="i4").reshape(shape)
    starts = [np.concatenate([[0], np.cumsum(one)]) for one in lengths]
    chunks = {}
    for i, tall in enumerate(kept[0]):
        for j, wide in enumerate(kept[1]):
            block = np.full((tall, wide), -99, "i4")
            part = values[starts[0][i] : starts[0][i + 1], starts[1][j] : starts[1][j + 1]]
            block[: part.shape[0], : part.shape[1]] = part
            chunks[i * len(kept[1]) + j] = encoded(block, codecs)
    rows_of = Chunks.of_bytes((len(kept[0]), len(kept[1])), chunks)
    text = json.dumps(document(shape, lengths, kept, codecs)).encode()
    array = oz.open(store_of(References({"zarr.json": text}, {"": rows_of}), uri="example"))
    np.testing.assert_array_equal(array[...], values)
    cut = tuple(data.draw(st.slices(n)) for n in shape)
    np.testing.assert_array_equal(array[cut], values[cut])
    picked = [data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=6)) for n in shape]
    np.testing.assert_array_equal(array.oindex[tuple(picked)], values[np.ix_(*picked)])
    pairs = [[one[i % len(one)] for i in range(4)] for one in picked]
    np.testing.assert_array_equal(array.vindex[tuple(pairs)], values[tuple(pairs)])


def test_is_only_read(tmp_path):
    (tmp_path / "zarr.json").write_text(json.dumps(document([6, 4], [[4, 2], 4], [[4, 4], 4])))
    array = oz.open(tmp_path, mode="r+")
    assert array.metadata.grid == RectilinearGrid((((4, 1), (2, 1)), 4), stored=(((4, 2),), 4))
    assert array.chunks == ((4, 2), 4)
    with pytest.raises(UnsupportedError, match="only read"):
        array[...] = 1
    with pytest.raises(UnsupportedError, match="only read"):
        array.resize((8, 4))


def test_equal_lengths_are_no_padding(tmp_path):
    (tmp_path / "zarr.json").write_text(json.dumps(document([6, 4], [[4, 2], 4], [[4, 2], 4])))
    array = oz.open(tmp_path, mode="r+")
    assert array.metadata.grid == RectilinearGrid((runs_of((4, 2)), 4))
    array[...] = 1
    assert (array[...] == 1).all()


@pytest.mark.parametrize(
    ("held", "stored"),
    [
        ([[4, 2], 4], [[4, 1], 4]),
        ([[4, 2], 4], [[6], 4]),
        ([[4, 2], 4], [[4, [4, 2]], 4]),
        ([[4, 2], 4], [6, 4]),
        ([6, 4], [8, 4]),
        ([[4, 2], 4], [[4, 4]]),
        ([[4, 1], 4], [[4, 4], 4]),
    ],
)
def test_lengths_that_do_not_fit(tmp_path, held, stored):
    (tmp_path / "zarr.json").write_text(json.dumps(document([6, 4], held, stored)))
    with pytest.raises(MetadataError):
        oz.open(tmp_path)
