"""The cache on disk saves bytes, and is never believed where the service has something else."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import stat
import subprocess
import sys
import textwrap
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import omnizarr as oz
from omnizarr._native import trace_requests, traced_requests
from omnizarr.errors import OmnizarrWarning, UnsafeError
from omnizarr.store.cloud.store import CloudStore
from tests.cloud.servers import faults
from tests.cloud.servers.google import account
from tests.cloud.servers.objects import Object

WHERE = "s3://bucket/a.zarr"
DATA = np.arange(64 * 64, dtype="i4").reshape(64, 64)
LAYOUTS = {
    "chunks": {"chunks": (16, 16)},
    "shards": {"chunks": (8, 8), "shards": (32, 32)},
    "plain": {"chunks": (16, 64), "codecs": None},
}


@pytest.fixture
def cached(faulty, tmp_path):
    """The options that reach the server, and keep what it says."""
    return {**faulty.options, "cache": str(tmp_path / "cache")}


def write(faulty, data=DATA, **layout):
    oz.create_array(WHERE, data=data, storage_options=faulty.options, overwrite=True, **layout)
    gets(faulty)


def read(options, selection=...):
    return oz.open_array(WHERE, storage_options=options)[selection]


def gets(faulty):
    """Count the answers to GET by their status, without those that found nothing, and begin a new log."""
    # The log has the status of an answer a moment after it was sent.
    until = time.monotonic() + 5
    while any(one.status == 0 for one in faulty.log) and time.monotonic() < until:
        time.sleep(0.001)
    found = Counter(one.status for one in faulty.log if one.kind == "get" and one.status != 404)
    faulty.forget()
    return found


def files(options):
    return sorted(path for path in Path(options["cache"]).rglob("*") if path.is_file())


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("selection", [..., (slice(3, 40), slice(5, 9)), (33, 12)], ids=["all", "part", "one"])
def test_the_second_read_transfers_nothing(faulty, cached, layout, selection):
    write(faulty, **layout)
    assert (read(cached, selection) == DATA[selection]).all()
    first = gets(faulty)
    assert first[200] + first[206] > 1
    assert first[304] == 0
    assert (read(cached, selection) == DATA[selection]).all()
    second = gets(faulty)
    assert second[304] > 1
    assert second[200] + second[206] == 0
    assert sum(second.values()) <= sum(first.values())


def test_what_the_index_vouches_for_is_not_asked_for(faulty, cached):
    write(faulty, **LAYOUTS["shards"])
    part = (slice(0, 8), slice(0, 8))
    read(cached, part)
    first = gets(faulty)
    assert (read(cached, part) == DATA[part]).all()
    # The index is asked for and not changed, so that its inner chunk needs no question.
    assert sum(gets(faulty).values()) == sum(first.values()) - 1


def test_without_the_option_nothing_is_kept(faulty, tmp_path):
    write(faulty, **LAYOUTS["chunks"])
    for _ in range(2):
        read(faulty.options)
        assert gets(faulty)[304] == 0
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_changes_are_seen_at_once(faulty, cached, layout):
    write(faulty, **layout)
    array = oz.open_array(WHERE, storage_options=cached)
    for n in range(3):
        assert (array[...] == DATA + n).all()
        assert (array[5:20, 3:9] == (DATA + n)[5:20, 3:9]).all()
        oz.open_array(WHERE, "r+", storage_options=faulty.options)[...] = DATA + n + 1
    assert (read(cached) == DATA + 3).all()


def test_what_is_gone_is_gone(faulty, cached):
    write(faulty, **LAYOUTS["chunks"])
    read(cached)
    faulty.bucket().delete("a.zarr/c/0/0")
    found = read(cached)
    assert (found[:16, :16] == 0).all()
    assert (found[16:] == DATA[16:]).all()


def test_who_may_not_read_gets_nothing(faulty, cached):
    write(faulty, **LAYOUTS["chunks"])
    read(cached)
    with pytest.raises(oz.OmnizarrError, match="refuses"):
        read({**cached, "secret": "another"})


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data[:40],
        lambda data: data[:-3] + bytes([data[-3] ^ 1]) + data[-2:],
        lambda data: data[:14] + b"\xff" + data[15:],
        lambda data: data + b"more",
        lambda data: b"something else\n" * 9,
    ],
    ids=["empty", "short", "no data", "a bit", "a length", "long", "foreign"],
)
def test_damaged_files_are_healed(faulty, cached, damage):
    write(faulty, **LAYOUTS["chunks"])
    read(cached)
    good = {path: path.read_bytes() for path in files(cached)}
    for path, data in good.items():
        path.write_bytes(damage(data))
    gets(faulty)
    assert (read(cached) == DATA).all()
    assert gets(faulty)[304] == 0
    assert {path: path.read_bytes() for path in files(cached)} == good
    assert (read(cached) == DATA).all()
    assert gets(faulty)[200] == 0


def test_a_file_in_the_place_of_another_is_not_believed(faulty, cached):
    write(faulty, np.zeros((64, 64), "i4") + DATA, **LAYOUTS["plain"])
    read(cached)
    found = files(cached)
    content = [path.read_bytes() for path in found]
    for path, data in zip(found, content[1:] + content[:1], strict=True):
        path.write_bytes(data)
    assert (read(cached) == DATA).all()
    assert [path.read_bytes() for path in found] == content


def test_the_limit_is_kept(faulty, cached):
    limit = 1 << 18
    data = np.random.default_rng(1).integers(0, 1 << 30, (512, 512), "i4")
    write(faulty, data, chunks=(64, 64))
    for _ in range(2):
        assert (read({**cached, "cache_bytes": limit}) == data).all()
        assert 0 < sum(path.stat().st_size for path in files(cached)) <= limit
    assert all(path.stat().st_size <= limit / 4 for path in files(cached))


@pytest.mark.skipif(os.name == "nt", reason="there are no such modes")
def test_files_tell_nothing_to_others(faulty, cached):
    write(faulty, **LAYOUTS["chunks"])
    read(cached)
    found = files(cached)
    assert len(found) == 17
    top = Path(cached["cache"])
    for path in top.rglob("*"):
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted
        assert "zarr" not in path.name or path.parent == top
    for path in found:
        data = path.read_bytes()
        for secret in (faulty.secret, faulty.key, "a.zarr", "bucket"):
            assert secret.encode() not in data


def test_buckets_and_servers_are_told_apart(faulty, cached):
    faulty.put("bucket", "k", b"here")
    faulty.bucket("other").put("k", Object(b"else", etag=faulty.bucket().objects["k"].etag))
    assert CloudStore("s3://bucket", cached).get("k") == b"here"
    assert CloudStore("s3://other", cached).get("k") == b"else"
    assert CloudStore("s3://bucket", cached).get("k") == b"here"


def test_one_object_by_two_ways(faulty, cached):
    faulty.put("bucket", "a/k", b"here")
    assert CloudStore("s3://bucket", cached).get("a/k") == b"here"
    gets(faulty)
    assert CloudStore("s3://bucket/a", cached).get("k") == b"here"
    assert gets(faulty) == {304: 1}


@pytest.mark.parametrize("etag", ['W/"weak"', '"with blank "'])
def test_an_etag_that_promises_little_is_not_kept(faulty, cached, etag):
    faulty.bucket().put("k", Object(b"data", etag=etag))
    for _ in range(2):
        assert CloudStore("s3://bucket", cached).get("k") == b"data"
    assert gets(faulty) == {200: 2}


def test_ranges(faulty, cached):
    faulty.put("bucket", "k", bytes(range(200)))
    faulty.put("bucket", "empty", b"")
    for _ in range(2):
        store = CloudStore("s3://bucket", cached)
        assert store.get_range("k", 10, 5) == bytes(range(10, 15))
        assert store.get_range("k", -5) == bytes(range(195, 200))
        assert store.get_range("k", -500) == bytes(range(200))
        assert store.get_range("k", 190, 50) == bytes(range(190, 200))
        assert store.get_many(["k", "nothing", "empty"]) == [bytes(range(200)), None, b""]
    assert gets(faulty)[206] == 4


def test_a_change_starts_from_what_is_there(faulty, cached):
    store = CloudStore("s3://bucket", cached)
    store.put("k", b"one")
    for _ in range(2):
        assert store.get("k") == b"one"
    gets(faulty)
    data, tag = store.get_tagged("k")
    assert (data, gets(faulty)) == (b"one", {200: 1})
    assert store.put_if("k", b"two", tag)
    assert store.get("k") == b"two"


def test_files_of_other_formats(faulty, cached, tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "x.nc", "w") as made:
        made.createDimension("x", 100_000)
        made.createVariable("v", "i4", ("x",), chunksizes=(10_000,))[:] = np.arange(100_000)
    faulty.put("bucket", "x.nc", (tmp_path / "x.nc").read_bytes())
    counted = []
    for _ in range(2):
        assert (oz.open("s3://bucket/x.nc", storage_options=cached)["v"][...] == np.arange(100_000)).all()
        counted.append(gets(faulty))
    assert counted[0][206] > 1
    assert set(counted[1]) == {304}


def test_faults_while_asking(faulty, cached):
    write(faulty, **LAYOUTS["shards"])
    options = {**cached, "pause": 0.01, "attempts": 8}  # more than there are faults
    for n in range(3):
        faulty.plan.clear()
        # Fewer than there are attempts.
        faulty.plan.add(faults.busy, faults.truncated, faults.reset_before, key="/c/", share=0.4, times=4, seed=n)
        assert (read(options) == DATA).all()
    faulty.plan.clear()
    gets(faulty)
    assert (read(options) == DATA).all()
    assert set(gets(faulty)) == {304}


def test_a_store_that_was_pickled_has_it_too(faulty, cached):
    write(faulty, **LAYOUTS["chunks"])
    store = CloudStore(WHERE, cached)
    again = pickle.loads(pickle.dumps(store))
    assert (oz.open_array(store)[...] == DATA).all()
    gets(faulty)
    assert (oz.open_array(again)[...] == DATA).all()
    assert set(gets(faulty)) == {304}


def test_two_processes_share_a_folder(faulty, cached):
    write(faulty, **LAYOUTS["chunks"])
    code = textwrap.dedent(f"""
        import omnizarr as oz
        for _ in range(3):
            assert oz.open_array({WHERE!r}, storage_options={cached!r})[...].sum() == {DATA.sum()}
    """)
    both = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    assert [one.wait(60) for one in both] == [0, 0]
    gets(faulty)
    assert (read(cached) == DATA).all()
    assert set(gets(faulty)) == {304}


def _read_in_child(options, answer):
    answer.put(int(read(options).sum()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_after_a_fork(faulty, cached):
    write(faulty, **LAYOUTS["chunks"])
    read(cached)
    gets(faulty)
    context = multiprocessing.get_context("fork")
    answer = context.Queue()
    child = context.Process(target=_read_in_child, args=(cached, answer))
    child.start()
    assert answer.get(timeout=60) == DATA.sum()
    child.join()
    assert set(gets(faulty)) == {304}


@pytest.fixture(params=["gcs", "azure"])
def other(request):
    """A bucket of another cloud, and the options that reach it."""
    service = request.getfixturevalue(request.param)
    if request.param == "gcs":
        return "gs://bucket", {"token": json.loads(account(service.url)), "endpoint_url": service.url}
    return "az://bucket", {"account_name": service.key, "account_key": service.secret, "endpoint_url": service.url}


def test_other_clouds(other, tmp_path):
    where, options = other
    options["cache"] = str(tmp_path / "cache")
    key = f"k{os.getpid()}"
    for data in (b"0123456789", b"abcdefghij"):
        CloudStore(where, options).put(key, data)
        trace_requests(on=True)
        for _ in range(2):
            store = CloudStore(where, options)
            assert store.get(key) == data
            assert store.get_range(key, 2, 3) == data[2:5]
        trace_requests(on=False)
        # A part is asked for after its size, which comes with the ETag, so that it needs no question of its own.
        answers = [line[5] for line in traced_requests() if line[2] == "GET"]
        assert answers == [200, 206, 304]


def test_a_folder_that_cannot_be_written_only_warns(faulty, cached, tmp_path):
    write(faulty, **LAYOUTS["chunks"])
    top = tmp_path / "cache"
    top.mkdir()
    # Where a folder of its own should be there is a file, which not even root can write into.
    (top / "omnizarr-cache-1").write_bytes(b"")
    with pytest.warns(OmnizarrWarning, match="nothing is kept in"):
        assert (read(cached) == DATA).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (read(cached) == DATA).all()


def test_a_disk_that_fails_later_is_no_error(faulty, cached, tmp_path):
    write(faulty, **LAYOUTS["chunks"])
    array = oz.open_array(WHERE, storage_options=cached)
    within = tmp_path / "cache" / "omnizarr-cache-1"
    within.rename(tmp_path / "away")
    within.write_bytes(b"")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (array[...] == DATA).all()
        assert (array[...] == DATA).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cache": ""}, "cache is to be a folder"),
        ({"cache": "s3://bucket/cache"}, "cache is to be a folder"),
        ({"cache": True}, "cache is to be a folder"),
        ({"cache": __file__}, "is something else"),
        ({"cache": "x", "cache_bytes": 10}, "cache_bytes is to be at least 65536"),
        ({"cache": "x", "cache_bytes": -1}, "cache_bytes is to be a number"),
        ({"cache": "x", "cache_bytes": "much"}, "cache_bytes is to be a number"),
        ({"cache_bytes": 1e9}, "needs the option cache"),
    ],
)
def test_options_that_cannot_be(options, message, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnsafeError, match=message):
        CloudStore("s3://bucket/k", {"anon": True, **options})
    assert not list(tmp_path.iterdir())
