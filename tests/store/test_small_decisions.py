"""Single decisions of stores and of URLs: which stores are equal, what an error names, what a URL is told to mean."""

from __future__ import annotations

import io
import os
import pickle

import pytest

import omnizarr as oz
from omnizarr.errors import ReadOnlyError, StoreError, UnsafeError
from omnizarr.store.mapping import DictStore
from omnizarr.store.uri import uri_to_path
from omnizarr.store.url.explain import explain
from omnizarr.store.url.grammar import parse
from omnizarr.store.url.settings import Surroundings
from omnizarr.store.wrap import ReadOnlyStore
from omnizarr.store.zip import ZipStore
from omnizarr.store.zip_archive import is_waiting
from tests.store.archives import contents, made

NOWHERE = Surroundings({}, "/nowhere", "/nowhere")


def test_stores_that_are_not_equal():
    one, other = oz.MemoryStore(), oz.MemoryStore()
    assert ReadOnlyStore(one) == ReadOnlyStore(one)
    assert ReadOnlyStore(one) != ReadOnlyStore(other)
    assert ReadOnlyStore(one) != one
    assert one != other
    assert oz.MemoryStore() != object()
    assert DictStore({}) != oz.MemoryStore()


class NoTruncation:
    """A file object that can be written, but never becomes shorter."""

    def __init__(self, data):
        self.inner = io.BytesIO(data)
        for name in ("read", "seek", "write", "tell", "seekable", "writable", "flush"):
            setattr(self, name, getattr(self.inner, name))


def test_file_objects_of_archives(tmp_path):
    data = made(tmp_path / "a.zip", {"k": b"1"}).read_bytes()
    file = io.BytesIO(data)
    one, same, other = ZipStore(file), ZipStore(file), ZipStore(io.BytesIO(data))
    assert one.native is same.native
    assert one.native is not other.native
    assert one.path is None
    one.put("k", b"2")
    assert (same.get("k"), other.get("k")) == (b"2", b"1")
    fixed = ZipStore(NoTruncation(data))
    assert fixed.read_only
    with pytest.raises(ReadOnlyError) as caught:
        fixed.put("x", b"")
    assert caught.value.key == "x"
    with pytest.raises(StoreError, match="pickled"):
        pickle.dumps(ZipStore(file, read_only=True))


def test_archives_that_wait_to_be_written(tmp_path):
    place = os.path.realpath(tmp_path / "a.zip")
    assert not is_waiting(place)
    store = ZipStore(place)
    assert not is_waiting(place)
    store.put("k", b"1")
    assert is_waiting(place)
    assert ZipStore(place, read_only=True).get("k") == b"1"  # there is no such file yet
    store.close()
    assert contents(ZipStore(place)) == {"k": b"1"}


@pytest.mark.parametrize("uri", ["file://host\\x/share/a", "file:///c:/a\\b", "file:\\\\host/share"])
def test_backslashes_have_no_place_in_uris(uri):
    with pytest.raises(UnsafeError, match="has a backslash") as caught:
        uri_to_path(uri, "windows")
    assert caught.value.hint == "Separate the parts of a URI by /."


def test_notes_about_who_asks():
    assert "user" in [note.about for note in explain("https://me:pw@h/x#mode=zarr", around=NOWHERE).notes]
    assert "user" not in [note.about for note in explain("https://h/x#mode=zarr", around=NOWHERE).notes]


def test_keys_with_values_are_no_shorthands():
    found = explain("file:///x#zarr=5&mode=nczarr", around=NOWHERE)
    assert (found.model, found.parameters) == ("nczarr", {"zarr": "5"})
    assert found.canonical == "file:///x#mode=nczarr,file&zarr=5"


@pytest.mark.parametrize(
    ("fragment", "consolidated"), [("mode=nczarr", True), ("mode=zarr", True), ("mode=bytes", False), ("log", False)]
)
def test_the_environment_consolidates_zarr_alone(fragment, consolidated):
    around = Surroundings({"NCZARR_CONSOLIDATED": "1"}, "/nowhere", "/nowhere")
    found = explain(f"file:///x#{fragment}", around=around)
    assert found.consolidated is consolidated
    assert ("consolidated" in [note.about for note in found.notes]) is consolidated


def test_the_storage_is_told_of_where_modes_leave_it_open():
    for fragment, told in (("mode=nczarr", True), ("mode=nczarr,file", False), ("mode=bytes", False), ("log", False)):
        found = explain(f"file:///x#{fragment}", around=NOWHERE)
        assert ("storage" in [note.about for note in found.notes]) is told


def test_folders_that_are_named_as_archives(tmp_path):
    (tmp_path / "d.zip").mkdir()
    assert explain(f"file://{tmp_path}/d.zip#mode=nczarr", around=NOWHERE).kind == "file"
    assert explain(f"file://{tmp_path}/n.zip#mode=nczarr", around=NOWHERE).kind == "zip"


def test_what_is_there_is_a_path_whatever_it_looks_like(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert parse("s3://b/k") is not None
    (tmp_path / "s3:" / "b" / "k").mkdir(parents=True)
    assert parse("s3://b/k") is None


@pytest.mark.parametrize("url", ["s3::b/k", "https::h/x"])
def test_slashes_behind_the_scheme(url):
    with pytest.raises(UnsafeError, match="has no // behind its scheme") as caught:
        parse(url)
    assert caught.value.hint == f"Write {url.partition(':')[0]}://host/path."
