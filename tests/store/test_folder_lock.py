"""One program at a time for a folder."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from omnizarr.errors import ConflictError, StoreError
from omnizarr.store import locked_file
from omnizarr.store.file import FileStore
from omnizarr.store.folder_lock import document_lock, folder_lock
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
    assert not locked_file._held  # the folder is no longer open
    monkeypatch.setattr("omnizarr.store.folder_lock.os.open", refused)
    with pytest.raises(StoreError, match="cannot be locked: broken"), folder_lock(FileStore(tmp_path), ""):
        pytest.fail("it is not held")


def test_the_first_document_that_is_there_is_held(tmp_path):
    store = FileStore(tmp_path)
    names = ["a", "b", "c"]
    with document_lock(store, names), document_lock(DictStore({"a": b""}), names):
        pass
    for name in "cb":
        (tmp_path / name).touch()
    (tmp_path / "a").mkdir()  # which is no document
    with document_lock(store, names) as held:
        assert [is_locked(tmp_path / name) for name in names] == [False, True, False]
        held.check()
    assert not is_locked(tmp_path / "b")
    assert not locked_file._held


@pytest.mark.parametrize("how", [os.O_RDWR, os.O_RDONLY])
def test_a_document_is_opened_for_writing_where_that_is_allowed(how, tmp_path, monkeypatch):
    opened = []
    real = os.open

    def some(path, flags):
        if flags & os.O_RDWR and how != os.O_RDWR:
            raise PermissionError(errno.EACCES, "no")
        opened.append(flags)
        return real(path, flags)

    (tmp_path / "a").touch()
    monkeypatch.setattr("omnizarr.store.locked_file.os.open", some)
    with document_lock(FileStore(tmp_path), ["a"]):
        assert opened == [how | os.O_NONBLOCK]  # so that nobody waits for a pipe of that name
        assert is_locked(tmp_path / "a")


def test_a_document_that_cannot_be_opened_is_not_held(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EACCES, "no")

    (tmp_path / "a").touch()
    monkeypatch.setattr("omnizarr.store.locked_file.os.open", refused)
    with document_lock(FileStore(tmp_path), ["a"]):
        pass


def waited_for(monkeypatch, meanwhile):
    """Let something happen once while somebody waits for a lock."""
    real = fcntl.flock
    left = [meanwhile]

    def flock(number, how):
        real(number, how)
        if left and how == fcntl.LOCK_EX:
            left.pop()()

    monkeypatch.setattr(fcntl, "flock", flock)


def test_what_was_replaced_while_one_waited_is_held_as_it_is_now(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "new").write_bytes(b"new")
    waited_for(monkeypatch, lambda: (tmp_path / "new").replace(tmp_path / "a"))
    with document_lock(FileStore(tmp_path), ["a"]) as held:
        assert is_locked(tmp_path / "a")
        assert len(locked_file._held) == 1  # the old one is let go
        held.check()
    assert not is_locked(tmp_path / "a")
    assert not locked_file._held


def test_what_was_erased_while_one_waited_is_not_held(tmp_path, monkeypatch):
    (tmp_path / "a").touch()
    (tmp_path / "b").touch()
    waited_for(monkeypatch, (tmp_path / "a").unlink)
    with document_lock(FileStore(tmp_path), ["a", "b"]):
        assert is_locked(tmp_path / "b")
    (tmp_path / "c").mkdir()
    waited_for(monkeypatch, (tmp_path / "c").rmdir)
    with folder_lock(FileStore(tmp_path), "c"):
        assert not locked_file._held


def test_who_holds_something_can_see_that_it_is_gone(tmp_path):
    store = FileStore(tmp_path)
    (tmp_path / "c").mkdir()
    (tmp_path / "a").touch()
    with folder_lock(store, "c") as folder, document_lock(store, ["a"]) as document:
        for held in (folder, document):
            held.check()
        (tmp_path / "c").rename(tmp_path / "d")
        (tmp_path / "c").mkdir()
        (tmp_path / "a").unlink()
        for held, name in ((folder, "c/"), (document, "a")):
            with pytest.raises(ConflictError, match="erased, or replaced") as caught:
                held.check()
            assert caught.value.path == f"{tmp_path}/{name}"
    with folder_lock(DictStore({}), "") as nothing:
        nothing.check()


def test_what_is_held_is_let_go_once(tmp_path, monkeypatch):
    one, other = (locked_file.LockedFile(str(tmp_path), os.O_RDONLY) for _ in range(2))
    one.lock()
    with pytest.raises(BlockingIOError):
        other.lock(wait=False)
    other.let_go()
    kept = os.dup(one._number)  # as a child has it that was not made by Python
    closed = []
    real = os.close
    with monkeypatch.context() as patch:
        patch.setattr("omnizarr.store.locked_file.os.close", lambda number: (closed.append(number), real(number)))
        for _ in range(2):  # the second time, the number may be that of somebody else's file
            one.let_go()
    assert closed == [one._number]
    assert not is_locked(tmp_path)
    os.close(kept)


FORKS = """
import fcntl, os, sys, threading
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
    other = threading.Thread(target=folder_lock(FileStore(folder), "not there").__enter__, daemon=True)
    other.start()
    other.join(30)
    assert not other.is_alive(), "the child cannot lock anything"
os.fstat(mine)  # fails if leaving the statement has closed what has the number by now
"""


def test_a_child_neither_keeps_a_lock_nor_ends_it(tmp_path):
    # Elsewhere, since this process may have threads.
    ended = subprocess.run([sys.executable, "-c", FORKS, tmp_path], timeout=60, check=False)
    assert ended.returncode == 0
    assert not is_locked(tmp_path)
