"""What other libraries hand over is opened as it is: file systems of fsspec, stores of obstore and of zarr-python."""

from __future__ import annotations

import io
import pickle
import uuid
import zipfile

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import MissingDependencyError, NodeTypeError, ReadOnlyError, StoreError, UnsupportedError
from omnizarr.store.cloud import chains
from omnizarr.store.cloud.adapters import of_obstore, plain_place
from omnizarr.store.cloud.chains import is_chain
from omnizarr.store.cloud.fsspec_store import FsspecStore
from omnizarr.store.cloud.obstore_store import ObstoreStore
from omnizarr.store.cloud.options import settle
from omnizarr.store.cloud.zarr_store import ZarrStore
from omnizarr.store.file import FileStore
from omnizarr.store.resolve import resolve
from tests.store.cloud.homes import make_home

fsspec = pytest.importorskip("fsspec")
obstore = pytest.importorskip("obstore.store")
zarr = pytest.importorskip("zarr")
DATA = np.arange(60, dtype="i4").reshape(6, 10)


def memory_path() -> str:
    return f"/{uuid.uuid4().hex}/a.zarr"


def _of_zarr_fsspec(folder):
    from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper

    fs = AsyncFileSystemWrapper(fsspec.filesystem("memory"), asynchronous=True)
    return zarr.storage.FsspecStore(fs, path=memory_path())


PLACES = {
    "a mapper of memory": (lambda folder: fsspec.get_mapper(f"memory:/{memory_path()}"), FsspecStore),
    "a mapper of files": (lambda folder: fsspec.get_mapper(str(folder / "a")), FileStore),
    "a file system and a path": (lambda folder: (fsspec.filesystem("memory"), memory_path()), FsspecStore),
    "an open folder": (lambda folder: fsspec.core.OpenFile(fsspec.filesystem("memory"), memory_path()), FsspecStore),
    "a URL": (lambda folder: f"memory:/{memory_path()}", FsspecStore),
    "a chain": (lambda folder: f"dir::file://{folder}", FsspecStore),
    "memory of obstore": (lambda folder: obstore.MemoryStore(), ObstoreStore),
    "files of obstore": (obstore.LocalStore, FileStore),
    "memory of zarr": (lambda folder: zarr.storage.MemoryStore(), ZarrStore),
    "files of zarr": (lambda folder: zarr.storage.LocalStore(folder / "z"), FileStore),
    "obstore in zarr": (lambda folder: zarr.storage.ObjectStore(obstore.MemoryStore()), ObstoreStore),
    "fsspec in zarr": (_of_zarr_fsspec, FsspecStore),
    "a path in a store of zarr": (lambda folder: zarr.storage.StorePath(zarr.storage.MemoryStore(), "a/b"), ZarrStore),
}


@pytest.mark.parametrize("name", PLACES)
def test_round_trips(name, tmp_path):
    make, kind = PLACES[name]
    place = make(tmp_path)
    store, _ = resolve(place)
    assert isinstance(store, kind)
    with oz.create_group(place) as group:
        group.create_array("t/x", data=DATA, chunks=(4, 4), shards=(4, 8))
        group.attrs["a"] = 1
    found = oz.open(place)
    assert dict(found.attrs) == {"a": 1}
    assert (found["t/x"][1:5, 3:] == DATA[1:5, 3:]).all()
    with pytest.raises(ReadOnlyError):
        oz.open(place, mode="r")["t/x"][0] = 1
    changed = oz.open(place, mode="r+")
    changed["t/x"][0] = 7
    assert (oz.open(place)["t/x"][0] == 7).all()
    del changed["t"]
    assert list(oz.open(place)) == []


def _in_obstore():
    store = obstore.MemoryStore()
    return store, zarr.storage.ObjectStore(store)


def _in_memory():
    store = zarr.storage.MemoryStore()
    return store, store


def _in_fsspec():
    store = _of_zarr_fsspec(None)
    return store, store


@pytest.mark.peers
@pytest.mark.parametrize("make", [_in_obstore, _in_memory, _in_fsspec])
@pytest.mark.parametrize("version", [2, 3])
def test_zarr_python_reads_and_writes_the_same(make, version):
    ours, theirs = make()
    oz.create_array(ours, data=DATA, chunks=(4, 4), format=f"zarr{version}")
    array = zarr.open_array(theirs, mode="r+")
    assert (array[...] == DATA).all()
    array[0] = -1
    assert (oz.open(ours)[0] == -1).all()


def test_what_zarr_python_says_is_read_only_is(tmp_path):
    oz.create_array(tmp_path / "a", data=DATA)
    store, _ = resolve(zarr.storage.LocalStore(tmp_path / "a", read_only=True))
    assert store.read_only
    assert resolve(zarr.storage.ZipStore(_archive(tmp_path), read_only=True))[0].read_only


def _archive(folder):
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        place: dict[str, bytes] = {}
        oz.create_array(place, data=DATA)
        for key, value in place.items():
            archive.writestr(key, value)
    return folder / "a.zip"


