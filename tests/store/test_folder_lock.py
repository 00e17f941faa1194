"""One program at a time for a folder."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from omnizarr.errors import StoreError
from omnizarr.store.file import FileStore
from omnizarr.store.folder_lock import folder_lock
from omnizarr.store.mapping import DictStore
from omnizarr.store.wrap import PrefixStore, ReadOnlyStore

fcntl = pytest.importorskip("fcntl")


def is_locked(folder):
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def test_the_folder_of_a_node_is_held_and_let_go(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    store = PrefixStore(ReadOnlyStore(FileStore(tmp_path)), "a")
    with folder_lock(store, "b"):
        assert is_locked(tmp_path / "a" / "b")
        assert not is_locked(tmp_path / "a")
    assert not is_locked(tmp_path / "a" / "b")
    with pytest.raises(KeyError), folder_lock(FileStore(tmp_path), ""):
        raise KeyError
    assert not is_locked(tmp_path)
    assert [one.name for one in (tmp_path / "a").iterdir()] == ["b"]


def test_where_there_is_no_folder_nobody_is_kept_away(tmp_path):
    for store, path in ((DictStore({}), "a"), (FileStore(tmp_path), "not there")):
        with folder_lock(store, path):
            pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EINVAL])
def test_file_systems_without_locks(number, tmp_path, monkeypatch):
    def refused(*_):
        raise OSError(number, "none")

    monkeypatch.setattr(fcntl, "flock", refused)
    with folder_lock(FileStore(tmp_path), ""):
        pass


def test_locks_and_folders_that_fail(tmp_path, monkeypatch):
    def refused(*_):
        raise OSError(errno.EIO, "broken")

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", refused)
        with pytest.raises(StoreError, match="cannot be locked: broken"), folder_lock(FileStore(tmp_path), ""):
            pytest.fail("it is not held")
    monkeypatch.setattr("omnizarr.store.folder_lock.os.open", refused)
    with pytest.raises(StoreError, match="cannot be locked: broken"), folder_lock(FileStore(tmp_path), ""):
        pytest.fail("it is not held")


FORKS = """
import fcntl, os, sys
from omnizarr.store.file import FileStore
from omnizarr.store.folder_lock import folder_lock

def is_locked():
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False

folder = sys.argv[1]
number = os.open(folder, os.O_RDONLY)  # the one that the lock will have
os.close(number)
with folder_lock(FileStore(folder), ""):
    child = os.fork()
    if child:
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.exit(ended or not is_locked())
    mine = os.open(os.devnull, os.O_RDONLY)
    assert mine == number, "the child has kept the lock"
    assert is_locked(), "the child has ended the lock"
os.fstat(mine)  # fails if leaving the statement has closed what has the number by now
"""


def test_a_child_neither_keeps_a_lock_nor_ends_it(tmp_path):
    # Elsewhere, since this process may have threads.
    ended = subprocess.run([sys.executable, "-c", FORKS, tmp_path], timeout=60, check=False)
    assert ended.returncode == 0
    assert not is_locked(tmp_path)
