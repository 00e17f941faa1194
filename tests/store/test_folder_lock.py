"""One program at a time for a folder."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from functools import partial

import pytest

import omnizarr.store.folder_lock as folder_lock_module
from omnizarr.errors import ConflictError, StoreError
from omnizarr.native import LockedFile
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


class Refusing:
    """A file that can be opened, but not locked."""

    def __init__(self, error, place, what):
        self.error = error
        self.let_go = LockedFile(place, what).let_go

    def lock(self):
        raise self.error


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
    monkeypatch.setattr(folder_lock_module, "LockedFile", partial(Refusing, OSError(number, "none")))
    with folder_lock(FileStore(tmp_path), ""):
        pass


def test_locks_and_folders_that_fail(tmp_path, monkeypatch):
    def refused(*_):
        raise OSError(errno.EIO, "broken")

    for one in (partial(Refusing, OSError(errno.EIO, "broken")), refused):
        monkeypatch.setattr(folder_lock_module, "LockedFile", one)
        with pytest.raises(StoreError, match="cannot be locked: broken"), folder_lock(FileStore(tmp_path), ""):
            pytest.fail("it is not held")
        assert not is_locked(tmp_path)
    (tmp_path / "document").write_text("{}")
    with document_lock(FileStore(tmp_path), ["document"]):  # who may not open it will not change it either
        assert not is_locked(tmp_path / "document")


def test_the_first_document_that_is_there_is_held(tmp_path):
    store = PrefixStore(FileStore(tmp_path), "in")
    names = ["a", "b", "c"]
    with document_lock(store, names), document_lock(DictStore({"a": b""}), names):
        pass
    (tmp_path / "in" / "a").mkdir(parents=True)  # which is no document
    for name in "cb":
        (tmp_path / "in" / name).touch()
    with document_lock(store, names) as held:
        assert [is_locked(tmp_path / "in" / name) for name in names] == [False, True, False]
        held.check()
    assert not is_locked(tmp_path / "in" / "b")


def waited_for(monkeypatch, meanwhile):
    """Let something happen once while somebody waits for a lock."""
    left = [meanwhile]

    class Waited:
        def __init__(self, place, what):
            file = LockedFile(place, what)
            self.let_go, self.is_at, self._lock = file.let_go, file.is_at, file.lock

        def lock(self):
            self._lock()
            if left:
                left.pop()()

    monkeypatch.setattr(folder_lock_module, "LockedFile", Waited)


def test_what_was_replaced_while_one_waited_is_held_as_it_is_now(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "new").write_bytes(b"new")
    (tmp_path / "link").hardlink_to(tmp_path / "a")
    waited_for(monkeypatch, lambda: (tmp_path / "new").replace(tmp_path / "a"))
    with document_lock(FileStore(tmp_path), ["a"]) as held:
        assert is_locked(tmp_path / "a")
        assert not is_locked(tmp_path / "link"), "the old one is kept"
        held.check()
    assert not is_locked(tmp_path / "a")


def test_what_was_erased_while_one_waited_is_not_held(tmp_path, monkeypatch):
    (tmp_path / "a").touch()
    (tmp_path / "b").touch()
    waited_for(monkeypatch, (tmp_path / "a").unlink)
    with document_lock(FileStore(tmp_path), ["a", "b"]):
        assert is_locked(tmp_path / "b")
    (tmp_path / "c").mkdir()
    waited_for(monkeypatch, (tmp_path / "c").rmdir)
    with folder_lock(FileStore(tmp_path), "c") as held:
        held.check()


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


def test_what_is_locked_is_told_from_what_took_its_name(tmp_path):
    place = tmp_path / "note"
    place.write_text("{}")
    file = LockedFile(str(place), "own")
    file.lock(wait=False)
    assert is_locked(place)
    assert file.is_at(str(place))
    assert file.has_name()
    with pytest.raises(BlockingIOError):
        LockedFile(str(place), "file").lock(wait=False)
    place.unlink()
    assert not file.has_name()
    for _ in range(2):
        file.let_go()
    assert not file.is_at(str(place))
    with pytest.raises(OSError, match="not found"):
        file.lock()
    place.symlink_to(tmp_path)
    for what in ("own", "file"):
        with pytest.raises(OSError, match=r"(?i)too many|directory"):
            LockedFile(str(place), what)
    with pytest.raises(ValueError, match="nothing that can be locked"):
        LockedFile(str(place), "other")


def test_nobody_waits_for_the_other_end_of_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "a")
    with document_lock(FileStore(tmp_path), ["a"]):
        pass


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
