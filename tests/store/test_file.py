"""The file system store where it touches the system: links, pipes, debris, failures, threads, processes."""

import contextlib
import errno
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

import omnizarr as oz
from omnizarr.errors import StoreError, UnsafeError, UnsupportedError
from omnizarr.store.file import FileStore, local_path

POSIX = pytest.mark.skipif(os.name == "nt", reason="links and pipes of POSIX systems")


@pytest.fixture
def root(tmp_path):
    return tmp_path / "root"


@pytest.fixture
def store(root):
    return FileStore(root)


def debris(folder):
    return [path for path in folder.rglob("*") if path.name.endswith(".partial")]


def test_keys_are_paths_below_the_root(store, root):
    store.put("foo/bar", b"1")
    assert (root / "foo" / "bar").read_bytes() == b"1"
    assert store.path("foo/bar") == str(root / "foo" / "bar")
    assert store.key(root / "foo" / "bar") == "foo/bar"
    (root / "made").mkdir()
    (root / "made" / "elsewhere").write_bytes(b"2")
    assert store.get("made/elsewhere") == b"2"
    assert sorted(store.list_prefix("")) == ["foo/bar", "made/elsewhere"]
    with pytest.raises(UnsafeError):
        store.path("../x")
    with pytest.raises(UnsafeError):
        store.key(root.parent / "x")


def test_a_missing_root_is_empty_and_made_by_the_first_put(store, root):
    assert store.get("a") is None
    assert store.get_many(["a"]) == [None]
    assert store.list_prefix("") == []
    assert store.list_dir("") == ([], [])
    assert not store.erase("a")
    store.erase_prefix("")
    assert not root.exists()
    store.put("a/b", b"1")
    assert (root / "a" / "b").read_bytes() == b"1"


def test_the_root_may_be_removed_and_made_again(store, root):
    store.put("a", b"1")
    (root / "a").unlink()
    root.rmdir()
    assert store.get("a") is None
    store.put("a", b"2")
    assert store.get("a") == b"2"
    root.rename(root.parent / "moved")
    root.mkdir()
    assert store.get("a") is None


def test_a_root_that_is_a_file_holds_nothing_and_takes_nothing(root):
    root.write_bytes(b"file")
    store = FileStore(root)
    assert store.get("a") is None
    assert store.list_prefix("") == []
    with pytest.raises(StoreError):
        store.put("a", b"1")
    assert root.read_bytes() == b"file"


def test_erasing_a_directory_takes_all_that_it_holds(store, root):
    for key in ("a/x", "a/b/y", "ab"):
        store.put(key, b"1")
    assert store.erase("a")
    assert store.list_prefix("") == ["ab"]
    assert not (root / "a").exists()
    (root / "empty").mkdir()
    assert store.list_dir("") == (["ab"], ["empty/"])
    assert store.erase("empty")
    assert not store.erase("empty")


def test_a_directory_has_no_value_and_is_not_replaced(store, root):
    store.put("a/b", b"1")
    assert store.get("a") is None
    assert store.get_range("a", 0, 1) is None
    assert store.size("a") is None
    assert not store.exists("a")
    with pytest.raises(StoreError) as caught:
        store.put("a", b"2")
    assert caught.value.key == "a"
    assert store.get("a/b") == b"1"
    with pytest.raises(StoreError) as caught:
        store.put("a/b/c", b"2")
    assert caught.value.key == "a/b/c"
    assert store.get("a/b") == b"1"
    assert debris(root) == []


def test_unfinished_puts_are_not_listed_and_hidden_files_are(store, root):
    store.put("a/b", b"1")
    for name in (".1f-0.partial", ".ab12.partial"):
        (root / "a" / name).write_bytes(b"half")
    (root / "a" / ".DS_Store").write_bytes(b"")
    assert store.list_prefix("a/") == ["a/.DS_Store", "a/b"]
    assert store.list_dir("a/") == (["a/.DS_Store", "a/b"], [])
    store.erase_prefix("a/")
    assert not (root / "a").exists()


