"""What killed writers leave is found by a mark, and removed by the next who opens the place for writing."""

import os
import signal
import subprocess
import sys

import pytest

import omnizarr as oz
from omnizarr.store.file import FileStore
from omnizarr.store.left import is_alive, sweep, sweep_beside
from omnizarr.store.zip import ZipStore

pytestmark = pytest.mark.skipif(os.name != "posix", reason="marks need locks of files")

MARK = ".writing.partial"


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


def test_files_of_dead_writers_go_where_there_is_a_mark(tmp_path, dead):
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
    (tmp_path / MARK).touch()
    sweep(store)
    assert names(tmp_path) == ["g/c/0"]
    assert not folder.exists()


def test_files_of_the_living_stay_and_are_looked_at_again(tmp_path, dead):
    store = FileStore(tmp_path)
    store.put("c/0", b"1")
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    alive = tmp_path / f"c/.{process.pid:x}-1.partial"
    alive.write_bytes(b"half")
    (tmp_path / MARK).touch()
    sweep(store)
    assert names(tmp_path) == [MARK, f"c/{alive.name}", "c/0"]
    process.communicate(b"\n")
    sweep(store)
    assert names(tmp_path) == ["c/0"]


def test_a_file_of_this_process_number_that_is_not_ours_goes(tmp_path):
    store = FileStore(tmp_path)
    store.put("c/0", b"1")
    (tmp_path / f".{os.getpid():x}-0.partial").write_bytes(b"of a process in another container, say")
    (tmp_path / MARK).touch()
    sweep(store)
    assert names(tmp_path) == ["c/0"]


def test_a_mark_that_is_locked_is_left_alone(tmp_path, dead):
    fcntl = pytest.importorskip("fcntl")
    store = FileStore(tmp_path)
    store.put("c/0", b"1")
    left = tmp_path / f"c/.{dead:x}-1.partial"
    left.write_bytes(b"half")
    with (tmp_path / MARK).open("wb") as mark:
        fcntl.flock(mark, fcntl.LOCK_SH)
        sweep(store)
        assert left.exists()
        store.put("c/1", b"2")  # writes beside the other
        assert (tmp_path / MARK).exists()
    sweep(store)
    assert names(tmp_path) == ["c/0", "c/1"]


def test_a_writer_of_a_part_keeps_the_part_from_being_swept(tmp_path, dead):
    fcntl = pytest.importorskip("fcntl")
    store = FileStore(tmp_path)
    store.put("a/c/0", b"1")
    left = tmp_path / f"a/c/.{dead:x}-1.partial"
    left.write_bytes(b"half")
    (tmp_path / MARK).touch()
    with (tmp_path / "a" / MARK).open("wb") as mark:
        fcntl.flock(mark, fcntl.LOCK_SH)
        sweep(store)
        assert left.exists()
    sweep(store)
    assert names(tmp_path) == ["a/c/0"]


def test_opening_for_writing_sweeps_and_opening_for_reading_does_not(tmp_path, dead):
    oz.create_array(tmp_path / "a", shape=(4,), dtype="i4", chunks=(2,))[...] = 1
    left = tmp_path / f"a/c/.{dead:x}-1.partial"
    left.write_bytes(b"half")
    (tmp_path / "a" / MARK).touch()
    oz.open(tmp_path / "a", mode="r")
    assert left.exists()
    oz.open(tmp_path / "a", mode="r+")
    assert names(tmp_path / "a") == ["c/0", "c/1", "zarr.json"]


def test_a_writer_that_is_killed_leaves_a_mark(tmp_path):
    code = f"""
import os, omnizarr as oz
a = oz.create_array({str(tmp_path / "a")!r}, shape=(400, 1000), dtype="i8", chunks=(1, 1000))
os.write(1, b"go")
while True:
    a[...] = 1
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout.read(2) == b"go"
    while not (tmp_path / "a" / MARK).exists():
        pass
    process.send_signal(signal.SIGKILL)
    process.communicate()
    a = oz.open_array(tmp_path / "a", mode="r+")
    assert not [one for one in names(tmp_path / "a") if one.endswith(".partial")]
    assert set(a[...].ravel().tolist()) <= {0, 1}


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
