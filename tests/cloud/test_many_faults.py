"""Ten thousand reads while one request in twenty fails, in every way there is: all bytes right, few requests more."""

from __future__ import annotations

import hashlib

import numpy as np

from omnizarr.store.cloud.store import CloudStore
from tests.cloud.servers import faults
from tests.cloud.servers.objects import Object

WAYS = (
    *faults.PASSING,
    faults.stall(2),
    faults.silent(2),
    faults.range_ignored,
    faults.compressed,
    faults.html,
    faults.wrong_range,
    faults.expired,
    faults.skewed,
)


def data_of(i: int) -> bytes:
    return hashlib.sha256(str(i).encode()).digest() * 16


def test_ten_thousand_reads(faulty):
    bucket = faulty.bucket()
    for i in range(10_000):
        bucket.objects[f"a/c/{i}"] = Object(data_of(i), f'"{i}"')
    store = CloudStore("s3://bucket/a", {**faulty.options, "pause": 0.001, "stall": 0.3})
    faulty.plan.add(*WAYS, share=0.05)
    for first in range(0, 10_000, 1000):
        keys = [f"c/{i}" for i in range(first, first + 1000)]
        assert store.get_many(keys) == [data_of(i) for i in range(first, first + 1000)]
    assert len(faulty.faults()) >= len(WAYS) - 1  # two kinds of being busy have one name
    assert 400 < sum(faulty.faults().values()) < 700
    assert faulty.count() <= 11_000


def test_a_thousand_ranges_of_shards(faulty):
    import omnizarr as oz

    options = {**faulty.options, "pause": 0.001, "stall": 0.3}
    kind = {"shape": (1000, 100), "chunks": (10, 10), "shards": (100, 100), "dtype": "i4", "codecs": None}
    array = oz.create_array("s3://bucket/s", storage_options=options, **kind)
    values = np.arange(100_000, dtype="i4").reshape(1000, 100)
    array[...] = values
    array = oz.open_array("s3://bucket/s", storage_options=options)
    faulty.forget()
    faulty.plan.add(*WAYS, faults.other_version, share=0.05, key="/c/")
    rng = np.random.default_rng(5)
    for _ in range(60):
        i = np.sort(rng.choice(1000, 40, replace=False))
        j = rng.integers(0, 100, 40)
        np.testing.assert_array_equal(array.vindex[i, j], values[i, j])
    assert sum(faulty.faults().values()) > 10
