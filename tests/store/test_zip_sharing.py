"""The zip store among handles, threads and processes: what closing, sharing and forking mean."""

import gc
import io
import os
import pickle
import subprocess
import sys
import threading
import zipfile

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ConflictError, NotFoundError, StoreError
from omnizarr.store.zip import ZipStore
from omnizarr.store.zip_archive import ForkLock
from tests.store.archives import contents, made, names


def test_closed_is_closed(tmp_path):
    a = oz.create_array(tmp_path / "a.zip", data=np.arange(10), chunks=(5,))
    a.close()
    a.close()
    for use in (lambda: a[0], lambda: a.store.get("zarr.json"), lambda: a.__setitem__(0, 1), a.store.flush):
        with pytest.raises(StoreError, match="closed"):
            use()
    assert a.store.closed
    # Another handle keeps the archive open.
    one, two = ZipStore(tmp_path / "a.zip"), ZipStore(tmp_path / "a.zip")
    one.put("x", b"1")
    one.close()
    assert two.get("x") == b"1"
    two.put("x", b"2")
    assert zipfile.ZipFile(tmp_path / "a.zip").read("x") == b"1"
    two.close()
    assert zipfile.ZipFile(tmp_path / "a.zip").read("x") == b"2"


def test_handles_of_one_process_share_what_is_written(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    oz.create_array(tmp_path / "a.zip", data=np.zeros(4, "i2")).close()
    early = oz.open(tmp_path / "a.zip")
    writer = oz.open(tmp_path / "link" / "a.zip", "r+")
    second = oz.open(tmp_path / "a.zip", "a")
    late = oz.open(tmp_path / "a.zip")
    writer[0] = 1
    second[1] = 2
    for a in (early, writer, second, late):
        np.testing.assert_array_equal(a[...], [1, 2, 0, 0])
    assert zipfile.ZipFile(tmp_path / "a.zip").testzip() is None
    early.close()
    second.close()
    writer[2] = 3
    writer.close()
    np.testing.assert_array_equal(late[...], [1, 2, 3, 0])


def test_an_archive_that_was_replaced_is_read_anew(tmp_path):
    place = made(tmp_path / "a.zip", {"k": b"old"})
    store = ZipStore(place, read_only=True)
    assert store.get("k") == b"old"
    made(tmp_path / "b.zip", {"k": b"new", "l": b"1"}).replace(place)
    assert contents(store) == {"k": b"new", "l": b"1"}
    place.unlink()
    with pytest.raises(StoreError, match="gone"):
        store.get("k")
    with pytest.raises(NotFoundError):
        ZipStore(place, read_only=True)


def test_the_work_of_others_is_never_overwritten(tmp_path):
    place = made(tmp_path / "a.zip", {"k": b"old"})
    store = ZipStore(place)
    store.put("mine", b"1")
    with zipfile.ZipFile(place, "a") as archive:
        archive.writestr("theirs", b"2")
    with pytest.raises(ConflictError, match="someone else"):
        store.close()
    assert sorted(zipfile.ZipFile(place).namelist()) == ["k", "theirs"]
    # The changes are still there, so they can be saved elsewhere.
    assert store.get("mine") == b"1"
    store.discard()
    assert store.get("mine") is None
    assert store.get("theirs") == b"2"
    assert names(tmp_path) == ["a.zip"]


SECOND = """
import sys, omnizarr as oz
store = oz.ZipStore(sys.argv[1])
try:
    store.put("b", b"2")
except oz.errors.ConflictError as error:
    print("refused", error.hint is not None)
else:
    store.close()
    print("written")
"""


def python(code, *arguments, **options):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False, **options
    )


@pytest.mark.skipif(os.name == "nt", reason="there is no lock there")
def test_one_process_at_a_time_writes(tmp_path):
    place = tmp_path / "a.zip"
    store = ZipStore(place)
    store.put("a", b"1")
    assert python(SECOND, place).stdout == "refused True\n"
    store.close()
    assert python(SECOND, place).stdout == "written\n"
    assert contents(ZipStore(place)) == {"a": b"1", "b": b"2"}
    store = ZipStore(place)
    assert store.get("a") == b"1"
    # Nothing of this process is waiting, so the other may write, and this one sees it.
    store.flush()
    with ZipStore(place) as other:
        other.erase("b")
    assert python(SECOND, place).stdout == "written\n"
    store.put("c", b"3")
    store.close()
    assert contents(ZipStore(place)) == {"a": b"1", "b": b"2", "c": b"3"}
    assert names(tmp_path) == ["a.zip"]


AT_EXIT = """
import sys, os, numpy as np, omnizarr as oz
a = oz.create_array(sys.argv[1], data=np.arange(10))
if len(sys.argv) > 2:
    if os.fork() == 0:
        sys.exit()
    os.wait()
    assert not os.path.exists(sys.argv[1])
a[0] = 99
"""


