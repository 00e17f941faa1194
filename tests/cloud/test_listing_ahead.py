"""A group in a bucket is listed while its documents are read, and never shows what is no longer so."""

from __future__ import annotations

import os
import time

import pytest

import omnizarr as oz
from omnizarr.errors import StoreError
from omnizarr.store.cloud.store import CloudStore
from tests.cloud.servers import faults

WHERE = "s3://bucket/tree"


@pytest.fixture
def options(faulty):
    options = {**faulty.options, "pause": 0.001}
    group = oz.create_group(WHERE, storage_options=options)
    for name in ("a", "b"):
        group.create_array(name, shape=(2,), dtype="i1")
    faulty.forget()
    return options


def opened(options):
    return oz.open_group(WHERE, storage_options=options)


def test_one_listing_which_nobody_waits_for(faulty, options):
    """Where this machine is too busy to go on at once, there may be two."""
    for _ in range(20):
        faulty.forget()
        assert [name for name, _ in opened(options).members()] == ["a", "b"]
        if faulty.count("list") == 1:
            return
    pytest.fail("the listing that was asked for ahead is never used")


def test_changes_of_this_process_are_seen_at_once(options):
    group = opened(options)
    oz.create_array(f"{WHERE}/c", shape=(2,), dtype="i1", storage_options=options)
    assert [name for name, _ in group.members()] == ["a", "b", "c"]


def test_changes_of_others_are_seen_after_a_moment(faulty, options):
    group = opened(options)
    faulty.put("bucket", "tree/d/zarr.json", CloudStore(WHERE, options).get("a/zarr.json"))
    time.sleep(0.05)
    assert "d" in group


@pytest.mark.parametrize("again", [False, True])
def test_a_refusal_is_told_to_who_lists(faulty, options, again):
    faulty.plan.add(faults.forbidden, kind="list", times=2 if again else 1)
    group = opened(options)
    time.sleep(0.05)
    if again:
        with pytest.raises(StoreError, match="list"):
            group.members()
    else:
        assert len(group.members()) == 2


def test_arrays_and_what_is_opened_for_writing_are_not_listed(faulty, options):
    oz.open_array(f"{WHERE}/a", storage_options=options)
    oz.open(f"{WHERE}/a", storage_options=options)
    oz.open_group(WHERE, mode="r+", storage_options=options)
    assert faulty.count("list") == 0


def test_a_listing_beside_which_nothing_came_is_not_used(faulty, options):
    """An error while the documents are read leaves it behind, for who knows how long."""
    store = CloudStore(WHERE, options)
    document = store.get("a/zarr.json")
    store.native.list_ahead("")
    while not faulty.count("list"):
        time.sleep(0.01)
    faulty.put("bucket", "tree/e/zarr.json", document)
    assert "e/" in store.list_dir("")[1]


def test_another_prefix_is_another_listing(options):
    store = CloudStore("s3://bucket", options)
    store.native.list_ahead("tree/")
    store.get_many(["tree/zarr.json"])
    assert store.list_dir("")[1] == ["tree/"]


def test_a_child_asks_for_itself(options):
    store = CloudStore(WHERE, options)
    store.native.list_ahead("")
    store.get_many(["zarr.json"])
    child = os.fork()
    if child == 0:
        os._exit(0 if store.list_dir("")[1] == ["a/", "b/"] else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert store.list_dir("")[1] == ["a/", "b/"]
