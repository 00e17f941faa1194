"""What every store does, whatever it keeps its bytes in: one routine, and one machine with a dict as its model."""

import io
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from omnizarr.errors import StoreError, UnsafeError
from omnizarr.store.fault import FaultStore
from omnizarr.store.file import FileStore
from omnizarr.store.mapping import DictStore
from omnizarr.store.memory import MemoryStore
from omnizarr.store.observe import CountingStore, LatencyStore
from omnizarr.store.protocol import Store
from omnizarr.store.wrap import PrefixStore
from omnizarr.store.zip import ZipStore


def _prefixed(inner: Store) -> Store:
    for key in ("outside", "in/side", "inside!", "insider/a"):
        inner.put(key, b"not to be seen")
    return PrefixStore(inner, "inside")


STORES = {
    "file": lambda folder: FileStore(folder / "root"),
    "durable": lambda folder: FileStore(folder / "root", durable=True),
    "memory": lambda folder: MemoryStore(),
    "memory of a dict": lambda folder: MemoryStore({}),
    "dict": lambda folder: DictStore({}),
    "part of a dict": lambda folder: _prefixed(DictStore({})),
    "part of a file": lambda folder: _prefixed(FileStore(folder / "root")),
    "part of a memory": lambda folder: _prefixed(MemoryStore()),
    "counting": lambda folder: CountingStore(DictStore({})),
    "latency": lambda folder: LatencyStore(MemoryStore(), 0.0),
    "fault": lambda folder: FaultStore(MemoryStore()),
    "zip": lambda folder: ZipStore(folder / "root.zip"),
    "zip in memory": lambda folder: ZipStore(io.BytesIO()),
    "part of a zip": lambda folder: _prefixed(ZipStore(folder / "root.zip")),
}
ON_DISK = {"file", "durable", "part of a file"}
"""Here a key cannot be both a value and a prefix, directories outlive what was in them, and go by `erase`."""


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    return STORES[request.param](tmp_path)


def test_values(store):
    assert store.get("a/b") is None
    assert store.size("a/b") is None
    assert not store.exists("a/b")
    store.put("a/b", b"0123456789")
    assert store.get("a/b") == b"0123456789"
    assert store.size("a/b") == 10
    assert store.exists("a/b")
    store.put("a/b", b"")
    assert store.get("a/b") == b""
    assert store.size("a/b") == 0
    assert store.exists("a/b")
    assert type(store.get("a/b")) is bytes
    # What is only the beginning of other keys has no value.
    assert store.get("a") is None
    assert store.get_range("a", 0, 1) is None
    assert store.size("a") is None
    assert not store.exists("a")
    assert store.get("a/b/c") is None
    assert not store.exists("a/b/c")
    assert not store.read_only


@pytest.mark.parametrize(
    ("start", "length", "expected"),
    [
        (0, None, b"0123456789"),
        (0, 0, b""),
        (0, 3, b"012"),
        (7, None, b"789"),
        (7, 3, b"789"),
        (7, 100, b"789"),
        (10, None, b""),
        (10, 5, b""),
        (99, 1, b""),
        (-1, None, b"9"),
        (-3, None, b"789"),
        (-10, None, b"0123456789"),
        (-99, None, b"0123456789"),
        (-3, 2, b"78"),
        (-3, 0, b""),
        (0, 2**40, b"0123456789"),
    ],
)
def test_ranges(store, start, length, expected):
    store.put("k", b"0123456789")
    assert store.get_range("k", start, length) == expected
    assert store.get_range("missing", start, length) is None
    store.put("empty", b"")
    assert store.get_range("empty", start, length) == b""


def test_many_values_at_once(store):
    keys = [f"{i % 7}/{i}" for i in range(150)]
    for i, key in enumerate(keys):
        if i % 3:
            store.put(key, b"%d" % i)
    assert store.get_many(keys) == [b"%d" % i if i % 3 else None for i in range(150)]
    assert store.get_many([]) == []
    assert store.get_many(["1/1", "1/1", "no"]) == [b"1", b"1", None]