@POSIX
def test_links_that_lead_out_are_refused(store, root, tmp_path):
    store.put("a", b"inside")
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "secret").write_bytes(b"secret")
    (root / "file").symlink_to(tmp_path / "secret")
    (root / "relative").symlink_to("../secret")
    (root / "folder").symlink_to(tmp_path / "folder")
    (root / "up").symlink_to("..")
    for key in ("file", "relative", "folder/secret", "up/secret", "up/root/a"):
        for operation in (store.get, store.size, store.exists, lambda key: store.get_range(key, 0, 1)):
            with pytest.raises(UnsafeError) as caught:
                operation(key)
            assert caught.value.key == key
        with pytest.raises(UnsafeError):
            store.get_many([key])
    for key in ("folder/new", "up/new", "folder/deep/new"):
        with pytest.raises(UnsafeError):
            store.put(key, b"1")
    for key in ("folder/secret", "up/secret"):
        with pytest.raises(UnsafeError):
            store.erase(key)
    for prefix in ("folder/", "up/"):
        for listing in (store.list_prefix, store.list_dir):
            with pytest.raises(UnsafeError):
                listing(prefix)
    assert "secret" not in "".join(store.list_prefix(""))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "root", "secret"]
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["secret"]


@POSIX
def test_a_put_or_an_erasure_replaces_the_link_not_its_target(store, root, tmp_path):
    store.put("a", b"1")
    (tmp_path / "outside").write_bytes(b"outside")
    (root / "link").symlink_to(tmp_path / "outside")
    store.put("link", b"new")
    assert store.get("link") == b"new"
    assert not (root / "link").is_symlink()
    (root / "link2").symlink_to(tmp_path / "outside")
    assert store.erase("link2")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "kept").write_bytes(b"kept")
    (root / "link3").symlink_to(tmp_path / "folder")
    store.erase_prefix("link3/")
    (root / "sub").mkdir()
    (root / "sub" / "link4").symlink_to(tmp_path / "folder")
    store.erase_prefix("sub/")
    store.erase_prefix("")
    assert (tmp_path / "outside").read_bytes() == b"outside"
    assert (tmp_path / "folder" / "kept").read_bytes() == b"kept"


@POSIX
def test_links_that_stay_inside_are_followed(store, root):
    store.put("a/b", b"1")
    (root / "file").symlink_to("a/b")
    (root / "folder").symlink_to("a")
    (root / "a" / "back").symlink_to("../a/b")
    assert store.get("file") == b"1"
    assert store.get("folder/b") == b"1"
    assert store.get("a/back") == b"1"
    store.put("folder/c", b"2")
    assert store.get("a/c") == b"2"
    assert "file" in store.list_prefix("")
    (root / "loop").symlink_to("loop")
    with pytest.raises(StoreError):
        store.get("loop")
    (root / "circle").symlink_to(".")
    assert len(store.list_prefix("")) < 20
    (root / "dangling").symlink_to("nothing")
    assert "dangling" not in store.list_prefix("")
    assert store.get("folder/nothing") is None


@POSIX
@pytest.mark.parametrize("link", ["c/1", "c", "zarr.json"])
def test_what_a_link_promises_and_nobody_has_is_missed(root, link):
    """Archives under version control have links for all files; those that were not fetched lead nowhere."""
    array = oz.create_array(root, shape=(6,), chunks=(2,), dtype="i1", fill_value=9)
    array[...] = 1
    (root / link).rename(root / "elsewhere")
    (root / link).symlink_to(os.path.relpath(root / "elsewhere", (root / link).parent))
    assert oz.open(root)[...].tolist() == [1] * 6
    (root / "elsewhere").rename(root / "nobody knows where")
    with pytest.raises(StoreError, match="leads nowhere"):
        oz.open(root)[...]


@POSIX
def test_the_root_itself_may_be_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    store = FileStore(tmp_path / "link")
    store.put("a/b", b"1")
    assert (tmp_path / "real" / "a" / "b").read_bytes() == b"1"
    assert store.get("a/b") == b"1"


@POSIX
@pytest.mark.timeout(20)
def test_pipes_never_block_and_are_not_values(store, root):
    store.put("a", b"1")
    os.mkfifo(root / "pipe")
    for operation in (store.get, lambda key: store.get_range(key, 0, 1), store.size):
        with contextlib.suppress(StoreError):
            assert not operation("pipe")
    assert store.list_prefix("") == ["a"]
    assert store.list_dir("") == (["a"], [])


