"""Wrappers: reading only, a part of a store, counting, delay; what the kernel sees through them; mappings; pickling."""

import pickle
import subprocess
import sys
import threading
import time
from collections import UserDict
from types import MappingProxyType

import numpy as np
import pytest

import omnizarr.store
from omnizarr.errors import ReadOnlyError, StoreError, UnsafeError
from omnizarr.store.fault import FaultStore
from omnizarr.store.file import FileStore
from omnizarr.store.mapping import DictStore
from omnizarr.store.memory import MemoryStore
from omnizarr.store.observe import CountingStore, LatencyStore
from omnizarr.store.protocol import kernel_target
from omnizarr.store.wrap import PrefixStore, ReadOnlyStore


def test_a_read_only_store_reads_and_refuses():
    inner = MemoryStore()
    inner.put("a/b", b"123")
    store = ReadOnlyStore(inner)
    assert store.read_only
    assert store.get("a/b") == b"123"
    assert store.get_range("a/b", -1) == b"3"
    assert store.get_many(["a/b", "x"]) == [b"123", None]
    assert (store.size("a/b"), store.exists("a/b")) == (3, True)
    assert list(store.list_prefix("")) == ["a/b"]
    assert store.list_dir("") == ([], ["a/"])
    for change in (lambda: store.put("a/b", b""), lambda: store.erase("a/b"), lambda: store.erase_prefix("a/")):
        with pytest.raises(ReadOnlyError, match="mode=") as caught:
            change()
        assert caught.value.key.startswith("a/")
        assert isinstance(caught.value, PermissionError)
    assert inner.get("a/b") == b"123"
    assert store.uri == inner.uri
    assert store.native is inner.native


def test_a_part_of_a_store_is_confined_to_it():
    inner = DictStore({"in/a": b"1", "in/b/c": b"2", "inn": b"3", "inn/x": b"4"})
    store = PrefixStore(inner, "in")
    assert store.prefix == PrefixStore(inner, "in/").prefix == "in/"
    assert sorted(store.list_prefix("")) == ["a", "b/c"]
    assert store.list_dir("") == (["a"], ["b/"])
    assert store.list_dir("b") == (["b/c"], [])
    store.put("d", b"5")
    assert inner.get("in/d") == b"5"
    for key in ("../inn", "", "/inn"):
        with pytest.raises(UnsafeError):
            store.get(key)
    store.erase_prefix("")
    assert sorted(inner.mapping) == ["inn", "inn/x"]
    with pytest.raises(UnsafeError):
        PrefixStore(inner, "../x")
    assert PrefixStore(inner, "").get("inn") == b"3"


def test_names_of_parts(tmp_path):
    inner = FileStore(tmp_path)
    assert PrefixStore(inner, "my part/é/").uri == (tmp_path / "my part" / "é").as_uri()
    assert PrefixStore(inner, "").uri == inner.uri
    assert PrefixStore(inner, "a") == PrefixStore(FileStore(tmp_path), "a/")
    assert PrefixStore(inner, "a") != PrefixStore(inner, "b")
    assert len({PrefixStore(inner, "a"), PrefixStore(inner, "a/"), ReadOnlyStore(inner), ReadOnlyStore(inner)}) == 2
    assert repr(ReadOnlyStore(PrefixStore(DictStore({}), "a"))) == "ReadOnlyStore(PrefixStore(DictStore(<dict>), 'a/'))"


def test_the_kernel_looks_through_what_only_renames_or_refuses():
    inner = MemoryStore()
    assert kernel_target(inner, "n/") == (inner.native, "n/")
    assert kernel_target(inner) == (inner.native, "")
    wrapped = ReadOnlyStore(PrefixStore(ReadOnlyStore(PrefixStore(inner, "a")), "b/c"))
    assert kernel_target(wrapped, "n/") == (inner.native, "a/b/c/n/")
    assert PrefixStore(inner, "a").native is None
    plain = DictStore({})
    assert kernel_target(PrefixStore(plain, "a"), "n/") == (plain, "a/n/")
    for seen in (CountingStore(inner), LatencyStore(inner, 0.0), FaultStore(inner)):
        assert seen.native is None
        assert kernel_target(ReadOnlyStore(PrefixStore(seen, "a")), "n/") == (seen, "a/n/")


def test_counting():
    store = CountingStore(MemoryStore())
    store.put("a", b"12345")
    store.put("b", np.zeros(3, "<u4"))
    store.get("a")
    store.get("missing")
    store.get_range("a", -2)
    store.get_many(["a", "b", "no"])
    store.list_dir("")
    store.list_prefix("")
    store.size("a")
    store.exists("a")
    store.erase("a")
    store.erase_prefix("")
    assert store.operations == {
        "put": 2, "get": 2, "get_range": 1, "get_many": 1, "list_dir": 1, "list_prefix": 1, "size": 1, "exists": 1,
        "erase": 1, "erase_prefix": 1,
    }  # fmt: skip
    assert store.bytes_moved == {"put": 17, "get": 5, "get_range": 2, "get_many": 17}
    assert store.total == 12
    assert store.log[:2] == [("put", "a"), ("put", "b")]
    assert ("get_many", "a,b,no") in store.log
    store.reset()
    assert (store.total, store.operations, store.bytes_moved, store.log) == (0, {}, {}, [])


