"""Stores of obspec that do not behave."""

from __future__ import annotations

import pytest

from omnizarr.errors import StoreError, UnsupportedError
from omnizarr.store.cloud.obstore_store import ObstoreStore


class Odd:
    """Fails on every range, lists names that are no keys, and takes no conditions."""

    def head(self, path):
        if path == "x":
            raise FileNotFoundError
        return {"size": 10}

    def get(self, path):
        raise RuntimeError("broken")

    def get_range(self, path, *, start, length):
        raise RuntimeError("out of range")

    def list(self, prefix=None):
        return [[{"path": "a/b"}, {"path": "ab"}, {"path": "a/../c"}, {"path": "a//d"}]]

    def list_with_delimiter(self, prefix=None):
        objects = [{"path": "a/b"}, {"path": "ab"}, {"path": "a/.."}]
        return {"objects": objects, "common_prefixes": ["a/c", "b/", "a/."]}

    def put(self, path, data, **options):
        raise (NotImplementedError if options.get("mode") == "create" else RuntimeError)("no")


def test_a_range_beyond_the_end_is_told_from_a_failure():
    store = ObstoreStore(Odd())
    assert store.get_range("k", 10, 5) == b""
    with pytest.raises(StoreError, match="RuntimeError: out of range") as caught:
        store.get_range("k", 9, 5)
    assert caught.value.key == "k"
    with pytest.raises(StoreError, match="out of range"):
        store.get_range("k", -3)
    with pytest.raises(StoreError, match="out of range"):
        store.get_range("x", 0, 1)
    assert store.get_range("x", -3) is None


def test_names_that_are_no_keys_are_not_listed():
    store = ObstoreStore(Odd())
    assert store.list_prefix("a") == ["a/b"]
    assert store.list_prefix("") == ["a/b", "ab"]
    assert store.list_dir("a") == (["a/b"], ["a/c/"])


def test_conditions_that_are_not_there():
    store = ObstoreStore(Odd())
    with pytest.raises(UnsupportedError, match="no conditions") as caught:
        store.put_if("k", b"1", None)
    assert caught.value.key == "k"
    with pytest.raises(UnsupportedError, match="no tags"):
        store.put_if("k", b"1", "{}")
    with pytest.raises(StoreError, match="RuntimeError: no"):
        store.put_if("k", b"1", '{"e_tag": "x"}')