@pytest.mark.parametrize(
    "value",
    [
        b"\x01\x02",
        bytearray(b"\x01\x02"),
        memoryview(b"\x01\x02"),
        memoryview(b"\x01.\x02.")[::2],
        np.array([1, 2], np.uint8),
        np.array([[0x201]], "<u2"),
    ],
)
def test_values_are_anything_with_a_buffer(store, value):
    store.put("k", value)
    assert store.get("k") == b"\x01\x02"
    assert store.get_range("k", 1, 1) == b"\x02"


def test_a_value_is_a_copy(store):
    value = bytearray(b"old")
    store.put("k", value)
    value[:] = b"new"
    assert store.get("k") == b"old"


@pytest.mark.parametrize("value", ["text", None, 5, np.array([object()])])
def test_what_has_no_bytes_is_refused(store, value):
    with pytest.raises(StoreError):
        store.put("k", value)
    assert not store.exists("k")


def test_erasing(store):
    store.put("a/b", b"1")
    store.put("ab", b"2")
    assert not store.erase("a/c")
    assert not store.erase("x/y/z")
    assert store.erase("a/b")
    assert not store.erase("a/b")
    assert store.get("a/b") is None
    assert store.get("ab") == b"2"
    store.erase_prefix("none/")


def test_a_prefix_is_not_the_beginning_of_a_name(store):
    for key in ("a/x", "a/b/y", "ab/z", "a.b", "b"):
        store.put(key, key.encode())
    assert sorted(store.list_prefix("a/")) == sorted(store.list_prefix("a")) == ["a/b/y", "a/x"]
    assert sorted(store.list_prefix("")) == ["a.b", "a/b/y", "a/x", "ab/z", "b"]
    keys, prefixes = store.list_dir("a/")
    assert (list(keys), list(prefixes)) == (["a/x"], ["a/b/"])
    assert [list(part) for part in store.list_dir("a")] == [["a/x"], ["a/b/"]]
    keys, prefixes = store.list_dir("")
    assert (sorted(keys), sorted(prefixes)) == (["a.b", "b"], ["a/", "ab/"])
    for nothing in ("c/", "a/x/", "b/c/", "z"):
        assert list(store.list_prefix(nothing)) == []
        assert [list(part) for part in store.list_dir(nothing)] == [[], []]
    store.erase_prefix("a/")
    assert sorted(store.list_prefix("")) == ["a.b", "ab/z", "b"]
    store.erase_prefix("b")  # a value, not a prefix
    assert store.exists("b")
    store.erase_prefix("")
    assert list(store.list_prefix("")) == []
    assert [list(part) for part in store.list_dir("")] == [[], []]
    store.put("again/and/again", b"1")
    assert list(store.list_prefix("")) == ["again/and/again"]


@pytest.mark.parametrize("key", ["", "/a", "a/", "a//b", ".", "..", "../a", "a/../../b", "a\\b", "a\0b", "/etc/passwd"])
def test_keys_that_lead_out_are_refused(store, key):
    for operation in (store.get, store.size, store.exists, store.erase, lambda k: store.get_range(k, 0)):
        with pytest.raises(UnsafeError):
            operation(key)
    with pytest.raises(UnsafeError):
        store.put(key, b"1")
    with pytest.raises(UnsafeError):
        store.get_many(["fine", key])
    assert list(store.list_prefix("")) == []


@pytest.mark.parametrize("prefix", ["/", "../", "a//", "./", "a/../b/", "..", "\\"])
def test_prefixes_that_lead_out_are_refused(store, prefix):
    for operation in (store.list_prefix, store.list_dir, store.erase_prefix):
        with pytest.raises(UnsafeError):
            operation(prefix)


@pytest.mark.parametrize("key", ["%2e%2e", "...", ".zarray", "é/e\u0301", "🦓", "a b", "x" * 200, "-", "a\n"])
def test_odd_names_are_kept_as_they_are(store, key):
    store.put(key, b"1")
    assert store.get(key) == b"1"
    assert list(store.list_prefix("")) == [key]


def test_letters_differ_by_case_and_form(store):
    for key in ("Foo", "foo", "\u00e9", "e\u0301"):
        store.put(key, key.encode())
    for key in store.list_prefix(""):
        assert store.get(key) == key.encode()
    assert len(list(store.list_prefix(""))) == 4


