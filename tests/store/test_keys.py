"""What a key may look like, and how ranges are read."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnizarr.errors import UnsafeError
from omnizarr.store.keys import check_key, check_prefix, clip, is_key, node_path

EXAMPLES = settings(max_examples=max(500, settings().max_examples))
BAD = [
    "",
    "/",
    "/a",
    "a/",
    "a//b",
    ".",
    "..",
    "./a",
    "a/.",
    "a/../b",
    "../a",
    "a/..",
    "a\\b",
    "a\0",
    "C:",
    "c:x",
    "c:/x",
]
BAD += ["\ud800", "a/\udc80"]
GOOD = [
    "a",
    "a/b",
    "c/0/0",
    "0.0",
    ".zarray",
    "...",
    "a/...",
    ".a",
    "a..b",
    "..a",
    "%2e%2e",
    "é",
    "e\u0301",
    "🦓",
    "ab:c",
]
GOOD += ["a b", "x" * 300, "a/C:x", "a\n", "\n"]


@pytest.mark.parametrize("key", BAD)
def test_what_is_not_a_key_is_refused_with_a_reason(key):
    assert not is_key(key)
    with pytest.raises(UnsafeError, match="not a key: it") as caught:
        check_key(key)
    assert caught.value.key == key


@pytest.mark.parametrize("key", GOOD)
def test_what_is_a_key_stays_as_it_is(key):
    assert is_key(key)
    assert check_key(key) == key
    assert check_prefix(key) == check_prefix(key + "/") == key + "/"


def test_prefixes():
    assert check_prefix("") == ""
    for bad in ("/", "a//", "../", "/a/"):
        with pytest.raises(UnsafeError):
            check_prefix(bad)


@pytest.mark.parametrize(
    ("path", "expected"), [("", ""), ("/", ""), ("//", ""), ("a", "a"), ("/a/b/", "a/b"), ("a//b", "a/b"), ("/…", "…")]
)
def test_paths_of_nodes_lose_needless_slashes(path, expected):
    assert node_path(path) == expected


@pytest.mark.parametrize("path", ["..", "a/../b", "/./a", "a\\b", "C:/a"])
def test_paths_of_nodes_that_are_unsafe(path):
    with pytest.raises(UnsafeError):
        node_path(path)


@EXAMPLES
@given(st.binary(max_size=20), st.integers(-30, 30), st.none() | st.integers(0, 30))
def test_a_range_is_what_slicing_gives(data, start, length):
    first, last = clip(len(data), start, length)
    assert 0 <= first <= last <= len(data)
    rest = data[start:] if start >= 0 or -start <= len(data) else data
    assert data[first:last] == (rest if length is None else rest[:length])


def test_a_negative_length_is_refused():
    with pytest.raises(UnsafeError):
        clip(10, 0, -1)
