"""Single decisions of the adapter of fsspec: which stores are equal, what lies below a root and beyond an end."""

from __future__ import annotations

import pytest

from omnizarr.store.cloud.foreign import sub_key

fsspec = pytest.importorskip("fsspec")
from omnizarr.store.cloud.fsspec_store import FsspecStore  # noqa: E402 - needs it


@pytest.fixture
def fs():
    found = fsspec.filesystem("memory", skip_instance_cache=True)
    found.store.clear()
    found.pseudo_dirs[:] = [""]
    yield found
    found.store.clear()
    found.pseudo_dirs[:] = [""]


def test_equal_are_those_of_one_file_system_and_root(fs, tmp_path):
    local = fsspec.filesystem("file")
    assert FsspecStore(fs, "/a") == FsspecStore(fs, "/a/")
    assert FsspecStore(fs, "/a") != FsspecStore(fs, "/b")
    assert FsspecStore(fs, str(tmp_path)) != FsspecStore(local, str(tmp_path))
    assert FsspecStore(fs, "/a") != "/a"


@pytest.mark.parametrize("start", [0, 1, 3, 4, 9, -2])
@pytest.mark.parametrize("length", [None, 0, 1, 9])
def test_parts_at_and_beyond_the_end(fs, start, length):
    store = FsspecStore(fs, "/a")
    store.put("k", b"abcd")
    first = max(4 + start, 0) if start < 0 else start
    wanted = b"abcd"[first:] if length is None else b"abcd"[first : first + length]
    assert store.get_range("k", start, length) == wanted
    assert store.get_range("none", start, length) is None


@pytest.mark.parametrize(
    ("root", "path", "key"),
    [
        ("/a", "/a/b", "b"),
        ("/a", "/a/b/c", "b/c"),
        ("/a", "/a/", None),
        ("/a", "/a", None),
        ("/a", "/ab", None),
        ("", "b", "b"),
        ("", "/b", "b"),
    ],
)
def test_keys_below_a_root(root, path, key):
    assert sub_key(root, path) == key