@POSIX
def test_a_refused_permission_is_an_error_not_a_missing_value():
    folder = Path(tempfile.mkdtemp())  # Unlike pytest's own, its parents are open to all.
    folder.chmod(0o755)
    store = FileStore(folder)
    store.put("a/b", b"1")
    (folder / "a" / "b").chmod(0)
    child = os.fork()
    if child == 0:
        if os.geteuid() == 0:
            os.setuid(65534)  # The superuser may read everything.
        try:
            store.get("a/b")
        except StoreError as error:
            os._exit(0 if (error.errno, error.key) == (errno.EACCES, "a/b") else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    shutil.rmtree(folder)


def test_a_name_that_is_too_long_is_an_error_with_its_key(store):
    key = "a/" + "x" * 300
    with pytest.raises(StoreError) as caught:
        store.put(key, b"1")
    assert caught.value.key == key
    assert caught.value.errno == errno.ENAMETOOLONG


@POSIX
def test_a_full_disk_leaves_the_old_value_and_no_debris(store, root):
    store.put("a", b"old")
    code = (
        "import resource, signal, sys\n"
        "from omnizarr.store.file import FileStore\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: FileStore(sys.argv[1]).put('a', bytes(5000))\n"
        "except OSError as error: print(error.errno, error.key)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(root)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(errno.EFBIG), "a"], done.stderr
    assert store.get("a") == b"old"
    assert debris(root) == []


def test_readers_see_old_or_new_and_never_a_part(store, root):
    values = [bytes([i]) * 100_000 for i in range(4)]
    store.put("k", values[0])
    stop = threading.Event()
    seen, errors = set(), []

    def read():
        while not stop.is_set():
            value = store.get("k")
            if value not in values:
                errors.append(value)
            seen.add(value[0] if value else None)

    def write(value):
        for _ in range(50):
            store.put("k", value)

    readers = [threading.Thread(target=read) for _ in range(2)]
    writers = [threading.Thread(target=write, args=(value,)) for value in values]
    for thread in readers + writers:
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    for thread in readers:
        thread.join()
    assert errors == []
    assert len(seen) > 1
    assert debris(root) == []


@POSIX
def test_a_killed_writer_leaves_a_whole_value(store, root):
    values = [b"\0" * 300_000, b"\xff" * 300_000]
    store.put("k", values[0])
    code = (
        "import sys\n"
        "from omnizarr.store.file import FileStore\n"
        "store = FileStore(sys.argv[1])\n"
        "values = [b'\\0' * 300_000, b'\\xff' * 300_000]\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    for value in values: store.put('k', value)\n"
    )
    for pause in (0.0, 0.003, 0.011, 0.02):
        child = subprocess.Popen([sys.executable, "-c", code, str(root)], stdout=subprocess.PIPE)
        assert child.stdout.readline() == b"ready\n"
        time.sleep(pause)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        assert store.get("k") in values
        assert store.list_prefix("") == ["k"]


@POSIX
def test_works_in_a_forked_child(store):
    store.put("a", b"1")
    child = os.fork()
    if child == 0:
        os._exit(0 if store.get("a") == b"1" and store.get_many(["a"] * 100) == [b"1"] * 100 else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_places(tmp_path, monkeypatch):
    folder = tmp_path / "my data"
    store = FileStore(folder)
    assert store.uri == folder.as_uri()
    assert FileStore(store.uri) == FileStore(str(folder) + os.sep) == FileStore(folder) == store
    assert hash(FileStore(store.uri)) == hash(store)
    assert store != FileStore(folder, durable=True)
    assert store != FileStore(tmp_path)
    assert repr(store) == f"FileStore({str(folder)!r})"
    assert repr(FileStore(folder, durable=True)) == f"FileStore({str(folder)!r}, durable=True)"
    monkeypatch.chdir(tmp_path)
    assert FileStore("my data") == FileStore(Path("./my data")) == store
    assert local_path("run:1.zarr") == str(tmp_path / "run:1.zarr")
    with pytest.raises(UnsupportedError):
        FileStore("s3://bucket/x")
    for bad in ("", "a\0b", "file://elsewhere/x" if os.name != "nt" else "file:///x"):
        with pytest.raises(UnsafeError):
            FileStore(bad)
    # A path object is a path, whatever it looks like.
    if os.name != "nt":
        assert FileStore(Path("s3://x")).root == str(tmp_path / "s3:" / "x")


@POSIX
def test_paths_that_are_not_unicode(tmp_path):
    store = FileStore(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    store.put("a", b"1")
    assert [os.fsencode(path.name) for path in tmp_path.iterdir()] == [b"\xff"]
    assert store.uri.endswith("/%FF")
    assert FileStore(store.uri).get("a") == b"1"
    with open(os.fsencode(store.root) + b"/\xfe", "wb"):  # noqa: PTH123
        pass
    assert store.list_prefix("") == ["a"]
    for bad in ("/\ud800", "a/\udc7f", "file:///\ud800", Path("/\ud800")):  # surrogates that stand for no bytes
        with pytest.raises(UnsafeError, match="not valid Unicode"):
            FileStore(bad)


def test_pickling_goes_by_location(store):
    store.put("a", b"1")
    copy = pickle.loads(pickle.dumps(store))
    assert copy == store
    assert copy.get("a") == b"1"
    assert pickle.loads(pickle.dumps(FileStore(store.root, durable=True))).durable


@pytest.mark.parametrize("where", ["s3://b/k#mode=zarr", "https://h/x#mode=bytes", "ftp://h/x"])
def test_what_lies_elsewhere_is_no_folder(where):
    with pytest.raises(UnsupportedError, match="no store of files for") as caught:
        FileStore(where)
    assert caught.value.hint


NOWHERE = """
import os, sys
import omnizarr as oz
root, link, step = sys.argv[1:]
a = oz.create_array(root, shape=(6,), chunks=(2,), dtype="i1", fill_value=9)
os.makedirs(os.path.dirname(os.path.join(root, link)), exist_ok=True)
os.symlink("nowhere", os.path.join(root, link))
try:
    exec(step)
except oz.errors.StoreError as error:
    print(error.key or error.path, "leads nowhere" in str(error))
"""


@POSIX
@pytest.mark.parametrize("step", ["a[...] = 1", "a[...] = 9", "a[2] = 1"])
def test_a_chunk_that_is_a_link_to_nothing_is_not_written(root, step):
    """It reads as nothing, and no new file can have its name: trying that again never ended."""
    # In a process of its own, as what does not end cannot be interrupted either.
    done = subprocess.run(
        [sys.executable, "-c", NOWHERE, root, "c/1", step], timeout=60, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["c/1", "True"], done.stderr


@POSIX
@pytest.mark.parametrize("step", ["a[...] = 1", "a[2] = 1"])
def test_a_folder_that_is_a_link_to_nothing_takes_nothing(root, step):
    """Making the folders above a key never ended, as one was there and was not."""
    done = subprocess.run(
        [sys.executable, "-c", NOWHERE, root, "c", step], timeout=60, capture_output=True, text=True, check=True
    )
    assert done.stdout.split()[1:] == ["True"], done.stderr


@POSIX
def test_a_relative_path_in_a_folder_that_is_gone(tmp_path):
    code = "import os, sys, omnizarr as oz; os.rmdir(os.getcwd())\ntry: oz.open('a.zarr', sys.argv[1])\n"
    code += "except oz.errors.StoreError as error: print(error.path)"
    for mode in ("r", "a"):
        folder = tmp_path / mode
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", code, mode], cwd=folder, capture_output=True, text=True, check=True
        )
        assert done.stdout == "a.zarr\n"


def test_a_folder_gets_another_name_below_folders_that_are_made_for_it(tmp_path):
    store = FileStore(tmp_path)
    store.put("a/b", b"1")
    assert store.move_folder("a", "new/folder/c")
    assert store.list_prefix("") == ["new/folder/c/b"]
    assert not store.move_folder("not there", "d")


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_folders_are_not_moved_by_way_of_links(tmp_path):
    store = FileStore(tmp_path / "store")
    store.put("a/b", b"1")
    (tmp_path / "outside" / "x").mkdir(parents=True)
    (tmp_path / "store" / "link").symlink_to(tmp_path / "outside")
    assert not store.move_folder("link", "c")
    assert not store.move_folder("link/x", "c")
    assert not store.move_folder("a", "link/c")
    assert store.get("a/b") == b"1"
    assert [one.name for one in (tmp_path / "outside").iterdir()] == ["x"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize("mask", [0o077, 0o027, 0o002, 0o022])
def test_new_files_have_the_rights_that_the_process_gives(mask, tmp_path):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.umask(mask)
            store = FileStore(tmp_path / "s")
            store.put("put", b"1")
            store.put_new("put_new", b"1")
            (tmp_path / "s" / "plain").write_bytes(b"1")
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert {one.stat().st_mode & 0o777 for one in (tmp_path / "s").iterdir()} == {0o666 & ~mask}