def test_archives(tmp_path):
    path = _archive(tmp_path)
    assert (oz.open(f"zip::file://{path}")[...] == DATA).all()
    assert (oz.open(fsspec.filesystem("zip", fo=str(path)).get_mapper(""))[...] == DATA).all()
    assert (oz.open(fsspec.open(str(path)))[...] == DATA).all()
    with fsspec.open(str(path)) as file:
        assert (oz.open(file)[...] == DATA).all()
    assert (oz.open(zarr.storage.ZipStore(path, mode="r"))[...] == DATA).all()
    one, other = (FsspecStore(fsspec.filesystem("zip", fo=fo), "") for fo in (str(path), io.BytesIO(path.read_bytes())))
    assert one.uri != other.uri


def test_a_chain_with_a_cache(tmp_path):
    path = memory_path()
    oz.create_array(f"memory:/{path}", data=DATA)
    assert (oz.open(f"simplecache::memory:/{path}")[...] == DATA).all()


@pytest.mark.parametrize(
    ("text", "chain"),
    [
        ("github://org:repo@main/path", True), ("zip::s3://b/x.zip", True), ("reference::x.json", False),
        ("https://example.org", False), ("gs://b/k", False), ("abfs://c/k", False), ("a::b.zarr", False),
        ("dir/a::b", False), ("c:/x", False), ("file:///x", False), ("ftp://host/x", True),
    ],
)  # fmt: skip
def test_what_is_left_to_fsspec(text, chain):
    assert is_chain(text) is chain


def test_urls_that_nobody_knows(monkeypatch, tmp_path):
    with pytest.raises(UnsupportedError, match="nonsense: URLs"):
        oz.open("nonsense://x")
    monkeypatch.setattr(chains, "import_module", _no_fsspec)
    with pytest.raises(MissingDependencyError, match="fsspec") as caught:
        resolve("memory://x")
    assert caught.value.hint == "pip install fsspec"


def _no_fsspec(name):
    raise ImportError(name)


class Broken(fsspec.AbstractFileSystem):
    """A file system in which everything fails."""

    protocol = "broken"

    def _open(self, path, *_args, **_options):
        raise RuntimeError(f"{path} at https://host/x?sig=hush is broken")

    info = ls = find = _open


def test_failures_name_the_key():
    store = FsspecStore(Broken(), "root")
    for operation in (store.get, store.size, store.exists, store.erase, lambda key: store.put(key, b"")):
        with pytest.raises(StoreError, match="is broken") as caught:
            operation("a/b")
        assert caught.value.key == "a/b"
        assert "hush" not in str(caught.value)
        assert isinstance(caught.value.__cause__, RuntimeError)
    for operation in (store.list_prefix, store.list_dir, store.erase_prefix):
        with pytest.raises(StoreError, match="is broken"):
            operation("a/")
    with pytest.raises(StoreError, match="is broken"):
        oz.open((Broken(), "root"))


class Confused(fsspec.AbstractFileSystem):
    """A file system that stumbles over an answer."""

    protocol = "confused"

    def _open(self, path, *_args, **_options):
        raise KeyError("Contents")

    def info(self, path, **_options):
        if path.endswith("there"):
            return {"name": path, "size": 3, "type": "file"}
        raise FileNotFoundError(path)


def test_an_error_is_not_taken_for_a_missing_value():
    store = FsspecStore(Confused(), "root")
    assert store.get("gone") is None
    for operation in (store.get, lambda key: store.get_range(key, 0, 2), lambda key: store.get_many([key, key])):
        with pytest.raises(StoreError, match="KeyError"):
            operation("there")


def test_a_file_system_that_cannot_write(tmp_path):
    store = FsspecStore(fsspec.filesystem("zip", fo=str(_archive(tmp_path))), "")
    with pytest.raises(StoreError) as caught:
        store.put("a", b"1")
    assert caught.value.key == "a"


def test_names_like_patterns_are_not_patterns():
    store = FsspecStore(fsspec.filesystem("memory"), memory_path())
    for key in ("a/x*", "a/xy", "b[1]/x", "b1/x", "c"):
        store.put(key, key.encode())
    assert store.get_many(["a/x*", "b[1]/x"]) == [b"a/x*", b"b[1]/x"]
    assert store.erase("a/x*")
    store.erase_prefix("b[1]")
    assert sorted(store.list_prefix("")) == ["a/xy", "b1/x", "c"]


def test_pickles():
    stores = [ObstoreStore(obstore.LocalStore("/")), FsspecStore(fsspec.filesystem("memory"), "/x")]
    for store in stores:
        again = pickle.loads(pickle.dumps(store))
        assert again == store
        assert hash(again) == hash(store)
    assert ObstoreStore(obstore.MemoryStore()) != ObstoreStore(obstore.MemoryStore())
    memory = obstore.MemoryStore()
    assert ObstoreStore(memory).uri == ObstoreStore(memory).uri


def test_things_that_are_no_stores():
    for thing in ((1, "x"), ("a", "b", "c"), object(), fsspec.filesystem("memory")):
        with pytest.raises(NodeTypeError):
            resolve(thing)


