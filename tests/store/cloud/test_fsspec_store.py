"""File systems of fsspec that do not behave: ranges beyond the end, sizes that are not told, loops of others."""

from __future__ import annotations

import errno
import uuid

import pytest

from omnizarr.errors import StoreError
from omnizarr.store.cloud.foreign import failures
from omnizarr.store.cloud.fsspec_store import FsspecStore, synchronous

fsspec = pytest.importorskip("fsspec")
MemoryFileSystem = pytest.importorskip("fsspec.implementations.memory").MemoryFileSystem


class Strict(MemoryFileSystem):
    """Fails beyond the end of a file, and has sizes of none."""

    protocol = "strict"
    cachable = False
    sizes = True

    def cat_file(self, path, start=None, end=None, **options):
        if start is not None and start >= super().info(path)["size"]:
            raise OSError(errno.EINVAL, "beyond the end")
        return super().cat_file(path, start=start, end=end, **options)

    def info(self, path, **options):
        found = super().info(path, **options)
        return found if self.sizes else {**found, "size": None}


@pytest.fixture
def store():
    made = FsspecStore(Strict(), f"/{uuid.uuid4().hex}")
    made.put("a", b"0123456789")
    return made


def test_ranges_beyond_the_end_are_empty(store):
    assert store.get_range("a", 8, 5) == b"89"
    assert store.get_range("a", 10, 5) == b""
    assert store.get_range("a", 99, 5) == b""
    assert store.get_range("a", 99) == b""
    assert store.get_range("x", 0, 5) is None
    assert store.get_range("x", -5) is None


def test_failures_within_a_file_are_failures(store, monkeypatch):
    def broken(*_, **__):
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(store.fs, "cat_file", broken)
    with pytest.raises(StoreError, match=r"OSError.*broken") as caught:
        store.get_range("a", 2, 3)
    assert (caught.value.errno, caught.value.key) == (errno.EIO, "a")


def test_sizes_that_are_not_told_are_found_out(store):
    store.fs.sizes = False
    assert store.size("a") == 10
    assert store.size("x") is None
    assert store.exists("a")


def test_errors_of_others_keep_their_number():
    with pytest.raises(StoreError, match=r"the store failed: OSError: .*full") as caught, failures("k"):
        raise OSError(errno.ENOSPC, "full")
    assert (caught.value.errno, caught.value.key) == (errno.ENOSPC, "k")
    with pytest.raises(StoreError, match="the store failed: ValueError: odd") as caught, failures("k"):
        raise ValueError("odd")
    assert caught.value.errno is None


class Waiting:
    """A file system that is made for use with `await`."""

    asynchronous = True
    storage_args = ("a",)

    def __init__(self, *arguments, **options):
        self.storage_options = {"b": 1, "asynchronous": True, "loop": object()}
        self.made_of = arguments, options


def test_file_systems_made_for_await_are_made_anew():
    found = synchronous(Waiting())
    assert found.made_of == (("a",), {"b": 1, "asynchronous": False, "loop": None})
    plain = Strict()
    assert synchronous(plain) is plain


def test_roots_that_are_urls_are_named_without_secrets():
    class Web(MemoryFileSystem):
        protocol = "https"
        cachable = False

        @classmethod
        def _strip_protocol(cls, path):
            return path

    store = FsspecStore(Web(), "https://me:hush@example.org/x?sig=hush")
    assert store.uri == "https://example.org/x"
