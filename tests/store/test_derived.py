"""Classes that others derive from stores: what they override counts."""

from __future__ import annotations

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ReadOnlyError
from omnizarr.store.file import FileStore
from omnizarr.store.memory import MemoryStore
from omnizarr.store.protocol import kernel_target
from omnizarr.store.refusing import Refusing
from omnizarr.store.wrap import PrefixStore, ReadOnlyStore


class Sealed(MemoryStore):
    """Values that are not what was put: only who goes by `get` and `put` can read them."""

    def put(self, key, data):
        super().put(key, bytes(data)[::-1])

    def get(self, key):
        value = super().get(key)
        return None if value is None else value[::-1]


class Noting(FileStore):
    """A folder that notes what is put."""

    def __init__(self, where):
        super().__init__(where)
        self.written = []

    def put(self, key, data):
        self.written.append(key)
        super().put(key, data)


@pytest.mark.parametrize("values", [lambda: None, dict], ids=["kernel", "dict"])
@pytest.mark.parametrize("around", [lambda store: store, ReadOnlyStore, lambda store: PrefixStore(store, "")])
def test_what_a_derived_store_overrides_is_never_passed_by(values, around):
    store = Sealed(values())
    assert kernel_target(around(store))[0] is store
    group = oz.create_group(store, format="zarr3", attrs={"a": 1})
    data = np.arange(24).reshape(4, 6)
    group.create_array("plain", data=data, chunks=(2, 3), codecs=[])
    group.create_array("sharded", data=data, chunks=(1, 3), shards=(2, 6))
    assert MemoryStore.get(store, "zarr.json").endswith(b"{")
    found = oz.open_group(around(store), mode="r")
    assert found.attrs["a"] == 1
    for name in ("plain", "sharded"):
        np.testing.assert_array_equal(found[name][...], data)
        np.testing.assert_array_equal(found[name][1:, 2], data[1:, 2])
    assert store.get_range("zarr.json", 0, 1) == b"{"
    assert store.get_range("none", 0) is store.size("none") is None
    assert store.size("zarr.json") == len(store.get("zarr.json"))
    assert store.exists("zarr.json")
    assert not store.exists("none")
    assert store.get_many(["none", "zarr.json"]) == [None, store.get("zarr.json")]


def test_a_derived_class_that_overrides_no_operation_is_as_quick(tmp_path):
    class Named(MemoryStore):
        title = "mine"

    assert type(kernel_target(Named())[0]) is type(kernel_target(MemoryStore())[0])
    store = Noting(tmp_path / "x")
    oz.create_array(store, data=np.arange(4), chunks=(2,))
    assert sorted(store.written) == ["c/0", "c/1", "zarr.json"]


def test_a_store_that_is_only_read_refuses_every_change():
    class Fixed(Refusing):
        refusal = "it is fixed"
        refusal_hint = "Copy it."

    calls = (lambda one: one.put("a", b""), lambda one: one.erase("a"), lambda one: one.erase_prefix("a"))
    for call in calls:
        with pytest.raises(ReadOnlyError, match="it is fixed") as caught:
            call(Fixed())
        assert (caught.value.key, caught.value.hint) == ("a", "Copy it.")
