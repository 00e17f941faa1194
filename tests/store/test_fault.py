"""The store that fails on cue, and the sweep that lets each operation of a scenario fail in turn."""

import errno
import time

import pytest

from omnizarr.errors import StoreError
from omnizarr.store.fault import Fault, FaultStore, sweep
from omnizarr.store.memory import MemoryStore


def filled():
    store = MemoryStore()
    for key in ("a", "b", "c"):
        store.put(key, b"0123456789")
    return store


def test_the_kth_operation_of_a_kind_raises():
    store = FaultStore(filled(), Fault(kind="get", at=2, errno=errno.ENOSPC))
    assert store.get("a") == b"0123456789"
    assert store.exists("a")
    with pytest.raises(StoreError, match="on purpose") as caught:
        store.get("b")
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.key == "b"
    assert isinstance(caught.value, OSError)
    assert store.get("b") == b"0123456789"
    assert [(kind, key) for _, kind, key in store.fired] == [("get", "b")]


def test_an_error_of_ones_own():
    store = FaultStore(filled(), Fault(error=TimeoutError("slow")))
    with pytest.raises(TimeoutError, match="slow"):
        store.list_dir("")


def test_several_in_a_row_and_for_ever():
    store = FaultStore(filled(), Fault(kind="put", at=2, times=2), Fault(kind="size", times=None))
    outcomes = []
    for _ in range(5):
        try:
            store.put("x", b"1")
        except StoreError:
            outcomes.append("failed")
        else:
            outcomes.append("fine")
    assert outcomes == ["fine", "failed", "failed", "fine", "fine"]
    for _ in range(3):
        with pytest.raises(StoreError):
            store.size("a")


def test_before_and_after_the_effect():
    store = FaultStore(filled(), Fault(kind="put"), Fault(kind="erase", when="after"))
    with pytest.raises(StoreError):
        store.put("a", b"new")
    assert store.inner.get("a") == b"0123456789"
    with pytest.raises(StoreError):
        store.erase("a")
    assert not store.inner.exists("a")


def test_truncated_and_corrupt_values():
    store = FaultStore(filled(), Fault("truncate", "get", at=2), Fault("corrupt", "get_range"), Fault("corrupt", "put"))
    assert store.get_many(["a", "b", "c"]) == [b"0123456789", b"01234", b"0123456789"]
    assert store.get_range("a", 0, 4) == b"01\x223"
    store.put("d", bytearray(b"0123"))
    assert store.inner.get("d") == b"01\x223"
    spoilt = FaultStore(filled(), Fault("truncate", "put"), Fault("corrupt", "get", key="empty"))
    spoilt.put("a", b"0123")
    assert spoilt.inner.get("a") == b"01"
    spoilt.put("empty", b"")
    assert spoilt.get("empty") == b""


def test_what_carries_no_bytes_is_not_truncated():
    store = FaultStore(filled(), Fault("truncate", "any", at=1))
    assert store.exists("a")
    assert store.list_prefix("") == ["a", "b", "c"]
    assert store.get("a") == b"01234"


def test_delay_and_choice_by_key():
    store = FaultStore(filled(), Fault("delay", "read", key="b", seconds=0.05))
    start = time.perf_counter()
    store.get("a")
    assert time.perf_counter() - start < 0.05
    start = time.perf_counter()
    store.get("b")
    assert time.perf_counter() - start >= 0.05


def test_groups_of_operations():
    store = FaultStore(filled(), Fault(kind="write", at=3))
    store.put("x", b"1")
    store.get("x")
    store.erase("x")
    with pytest.raises(StoreError):
        store.erase_prefix("")
    assert store.inner.exists("a")


def test_a_sweep_meets_every_operation_once():
    met = []
    for store in sweep(filled, Fault()):
        try:
            store.put("a", b"new")
            store.get("b")
            store.list_dir("")
            store.erase("c")
        except StoreError:
            met.append(store.fired[0][1])
        else:
            met.append("done")
    assert met == ["put", "get", "list_dir", "erase", "done"]


def test_what_has_fired_is_named():
    faults = (Fault(kind="write"), Fault("truncate", "get"))
    failing = FaultStore(MemoryStore({"a": b"1234"}), *faults)
    with pytest.raises(StoreError, match="of kind 'put'"):
        failing.put("b", b"1")
    assert failing.get("a") == b"12"
    assert failing.fired == [(faults[0], "put", "b"), (faults[1], "get", "a")]
