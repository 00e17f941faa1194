"""The zip store: archives by others and for others."""

import io
import os
import pickle
import shutil
import subprocess
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import zarr
from zarr.storage import ZipStore as PeerStore

import omnizarr as oz
from omnizarr.errors import NodeTypeError, NotFoundError, ReadOnlyError, StoreError, UnsupportedError
from omnizarr.native import ZipStore as NativeStore
from omnizarr.store.protocol import kernel_target
from omnizarr.store.zip import ZipStore
from omnizarr.store.zip_archive import FileAdapter
from omnizarr.store.zip_find import archive_at, archive_in
from tests.store.archives import VALUES, contents, made


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=str
)
def test_archives_of_python_are_read(method, tmp_path):
    store = ZipStore(made(tmp_path / "a.zip", compression=method), read_only=True)
    assert contents(store) == VALUES
    chunk = VALUES["c/0/0"]
    assert store.get_range("c/0/0", 1000, 50) == chunk[1000:1050]
    assert store.get_range("c/0/0", -7) == chunk[-7:]
    assert store.get_many(list(VALUES)) == list(VALUES.values())
    assert store.size("c/0/0") == len(chunk)
    assert store.list_dir("") == (["a b", "empty", "zarr.json"], ["c/", "é/"])


def test_python_and_unzip_read_our_archives(tmp_path):
    place = tmp_path / "a.zip"
    with ZipStore(place) as store:
        for key, value in VALUES.items():
            store.put(key, value)
    with zipfile.ZipFile(place) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == VALUES
        methods = {info.filename: info.compress_type for info in archive.infolist()}
        # Documents are deflated, chunks are as they are.
        assert methods.pop("zarr.json") == zipfile.ZIP_DEFLATED
        assert set(methods.values()) == {zipfile.ZIP_STORED}
    if shutil.which("unzip"):
        done = subprocess.run(["unzip", "-t", place], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
        assert "warning" not in (done.stdout + done.stderr).lower()


@pytest.mark.skipif(not shutil.which("zip"), reason="needs the command zip")
@pytest.mark.parametrize("flags", [["-0"], ["-9"], ["-fd"], ["-D"]])
def test_archives_of_the_command_are_read(flags, tmp_path):
    values = np.arange(5000, dtype="i4").reshape(50, 100)
    oz.create_array(tmp_path / "x.zarr", data=values, chunks=(10, 100))
    subprocess.run(["zip", "-q", "-r", *flags, "../in.zip", "."], cwd=tmp_path / "x.zarr", check=True)
    subprocess.run(["zip", "-q", "-r", *flags, "from.zip", "x.zarr"], cwd=tmp_path, check=True)
    for name in ("in.zip", "from.zip", "from.zip/x.zarr"):
        a = oz.open(tmp_path / name)
        np.testing.assert_array_equal(a[...], values)
        a.close()


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_both_directions_with_zarr_python(zarr_format, tmp_path):
    values = np.random.default_rng(1).normal(size=(30, 40))
    place = str(tmp_path / "theirs.zip")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it writes some names twice, and the last one counts
        with PeerStore(place, mode="w") as peer:
            group = zarr.create_group(peer, zarr_format=zarr_format, attributes={"title": "x"})
            array = group.create_array("a/b", shape=values.shape, chunks=(7, 9), dtype=values.dtype)
            array[...] = values
            array[:3] = 1
            array.attrs["unit"] = "K"
    values[:3] = 1
    with oz.open(place) as ours:
        assert ours.attrs["title"] == "x"
        np.testing.assert_array_equal(ours["a/b"][...], values)
        assert ours["a/b"].attrs["unit"] == "K"
    place = str(tmp_path / "ours.zip")
    with oz.create_group(place, format=f"zarr{zarr_format}") as ours:
        ours.create_array("a/b", data=values, chunks=(7, 9), attrs={"unit": "K"})
    with PeerStore(place, mode="r") as peer:
        theirs = zarr.open_group(peer, mode="r")["a/b"]
        np.testing.assert_array_equal(theirs[...], values)
        assert theirs.attrs["unit"] == "K"


def test_the_last_of_several_entries_of_a_name_counts(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for value in (b"1", b"22", b"333"):
            archive.writestr("k", value)
        archive.writestr("other", b"x")
    with ZipStore(tmp_path / "a.zip") as store:
        assert contents(store) == {"k": b"333", "other": b"x"}
        store.put("new", b"y")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert sorted(archive.namelist()) == ["k", "new", "other"]


def test_folders_are_not_keys(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in ("a/", "a/b/", "a/b/c", "empty/"):
            archive.writestr(name, b"" if name.endswith("/") else b"1")
    store = ZipStore(tmp_path / "a.zip", read_only=True)
    assert contents(store) == {"a/b/c": b"1"}
    assert store.list_dir("") == ([], ["a/"])
    assert store.ignored == {}


@pytest.mark.parametrize("dialect", ["zarr2", "zarr3"])
def test_one_folder_that_holds_everything_is_looked_through(dialect, tmp_path):
    g = oz.create_group(tmp_path / "data" / "x.zarr", format=dialect)
    g.create_array("a", data=np.arange(10))
    shutil.make_archive(str(tmp_path / "x"), "zip", tmp_path / "data")
    with zipfile.ZipFile(tmp_path / "x.zip", "a") as archive:
        archive.writestr("__MACOSX/x.zarr/._a", b"")
        archive.writestr("README.txt", b"read me")
    with oz.open(tmp_path / "x.zip", "r+") as opened:
        assert list(opened) == ["a"]
        assert opened.path == ""
        assert type(kernel_target(opened.store)[0]) is NativeStore
        opened["a"][0] = 99
    assert oz.open(tmp_path / "x.zip" / "a")[0] == 99
    assert oz.open(str(tmp_path / "x.zip") + "/x.zarr/a")[0] == 99
    assert pickle.loads(pickle.dumps(oz.open(tmp_path / "x.zip")))["a"][0] == 99
    # With a document at the top, the folder is a node like others.
    with ZipStore(tmp_path / "x.zip") as store:
        store.put("zarr.json", b'{"zarr_format": 3, "node_type": "group"}')
    assert list(oz.open(tmp_path / "x.zip")) == ["x.zarr"]


def test_the_kernel_reads_archives_itself(tmp_path):
    a = oz.create_array(tmp_path / "a.zip", data=np.arange(100), chunks=(10,), shards=(50,))
    assert type(a.store.native) is NativeStore
    assert kernel_target(a.store) == (a.store.native, "")
    a.close()
    reader = oz.open(tmp_path / "a.zip")
    assert type(kernel_target(reader.store)[0]) is NativeStore
    np.testing.assert_array_equal(reader[::7], np.arange(100)[::7])


class Counting(io.BytesIO):
    got = 0

    def read(self, n=-1):
        part = super().read(n)
        self.got += len(part)
        return part


def test_parts_of_stored_entries_are_read_alone():
    file = Counting()
    with ZipStore(file) as store:
        store.put("big", bytes(1_000_000))
    store = ZipStore(file, read_only=True)
    assert store.exists("big")
    file.got = 0
    assert store.get_range("big", 500_000, 10) == bytes(10)
    assert store.get_range("big", -20) == bytes(20)
    assert file.got < 200
    with pytest.raises(ReadOnlyError):
        store.put("a", b"")


def test_file_objects(tmp_path):
    file = io.BytesIO()
    with oz.create_array(file, data=np.arange(10)) as a:
        np.testing.assert_array_equal(oz.open(file)[...], np.arange(10))  # not written yet
        assert file.getvalue() == b""
        assert a.store.uri.startswith("zip://")
        assert repr(a.store) == "ZipStore(<file object>)"
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
    (tmp_path / "a.zip").write_bytes(file.getvalue())
    with (tmp_path / "a.zip").open("rb") as read, oz.open(read) as a:
        np.testing.assert_array_equal(a[...], np.arange(10))
        assert ZipStore(read).read_only
        with pytest.raises(ReadOnlyError):
            ZipStore(read, read_only=False)
        with pytest.raises(ReadOnlyError):
            oz.open(read, "r+")
    with (tmp_path / "a.zip").open("r+b", buffering=0) as both:
        with oz.open(both, "r+") as a:
            a[0] = 5
            a.attrs["x"] = 1
        assert both.seek(0, 2) == (tmp_path / "a.zip").stat().st_size
    assert oz.open(tmp_path / "a.zip")[0] == 5
    with (tmp_path / "a.zip").open(encoding="latin-1") as text, pytest.raises(NodeTypeError, match="text"):
        oz.open(text)
    shrunk = ZipStore(file)
    shrunk.erase_prefix("")
    shrunk.close()
    assert len(file.getvalue()) == 22
    with pytest.raises(StoreError):
        pickle.dumps(ZipStore(file))


def test_a_file_of_fsspec(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    oz.create_array(tmp_path / "a.zip", data=np.arange(1000), chunks=(10,)).close()
    with fsspec.open(f"file://{tmp_path}/a.zip", "rb") as file:
        np.testing.assert_array_equal(oz.open(file)[::3], np.arange(1000)[::3])


def test_a_file_object_that_fails_says_so():
    class Broken(io.BytesIO):
        def write(self, data):
            raise OSError(28, "disk full")

    store = ZipStore(Broken())
    store.put("a", b"1")
    with pytest.raises(StoreError, match="disk full"):
        store.close()
    assert store.get("a") == b"1"
    assert not store.closed
    with pytest.raises(StoreError):
        store.flush()
    store.discard()
    assert store.get("a") is None


def test_room_is_given_back(tmp_path):
    place = tmp_path / "a.zip"
    a = oz.create_array(place, shape=(100, 1000), dtype="u1", chunks=(1, 1000), codecs=None)
    rng = np.random.default_rng(1)
    for _ in range(10):
        a[...] = rng.integers(1, 255, a.shape, "u1")
    a.close()
    full = place.stat().st_size
    assert full < 125_000
    with oz.open(place, "r+") as a:
        a[:90] = 0  # The fill value: the chunks go.
    assert place.stat().st_size < full / 5
    with oz.open(place, "r+") as a:
        for i in range(50):
            a.attrs["count"] = i
    assert place.stat().st_size < full / 5


def test_what_cannot_be_a_key_is_kept_when_others_change(tmp_path):
    place = made(tmp_path / "a.zip", {"../evil": b"1" * 100, "good": b"2"}, compression=zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(place, "a") as archive:
        archive.comment = b"a comment"
    place.chmod(0o600)
    with ZipStore(place) as store:
        assert set(store.ignored) == {"../evil"}
        store.put("new", b"3")
    with zipfile.ZipFile(place) as archive:
        assert sorted(archive.namelist()) == ["../evil", "good", "new"]
        assert archive.read("../evil") == b"1" * 100
        assert archive.comment == b"a comment"
    assert os.name == "nt" or place.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("durable", [False, True])
def test_durable(durable, tmp_path):
    with ZipStore(tmp_path / "new" / "folder" / "a.zip", durable=durable) as store:
        store.put("a", b"1")
    assert contents(ZipStore(tmp_path / "new" / "folder" / "a.zip")) == {"a": b"1"}


def test_where_archives_are_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # By content, whatever the name.
    oz.create_array("a.zip", data=np.arange(3)).close()
    shutil.copy("a.zip", "a.data")
    assert oz.open("a.data").shape == oz.open(tmp_path.as_uri() + "/a.data").shape == (3,)
    # A folder stays a folder.
    Path("folder.zip").mkdir()
    oz.create_group("folder.zip").create_array("x", shape=3, dtype="i1")
    assert isinstance(oz.open("folder.zip", "r+").store, oz.FileStore)
    assert isinstance(oz.open("folder.zip/x", "r+").store, oz.FileStore)
    # A new one by its name, and nodes in it by their path.
    with oz.create_array("sub/new.zip/a/b", data=np.arange(4)) as a:
        assert (a.path, a.store) == ("a/b", ZipStore("sub/new.zip"))
    assert oz.open("sub/new.zip/a")["b"].shape == (4,)
    assert oz.open("sub/new.zip", path="a/b").shape == (4,)
    with pytest.raises(NotFoundError):
        oz.open("missing.zip")
    with pytest.raises(NotFoundError):
        oz.open("a.zip/missing")
    assert not Path("missing.zip").exists()
    # An empty file takes a new archive.
    Path("empty.zip").touch()
    oz.create_array("empty.zip", data=np.arange(3)).close()
    assert oz.open("empty.zip").shape == (3,)
    Path("some.nc").touch()
    with pytest.raises(UnsupportedError):
        oz.open("some.nc")


class Drops(io.BytesIO):
    """A file that gives a few bytes at a time, as unbuffered ones may."""

    def read(self, size=-1):
        return super().read(min(size, 3) if size > 0 else size)


def test_files_that_give_less_than_asked_for(tmp_path):
    whole = io.BytesIO()
    with ZipStore(whole) as store:
        store.put("a", bytes(range(200)))
    assert ZipStore(Drops(whole.getvalue()), read_only=True).get("a") == bytes(range(200))
    adapter = FileAdapter(Drops(b"0123456789"))
    assert adapter.read_at(2, 5) == b"23456"
    assert adapter.read_at(8, 5) == b"89"
    assert adapter.read_at(10, 5) == b""


def test_what_is_no_binary_file_is_refused():
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    with pytest.raises(NodeTypeError, match="int is neither a path nor a file object"):
        ZipStore(5)
    with pytest.raises(NodeTypeError, match="cannot seek") as caught:
        ZipStore(Pipe())
    assert caught.value.hint == "Read it into io.BytesIO first."


def test_a_store_that_only_reads_has_nothing_to_flush_or_forget():
    file = io.BytesIO()
    with ZipStore(file) as store:
        store.put("a", b"1")
    before = file.getvalue()
    with ZipStore(file, read_only=True) as store:
        store.flush()
        store.discard()
        assert store.get("a") == b"1"
    assert file.getvalue() == before


def test_a_file_object_is_up_to_date_once_the_store_is_closed(tmp_path):
    place = tmp_path / "a.zip"
    with place.open("w+b") as file:
        with ZipStore(file) as store:
            store.put("a", b"1")
        assert zipfile.ZipFile(place).read("a") == b"1"
    with pytest.raises(ReadOnlyError) as caught:
        ZipStore(place, read_only=True).put("a", b"2")
    assert caught.value.hint == "Open it with mode='r+' or 'a' to write."


def test_what_a_file_object_allows(tmp_path):
    place = tmp_path / "a.zip"
    with place.open("w+b") as file:
        with ZipStore(file, read_only=False) as store:
            assert not store.read_only
            store.put("a", b"1")
        assert archive_in(file, read_only=True)[0].read_only
        assert not archive_in(file, read_only=False)[0].read_only
    with place.open("rb") as file:
        assert archive_in(file, read_only=False)[0].read_only
        with pytest.raises(ReadOnlyError):
            ZipStore(file, read_only=False)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_no_archive_whatever_its_name(tmp_path):
    os.mkfifo(tmp_path / "a.zip")
    assert archive_at(str(tmp_path / "a.zip"), read_only=True) is None
    assert archive_at(str(tmp_path / "a.zip" / "b"), read_only=True) is None
