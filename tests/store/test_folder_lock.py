"""One program at a time for a folder."""

from __future__ import annotations

import errno
import os

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
