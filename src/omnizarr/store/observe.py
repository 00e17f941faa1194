"""Stores that watch or slow down another: what was asked of it, and what the same would cost far away."""

from __future__ import annotations

import time
from _thread import allocate_lock
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from omnizarr.store.buffers import byte_view
from omnizarr.store.protocol import Store
from omnizarr.store.wrap import Wrapper

if TYPE_CHECKING:
    from typing_extensions import Buffer

T = TypeVar("T")


class Around(Wrapper):
    """Leads every operation through one method, `_around`; `get_many` is one operation, as it is one round trip."""

    __slots__ = ()

    def _around(self, kind: str, key: str, operation: Callable[[], T]) -> T:
        del kind, key
        return operation()

    def get(self, key: str) -> bytes | None:
        """Return the value."""
        return self._around("get", key, lambda: self.inner.get(key))

    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None:
        """Return a part of the value."""
        return self._around("get_range", key, lambda: self.inner.get_range(key, start, length))

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return several values."""
        return self._around("get_many", ",".join(keys), lambda: self.inner.get_many(keys))

    def put(self, key: str, data: Buffer) -> None:
        """Store a value."""
        self._around("put", key, lambda: self.inner.put(key, data))

    def erase(self, key: str) -> bool:
        """Remove a value."""
        return self._around("erase", key, lambda: self.inner.erase(key))

    def erase_prefix(self, prefix: str) -> None:
        """Remove all values below a prefix."""
        self._around("erase_prefix", prefix, lambda: self.inner.erase_prefix(prefix))

    def list_prefix(self, prefix: str) -> Iterable[str]:
        """List the keys below a prefix."""
        return self._around("list_prefix", prefix, lambda: list(self.inner.list_prefix(prefix)))

    def list_dir(self, prefix: str) -> tuple[Sequence[str], Sequence[str]]:
        """List what lies right below a prefix."""
        return self._around("list_dir", prefix, lambda: self.inner.list_dir(prefix))

    def size(self, key: str) -> int | None:
        """Return the number of bytes of the value."""
        return self._around("size", key, lambda: self.inner.size(key))

    def exists(self, key: str) -> bool:
        """Whether there is a value."""
        return self._around("exists", key, lambda: self.inner.exists(key))


def _moved(result: object) -> int:
    """Bytes in the answer to a read."""
    if isinstance(result, bytes):
        return len(result)
    return sum(len(part) for part in result if isinstance(part, bytes)) if isinstance(result, list) else 0


class CountingStore(Around):
    """Counts the operations on a store, and the bytes that they move, by kind.

    Attributes:
        operations: Number of operations of each kind.
        bytes_moved: Bytes that the operations of each kind have read or written.
        log: Kind and key of each operation, in order; the keys of a `get_many` are joined by commas.

    >>> from omnizarr.store.mapping import DictStore
    >>> counting = CountingStore(DictStore({}))
    >>> counting.put("a", b"123")
    >>> counting.operations, counting.bytes_moved
    ({'put': 1}, {'put': 3})
    """

    __slots__ = ("_lock", "bytes_moved", "log", "operations")

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self._lock = allocate_lock()
        self.reset()

    def reset(self) -> None:
        """Begin to count anew."""
        self.operations: dict[str, int] = {}
        self.bytes_moved: dict[str, int] = {}
        self.log: list[tuple[str, str]] = []

    @property
    def total(self) -> int:
        """Number of operations of all kinds."""
        return sum(self.operations.values())

    def put(self, key: str, data: Buffer) -> None:
        """Store a value."""
        super().put(key, data)
        self._add("put", byte_view(key, data).nbytes)

    def _around(self, kind: str, key: str, operation: Callable[[], T]) -> T:
        with self._lock:
            self.operations[kind] = self.operations.get(kind, 0) + 1
            self.log.append((kind, key))
        result = operation()
        if kind.startswith("get"):
            self._add(kind, _moved(result))
        return result

    def _add(self, kind: str, number: int) -> None:
        with self._lock:
            self.bytes_moved[kind] = self.bytes_moved.get(kind, 0) + number

    def __reduce__(self) -> tuple[object, ...]:
        return CountingStore, (self.inner,)


class LatencyStore(Around):
    """Makes each operation on a store take a while, as a network would; operations in several threads wait together.

    Args:
        inner: The store.
        seconds: What each operation takes at least.
        bytes_per_second: How fast bytes move besides, for each operation on its own; None for no limit.
    """

    __slots__ = ("bytes_per_second", "seconds")

    def __init__(self, inner: Store, seconds: float, bytes_per_second: float | None = None) -> None:
        super().__init__(inner)
        self.seconds = seconds
        self.bytes_per_second = bytes_per_second

    def put(self, key: str, data: Buffer) -> None:
        """Store a value."""
        self._wait(byte_view(key, data).nbytes)
        super().put(key, data)

    def _around(self, kind: str, key: str, operation: Callable[[], T]) -> T:
        del key
        time.sleep(self.seconds)
        result = operation()
        if kind.startswith("get"):
            self._wait(_moved(result))
        return result

    def _wait(self, number: int) -> None:
        if self.bytes_per_second is not None:
            time.sleep(number / self.bytes_per_second)

    def __reduce__(self) -> tuple[object, ...]:
        return LatencyStore, (self.inner, self.seconds, self.bytes_per_second)
