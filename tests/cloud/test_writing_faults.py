"""F45: what goes wrong while objects are put has its effect once, or is told."""

from __future__ import annotations

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import StoreError
from omnizarr.store.cloud.store import CloudStore
from tests.cloud.servers import faults

QUICK = {"pause": 0.001, "stall": 0.5, "patience": 1.0}


@pytest.fixture
def store(faulty):
    return CloudStore("s3://bucket/p", {**faulty.options, **QUICK})


LOST = [faults.lost, faults.lost_by_reset, faults.lost_then_busy]


@pytest.mark.parametrize("fault", LOST)
def test_f45_a_lost_answer_to_a_put(faulty, store, fault):
    faulty.plan.add(fault, kind="put", times=1)
    store.put("k", b"1")
    assert faulty.data("bucket", "p/k") == b"1"


@pytest.mark.parametrize("fault", LOST)
def test_f45_a_lost_answer_to_the_first_put(faulty, store, fault):
    faulty.plan.add(fault, kind="put", times=1)
    assert store.put_if("k", b"1", None) is not None
    assert faulty.data("bucket", "p/k") == b"1"


@pytest.mark.parametrize("fault", LOST)
def test_f45_a_lost_answer_to_a_conditional_put(faulty, store, fault):
    store.put("k", b"1")
    _, tag = store.get_tagged("k")
    faulty.plan.add(fault, kind="put", times=1)
    now = store.put_if("k", b"2", tag)
    assert faulty.data("bucket", "p/k") == b"2"
    assert store.put_if("k", b"3", now) is not None


@pytest.mark.parametrize("fault", [faults.busy, faults.internal, faults.throttled, faults.reset_before, faults.hang_up])
def test_f45_what_passes_is_tried_again(faulty, store, fault):
    faulty.plan.add(fault, kind="put", times=2)
    store.put("k", b"1")
    assert faulty.data("bucket", "p/k") == b"1"
    assert faulty.count("put") == 3


@pytest.mark.parametrize("fault", [faults.busy, faults.conflict])
def test_f45_conditional_puts_are_tried_again(faulty, store, fault):
    faulty.plan.add(fault, kind="put", times=2)
    assert store.put_if("k", b"1", None) is not None
    assert faulty.data("bucket", "p/k") == b"1"


def test_f45_somebody_else_was_quicker(faulty, store):
    store.put("k", b"1")
    _, tag = store.get_tagged("k")
    faulty.put("bucket", "p/k", b"theirs")
    assert store.put_if("k", b"mine", tag) is None
    assert store.put_if("k", b"mine", None) is None
    assert faulty.data("bucket", "p/k") == b"theirs"


@pytest.mark.parametrize("fault", [faults.busy, faults.forbidden, faults.hang_up])
def test_f45_what_does_not_pass_is_told(faulty, store, fault):
    faulty.plan.add(fault, kind="put")
    with pytest.raises(StoreError, match=r"p/k|'k'"):
        store.put("k", b"1")
    assert faulty.count("put") < 20
    assert not faulty.bucket().objects


LARGE = bytes(40 << 20)
"""More than is put in one request."""


@pytest.mark.parametrize(
    ("kind", "fault"),
    [("create", faults.busy), ("part", faults.hang_up), ("part", faults.lost), ("complete", faults.lost)],
)
def test_f45_parts_that_fail_once(faulty, store, kind, fault):
    faulty.plan.add(fault, kind=kind, times=1)
    store.put("k", LARGE)
    assert faulty.data("bucket", "p/k") == LARGE
    assert faulty.count("part") >= 2
    assert faulty.faults()
    assert not faulty.bucket().uploads


def test_f45_parts_that_fail_leave_nothing(faulty, store):
    faulty.plan.add(faults.forbidden, kind="part", nth=3)
    with pytest.raises(StoreError):
        store.put("k", LARGE)
    assert not faulty.bucket().uploads
    assert not faulty.bucket().objects


def test_f45_every_put_of_an_array_fails_somehow_once(faulty):
    options = {**faulty.options, **QUICK}
    array = oz.create_array("s3://bucket/x", shape=(400, 10), chunks=(4, 10), dtype="i8", storage_options=options)
    values = np.arange(4000).reshape(400, 10)
    ways = (faults.lost, faults.busy, faults.hang_up, faults.lost_then_busy, faults.internal, faults.conflict)
    faulty.plan.add(*ways, kind="put", share=0.2)
    array[...] = values
    array[1:399:2] += 1
    faulty.plan.clear()
    values[1:399:2] += 1
    np.testing.assert_array_equal(oz.open_array("s3://bucket/x", storage_options=options)[...], values)
    assert len(faulty.faults()) >= 5
