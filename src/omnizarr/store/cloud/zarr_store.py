"""Any store of zarr-python 3 as a store; it is driven by zarr-python's own loop."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from omnizarr.store.buffers import byte_view
from omnizarr.store.cloud.foreign import MISSING, failures, named, unless_missing
from omnizarr.store.keys import check_key, check_prefix, clip, is_key

if TYPE_CHECKING:
    from typing_extensions import Buffer


_MOST: Final = 64 << 20
"""Bytes that are asked for without knowing whether there are as many."""


_NEVER: Final = ("invalid zarr key", "bad key prefix")
"""What icechunk says of keys that are not of Zarr v3: it never holds those."""


class ZarrStore:
    """A store of zarr-python: its MemoryStore, its ZipStore, one of icechunk, one that wraps others.

    Args:
        store: An object of a class that inherits `zarr.abc.store.Store`.
    """

    __slots__ = ("_name", "store", "uri")

    native = None

    def __init__(self, store: Any) -> None:  # noqa: ANN401 - zarr-python need not be installed
        self.store = store
        self._name = named(store)
        self.uri = self._name.uri
        with failures(""):
            _run(store._ensure_open)  # noqa: SLF001 - some of its own stores fail without

    @property
    def read_only(self) -> bool:
        """Whether the store refuses changes."""
        return bool(self.store.read_only)

    def get(self, key: str) -> bytes | None:
        """Return the value of a key."""
        return self.get_many([key])[0]

    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None:
        """Return a part of the value of a key."""
        if start >= 0 and length and length <= _MOST:
            try:
                return self._part(key, start, start + length)
            except OSError:  # some stores fail beyond the end
                if (self.size(key) or 0) > start:
                    raise
        size = self.size(key)
        if size is None:
            return None
        first, last = clip(size, start, length)
        return self._part(key, first, last) if first < last else b""

    def _part(self, key: str, first: int, last: int) -> bytes | None:
        check_key(key)
        request = import_module("zarr.abc.store").RangeByteRequest(first, last)
        found = _asked(key, lambda: _run(self.store.get, key, _prototype(), request))
        return None if found is None else bytes(found.to_bytes())

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the values of several keys, which are asked for at once."""
        for key in keys:
            check_key(key)

        async def gathered() -> list[Any]:
            from asyncio import gather  # noqa: PLC0415 - takes long to import, and zarr-python has done that

            answers = (self.store.get(key, _prototype()) for key in keys)
            return list(await gather(*answers, return_exceptions=True))

        with failures(keys[0] if keys else ""):
            found = _run(gathered)
        return [_answer(key, one) for key, one in zip(keys, found, strict=True)]

    def put(self, key: str, data: Buffer) -> None:
        """Set the value of a key."""
        check_key(key)
        value = data if type(data) is bytes else byte_view(key, data).tobytes()
        with failures(key):
            _run(self.store.set, key, _prototype().buffer.from_bytes(value))

    def erase(self, key: str) -> bool:
        """Remove the value of a key."""
        if not self.exists(key):
            return False
        with failures(key):
            _run(self.store.delete, key)
        return True

    def erase_prefix(self, prefix: str) -> None:
        """Remove all values below a prefix."""
        for key in self.list_prefix(prefix):
            # With the document of an array some stores drop its chunks, too.
            with failures(key), suppress(KeyError, *MISSING):
                _run(self.store.delete, key)

    def list_prefix(self, prefix: str) -> list[str]:
        """List the keys below a prefix."""
        prefix = check_prefix(prefix)
        found = self._listed(self.store.list_prefix, prefix)
        return [key for key in found if key.startswith(prefix) and is_key(key)]

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        """List what lies right below a prefix."""
        prefix = check_prefix(prefix)
        keys: list[str] = []
        prefixes: dict[str, None] = {}
        # Stores of zarr-python do not tell keys from prefixes here, so all that is below is looked at.
        for key in self.list_prefix(prefix):
            name, slash, _ = key[len(prefix) :].partition("/")
            if slash:
                prefixes[f"{prefix}{name}/"] = None
            else:
                keys.append(key)
        return keys, list(prefixes)

    def size(self, key: str) -> int | None:
        """Return the size of the value of a key."""
        check_key(key)
        if not self.exists(key):
            return None
        found = _asked(key, lambda: _run(self.store.getsize, key))
        return None if found is None else int(found)

    def exists(self, key: str) -> bool:
        """Whether a key has a value."""
        check_key(key)
        return bool(_asked(key, lambda: _run(self.store.exists, key)))

    def _listed(self, listing: Callable[[str], Any], prefix: str) -> list[str]:
        async def collected() -> list[str]:
            return [str(one) async for one in listing(prefix)]

        return _asked(prefix, lambda: _run(collected)) or []

    def __repr__(self) -> str:
        return f"ZarrStore(<{type(self.store).__name__}>)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZarrStore) and (self.store is other.store or self.store == other.store)

    def __hash__(self) -> int:
        return hash((ZarrStore, type(self.store)))

    def __reduce__(self) -> tuple[object, ...]:
        return ZarrStore, (self.store,)


def _answer(key: str, found: Any) -> bytes | None:  # noqa: ANN401 - a buffer of zarr-python, or an error
    """Return what came, unless it is an error."""

    def raised() -> bytes | None:
        if isinstance(found, BaseException):
            raise found
        return None if found is None else bytes(found.to_bytes())

    answer: bytes | None = _asked(key, raised)
    return answer


def _asked(key: str, operation: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever the operation gives
    """Return what an operation gives; a key that a store would never hold has no value."""

    def tried() -> Any:  # noqa: ANN401 - as above
        try:
            return operation()
        except Exception as error:
            if any(words in str(error) for words in _NEVER):
                return None
            raise

    return unless_missing(key, tried)


def _run(function: Callable[..., Coroutine[Any, Any, Any]], *arguments: object) -> Any:  # noqa: ANN401 - whatever it gives
    return import_module("zarr.core.sync").sync(function(*arguments))


def _prototype() -> Any:  # noqa: ANN401 - zarr-python need not be installed
    return import_module("zarr.core.buffer").default_buffer_prototype()
