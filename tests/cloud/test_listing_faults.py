"""F46: listings without end, in a loop, and of odd keys."""

from __future__ import annotations

import resource

import pytest

import omnizarr as oz
from omnizarr.errors import StoreError
from omnizarr.store.cloud.store import CloudStore
from tests.cloud.servers import faults
from tests.cloud.servers.objects import Numbered

QUICK = {"pause": 0.001, "stall": 0.5, "patience": 1.0}


def test_f46_a_loop_is_noticed(faulty):
    faulty.s3.page = 10
    for i in range(30):
        faulty.put("bucket", f"p/{i:02d}", b"x")
    faulty.plan.add(faults.page_loop, kind="list")
    with pytest.raises(StoreError, match=r"again|loop|same"):
        CloudStore("s3://bucket/p", {**faulty.options, **QUICK}).list_prefix("")
    assert faulty.count("list") < 20


def test_f46_many_keys(faulty):
    faulty.bucket().numbered = Numbered("p/c/", 50_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    keys = CloudStore("s3://bucket/p", faulty.options).list_prefix("c/")
    assert (len(keys), keys[0], keys[-1]) == (50_000, "c/000000000", "c/000049999")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
    assert faulty.count("list") == 50


def test_f46_folders_of_many_keys_are_not_walked(faulty):
    """A group is listed by its folders, however many chunks they have."""
    group = oz.create_group("s3://bucket/p", storage_options=faulty.options)
    for name in ("a", "b"):
        group.create_array(name, shape=(100_000,), chunks=(10,), dtype="i1", fill_value=1)
        for i in range(3000):
            faulty.put("bucket", f"p/{name}/c/{i}", b"x")
    faulty.forget()
    assert sorted(oz.open_group("s3://bucket/p", storage_options=faulty.options)) == ["a", "b"]
    assert faulty.count("list") <= 2


@pytest.mark.parametrize("fault", [faults.busy, faults.truncated, faults.hang_up, faults.chunked_abort])
def test_f46_pages_are_asked_for_again(faulty, fault):
    faulty.s3.page = 7
    for i in range(30):
        faulty.put("bucket", f"p/{i:02d}", b"x")
    faulty.plan.add(fault, kind="list", nth=2, times=2)
    keys = CloudStore("s3://bucket/p", {**faulty.options, **QUICK}).list_prefix("")
    assert keys == [f"{i:02d}" for i in range(30)]
    assert faulty.count("list") <= 5 + 2 * 2


def test_f46_keys_with_empty_parts(faulty):
    """They are no keys of a hierarchy: they are left out, and do no harm."""
    for key in ("p/a/1", "p/a//2", "p//3", "p/a/", "p/b"):
        faulty.put("bucket", key, b"x")
    store = CloudStore("s3://bucket/p", faulty.options)
    assert {"a/1", "b"} <= set(store.list_prefix(""))
    assert store.list_dir("")[0] == ["b"]
    assert store.get("a/1") == b"x"


def test_f46_many_are_erased(faulty):
    for i in range(2500):
        faulty.put("bucket", f"p/{i:04d}", b"x")
    faulty.put("bucket", "pq", b"y")
    CloudStore("s3://bucket/p", faulty.options).erase_prefix("")
    assert list(faulty.bucket().objects) == ["pq"]
