"""What killed writers leave is found by a mark, and removed by the next who opens the place for writing."""

import os
import signal
import subprocess
import sys
import time

import pytest

import omnizarr as oz
from omnizarr.store.file import FileStore
from omnizarr.store.left import is_alive, sweep, sweep_beside
from omnizarr.store.zip import ZipStore

pytestmark = pytest.mark.skipif(not hasattr(os, "setxattr"), reason="folders have no attributes")

WRITER = """
import os, sys, omnizarr as oz
a = oz.create_array(sys.argv[1], shape=(400, 1000), dtype="i8", chunks=(1, 1000))
while True:
    a[...] = 1
"""


def killed_writer(place):
    """Let a process write to a place, and kill it while it does; return the name of the mark."""
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(place)])
    while not ((place / "zarr.json").exists() and os.listxattr(place)):
        time.sleep(0.001)
    while process.poll() is None:
        process.send_signal(signal.SIGKILL)
        process.wait()
    return next(iter(os.listxattr(place)), None)


@pytest.fixture(scope="module")
def mark(tmp_path_factory):
    """What sets the mark of a process on a folder."""
    name = None
    try:
        os.setxattr(tmp_path_factory.getbasetemp(), "user.omnizarr.test", b"")
        os.removexattr(tmp_path_factory.getbasetemp(), "user.omnizarr.test")
    except OSError:
        pytest.skip("the file system has no attributes of users")
    while name is None:  # it may have been killed between two writes
        name = killed_writer(tmp_path_factory.mktemp("killed") / "a")
    start = name.rpartition(".")[0]
    return lambda folder, process: os.setxattr(folder, f"{start}.{process:x}", b"")


@pytest.fixture
def dead():
    """The number of a process that is gone."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def names(folder):
    return sorted(one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file())


def test_nothing_is_left_after_a_put(tmp_path):
    store = FileStore(tmp_path / "a")
    store.put("x/y", b"1")
    store.erase_prefix("x/")
    store.put("z", b"2")
    assert names(tmp_path) == ["a/z"]


def test_files_of_dead_writers_go_where_there_is_a_mark(tmp_path, dead, mark):
    store = FileStore(tmp_path)
    store.put("g/c/0", b"1")
    left = [tmp_path / f"g/c/.{dead:x}-1f.partial", tmp_path / f".{dead:x}-0.partial"]
    for one in left:
        one.write_bytes(b"half")
    folder = tmp_path / f"g/.{dead:x}-2.partial"
    folder.mkdir()
    (folder / "c").write_bytes(b"of a folder that was being erased")
    sweep(store)
    assert all(one.exists() for one in left)  # nobody says that there is anything
    mark(tmp_path, dead)
    sweep(store)
    assert names(tmp_path) == ["g/c/0"]
    assert not folder.exists()
    assert os.listxattr(tmp_path) == []


def test_files_of_the_living_stay_until_they_are_gone(tmp_path, mark):
    store = FileStore(tmp_path)
    store.put("c/0", b"1")
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    alive = tmp_path / f"c/.{process.pid:x}-1.partial"
    alive.write_bytes(b"half")
    mark(tmp_path, process.pid)
    sweep(store)
    assert names(tmp_path) == [f"c/{alive.name}", "c/0"]
    process.communicate(b"\n")
    sweep(store)
    assert names(tmp_path) == ["c/0"]


def test_a_file_of_this_process_number_that_is_not_ours_goes(tmp_path, mark):
    store = FileStore(tmp_path)
    store.put("c/0", b"1")
    (tmp_path / f".{os.getpid():x}-0.partial").write_bytes(b"of an earlier process of the same number")
    mark(tmp_path, os.getpid())
    sweep(store)
    assert names(tmp_path) == ["c/0"]


def test_a_part_that_was_written_by_a_store_of_its_own_is_swept_with_the_whole(tmp_path, dead, mark):
    store = FileStore(tmp_path)
    store.put("a/c/0", b"1")
    left = tmp_path / f"a/c/.{dead:x}-1.partial"
    left.write_bytes(b"half")
    mark(tmp_path / "a", dead)
    sweep(store)
    assert left.exists()  # the whole has no mark
    mark(tmp_path, dead + 1 if not is_alive(dead + 1) else dead)
    sweep(store)
    assert names(tmp_path) == ["a/c/0"]
    assert os.listxattr(tmp_path / "a") == []


def test_opening_for_writing_sweeps_and_opening_for_reading_does_not(tmp_path, dead, mark):
    oz.create_array(tmp_path / "a", shape=(4,), dtype="i4", chunks=(2,))[...] = 1
    left = tmp_path / f"a/c/.{dead:x}-1.partial"
    left.write_bytes(b"half")
    mark(tmp_path / "a", dead)
    oz.open(tmp_path / "a", mode="r")
    assert left.exists()
    oz.open(tmp_path / "a", mode="r+")
    assert names(tmp_path / "a") == ["c/0", "c/1", "zarr.json"]


def test_what_a_killed_writer_leaves_is_gone_with_the_next(tmp_path, mark):
    killed_writer(tmp_path / "a")
    a = oz.open_array(tmp_path / "a", mode="r+")
    assert not [one for one in names(tmp_path / "a") if one.endswith(".partial")]
    assert set(a[...].ravel().tolist()) <= {0, 1}
    assert os.listxattr(tmp_path / "a") == []


def test_a_zip_that_nobody_writes_any_more_loses_its_rest(tmp_path):
    with ZipStore(tmp_path / "a.zip") as store:
        store.put("x", b"1")
    for name in (".a.zip.partial", ".a.zip.compact.partial"):
        (tmp_path / name).write_bytes(b"half")
    oz.ZipStore(tmp_path / "a.zip", read_only=True).close()
    assert len(names(tmp_path)) == 3
    with ZipStore(tmp_path / "a.zip") as store:
        sweep(store)
        assert names(tmp_path) == ["a.zip"]
        store.put("y", b"2")
        other = ZipStore(tmp_path / "a.zip")
        sweep(other)  # this process's own
        other.close()
    assert ZipStore(tmp_path / "a.zip", read_only=True).list_prefix("") == ["x", "y"]


def test_files_beside_a_file(tmp_path, dead):
    path = tmp_path / "a.json"
    for name in (f"a.json.{dead:x}0123abcd.partial", f"a.json.{os.getpid():x}0123abcd.partial", "a.json.partial"):
        (tmp_path / name).write_bytes(b"")
    sweep_beside(str(path))
    assert names(tmp_path) == sorted([f"a.json.{os.getpid():x}0123abcd.partial", "a.json.partial"])
    assert is_alive(os.getpid())
    assert not is_alive(dead)


def test_processes_that_cannot_be_asked_are_alive(monkeypatch):
    def refused(*_):
        raise PermissionError

    assert is_alive(os.getpid()) is True
    assert is_alive(2**70) is False
    monkeypatch.setattr("omnizarr.store.left.os.kill", refused)
    assert is_alive(1) is True
