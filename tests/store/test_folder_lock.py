"""One program at a time for a folder."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

import omnizarr.store.folder_lock as folder_lock_module
from omnizarr.errors import ConflictError, StoreError
from omnizarr.native import LockedFile
from omnizarr.store.file import FileStore
from omnizarr.store.folder_lock import BusyError, Held, LateError, document_lock, folder_lock
from omnizarr.store.mapping import DictStore
from omnizarr.store.wrap import PrefixStore, ReadOnlyStore

fcntl = pytest.importorskip("fcntl")
needs_list_of_locks = pytest.mark.skipif(not Path("/proc/locks").exists(), reason="the system does not list its locks")


def is_locked(folder):
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


class Unlocked:
    """What is opened where there are no locks, or none for folders."""

    def __init__(self, folders_only=False):
        self.opened, self.folders_only = [], folders_only

    def hold(self, place, what, wait):
        file = LockedFile.hold(place, what, wait)
        if file is None or (what == "file" and self.folders_only):
            return file
        self.opened.append(place)
        file.let_go()
        return SimpleNamespace(is_locked=False, is_at=os.path.exists, let_go=lambda: None)


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


def test_file_systems_without_locks(tmp_path, monkeypatch):
    for name in ("a", "b"):
        (tmp_path / name).touch()
    none = Unlocked()
    monkeypatch.setattr(folder_lock_module, "LockedFile", none)
    with folder_lock(FileStore(tmp_path), "", ["not there", "a", "b"]) as held:
        held.check()
    assert none.opened == [f"{tmp_path}/{name}" for name in ("", "a", "b")]


def test_where_folders_have_no_locks_the_document_is_locked(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        (tmp_path / "in" / name).touch()
    monkeypatch.setattr(folder_lock_module, "LockedFile", Unlocked(folders_only=True))
    with folder_lock(FileStore(tmp_path), "in", ["not there", "a", "b"]) as held:
        assert [is_locked(tmp_path / "in" / name) for name in ("", "a", "b")] == [False, True, False]
        (tmp_path / "in" / "a").unlink()  # replaced by whoever holds it
        held.check()
        (tmp_path / "in").rename(tmp_path / "away")
        with pytest.raises(ConflictError, match="erased, or replaced"):
            held.check()
    assert not is_locked(tmp_path / "away" / "b")


def test_locks_and_folders_that_fail(tmp_path, monkeypatch):
    (tmp_path / "document").write_text("{}")
    taken = []

    class Failing:
        def hold(self, place, what, wait):
            if what == "folder" and not taken:
                taken.append(LockedFile.hold(place, what, wait))
                return SimpleNamespace(is_locked=False, let_go=taken[0].let_go)
            raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(folder_lock_module, "LockedFile", Failing())
    for _ in range(2):  # fails at the document, then at the folder itself
        held = folder_lock(FileStore(tmp_path), "", ["document"])
        with pytest.raises(StoreError, match="cannot be locked: broken"), held:
            pytest.fail("it is not held")
        assert not is_locked(tmp_path)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError("no room for locks"), "no room for locks"),
        (MemoryError(), "no memory left"),
        (OSError(5, "bad"), "bad"),
    ],
)
def test_what_cannot_be_locked_is_said_with_a_cure(tmp_path, monkeypatch, error, words):
    def fail(*_):
        raise error

    monkeypatch.setattr(folder_lock_module, "LockedFile", SimpleNamespace(hold=fail))
    with (
        pytest.raises(StoreError, match=f"cannot be locked: .*{words}") as caught,
        folder_lock(FileStore(tmp_path), ""),
    ):
        pytest.fail("it is not held")
    assert "then try again" in caught.value.hint


def test_who_does_not_wait_is_told(tmp_path):
    (tmp_path / "a").touch()
    store = FileStore(tmp_path)
    with folder_lock(store, ""), pytest.raises(BusyError), folder_lock(store, "", wait=False):
        pytest.fail("it is held twice")
    with document_lock(store, ["a"]), pytest.raises(BusyError), document_lock(store, ["a"], wait=False):
        pytest.fail("it is held twice")


def test_no_document_is_held_in_a_folder_that_was_not_there(tmp_path):
    store = FileStore(tmp_path)

    class Late(list):
        def __iter__(self):
            for one in list.__iter__(self):
                yield one
                (tmp_path / "in").mkdir(exist_ok=True)
                (tmp_path / "in" / "a").touch()

    held = Held(Late([(f"{tmp_path}/in/", "folder"), (f"{tmp_path}/in/a", "file")]))
    with held:
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / "a").touch()
        assert not is_locked(tmp_path / "in" / "a")
        with pytest.raises(LateError):
            held.check()
        with pytest.raises(LateError):
            held.put(store, "in/a", b"")


def test_what_was_away_is_not_made_anew(tmp_path):
    with folder_lock(FileStore(tmp_path), "in", ["a"]) as held, pytest.raises(LateError, match="away for a moment"):
        held.put(FileStore(tmp_path), "in/a", b"")
    assert list(tmp_path.iterdir()) == []
    store = DictStore({})
    with folder_lock(store, "in", ["a"]) as held:
        held.put(store, "in/a", b"1")
    assert store.get("in/a") == b"1"


def test_who_may_not_open_a_document_will_not_change_it(tmp_path):
    (tmp_path / "document").symlink_to(tmp_path / "document")
    with document_lock(FileStore(tmp_path), ["document"]) as held:
        held.check()


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


@contextmanager
def waiting_for(place, lock):
    """Hold what is at a place until another thread waits to hold it; then let something happen, and let it go.

    Yields:
        A list to which what the other holds is added in the end.
    """
    other = os.open(place, os.O_RDONLY)
    number = f":{os.fstat(other).st_ino} "
    fcntl.flock(other, fcntl.LOCK_EX)
    got = []
    thread = threading.Thread(target=lambda: got.append(lock.__enter__()))
    thread.start()
    try:
        while not any("->" in line and number in line for line in Path("/proc/locks").read_text().splitlines()):
            assert thread.is_alive()
            time.sleep(0.01)
        yield got
    finally:
        os.close(other)
        thread.join(30)
    assert got, "it still waits"


@needs_list_of_locks
def test_what_was_replaced_while_one_waited_is_held_as_it_is_now(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "new").write_bytes(b"new")
    (tmp_path / "link").hardlink_to(tmp_path / "a")
    with waiting_for(tmp_path / "a", document_lock(FileStore(tmp_path), ["a"])) as got:
        (tmp_path / "new").replace(tmp_path / "a")
    assert is_locked(tmp_path / "a")
    assert not is_locked(tmp_path / "link"), "the old one is kept"
    got[0].check()
    got[0].__exit__()
    assert not is_locked(tmp_path / "a")


@needs_list_of_locks
def test_what_was_erased_while_one_waited_is_not_held(tmp_path):
    (tmp_path / "a").touch()
    (tmp_path / "b").touch()
    with waiting_for(tmp_path / "a", document_lock(FileStore(tmp_path), ["a", "b"])) as got:
        (tmp_path / "a").unlink()
    assert is_locked(tmp_path / "b")
    got[0].__exit__()
    (tmp_path / "c").mkdir()
    with waiting_for(tmp_path / "c", folder_lock(FileStore(tmp_path), "c")) as got:
        (tmp_path / "c").rmdir()
    got[0].check()


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
    assert LockedFile.hold(str(place), "own") is None
    place.write_text("{}")
    file = LockedFile.hold(str(place), "own")
    assert is_locked(place)
    assert file.is_locked
    assert file.is_at(str(place))
    for what in ("own", "file"):
        with pytest.raises(BlockingIOError):
            LockedFile.hold(str(place), what, wait=False)
    place.unlink()
    assert not file.is_at(str(place))
    for _ in range(2):
        file.let_go()
    assert not file.is_locked
    assert not file.is_at(str(place))
    place.symlink_to(tmp_path)
    with pytest.raises(OSError, match=r"(?i)too many"):
        LockedFile.hold(str(place), "own")
    assert LockedFile.hold(str(place), "file") is None  # a folder is no document
    with pytest.raises(ValueError, match="nothing that can be locked"):
        LockedFile.hold(str(place), "other")


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
