"""Leases: taken before the lock of the store, by one thread at a time, and erased by nobody else."""

import hashlib
import os
import threading

import pytest

import omnizarr as oz
from omnizarr.array import io
from omnizarr.hierarchy.changing import alone
from omnizarr.hierarchy.lease import NAME, Lease, turn


class Conditional(oz.MemoryStore):
    """A store in memory that can put on condition, as object stores can."""

    __slots__ = ("_one",)
    conditional = True

    def __init__(self):
        super().__init__()
        self._one = threading.RLock()

    def get_tagged(self, key):
        found = self.get(key)
        return None if found is None else (found, hashlib.md5(found).hexdigest())

    def put_if(self, key, data, tag):
        with self._one:
            found = self.get_tagged(key)
            if (found and found[1]) != tag:
                return None
            self.put(key, bytes(data))
            return self.get_tagged(key)[1]


def test_a_lease_of_somebody_else_stays():
    store = Conditional()
    first, second = Lease(store, "a/"), Lease(store, "a/")
    first.__enter__()
    store.erase_prefix("a/")  # the array is replaced
    with second:
        there = store.get("a/" + NAME)
        first.__exit__(None, None)
        assert store.get("a/" + NAME) == there
    assert store.get("a/" + NAME) is None


def test_who_waits_for_a_lease_keeps_nobody_from_the_store(monkeypatch):
    store = Conditional()
    array = oz.create_array(store, shape=(3,), dtype="i4")
    context, asked, done = array._context, threading.Event(), threading.Event()
    acquire = Lease._acquire

    def ask(self):
        asked.set()
        return acquire(self)

    def work():
        with alone(context, "", "zarr3"):
            done.set()

    with Lease(store, ""):
        monkeypatch.setattr(Lease, "_acquire", ask)
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        assert asked.wait(60)
        assert context.lock.acquire(timeout=60), "each waits for the other"
        context.lock.release()
        assert not done.is_set()
    thread.join(60)
    assert done.is_set()


def test_threads_of_one_process_take_turns(monkeypatch):
    store = Conditional()
    context, done = oz.create_array(store, shape=(3,), dtype="i4")._context, threading.Event()

    def work():
        with alone(context, "", "zarr3"):
            done.set()

    with alone(context, "", "zarr3"):
        asked = []
        monkeypatch.setattr(Lease, "_acquire", lambda _: asked.append(1) or "tag")
        monkeypatch.setattr(Lease, "__exit__", lambda *_: None)
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        assert not done.wait(0.05)
        assert not asked
    thread.join(60)
    assert done.is_set()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_does_not_wait_for_threads_that_it_does_not_have():
    with turn({"a", "b"}):
        child = os.fork()
        if child == 0:
            done = threading.Event()

            def work():
                with turn({"a"}):
                    done.set()

            threading.Thread(target=work, daemon=True).start()
            os._exit(0 if done.wait(30) else 7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with turn({"a", "b"}):
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_has_a_lock_of_its_own_for_changes_that_are_expected():
    with io._lock:
        child = os.fork()
        if child == 0:
            done = threading.Event()
            threading.Thread(target=lambda: (io.expect_change("x"), done.set()), daemon=True).start()
            os._exit(0 if done.wait(30) else 7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
