"""Changes on condition: what was read is replaced only if it is still what it was."""

from __future__ import annotations

import pytest

from omnizarr.errors import ConflictError
from omnizarr.store import tagged
from omnizarr.store.mapping import DictStore
from omnizarr.store.memory import MemoryStore
from omnizarr.store.tagged import ChangedError, TaggedStore, conditional, retried
from omnizarr.store.wrap import PrefixStore, ReadOnlyStore


class Versions(DictStore):
    """A store whose tags are numbers of versions."""

    conditional = True

    def __init__(self) -> None:
        super().__init__({})
        self.versions: dict[str, int] = {}

    def put(self, key, data):
        super().put(key, data)
        self.versions[key] = self.versions.get(key, 0) + 1

    def get_tagged(self, key):
        value = self.get(key)
        return None if value is None else (value, str(self.versions[key]))

    def put_if(self, key, data, tag):
        now = self.get_tagged(key)
        if (None if now is None else now[1]) != tag:
            return None
        self.put(key, data)
        return str(self.versions[key])


def opened(store, prefix=""):
    inner = PrefixStore(store, prefix) if prefix else store
    target = conditional(inner)
    assert target is not None
    return TaggedStore(inner, target)


def test_only_some_stores_can():
    store = Versions()
    assert conditional(store) == (store, "")
    assert conditional(PrefixStore(ReadOnlyStore(store), "a"), "b/") == (store, "a/b/")
    assert conditional(DictStore({})) is None
    assert conditional(PrefixStore(DictStore({}), "a")) is None


@pytest.mark.parametrize("prefix", ["", "a"])
def test_what_was_read_is_replaced(prefix):
    store = Versions()
    one = opened(store, prefix)
    assert one.get("k") is None
    one.put("k", b"1")
    one.put("k", b"2")  # over one's own
    other = opened(store, prefix)
    assert other.get_many(["k", "x"]) == [b"2", None]
    other.put("k", b"3")
    key = f"{prefix}/k" if prefix else "k"
    assert store.get(key) == b"3"
    with pytest.raises(ChangedError, match="at the same time") as caught:
        one.put("k", b"4")
    assert (caught.value.key, caught.value.path) == ("k", one.uri)
    assert store.get(key) == b"3"
    one.put("k", b"5")  # read anew
    assert store.get(key) == b"5"


def test_what_was_not_read_is_looked_at_first():
    store = Versions()
    store.put("k", b"old")
    opened(store).put("k", b"new")
    assert store.get("k") == b"new"


def test_the_kernel_works_on_the_store_itself():
    store = Versions()
    one = opened(store, "a")
    assert one.see_through("b/") == (one.inner, "b/")
    assert one.native is one.inner.native


def test_a_change_is_made_again_until_nobody_comes_between(monkeypatch):
    slept = []
    monkeypatch.setattr(tagged.time, "sleep", slept.append)
    left = [3]

    def change():
        left[0] -= 1
        if left[0]:
            raise ChangedError("quicker")
        return "done"

    assert retried(change, "/x") == "done"
    assert len(slept) == 2
    assert all(0 <= seconds <= 1 for seconds in slept)


def test_others_that_are_always_quicker(monkeypatch):
    slept = []
    monkeypatch.setattr(tagged.time, "sleep", slept.append)

    def change():
        raise ChangedError("quicker")

    with pytest.raises(ConflictError, match="were quicker 100 times") as caught:
        retried(change, "/x")
    assert caught.value.path == "/x"
    assert len(slept) == 100


def test_the_kernel_gets_the_handle_of_the_store():
    inner = MemoryStore()
    assert inner.native is not None
    assert TaggedStore(inner, (Versions(), "")).native is inner.native
