"""What a store is: bytes under keys.

Any object with these members is a store; there is no class to inherit from. Operations may be called from several
threads at once. Something missing is an answer (None, False, nothing listed), every failure an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from typing_extensions import Buffer


_OPERATIONS = frozenset(
    ("get", "get_range", "get_many", "put", "erase", "erase_prefix", "list_prefix", "list_dir", "size", "exists")
)


class Store(Protocol):
    """Bytes under keys; see `omnizarr.store.keys` for what a key and a prefix are."""

    @property
    def uri(self) -> str:
        """Where the store is, in the one form that equal stores share."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether every put and erasure is refused."""
        ...

    @property
    def native(self) -> object | None:
        """The kernel's own handle of this very store, or None where the kernel has to call this object."""
        ...

    def get(self, key: str) -> bytes | None:
        """Return the whole value, or None if there is none (also where the key is only a prefix of others)."""
        ...

    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None:
        """Return `length` bytes (None: all) from `start` on, as far as they exist, or None if there is no value.

        A negative start counts from the end: -20 stands for the last twenty bytes, or all if there are fewer.
        """
        ...

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return what `get` returns for each key, in one go."""
        ...

    def put(self, key: str, data: Buffer) -> None:
        """Store a value: afterwards, and after a failure too, the key has the old value or the new one, whole."""
        ...

    def erase(self, key: str) -> bool:
        """Remove the value; False if there was none. On a file system a directory goes with all that it holds."""
        ...

    def erase_prefix(self, prefix: str) -> None:
        """Remove every value below the prefix."""
        ...

    def list_prefix(self, prefix: str) -> Iterable[str]:
        """List all keys below the prefix, at any depth and in no certain order; "" lists the whole store."""
        ...

    def list_dir(self, prefix: str) -> tuple[Sequence[str], Sequence[str]]:
        """List the keys right below the prefix, and the prefixes right below it, each in full; prefixes end in "/"."""
        ...

    def size(self, key: str) -> int | None:
        """Return the number of bytes of the value, or None if there is none."""
        ...

    def exists(self, key: str) -> bool:
        """Whether there is a value."""
        ...


def get_documents(store: Store, keys: Sequence[str], most: int) -> list[bytes | None]:
    """Return the values of several keys, which are small unless something is wrong.

    Stores on disks and servers have a method of this name that makes no room for more; it is no part of the protocol,
    since others hold their values in memory anyhow.

    Raises:
        LimitError: If a value has more than `most` bytes.
    """
    bounded: Callable[[Sequence[str], int], list[bytes | None]] | None = getattr(store, "get_documents", None)
    return store.get_many(keys) if bounded is None else bounded(keys, most)


def documents_in_parts(store: Store, keys: Sequence[str], most: int, part: int) -> Iterable[list[bytes | None]]:
    """Return what `get_documents` does, so many values at a time; those of a distant store as they come."""
    native, prefix = kernel_target(store)
    in_parts: Callable[..., Iterable[list[bytes | None]]] | None = getattr(native, "get_parts", None)
    if in_parts is None or len(keys) <= part:
        return [get_documents(store, keys, most)]
    return in_parts([prefix + key for key in keys], most, part)


def kernel_target(store: Store, prefix: str = "") -> tuple[object, str]:
    """Find what the kernel should work on: its own handle where there is one, and the prefix of the keys there.

    Wrappers that change nothing but the keys, or only refuse writes, are looked through; whoever asks for writing has
    asked `read_only` before. A class of someone's own that overrides operations of a store is never passed by.

    Args:
        store: The store as the user sees it.
        prefix: Empty, or the path of a node followed by "/".
    """
    while (see_through := getattr(store, "see_through", None)) is not None:
        if _is_overridden(type(store), "see_through"):
            return store, prefix
        store, prefix = see_through(prefix)
    native = None if _is_overridden(type(store), "native") else store.native
    return (store if native is None else native), prefix


@lru_cache(256)
def _is_overridden(kind: type, way: str) -> bool:
    """Whether a class overrides operations of the class that has a way past them."""
    with_way = [at for at, base in enumerate(kind.__mro__) if way in vars(base)]
    before = kind.__mro__[: with_way[0]] if with_way else ()
    return any(not _OPERATIONS.isdisjoint(vars(base)) for base in before)


def place_name(store: Store, path: str) -> str:
    """Return where a node is, for messages: the store's URI and the path in it."""
    return f"{store.uri}/{path}" if path else store.uri
