"""Any mapping of keys to bytes as a store."""

from __future__ import annotations

import os
from _thread import LockType, allocate_lock  # what threading.Lock is, without the millisecond that importing it takes
from collections.abc import Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from omnizarr.errors import ReadOnlyError
from omnizarr.store.buffers import byte_view
from omnizarr.store.keys import check_key, check_prefix, clip, is_key

if TYPE_CHECKING:
    from typing_extensions import Buffer


class _Name:
    """The name of a mapping, for as long as a store of it lives; it keeps the mapping, whose `id` is not used again."""

    __slots__ = ("__weakref__", "mapping", "uri")

    def __init__(self, mapping: Mapping[str, Any]) -> None:
        self.mapping = mapping
        self.uri = random_uri()


_names: WeakValueDictionary[int, _Name] = WeakValueDictionary()


def random_uri() -> str:
    """Make a name for values in memory that no others ever had, in this process or another."""
    return f"memory://{os.urandom(12).hex()}"


class DictStore:
    """A mapping of keys to bytes, used as it is: what is put shows in the mapping, and the reverse.

    Values may be anything with a buffer: bytes, bytearray, memoryview, a NumPy array. Entries whose key is not a
    string, or not one that a store may have, are not seen. A mapping that cannot be changed makes a read-only store.
    The store's own operations exclude each other; whoever changes the mapping besides must see to that.

    >>> values = {}
    >>> DictStore(values).put("a/b", b"1")
    >>> values
    {'a/b': b'1'}
    """

    __slots__ = ("_lock", "_name", "_process", "mapping")

    native = None

    def __init__(self, mapping: Mapping[str, Any]) -> None:
        self.mapping = mapping
        self._lock = allocate_lock()
        self._process = os.getpid()
        # A plain dict takes no weak reference, so the name hangs on the stores of the mapping.
        self._name = _names.get(id(mapping)) or _names.setdefault(id(mapping), _Name(mapping))

    def _guard(self) -> LockType:
        # A forked child inherits the lock as it was, but not the thread that would have opened it.
        if self._process != os.getpid():
            self._process, self._lock = os.getpid(), allocate_lock()
        return self._lock

    @property
    def uri(self) -> str:
        """A name for the mapping, which all stores of it share and no other mapping ever gets.

        Once the last store of a mapping is gone its name is, too: opened again, the mapping has a new one, and so do
        the tokens that Dask makes from it.
        """
        return self._name.uri

    @property
    def identity(self) -> int:
        """A number that all stores of the same mapping share while one of them lives."""
        return id(self.mapping)

    @property
    def read_only(self) -> bool:
        """Whether the mapping cannot be changed."""
        return not isinstance(self.mapping, MutableMapping)

    def _find(self, key: str) -> Any:  # noqa: ANN401 - whatever the mapping holds
        with self._guard():
            try:
                value = self.mapping[key]
            except KeyError:
                value = None
        # A value under the empty name, as zarr 2.0 stored arrays without dimensions, can be read but not written.
        if value is None or (key and not key.endswith("/")):
            check_key(key)
        return value

    def _changeable(self, key: str) -> MutableMapping[str, Any]:
        if isinstance(self.mapping, MutableMapping):
            return self.mapping
        raise ReadOnlyError(f"a {type(self.mapping).__name__} cannot be changed", key=key)

    def get(self, key: str) -> bytes | None:
        """Return the value as bytes."""
        value = self._find(key)
        if value is None or type(value) is bytes:
            return value
        return byte_view(key, value).tobytes()

    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None:
        """Return a part of the value."""
        value = self._find(key)
        if value is None:
            return None
        view = byte_view(key, value)
        first, last = clip(view.nbytes, start, length)
        return view[first:last].tobytes()

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return several values."""
        return [self.get(key) for key in keys]

    def put(self, key: str, data: Buffer) -> None:
        """Set the value, to a copy unless it is bytes."""
        mapping = self._changeable(check_key(key))
        value = data if type(data) is bytes else byte_view(key, data).tobytes()
        with self._guard():
            mapping[key] = value

    def erase(self, key: str) -> bool:
        """Remove the value of this very key."""
        mapping = self._changeable(check_key(key))
        with self._guard():
            try:
                del mapping[key]
            except KeyError:
                return False
        return True

    def erase_prefix(self, prefix: str) -> None:
        """Remove all values below a prefix."""
        mapping = self._changeable(prefix)
        for key in self.list_prefix(prefix):
            with self._guard():
                mapping.pop(key, None)

    def list_prefix(self, prefix: str) -> list[str]:
        """List the keys below a prefix."""
        prefix = check_prefix(prefix)
        with self._guard():
            keys: list[object] = list(self.mapping)
        return [key for key in keys if isinstance(key, str) and key.startswith(prefix) and is_key(key)]

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        """List what lies right below a prefix."""
        prefix = check_prefix(prefix)
        keys: list[str] = []
        prefixes: dict[str, None] = {}
        for key in self.list_prefix(prefix):
            name, slash, _ = key[len(prefix) :].partition("/")
            if slash:
                prefixes[prefix + name + slash] = None
            else:
                keys.append(key)
        return keys, list(prefixes)

    def size(self, key: str) -> int | None:
        """Return the number of bytes of the value."""
        value = self._find(key)
        return None if value is None else byte_view(key, value).nbytes

    def exists(self, key: str) -> bool:
        """Whether there is a value."""
        return self._find(key) is not None

    def __repr__(self) -> str:
        return f"DictStore(<{type(self.mapping).__name__}>)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DictStore) and self.mapping is other.mapping

    def __hash__(self) -> int:
        return hash((DictStore, id(self.mapping)))

    def __reduce__(self) -> tuple[object, ...]:
        return DictStore, (self.mapping,)