# Conditions.


def test_putting_on_condition():
    store = ObstoreStore(obstore.MemoryStore())
    assert store.get_tagged("k") is None
    first = store.put_if("k", b"1", None)
    assert first is not None
    assert store.put_if("k", b"2", None) is None
    assert store.get_tagged("k") == (b"1", first)
    second = store.put_if("k", np.frombuffer(b"22", "u1"), first)
    assert second not in (None, first)
    assert store.put_if("k", b"3", first) is None
    assert store.get("k") == b"22"
    store.erase("k")
    assert store.put_if("k", b"3", second) is None
    assert store.get("k") is None


class Specified:
    """A store of obspec that is none of obstore's."""

    def __init__(self):
        inner = obstore.MemoryStore()
        for name in ("get", "get_range", "head", "list", "list_with_delimiter", "put", "delete"):
            setattr(self, name, getattr(inner, name))


def test_stores_of_obspec():
    place = Specified()
    oz.create_array(place, data=DATA, chunks=(4, 4))
    assert (oz.open(place)[2:5] == DATA[2:5]).all()
    assert isinstance(resolve(place)[0], ObstoreStore)
    del place.put
    assert resolve(place)[0].read_only


def test_stores_without_conditions(tmp_path):
    store = ObstoreStore(obstore.LocalStore(tmp_path))
    tag = store.put_if("k", b"1", None)
    with pytest.raises(UnsupportedError, match="no conditions"):
        store.put_if("k", b"2", tag)
    with pytest.raises(UnsupportedError, match="no tags"):
        store.put_if("k", b"2", "{}")


# Stores of obstore that the kernel reaches by itself.


@pytest.mark.parametrize(
    ("make", "url", "config"),
    [
        (
            lambda: obstore.S3Store("b", prefix="x/y", access_key_id="A", secret_access_key="hush", region="r1"),
            "s3://b/x/y",
            {"aws_access_key_id": "A", "aws_region": "r1", "aws_endpoint": "https://s3.r1.amazonaws.com"},
        ),
        (
            lambda: obstore.S3Store(
                "b", aws_endpoint="http://h:1", skip_signature=True, client_options={"allow_http": True}
            ),
            "s3://b",
            {"aws_skip_signature": "true", "aws_endpoint": "http://h:1", "allow_http": "true"},
        ),
        (
            lambda: obstore.GCSStore("b", prefix="x", skip_signature=True),
            "gs://b/x",
            {"google_skip_signature": "true", "google_bucket_name": "b"},
        ),
        (
            lambda: obstore.AzureStore("c", prefix="x", account_name="acc", account_key="aHVzaA=="),
            "az://c/x",
            {"azure_storage_account_name": "acc", "azure_storage_account_key": "aHVzaA==", "azure_container_name": "c"},
        ),
    ],
)
def test_plain_places(make, url, config, tmp_path, monkeypatch):
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    # What obstore does not look at does not count.
    around = make_home(tmp_path, {"config": "[default]\nregion=no\nendpoint_url=http://no:1\n"})
    found = plain_place(make())
    assert found is not None
    assert found[0] == url
    assert config.items() <= settle(*found, around).config.items()


def test_places_whose_credentials_are_hidden(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "E")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    provided = obstore.S3Store(
        "b", credential_provider=lambda: {"access_key_id": "", "secret_access_key": "", "expires_at": None}
    )
    for store in (obstore.S3Store("b", region="r"), provided, obstore.GCSStore("b")):
        assert plain_place(store) is None
        assert isinstance(of_obstore(store), ObstoreStore)
    assert ObstoreStore(obstore.S3Store("b", prefix="x")).uri == "s3://b/x"
    assert ObstoreStore(obstore.HTTPStore.from_url("https://example.org/x")).read_only


@pytest.mark.peers
def test_stores_of_icechunk():
    icechunk = pytest.importorskip("icechunk")
    repository = icechunk.Repository.create(icechunk.in_memory_storage())
    session = repository.writable_session("main")
    oz.create_array(session.store, path="a", data=DATA, chunks=(4, 4))
    theirs = zarr.open_group(session.store)
    assert (theirs["a"][...] == DATA).all()
    theirs.create_array("b", data=DATA, chunks=(2, 2), shards=(4, 4))
    ours = oz.open(session.store, mode="r+")
    assert (ours["b"][1:5, 3:] == DATA[1:5, 3:]).all()
    ours["a"].resize((12, 10))
    ours["a"][6:] = DATA
    assert (theirs["a"][6:] == DATA).all()
    del ours["a"]
    assert list(oz.open(session.store)) == ["b"]
    session.commit("one")
    assert resolve(repository.readonly_session("main").store)[0].read_only


def test_a_server_that_is_not_there_is_named_without_passwords():
    with pytest.raises(StoreError) as caught:
        oz.open("ftp://me:hush@127.0.0.1:1/x.zarr")
    assert caught.value.path == "ftp://127.0.0.1:1/x.zarr"
    assert caught.value.key is None
    assert "hush" not in str(caught.value)
    assert "Look at the address" in str(caught.value)
