"""Whatever is selected of an array of references is what NumPy selects of the values."""

from __future__ import annotations

import os
import pickle
import random
import tempfile
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.refset.model import Chunks, References
from omnizarr.refset.store import store_of
from omnizarr.store.memory import MemoryStore
from tests.refset.scattering import scattered

CODECS = (None, "zstd", "gzip", "blosc", "auto")


@st.composite
def arrays(draw):
    """Draw an array in memory, and its values; some chunks are missing."""
    rank = draw(st.integers(0, 3))
    shape = tuple(draw(st.integers(1, 9)) for _ in range(rank))
    inner = tuple(draw(st.integers(1, size)) for size in shape)
    version = draw(st.sampled_from(("zarr2", "zarr3")))
    sharded = version == "zarr3" and rank > 0 and draw(st.booleans())
    options = {"shape": shape, "dtype": draw(st.sampled_from(("u1", "<i2", ">f4", "f8"))), "chunks": inner}
    options["codecs"] = draw(st.sampled_from(CODECS))
    options["fill_value"] = draw(st.sampled_from((0, 7)))
    if sharded:
        options["shards"] = tuple(n * draw(st.integers(1, 3)) for n in inner)
    if not sharded:
        options["order"] = draw(st.sampled_from("CF"))
    store = MemoryStore()
    array = oz.create_array(store, path="v", format=version, **options)
    values = np.full(shape, options["fill_value"], array.dtype)
    if draw(st.booleans()):
        values[...] = np.random.default_rng(draw(st.integers(0, 99))).integers(0, 200, shape)
        if rank:
            values[: draw(st.integers(0, shape[0]))] = options["fill_value"]
    array[...] = values
    return store, values


def index(size):
    return st.one_of(
        st.integers(-size, size - 1),
        st.slices(size).filter(lambda one: one.step is None or one.step > 0),
        st.just(slice(None)),
    )


@settings(max_examples=60)
@given(arrays(), st.integers(0, 1 << 32), st.data())
def test_any_selection(stored, seed, data):
    store, values = stored
    with tempfile.TemporaryDirectory() as name:
        made = scattered(store, Path(name), random.Random(seed))
        reached = store_of(made, uri="example", base=f"{name}/", allow=[name])
        array = oz.open(reached, path="v", cache_bytes=data.draw(st.sampled_from((0, 1 << 20))))
        np.testing.assert_array_equal(array[...], values)
        for _ in range(3):
            chosen = tuple(data.draw(index(size)) for size in values.shape)
            np.testing.assert_array_equal(array[chosen], values[chosen])
        if values.ndim:
            rows = data.draw(st.lists(st.integers(0, values.shape[0] - 1), min_size=1, max_size=5))
            np.testing.assert_array_equal(array.oindex[(rows,)], values[rows])
            points = tuple(
                data.draw(st.lists(st.integers(0, size - 1), min_size=4, max_size=4)) for size in values.shape
            )
            np.testing.assert_array_equal(array.vindex[points], values[points])


def _piled(folder, *, codecs=None, shape=(40, 300, 20), chunks=(1, 300, 20), **options):
    store = MemoryStore()
    values = np.arange(np.prod(shape), dtype="i4").reshape(shape)
    oz.create_array(store, path="v", data=values, chunks=chunks, codecs=codecs, **options)
    made = scattered(store, folder, random.Random(5), files=2)
    return store_of(made, uri="example", base=f"{folder}/", allow=[str(folder)]), values


@pytest.mark.parametrize("codecs", [None, "gzip", "blosc"])
@pytest.mark.parametrize("chosen", [np.s_[...], np.s_[3], np.s_[:, 7, 3], np.s_[::3, 5:200:7], np.s_[20:, :, 4]])
def test_chunks_that_are_worth_reading_by_parts(tmp_path, codecs, chosen):
    """Chunks of 24 kB and of 240 kB: the latter go straight into place, or only the spans that are needed."""
    for chunks in ((1, 300, 20), (10, 300, 20)):
        reached, values = _piled(tmp_path, codecs=codecs, chunks=chunks)
        np.testing.assert_array_equal(oz.open(reached, path="v")[chosen], values[chosen])


def test_large_shards(tmp_path):
    reached, values = _piled(tmp_path, codecs="zstd", chunks=(1, 30, 20), shards=(10, 300, 20))
    array = oz.open(reached, path="v", cache_bytes=1 << 20)
    for chosen in (np.s_[...], np.s_[5:12, 40], np.s_[:, ::50, 1]):
        np.testing.assert_array_equal(array[chosen], values[chosen])
        np.testing.assert_array_equal(array[chosen], values[chosen])


def test_more_files_than_stay_open(tmp_path):
    n = 700
    for i in range(n):
        (tmp_path / f"{i}.bin").write_bytes(np.int32(i).tobytes())
    document = b'{"zarr_format":2,"shape":[700],"chunks":[1],"dtype":"<i4","order":"C","fill_value":0,'
    document += b'"compressor":null,"filters":null}'
    chunks = Chunks.ranges((n,), np.arange(n), np.zeros(n), 4)
    made = References({"v/.zarray": document}, {"v": chunks}, [f"{i}.bin" for i in range(n)])
    reached = store_of(made, uri="example", base=f"{tmp_path}/", allow=[str(tmp_path)])
    array = oz.open(reached, path="v")
    for _ in range(2):
        np.testing.assert_array_equal(array[...], np.arange(n))
    descriptors = Path("/proc/self/fd")
    if descriptors.is_dir():
        assert len(list(descriptors.iterdir())) < n


def test_a_document_in_place_of_a_chunk(tmp_path):
    """Small data may be among the documents: what is found by its key comes before columns."""
    reached, values = _piled(tmp_path)
    made = References({"v/zarr.json": reached.get("v/zarr.json"), "v/c/3/0/0": bytes(24000)}, {}, [])
    made.arrays["v"] = Chunks.ranges((40, 1, 1), 0, [], [], numbers=[])
    array = oz.open(store_of(made, uri="example"), path="v")
    assert (array[3] == 0).all()
    assert array[:].shape == values.shape


def test_many_threads(tmp_path):
    reached, values = _piled(tmp_path, codecs="gzip")
    array = oz.open(reached, path="v")
    with ThreadPoolExecutor(8) as pool:
        for i, got in enumerate(pool.map(lambda i: array[i % 40], range(80))):
            np.testing.assert_array_equal(got, values[i % 40])


def _sum(array):
    return int(array[...].sum())


def test_handles_travel_to_other_processes(tmp_path):
    reached, values = _piled(tmp_path)
    array = oz.open(reached, path="v")
    again = pickle.loads(pickle.dumps(array))
    np.testing.assert_array_equal(again[4], values[4])
    with get_context("spawn").Pool(1) as pool:
        assert pool.apply(_sum, (array,)) == values.sum()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_reads_on(tmp_path):
    reached, values = _piled(tmp_path, codecs="gzip")
    array = oz.open(reached, path="v")
    assert _sum(array) == values.sum()
    with get_context("fork").Pool(2) as pool:
        assert pool.map(_sum, [array] * 4) == [values.sum()] * 4