@pytest.mark.parametrize("fork", [[], ["fork"]][: 1 if os.name == "nt" else 2], ids=str)
def test_what_nobody_closes_is_closed_at_exit(fork, tmp_path):
    done = python(AT_EXIT, tmp_path / "a.zip", *fork, env=os.environ | {"PYTHONWARNINGS": "error"})
    assert (done.returncode, done.stderr) == (0, "")
    assert oz.open(tmp_path / "a.zip")[...].tolist() == [99, *range(1, 10)]
    assert names(tmp_path) == ["a.zip"]


def test_what_nobody_refers_to_is_closed(tmp_path):
    oz.create_array(tmp_path / "a.zip", data=np.arange(10))
    gc.collect()
    assert zipfile.ZipFile(tmp_path / "a.zip").testzip() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_reads_and_does_not_write(tmp_path):
    place = made(tmp_path / "a.zip", {"k": b"old"})
    store = ZipStore(place)
    store.put("k", b"new")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            assert store.get("k") == b"new"
            with pytest.raises(ConflictError, match="parent"):
                store.put("k", b"child's")
            with pytest.raises(ConflictError, match="parent"):
                store.close()
            assert ZipStore(place, read_only=True).get("k") == b"old"
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    store.close()
    assert contents(ZipStore(place)) == {"k": b"new"}
    # With nothing waiting, the child may write.
    store = ZipStore(place)
    assert store.get("k") == b"new"
    child = os.fork()
    if child == 0:
        try:
            store.put("k", b"child's")
            store.close()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert store.get("k") == b"child's"


def test_a_lock_is_one_in_each_process():
    lock = ForkLock()
    assert lock() is lock()
    if not hasattr(os, "fork"):
        return
    with lock():
        child = os.fork()
        if child == 0:  # nobody there would ever open the lock that is closed here
            os._exit(0 if lock().acquire(timeout=5) and not lock().acquire(timeout=0.01) else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert lock().locked()


def test_the_last_store_lets_go_of_the_archive(tmp_path):
    place = made(tmp_path / "a.zip", {"k": b"old"})
    first, second = ZipStore(place), ZipStore(place)
    native = first.native
    first.close()
    assert native.get("k") == b"old"
    second.close()
    assert ZipStore(place).native is not native


class Waits(io.BytesIO):
    """A file object that keeps what is written until it is told to let go of it."""

    kept = b""

    def flush(self):
        self.kept = self.getvalue()


def test_a_file_object_is_flushed_when_its_archive_is_whole():
    file = Waits()
    with ZipStore(file) as store:
        store.put("k", b"1")
    assert zipfile.ZipFile(io.BytesIO(file.kept)).read("k") == b"1"


def test_pickles_name_the_place(tmp_path):
    place = made(tmp_path / "a.zip")
    store = ZipStore(place, read_only=True)
    again = pickle.loads(pickle.dumps(store))
    assert again == store
    assert hash(again) == hash(store)
    assert again.get("empty") == b""
    assert again.read_only
    with pytest.raises(StoreError, match="pickled"):
        pickle.dumps(ZipStore(place))
    a = oz.create_array(tmp_path / "b.zip", data=np.arange(5))
    a.close()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(oz.open(tmp_path / "b.zip")))[...], np.arange(5))


def test_names(tmp_path):
    store = ZipStore(tmp_path / "my data.zip")
    assert store.uri == (tmp_path / "my data.zip").as_uri()
    assert repr(store) == f"ZipStore({str(tmp_path / 'my data.zip')!r})"
    assert store.path == str(tmp_path / "my data.zip")
    assert ZipStore(store.uri) == store
    assert store != ZipStore(tmp_path / "other.zip")
    assert names(tmp_path) == []  # Nothing was written, so nothing is there.


def test_threads(tmp_path):
    store = ZipStore(tmp_path / "a.zip")
    failures = []

    def work(number):
        rng = np.random.default_rng(number)
        mine = {}
        try:
            for i in range(200):
                key = f"{number}/{rng.integers(20)}{'.json' if i % 5 == 0 else ''}"
                if rng.random() < 0.2:
                    assert store.erase(key) == (mine.pop(key, None) is not None)
                else:
                    mine[key] = rng.bytes(int(rng.integers(5000)))
                    store.put(key, mine[key])
                if i % 50 == 49:
                    store.flush()
                assert {key: store.get(key) for key in store.list_prefix(f"{number}/")} == mine
        except BaseException as error:  # noqa: BLE001 - told by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    before = contents(store)
    store.close()
    assert contents(ZipStore(tmp_path / "a.zip", read_only=True)) == before
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == before
