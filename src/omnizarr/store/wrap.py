"""Stores around another store: what all of them share, reading only, and a part of a store as a store of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from omnizarr.errors import ReadOnlyError
from omnizarr.store.keys import check_key, check_prefix
from omnizarr.store.protocol import Store, get_documents
from omnizarr.store.uri import quote

if TYPE_CHECKING:
    from typing_extensions import Buffer


class Wrapper:
    """Passes every operation on to another store; the classes derived from it change some."""

    __slots__ = ("inner",)

    def __init__(self, inner: Store) -> None:
        self.inner = inner

    @property
    def uri(self) -> str:
        """Where the inner store is."""
        return self.inner.uri

    @property
    def identity(self) -> int | None:
        """The inner store's number for the values that it shares with other stores, if it has one."""
        identity: int | None = getattr(self.inner, "identity", None)
        return identity

    @property
    def read_only(self) -> bool:
        """Whether the inner store refuses writes."""
        return self.inner.read_only

    @property
    def native(self) -> object | None:
        """None: the kernel has to go through this store."""
        return None

    def get(self, key: str) -> bytes | None:
        """Return the value."""
        return self.inner.get(key)

    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None:
        """Return a part of the value."""
        return self.inner.get_range(key, start, length)

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return several values."""
        return self.inner.get_many(keys)

    def put(self, key: str, data: Buffer) -> None:
        """Store a value."""
        self.inner.put(key, data)

    def erase(self, key: str) -> bool:
        """Remove a value."""
        return self.inner.erase(key)

    def erase_prefix(self, prefix: str) -> None:
        """Remove all values below a prefix."""
        self.inner.erase_prefix(prefix)

    def list_prefix(self, prefix: str) -> Iterable[str]:
        """List the keys below a prefix."""
        return self.inner.list_prefix(prefix)

    def list_dir(self, prefix: str) -> tuple[Sequence[str], Sequence[str]]:
        """List what lies right below a prefix."""
        return self.inner.list_dir(prefix)

    def size(self, key: str) -> int | None:
        """Return the number of bytes of the value."""
        return self.inner.size(key)

    def exists(self, key: str) -> bool:
        """Whether there is a value."""
        return self.inner.exists(key)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.inner!r})"


class ReadOnlyStore(Wrapper):
    """A store that refuses every change.

    >>> from omnizarr.store.mapping import DictStore
    >>> ReadOnlyStore(DictStore({"a": b"1"})).get("a")
    b'1'
    """

    __slots__ = ()

    @property
    def read_only(self) -> bool:
        """Always true."""
        return True

    @property
    def native(self) -> object | None:
        """The inner store's handle; the kernel writes only where `read_only` was asked before."""
        return self.inner.native

    def see_through(self, prefix: str) -> tuple[Store, str]:
        """Tell which store, and which prefix there, the kernel should work on."""
        return self.inner, prefix

    def get_documents(self, keys: Sequence[str], most: int) -> list[bytes | None]:
        """Return several values, none of more than so many bytes."""
        return get_documents(self.inner, keys, most)

    def put(self, key: str, data: Buffer) -> None:
        """Refuse."""
        del data
        _refuse(key)

    def erase(self, key: str) -> bool:
        """Refuse."""
        _refuse(key)

    def erase_prefix(self, prefix: str) -> None:
        """Refuse."""
        _refuse(prefix)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReadOnlyStore) and self.inner == other.inner

    def __hash__(self) -> int:
        return hash((ReadOnlyStore, self.inner))


def _refuse(key: str) -> NoReturn:
    raise ReadOnlyError(
        "the store was opened for reading only", key=key, hint="Open it with mode='r+' or 'a' to write."
    )


class PrefixStore(Wrapper):
    """The part of a store below a prefix, as a store of its own.

    Args:
        inner: The whole store.
        prefix: What all keys of the part begin with, with or without a "/" at its end.
    """

    __slots__ = ("prefix",)

    def __init__(self, inner: Store, prefix: str) -> None:
        super().__init__(inner)
        self.prefix = check_prefix(prefix)

    @property
    def uri(self) -> str:
        """The inner store's URI, and the prefix."""
        return f"{self.inner.uri.rstrip('/')}/{quote(self.prefix)}".rstrip("/")

    def see_through(self, prefix: str) -> tuple[Store, str]:
        """Tell which store, and which prefix there, the kernel should work on."""
        return self.inner, self.prefix + prefix

    def get_documents(self, keys: Sequence[str], most: int) -> list[bytes | None]:
        """Return several values, none of more than so many bytes."""
        return get_documents(self.inner, [self.prefix + check_key(key) for key in keys], most)

    def get(self, key: str) -> bytes | None:
        """Return the value."""
        return self.inner.get(self.prefix + check_key(key))

    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None:
        """Return a part of the value."""
        return self.inner.get_range(self.prefix + check_key(key), start, length)

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return several values."""
        return self.inner.get_many([self.prefix + check_key(key) for key in keys])

    def put(self, key: str, data: Buffer) -> None:
        """Store a value."""
        self.inner.put(self.prefix + check_key(key), data)

    def erase(self, key: str) -> bool:
        """Remove a value."""
        return self.inner.erase(self.prefix + check_key(key))

    def erase_prefix(self, prefix: str) -> None:
        """Remove all values below a prefix."""
        self.inner.erase_prefix(self.prefix + check_prefix(prefix))

    def list_prefix(self, prefix: str) -> Iterable[str]:
        """List the keys below a prefix."""
        return self._below(self.inner.list_prefix(self.prefix + check_prefix(prefix)))

    def list_dir(self, prefix: str) -> tuple[Sequence[str], Sequence[str]]:
        """List what lies right below a prefix."""
        keys, prefixes = self.inner.list_dir(self.prefix + check_prefix(prefix))
        return self._below(keys), self._below(prefixes)

    def size(self, key: str) -> int | None:
        """Return the number of bytes of the value."""
        return self.inner.size(self.prefix + check_key(key))

    def exists(self, key: str) -> bool:
        """Whether there is a value."""
        return self.inner.exists(self.prefix + check_key(key))

    def _below(self, keys: Iterable[str]) -> list[str]:
        return [key[len(self.prefix) :] for key in keys]

    def __repr__(self) -> str:
        return f"PrefixStore({self.inner!r}, {self.prefix!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PrefixStore) and (self.inner, self.prefix) == (other.inner, other.prefix)

    def __hash__(self) -> int:
        return hash((PrefixStore, self.inner, self.prefix))


def listing_view(store: Store) -> Store:
    """Return a store whose keys the kernel can list: of a server's files the store itself knows how, by its pages."""
    seen: Any = store
    while (see_through := getattr(seen, "see_through", None)) is not None:
        seen = see_through("")[0]
    return Wrapper(store) if getattr(seen, "lists_itself", False) else store
