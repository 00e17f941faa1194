"""Places on servers by their names, and files there as file objects; no server is asked."""

from __future__ import annotations

import errno
import io

import pytest

from omnizarr.errors import NotFoundError, StoreError
from omnizarr.store.remote import Remote, RemoteFile, folder_of, url_of


@pytest.mark.parametrize(
    ("where", "url"),
    [
        ("https://example.org/x.nc", "https://example.org/x.nc"),
        ("https://example.org/x.nc#mode=bytes", "https://example.org/x.nc"),
        ("https://example.org/x.nc#bytes", "https://example.org/x.nc"),
        ("[mode=bytes]https://example.org/x.nc", "https://example.org/x.nc"),
        ("https://example.org/x#mode=zarr", None),
        ("https://example.org/x#part", "https://example.org/x"),
        ("ftp://example.org/x", None),
        ("ftp://example.org/x#part", None),
        ("file:///x.nc#mode=bytes", None),
        ("s3://b/x.nc", "s3://b/x.nc"),
        ("s3://b/x", None),
        ("s3://b/x#mode=bytes", "s3://b/x#mode=bytes"),
        ("x.nc", None),
        (b"https://example.org/x.nc", None),
    ],
)
def test_which_places_are_files_on_servers(where, url):
    assert url_of(where) == url


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("http://h/a/b.nc", "http://h/a/"),
        ("http://h:1/b.nc?x=/y/z", "http://h:1/"),
        ("http://h", "http://h/"),
        ("http://h/a/b/#mode=x/y", "http://h/a/b/"),
    ],
)
def test_folders(url, folder):
    assert folder_of(url) == folder


class Native:
    """What the kernel gives for a file."""

    data = b"0123456789"
    error = None

    def stamp(self):
        if self.error is not None:
            raise self.error
        return len(self.data), None, None

    def read_at(self, at, length):
        return self.data[at : at + length]

    def counts(self):
        return 3, 10


@pytest.fixture
def remote():
    made = Remote("https://example.org/x.bin#part")
    made.native = Native()
    return made


def test_it_reads_as_any_file(remote):
    file = remote.open()
    assert (file.name, file.size, file.readable(), file.seekable()) == ("https://example.org/x.bin", 10, True, True)
    assert (file.read(3), file.tell()) == (b"012", 3)
    assert file.seek(-2, io.SEEK_END) == 8
    assert file.read(None) == b"89"
    assert file.read(5) == b""
    assert file.seek(1) == 1
    assert file.seek(2, io.SEEK_CUR) == 3
    assert file.readall() == b"3456789"
    assert file.seek(99) == 99
    assert file.read() == b""
    file.seek(7)
    buffer = bytearray(b"....")
    assert file.readinto(buffer) == 3
    assert buffer == b"789."
    assert (remote.requests, remote.received) == (3, 10)


def test_places_before_the_beginning_and_closed_files(remote):
    with RemoteFile(remote) as file:
        with pytest.raises(OSError) as caught:
            file.seek(-1)
        assert caught.value.errno == errno.EINVAL
        assert file.seek(0) == 0
    for use in (lambda: file.seek(0), file.read):
        with pytest.raises(ValueError, match="closed file"):
            use()


def test_what_is_not_there_is_told_from_what_fails(remote):
    missing = StoreError("gone")
    missing.errno = errno.ENOENT
    remote.native.error = missing
    with pytest.raises(NotFoundError, match="the server has nothing there") as caught:
        remote.stamp()
    assert caught.value.path == "https://example.org/x.bin"
    broken = StoreError("broken")
    broken.errno = errno.EIO
    remote.native.error = broken
    with pytest.raises(StoreError) as caught:
        remote.open()
    assert caught.value is broken