def test_counting_from_many_threads():
    store = CountingStore(MemoryStore())
    threads = [threading.Thread(target=lambda: [store.put("k", b"1") for _ in range(200)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.operations == {"put": 1600}
    assert store.bytes_moved == {"put": 1600}


def test_latency():
    store = LatencyStore(MemoryStore(), 0.02, bytes_per_second=100_000)
    start = time.perf_counter()
    store.put("k", bytes(2000))
    assert time.perf_counter() - start >= 0.04
    start = time.perf_counter()
    store.get("k")
    assert time.perf_counter() - start >= 0.04
    start = time.perf_counter()
    threads = [threading.Thread(target=store.exists, args=("k",)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.perf_counter() - start < 0.3  # Twenty waits one after the other would take longer.


def test_a_mapping_is_used_as_it_is():
    mapping = {"a": bytearray(b"12"), "n": np.arange(3, dtype="<u2"), 5: b"", "../x": b"", "f": np.ones((2, 3), "u1").T}
    store = DictStore(mapping)
    assert store.get("a") == b"12"
    mapping["a"] += b"3"
    assert store.get("a") == b"123"
    assert store.get("n") == b"\0\0\1\0\2\0"
    assert store.get_range("n", -2) == b"\2\0"
    assert store.size("n") == 6
    assert store.get("f") == b"\1" * 6
    assert sorted(store.list_prefix("")) == ["a", "f", "n"]
    store.put("b", bytearray(b"4"))
    assert mapping["b"] == b"4"
    assert store.erase("b")
    assert "b" not in mapping
    mapping["bad"] = "text"
    with pytest.raises(StoreError, match="str") as caught:
        store.get("bad")
    assert caught.value.key == "bad"


def test_a_mapping_may_be_of_any_class():
    assert DictStore(UserDict({"a": b"1"})).get("a") == b"1"
    frozen = DictStore(MappingProxyType({"a": b"1"}))
    assert frozen.read_only
    assert frozen.get("a") == b"1"
    for change in (lambda: frozen.put("a", b""), lambda: frozen.erase("a"), lambda: frozen.erase_prefix("")):
        with pytest.raises(ReadOnlyError):
            change()


def test_names_of_stores_in_memory():
    mapping = {}
    assert DictStore(mapping) == DictStore(mapping)
    assert DictStore(mapping) != DictStore({})
    assert hash(DictStore(mapping)) == hash(DictStore(mapping))
    assert DictStore(mapping).uri == MemoryStore(mapping).uri
    assert MemoryStore(mapping) == MemoryStore(mapping)
    assert MemoryStore() != MemoryStore()
    store = MemoryStore()
    assert {store: 1}[store] == 1
    assert (repr(store), repr(MemoryStore(mapping))) == ("MemoryStore()", "MemoryStore(<dict>)")
    assert MemoryStore(mapping).native is None
    assert MemoryStore(MappingProxyType({})).read_only
    assert not MemoryStore().read_only


def test_the_name_of_a_mapping_is_never_used_again():
    seen = {DictStore({}).uri for _ in range(50)} | {MemoryStore().uri for _ in range(50)}
    assert len(seen) == 100
    mapping = {}
    first = DictStore(mapping)
    assert first.uri == first.uri == DictStore(mapping).uri == ReadOnlyStore(DictStore(mapping)).uri


def test_stores_of_one_mapping_have_one_identity(tmp_path):
    mapping = {}
    store = DictStore(mapping)
    assert isinstance(store.identity, int)
    assert store.identity == DictStore(mapping).identity == MemoryStore(mapping).identity == id(mapping)
    other = {}
    assert DictStore(other).identity != store.identity
    for wrapped in (ReadOnlyStore(store), PrefixStore(store, "a"), CountingStore(store), FaultStore(store)):
        assert wrapped.identity == store.identity
        assert LatencyStore(wrapped, 0.0).identity == store.identity
    assert CountingStore(FileStore(tmp_path)).identity is None
    assert MemoryStore().identity is None


def test_every_class_can_be_had_from_the_package():
    from omnizarr.store import ReadOnlyStore

    assert ReadOnlyStore({}).read_only
    assert set(omnizarr.store.__all__) == {
        "CountingStore", "DictStore", "Fault", "FaultStore", "FileStore", "LatencyStore", "MemoryStore", "PrefixStore",
        "ReadOnlyStore", "Store", "ZipStore",
    }  # fmt: skip
    for name in omnizarr.store.__all__:
        assert getattr(omnizarr.store, name).__name__ == name
        assert name in dir(omnizarr.store)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = omnizarr.store.nonsense


def test_importing_loads_no_wrapper_for_tests():
    code = "import sys, omnizarr; print({'omnizarr.store.fault', 'omnizarr.store.observe'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.split() == [b"set()"]


def test_pickling(tmp_path):
    with pytest.raises(StoreError, match="cannot be pickled"):
        pickle.dumps(MemoryStore())
    for store in (MemoryStore({"a": b"1"}), DictStore({"a": b"1"})):
        assert pickle.loads(pickle.dumps(store)).get("a") == b"1"
    inner = FileStore(tmp_path)
    inner.put("p/a", b"1")
    part = PrefixStore(inner, "p")
    for store in (part, ReadOnlyStore(part), CountingStore(part), LatencyStore(part, 0.0, 1e9), FaultStore(part)):
        copy = pickle.loads(pickle.dumps(store))
        assert type(copy) is type(store)
        assert copy.get("a") == b"1"
        assert copy.uri == store.uri
