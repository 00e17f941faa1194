"""What a set from elsewhere may reach in object stores, and what a store says of buckets and chunks that are gone."""

from __future__ import annotations

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import OmnizarrError, StoreError
from omnizarr.store.cloud.connect import Connections
from omnizarr.store.cloud.store import CloudStore


@pytest.mark.parametrize(
    "url", ["abfss://c@169.254.169.254/k", "s3://127.0.0.1:{port}/bucket/k", "s3://localhost:{port}/bucket/k"]
)
def test_private_addresses_are_not_reached_by_sets(faulty, url):
    faulty.put("bucket", "k", b"secret")
    place = url.format(port=faulty.port)
    store = oz.open(
        {"version": 1, "refs": {"zarr.json": '{"zarr_format": 3, "node_type": "group"}', "x": [place, 0, 6]}}
    ).store
    with pytest.raises(OmnizarrError):
        store.get("x")
    assert faulty.count() == 0


def test_keys_stay_with_the_services_that_they_are_for(faulty, monkeypatch):
    options = {"key": "me", "secret": "hush", "endpoint_url": faulty.url}
    faulty.put("bucket", "k", b"data")
    connect = Connections({**options, "key": faulty.key, "secret": faulty.secret})
    store, key = connect("s3://bucket/k", trusted=False)
    assert store.get(key) == b"data"
    made = []
    monkeypatch.setattr(
        "omnizarr.store.cloud.connect.native_store", lambda settled, *_, trusted: made.append((settled, trusted))
    )
    for url in ("s3://evil.example.com/bucket/k", "s3://bucket/k"):
        Connections(connect.options)(url, trusted=False)
    (evil, trusted), (home, _) = made
    assert evil.config["aws_skip_signature"] == "true"
    assert not trusted
    assert faulty.key not in evil.config.values()
    assert home.config["aws_access_key_id"] == faulty.key


def test_a_bucket_that_is_not_there_is_told_of(faulty):
    with pytest.raises(StoreError, match="bucket"):
        oz.create_group("s3://nowhere/x", storage_options=faulty.options)


def test_a_shard_that_was_erased_reads_as_fill(faulty):
    array = oz.create_array(
        "s3://bucket/s", shape=(8, 8), chunks=(2, 2), shards=(4, 4), dtype="i4", storage_options=faulty.options
    )
    array[...] = np.arange(64).reshape(8, 8)
    other = oz.open_array("s3://bucket/s", storage_options=faulty.options)
    assert other[0, 0] == 0
    assert other[1, 1] == 9
    array[:4, :4] = 0
    assert not other[:4, :4].any()
    assert other[7, 7] == 63


def test_conditions_can_be_switched_off(faulty):
    assert CloudStore("s3://bucket/x", faulty.options).conditional
    store = CloudStore("s3://bucket/x", {**faulty.options, "conditional": False})
    assert not store.conditional
    array = oz.create_array(store, shape=(10,), chunks=(4,), dtype="i4")
    array[1:3] = 5
    array.append([1, 2])
    assert array[...].tolist() == [0, 5, 5, 0, 0, 0, 0, 0, 0, 0, 1, 2]
