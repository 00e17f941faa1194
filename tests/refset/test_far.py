"""Sources on servers: as few requests as there can be, and many of them on their way at once."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import StaleReferenceError
from omnizarr.refset.model import Chunks, References, Stamp
from omnizarr.refset.store import store_of
from omnizarr.store.memory import MemoryStore
from tests.refset.scattering import scattered
from tests.refset.serving import serving

ARRAY = {"zarr_format": 2, "dtype": "<i4", "order": "C", "fill_value": 0, "compressor": None, "filters": None}


def _document(shape, chunks):
    return {"v/.zarray": json.dumps({**ARRAY, "shape": shape, "chunks": chunks}).encode()}


def _open(made, base, **options):
    return oz.open(store_of(made, uri=base, base=base, allow=[base]), path="v", **options)


@pytest.mark.parametrize("gap", [0, 1000])
def test_neighbours_are_one_request(tmp_path, gap):
    values = np.arange(100 * 1024, dtype="<i4")
    parts = [part.tobytes() + bytes(gap) for part in np.split(values, 100)]
    (tmp_path / "a.bin").write_bytes(b"".join(parts))
    chunks = Chunks.ranges((100,), 0, (4096 + gap) * np.arange(100), 4096)
    with serving(tmp_path) as (base, log):
        array = _open(References(_document([values.size], [1024]), {"v": chunks}, ["a.bin"]), base)
        np.testing.assert_array_equal(array[...], values)
        assert [method for method, _, _ in log.requests] == ["GET"]
        log.clear()
        np.testing.assert_array_equal(array[5000:9000], values[5000:9000])
        assert len(log.requests) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"chunks": (4, 50), "codecs": None},
        {"chunks": (4, 50), "codecs": "zstd"},
        {"chunks": (40, 500), "codecs": None},
        {"chunks": (40, 500), "codecs": "blosc"},
        {"chunks": (4, 50), "shards": (20, 500), "codecs": "zstd"},
        {"chunks": (4, 50), "shards": (20, 500), "codecs": None},
    ],
)
@pytest.mark.parametrize("cache", [0, 1 << 20])
def test_any_layout(tmp_path, options, cache):
    values = np.arange(60 * 500, dtype="i4").reshape(60, 500)
    values[8:12] = 0
    store = MemoryStore()
    oz.create_array(store, path="v", data=values, **options)
    made = scattered(store, tmp_path, random.Random(3))
    with serving(tmp_path) as (base, _):
        array = _open(made, base, cache_bytes=cache)
        for chosen in (np.s_[...], np.s_[7], np.s_[:, 3], np.s_[::7, 10:400:9], np.s_[30:31, 200:260]):
            np.testing.assert_array_equal(array[chosen], values[chosen])
        np.testing.assert_array_equal(array.vindex[[1, 50, 9], [2, 499, 30]], values[[1, 50, 9], [2, 499, 30]])


def test_only_what_is_needed_of_a_large_value(tmp_path):
    values = np.arange(1000 * 1000, dtype="<i4").reshape(1000, 1000)
    (tmp_path / "a.bin").write_bytes(values.tobytes())
    made = References(
        _document([1000, 1000], [1000, 1000]), {"v": Chunks.ranges((1, 1), 0, [0], [4_000_000])}, ["a.bin"]
    )
    with serving(tmp_path) as (base, log):
        array = _open(made, base)
        np.testing.assert_array_equal(array[10:20], values[10:20])
        np.testing.assert_array_equal(array[::200, 7], values[::200, 7])
        assert sum(size for _, _, size in log.requests) < 100_000


def test_shards_take_two_rounds(tmp_path):
    values = np.arange(8 * 10_000, dtype="i4").reshape(8, 10_000)
    store = MemoryStore()
    oz.create_array(store, path="v", data=values, chunks=(1, 100), shards=(1, 10_000), codecs=None)
    shards = [store.get(f"v/c/{i}/0") for i in range(8)]
    (tmp_path / "a.bin").write_bytes(b"".join(shards))
    starts = np.cumsum([0, *map(len, shards[:-1])])
    chunks = Chunks.ranges((8, 1), 0, starts, [len(shard) for shard in shards])
    made = References({"v/zarr.json": store.get("v/zarr.json")}, {"v": chunks}, ["a.bin"])
    with serving(tmp_path) as (base, log):
        array = _open(made, base)
        np.testing.assert_array_equal(array[...], values)
        assert len(log.requests) <= 2
        log.clear()
        np.testing.assert_array_equal(array[:, 5], values[:, 5])
        assert len(log.requests) <= 2


def test_many_servers_are_asked_at_once(tmp_path):
    for i in range(60):
        (tmp_path / f"{i}.bin").write_bytes(np.int32(i).tobytes())
    made = References(
        _document([60], [1]), {"v": Chunks.ranges((60,), np.arange(60), [0] * 60, 4)}, [f"{i}.bin" for i in range(60)]
    )
    with serving(tmp_path, pause=0.25) as (base, log):
        np.testing.assert_array_equal(_open(made, base)[...], np.arange(60))
        assert len(log.requests) == 60
        assert log.most >= 4


@pytest.mark.parametrize(
    ("stamp", "offset"),
    [(Stamp(size=17), 0), (Stamp(etag='"other"'), 0), (Stamp(), 4000), (Stamp(), 1 << 50)],
)
def test_stale(tmp_path, stamp, offset):
    (tmp_path / "a.bin").write_bytes(bytes(4000))
    made = References(_document([10], [10]), {"v": Chunks.ranges((1,), 0, [offset], 40)}, ["a.bin"], {"a.bin": stamp})
    with serving(tmp_path) as (base, _), pytest.raises(StaleReferenceError, match=r"a\.bin") as caught:
        _open(made, base)[...]
    assert caught.value.key == "v/0"


def test_a_source_that_is_gone(tmp_path):
    made = References(_document([10], [10]), {"v": Chunks.ranges((1,), 0, [0], 40)}, ["a.bin"])
    with serving(tmp_path) as (base, _), pytest.raises(oz.errors.OmnizarrError, match=r"a\.bin"):
        _open(made, base)[...]
