"""A store that fails on cue: the k-th operation of a kind raises, or loses, spoils or delays what it carries.

`sweep` lets each operation of a scenario fail in turn, which is how to show that none of them can do harm.
"""

from __future__ import annotations

import errno
import os
import time
from _thread import allocate_lock
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from omnizarr.errors import StoreError
from omnizarr.store.buffers import byte_view
from omnizarr.store.observe import Around
from omnizarr.store.protocol import Store

if TYPE_CHECKING:
    from typing_extensions import Buffer

T = TypeVar("T")

_CARRIERS = ("get", "get_range", "put")
_GROUPS = {
    "any": ("get", "get_range", "put", "erase", "erase_prefix", "list_prefix", "list_dir", "size", "exists"),
    "read": ("get", "get_range", "list_prefix", "list_dir", "size", "exists"),
    "write": ("put", "erase", "erase_prefix"),
}


class Fault(NamedTuple):
    """What goes wrong, and when."""

    how: Literal["raise", "truncate", "corrupt", "delay"] = "raise"
    """`truncate` loses the second half of the bytes that a get or put carries, `corrupt` flips a bit in their midst."""

    kind: str = "any"
    """The operation: `get`, `get_range`, `put`, `erase`, `erase_prefix`, `list_prefix`, `list_dir`, `size`, `exists`;
    or `read`, `write`, `any` for a group of them. A `get_many` is as many times `get`."""

    at: int = 1
    """Which operation of that kind fails, counted from 1."""

    times: int | None = 1
    """How many in a row fail; None for all from there on."""

    when: Literal["before", "after"] = "before"
    """Whether an operation that raises does so without effect, or when its effect is there (a lost answer)."""

    errno: int = errno.EIO
    """The system's number of the error that is raised."""

    error: BaseException | None = None
    """Raised in place of a `StoreError` with that number."""

    seconds: float = 0.1
    """Length of a delay."""

    key: str = ""
    """Only operations whose key contains this count."""


class FaultStore(Around):
    """A store whose operations fail by script.

    Attributes:
        faults: The script.
        fired: Each fault that has happened: the fault, the operation's kind and its key.

    >>> from omnizarr.store.mapping import DictStore
    >>> failing = FaultStore(DictStore({}), Fault(kind="put", at=2))
    >>> failing.put("a", b"1")
    >>> failing.put("b", b"2")
    Traceback (most recent call last):
    omnizarr.errors.StoreError: Input/output error, on purpose: operation 2 of kind 'put' (key 'b')
    """

    __slots__ = ("_counts", "_lock", "faults", "fired")

    def __init__(self, inner: Store, *faults: Fault) -> None:
        super().__init__(inner)
        self.faults = faults
        self.fired: list[tuple[Fault, str, str]] = []
        self._counts = [0] * len(faults)
        self._lock = allocate_lock()

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return several values, each got on its own, so that each can fail."""
        return [self.get(key) for key in keys]

    def put(self, key: str, data: Buffer) -> None:
        """Store a value."""
        due = self._due("put", key)
        spoilt: Buffer = data
        for fault in due:
            spoilt = _spoil(fault, byte_view(key, data).tobytes()) if fault.how in ("truncate", "corrupt") else spoilt
        self._perform(due, "put", key, lambda: self.inner.put(key, spoilt))

    def _around(self, kind: str, key: str, operation: Callable[[], T]) -> T:
        due = self._due(kind, key)
        result = self._perform(due, kind, key, operation)
        for fault in due:
            if isinstance(result, bytes) and fault.how in ("truncate", "corrupt"):
                result = _spoil(fault, result)  # type: ignore[assignment]  # T is bytes here
        return result

    def _due(self, kind: str, key: str) -> list[Fault]:
        """Count an operation, and say which faults it meets."""
        due: list[Fault] = []
        with self._lock:
            for i, fault in enumerate(self.faults):
                if kind not in _GROUPS.get(fault.kind, (fault.kind,)) or fault.key not in key:
                    continue
                if fault.how in ("truncate", "corrupt") and kind not in _CARRIERS:
                    continue
                self._counts[i] += 1
                if self._counts[i] >= fault.at and (fault.times is None or self._counts[i] < fault.at + fault.times):
                    due.append(fault)
                    self.fired.append((fault, kind, key))
        return due

    def _perform(self, due: list[Fault], kind: str, key: str, operation: Callable[[], T]) -> T:
        for fault in due:
            if fault.how == "delay":
                time.sleep(fault.seconds)
            elif fault.how == "raise" and fault.when == "before":
                raise _error(fault, kind, key)
        result = operation()
        for fault in due:
            if fault.how == "raise" and fault.when == "after":
                raise _error(fault, kind, key)
        return result

    def __reduce__(self) -> tuple[object, ...]:
        return FaultStore, (self.inner, *self.faults)


def _spoil(fault: Fault, data: bytes) -> bytes:
    if fault.how == "truncate" or not data:
        return data[: len(data) // 2]
    middle = len(data) // 2
    return data[:middle] + bytes((data[middle] ^ 0x10,)) + data[middle + 1 :]


def _error(fault: Fault, kind: str, key: str) -> BaseException:
    if fault.error is not None:
        return fault.error
    error = StoreError(f"{os.strerror(fault.errno)}, on purpose: operation {fault.at} of kind {kind!r}", key=key)
    error.errno = fault.errno
    return error


def sweep(make: Callable[[], Store], fault: Fault) -> Iterator[FaultStore]:
    """Give the same store again and again, with the fault at its first operation, its second, and so on.

    Ends after the store on which the fault no longer happened, because the scenario had no more operations.

    Args:
        make: Makes the store in the state in which the scenario starts.
        fault: What goes wrong; its `at` is replaced.

    >>> from omnizarr.store.mapping import DictStore
    >>> for failing in sweep(lambda: DictStore({"a": b"old"}), Fault(kind="put", when="after")):
    ...     try:
    ...         failing.put("a", b"new")
    ...     except StoreError:
    ...         print("failed, and left", failing.inner.get("a"))
    failed, and left b'new'
    """
    at = 1
    while True:
        failing = FaultStore(make(), fault._replace(at=at))
        yield failing
        if not failing.fired:
            return
        at += 1