def test_a_place_has_a_name(store):
    assert ":" in store.uri
    assert repr(store).endswith(")")


PARTS = st.sampled_from(["a", "b", "ab", "a.b", "é", ".z", "zarr.json"])
KEYS = st.lists(PARTS, min_size=1, max_size=3).map("/".join)
PREFIXES = st.just("") | KEYS.map("{}/".format)


def _ancestors(key):
    parts = key.split("/")
    return {"/".join(parts[:n]) for n in range(1, len(parts))}


class StoreMachine(RuleBasedStateMachine):
    """Does to a store and to a dict the same, and compares all that can be seen."""

    make = None
    on_disk = False

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.store = type(self).make(self.folder)
        self.values = {}
        self.folders = set()

    def teardown(self):
        if isinstance(inner := getattr(self.store, "inner", self.store), ZipStore):
            inner.close()
        shutil.rmtree(self.folder)

    @rule(key=KEYS, value=st.binary(max_size=40))
    def put(self, key, value):
        if self.on_disk and (key in self.folders or _ancestors(key) & self.values.keys()):
            with pytest.raises(StoreError) as caught:
                self.store.put(key, value)
            assert caught.value.key is not None
            return
        self.store.put(key, value)
        self.values[key] = value
        self.folders |= _ancestors(key)

    @rule(key=KEYS)
    def get(self, key):
        expected = self.values.get(key)
        assert self.store.get(key) == expected
        assert self.store.exists(key) == (expected is not None)
        assert self.store.size(key) == (None if expected is None else len(expected))

    @rule(key=KEYS, start=st.integers(-50, 50), length=st.none() | st.integers(0, 50))
    def get_range(self, key, start, length):
        value = self.values.get(key)
        if value is not None:
            value = value[max(0, len(value) + start) if start < 0 else start :]
            value = value if length is None else value[:length]
        assert self.store.get_range(key, start, length) == value

    @rule(keys=st.lists(KEYS, max_size=5))
    def get_many(self, keys):
        assert self.store.get_many(keys) == [self.values.get(key) for key in keys]

    @rule(key=KEYS)
    def erase(self, key):
        folder = self.on_disk and key in self.folders
        assert self.store.erase(key) == (key in self.values or folder)
        self.values.pop(key, None)
        if folder:
            self._forget(key + "/")

    @rule(prefix=PREFIXES)
    def erase_prefix(self, prefix):
        self.store.erase_prefix(prefix)
        self._forget(prefix)

    def _forget(self, prefix):
        self.values = {key: value for key, value in self.values.items() if not key.startswith(prefix)}
        self.folders = {key for key in self.folders if not (key + "/").startswith(prefix)}

    @rule()
    def flush(self):
        # A store that keeps changes back for a while is no different after it has written them.
        inner = getattr(self.store, "inner", self.store)
        if isinstance(inner, ZipStore):
            inner.flush()

    @rule(prefix=PREFIXES)
    def list_dir(self, prefix):
        keys, prefixes = self.store.list_dir(prefix)
        below = [key.removeprefix(prefix) for key in self.values if key.startswith(prefix)]
        assert sorted(keys) == sorted(prefix + name for name in below if "/" not in name)
        expected = {prefix + name.split("/")[0] + "/" for name in below if "/" in name}
        if self.on_disk:
            expected |= {
                name + "/" for name in self.folders if name.startswith(prefix) and "/" not in name[len(prefix) :]
            }
        assert sorted(prefixes) == sorted(expected)

    @rule(prefix=PREFIXES)
    def list_prefix(self, prefix):
        assert sorted(self.store.list_prefix(prefix)) == sorted(key for key in self.values if key.startswith(prefix))

    @invariant()
    def all_is_there(self):
        assert sorted(self.store.list_prefix("")) == sorted(self.values)


def _machine(name):
    body = {"make": staticmethod(STORES[name]), "on_disk": name in ON_DISK}
    case = type(f"Machine_{name.replace(' ', '_')}", (StoreMachine,), body).TestCase
    case.settings = settings(max_examples=max(40, settings().max_examples // 10), stateful_step_count=30)
    return case


@pytest.mark.parametrize("name", STORES)
def test_any_history_leaves_what_the_model_has(name):
    _machine(name)().runTest()
