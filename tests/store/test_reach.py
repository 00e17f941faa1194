"""How far apart the writers of a store may be."""

from __future__ import annotations

import errno
import sys
from collections import UserDict

import pytest

from omnizarr.store.fault import FaultStore
from omnizarr.store.file import FileStore
from omnizarr.store.mapping import DictStore
from omnizarr.store.memory import MemoryStore
from omnizarr.store.reach import Reach, has_locks, reach_of
from omnizarr.store.wrap import PrefixStore, ReadOnlyStore
from omnizarr.store.zip import ZipStore

fcntl = pytest.importorskip("fcntl")


class Conditional(DictStore):
    """A store that can put on condition, or says so."""

    conditional = True


def test_what_is_in_memory_is_for_one_process(tmp_path):
    for store in (MemoryStore(), MemoryStore({}), DictStore({}), ZipStore(tmp_path / "a.zip")):
        assert reach_of(store) is Reach.PROCESS
        assert reach_of(PrefixStore(ReadOnlyStore(store), "a")) is Reach.PROCESS


def test_other_mappings_may_be_anywhere():
    assert reach_of(DictStore(UserDict())) is Reach.WHOLE_KEYS
    assert reach_of(Conditional(UserDict())) is Reach.ANYWHERE
    assert reach_of(PrefixStore(Conditional(UserDict()), "a")) is Reach.ANYWHERE
    # What counts operations cannot be looked through, so parts of a key are not safe there.
    assert reach_of(FaultStore(Conditional(UserDict()))) is Reach.WHOLE_KEYS


def test_folders_are_as_good_as_their_locks(tmp_path, monkeypatch):
    store = FileStore(tmp_path)
    assert reach_of(store) is Reach.ANYWHERE
    assert has_locks(PrefixStore(store, "a"))
    assert list(tmp_path.iterdir()) == []

    def refused(*_):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", refused)
    assert not has_locks(store)
    assert reach_of(PrefixStore(store, "a")) is Reach.WHOLE_KEYS


def test_where_nothing_can_be_tried_locks_are_assumed(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EACCES, "not yours")

    assert has_locks(FileStore(tmp_path / "not there yet"))
    assert not (tmp_path / "not there yet").exists()
    assert has_locks(DictStore({}))
    monkeypatch.setattr(fcntl, "flock", refused)
    assert has_locks(FileStore(tmp_path))


def test_a_system_without_locks(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    assert not has_locks(FileStore(tmp_path))
    assert reach_of(FileStore(tmp_path)) is Reach.WHOLE_KEYS
