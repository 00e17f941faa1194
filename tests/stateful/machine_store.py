"""Stores: whatever two handles do, they hold what a dict would."""

from __future__ import annotations

import gc

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from omnizarr.errors import OmnizarrError, StoreError
from omnizarr.store.zip import ZipStore
from tests.stateful.places import KINDS, Place, actors, attempted, faults

# None of them lies below another: on a file system nothing can.
KEYS = ["zarr.json", "a/zarr.json", "a/c/0/0", "a/c/0/1", "a/c/1/0", "b/x", "b/y/z", "é/ü"]
PREFIXES = ["", "a/", "a/c/", "a/c/0/", "b/", "b/y/", "none/"]
keys = st.sampled_from(KEYS)
values = st.binary(max_size=40) | st.just(b"x" * 5000)


class StoreMachine(RuleBasedStateMachine):
    """Two handles of a folder, of memory, or of an archive."""

    @initialize(kind=st.sampled_from([*KINDS, "zip"]))
    def start(self, kind: str) -> None:
        self.place = Place(kind)
        self.model: dict[str, bytes] = {}
        self.stores = [self.handle(), self.handle()]

    def handle(self):
        return ZipStore(self.place.folder / "a.zip") if self.place.kind == "zip" else self.place.store()

    def teardown(self) -> None:
        if hasattr(self, "place"):
            self.stores.clear()
            gc.collect()
            self.place.close()

    @rule(actor=actors, key=keys, value=values)
    def put(self, actor: int, key: str, value: bytes) -> None:
        self.stores[actor].put(key, memoryview(value) if len(value) % 2 else value)
        self.model[key] = value

    @rule(actor=actors, key=keys)
    def erase(self, actor: int, key: str) -> None:
        assert self.stores[actor].erase(key) == (self.model.pop(key, None) is not None)

    @rule(actor=actors, prefix=st.sampled_from(PREFIXES))
    def erase_prefix(self, actor: int, prefix: str) -> None:
        self.stores[actor].erase_prefix(prefix)
        self.model = {key: value for key, value in self.model.items() if not key.startswith(prefix)}

    @rule(actor=actors, key=keys, start=st.integers(-50, 50), length=st.none() | st.integers(0, 60))
    def get(self, actor: int, key: str, start: int, length: int | None) -> None:
        store, value = self.stores[actor], self.model.get(key)
        assert store.get(key) == value
        assert store.size(key) == (None if value is None else len(value))
        assert store.exists(key) == (value is not None)
        if value is not None:
            first = max(len(value) + start, 0) if start < 0 else start
            value = value[first:] if length is None else value[first : first + length]
        assert store.get_range(key, start, length) == value

    @rule(actor=actors, prefix=st.sampled_from(PREFIXES))
    def listing(self, actor: int, prefix: str) -> None:
        store = self.stores[actor]
        below = [key for key in self.model if key.startswith(prefix)]
        assert sorted(store.list_prefix(prefix)) == sorted(below)
        rests = [key[len(prefix) :] for key in below]
        found, prefixes = store.list_dir(prefix)
        assert sorted(found) == sorted(prefix + rest for rest in rests if "/" not in rest)
        if self.place.kind == "folder":  # a folder that became empty is one still, and is listed
            prefixes = [one for one in prefixes if store.list_prefix(one)]
        assert sorted(prefixes) == sorted({prefix + rest.partition("/")[0] + "/" for rest in rests if "/" in rest})

    @rule(actor=actors)
    def drop(self, actor: int) -> None:
        """Forget a handle without closing it."""
        self.stores[actor] = None
        gc.collect()
        self.stores[actor] = self.handle()

    @rule(actor=actors)
    def close(self, actor: int) -> None:
        """Close a handle, where it can be."""
        store = self.stores[actor]
        if isinstance(store, ZipStore):
            store.close()
            assert isinstance(attempted(lambda: store.get("x"), StoreError), StoreError)
            self.stores[actor] = self.handle()

    @rule(key=keys, value=values, fault=faults)
    def fail(self, key: str, value: bytes, fault: tuple[int, str, bool]) -> None:
        """Let a put fail, before or after it has happened."""
        if self.place.kind == "zip":
            return
        failing = self.place.failing((1, *fault[1:]))
        error = attempted(lambda: failing.put(key, value), OmnizarrError)
        assert isinstance(error, StoreError)
        assert error.key == key
        if fault[1] == "after":
            self.model[key] = value

    @invariant()
    def all_is_there(self) -> None:
        if hasattr(self, "model"):
            for store in self.stores:
                assert store.get_many(KEYS) == [self.model.get(key) for key in KEYS]
