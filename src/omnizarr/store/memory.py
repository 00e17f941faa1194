"""The store in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from omnizarr.errors import StoreError
from omnizarr.native import MemoryStore as NativeStore
from omnizarr.store.buffers import byte_view
from omnizarr.store.file import range_in_bounds, text_key
from omnizarr.store.keys import check_key, check_prefix, clip
from omnizarr.store.mapping import DictStore, random_uri

if TYPE_CHECKING:
    from typing_extensions import Buffer


_READING = ("get_range", "get_many", "size", "exists")


class MemoryStore:
    """A store in the memory of this process.

    A class that overrides `get` has all that reads go by it, but for what it overrides as well.

    Args:
        values: A mapping to be used as it is, by a `DictStore`; without one the values live in the kernel, which is
            faster, but ends with the process and cannot be pickled.

    >>> store = MemoryStore()
    >>> store.put("a", b"123")
    >>> store.get_range("a", -2)
    b'23'
    """

    __slots__ = ("_uri", "_values")

    _by_get: ClassVar[frozenset[str]] = frozenset()
    """Operations that go by the `get` of a derived class."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.get is not MemoryStore.get:
            cls._by_get = frozenset(one for one in _READING if getattr(cls, one) is getattr(MemoryStore, one))

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._values = NativeStore() if values is None else DictStore(values)
        self._uri = self._values.uri if isinstance(self._values, DictStore) else random_uri()

    @property
    def native(self) -> NativeStore | None:
        """The kernel's handle, where the values live there."""
        return None if isinstance(self._values, DictStore) else self._values

    @property
    def uri(self) -> str:
        """A name for the values, which no others ever get."""
        return self._uri

    @property
    def identity(self) -> int | None:
        """A number that all stores of the same mapping share; None where the values live in the kernel."""
        return self._values.identity if isinstance(self._values, DictStore) else None

    @property
    def read_only(self) -> bool:
        """Whether the values cannot be changed."""
        return isinstance(self._values, DictStore) and self._values.read_only

    def get(self, key: str) -> bytes | None:
        """Return the value."""
        return self._values.get(key if type(key) is str else text_key(key))

    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None:
        """Return a part of the value."""
        key = key if type(key) is str else text_key(key)
        if "get_range" in self._by_get:
            value = self.get(key)
            return None if value is None else value[slice(*clip(len(value), start, length))]
        try:
            return self._values.get_range(key, start, length)
        except (TypeError, OverflowError):
            fitting = range_in_bounds(start, length)
            if fitting == (start, length):
                raise  # the mapping's own error
            return self._values.get_range(key, *fitting)

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return several values."""
        return [self.get(key) for key in keys] if "get_many" in self._by_get else self._values.get_many(keys)

    def put(self, key: str, data: Buffer) -> None:
        """Set the value, to a copy."""
        self._values.put(check_key(key), data if type(data) is bytes else byte_view(key, data))

    def erase(self, key: str) -> bool:
        """Remove the value of this very key."""
        return self._values.erase(key if type(key) is str else text_key(key))

    def erase_prefix(self, prefix: str) -> None:
        """Remove all values below a prefix."""
        self._values.erase_prefix(check_prefix(prefix))

    def list_prefix(self, prefix: str) -> list[str]:
        """List the keys below a prefix."""
        return self._values.list_prefix(check_prefix(prefix))

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        """List what lies right below a prefix."""
        return self._values.list_dir(check_prefix(prefix))

    def size(self, key: str) -> int | None:
        """Return the number of bytes of the value."""
        if "size" in self._by_get:
            return None if (value := self.get(key)) is None else len(value)
        return self._values.size(key if type(key) is str else text_key(key))

    def exists(self, key: str) -> bool:
        """Whether there is a value."""
        return self.get(key) is not None if "exists" in self._by_get else self._values.exists(text_key(key))

    def __repr__(self) -> str:
        inside = f"<{type(self._values.mapping).__name__}>" if isinstance(self._values, DictStore) else ""
        return f"MemoryStore({inside})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemoryStore) and self._values == other._values

    def __hash__(self) -> int:
        return hash((MemoryStore, self._values))

    def __reduce__(self) -> tuple[object, ...]:
        if isinstance(self._values, DictStore):
            return MemoryStore, (self._values.mapping,)
        raise StoreError(
            "a memory store lives in this process alone and cannot be pickled",
            hint="Use a directory, or give MemoryStore a dict, which is pickled with its values.",
        )
