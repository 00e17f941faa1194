"""Stores of obstore, and all that have the methods of obspec, as stores.

https://developmentseed.org/obspec/
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from omnizarr.errors import StoreError, UnsupportedError
from omnizarr.store.buffers import byte_view
from omnizarr.store.cloud.foreign import failures, named, said, unless_missing
from omnizarr.store.keys import check_key, check_prefix, clip, is_key

if TYPE_CHECKING:
    from typing_extensions import Buffer

METHODS: Final = ("get", "get_range", "head", "list")
"""Methods that a store of obspec needs at least."""

_AT_ONCE: Final = 16
_SCHEMES: Final = {"S3Store": "s3", "GCSStore": "gs", "AzureStore": "az"}
_QUICKER: Final = ("AlreadyExistsError", "PreconditionError")
_BUCKETS: Final = ("bucket", "bucket_name", "container_name", "aws_bucket_name", "google_bucket_name")


class ObstoreStore:
    """A store of obstore, used as it is.

    Args:
        store: An `obstore.store.S3Store`, `MemoryStore` and so on, or any object with the methods of obspec.
    """

    __slots__ = ("_name", "store", "uri")

    native = None

    def __init__(self, store: Any) -> None:  # noqa: ANN401 - obspec is a protocol
        self.store = store
        self._name = named(store)
        self.uri = _uri(store) or self._name.uri

    @property
    def read_only(self) -> bool:
        """Whether there is no way to put."""
        return not callable(getattr(self.store, "put", None)) or type(self.store).__name__ == "HTTPStore"

    def get(self, key: str) -> bytes | None:
        """Return the object of a key."""
        check_key(key)
        return unless_missing(key, lambda: _missing_too(lambda: bytes(self.store.get(key).bytes())))

    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None:
        """Return a part of the object of a key."""
        check_key(key)
        if start < 0 or length is None or length <= 0:
            return self._odd_range(key, start, length)
        try:
            return unless_missing(
                key, lambda: _missing_too(lambda: bytes(self.store.get_range(key, start=start, length=length)))
            )
        except StoreError:  # some stores fail beyond the end
            size = self.size(key)
            if size is not None and start >= size:
                return b""
            raise

    def _odd_range(self, key: str, start: int, length: int | None) -> bytes | None:
        size = self.size(key)
        if size is None:
            return None
        first, last = clip(size, start, length)
        return self.get_range(key, first, last - first) if last > first else b""

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the objects of several keys, of which many are asked for at once."""
        if len(keys) < 2:
            return [self.get(key) for key in keys]
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - takes long to import

        with ThreadPoolExecutor(min(_AT_ONCE, len(keys))) as threads:
            return list(threads.map(self.get, keys))

    def get_tagged(self, key: str) -> tuple[bytes, str] | None:
        """Return the object of a key, and a tag that tells whether it is still the same."""
        check_key(key)

        def tagged() -> tuple[bytes, str]:
            answer = self.store.get(key)
            meta = answer.meta
            return bytes(answer.bytes()), _tag(meta)

        return unless_missing(key, lambda: _missing_too(tagged))

    def put(self, key: str, data: Buffer) -> None:
        """Replace the object of a key."""
        check_key(key)
        with failures(key):
            self.store.put(key, _value(key, data))

    def put_if(self, key: str, data: Buffer, tag: str | None) -> str | None:
        """Replace the object of a key if it is the one with this tag; without a tag, only if there is none.

        Returns:
            The new tag; None if someone else was quicker, and nothing was put.

        Raises:
            UnsupportedError: The store has no conditions.
        """
        check_key(key)
        mode = "create" if tag is None else json.loads(tag)
        if tag is not None and not mode:
            raise UnsupportedError("this store has no tags, so nothing can be put on condition", key=key)
        with failures(key):
            try:
                return _tag(self.store.put(key, _value(key, data), mode=mode))
            except FileNotFoundError:
                return None
            except Exception as error:
                name = type(error).__name__
                if name in _QUICKER:
                    return None
                if name in ("NotSupportedError", "NotImplementedError"):
                    raise UnsupportedError(f"this store has no conditions: {said(error)}", key=key) from error
                raise

    def erase(self, key: str) -> bool:
        """Remove the object of a key."""
        if not self.exists(key):
            return False
        with failures(key):
            self.store.delete(key)
        return True

    def erase_prefix(self, prefix: str) -> None:
        """Remove all objects below a prefix."""
        keys = self.list_prefix(prefix)
        with failures(prefix):
            if keys:
                self.store.delete(keys)

    def list_prefix(self, prefix: str) -> list[str]:
        """List the keys below a prefix."""
        prefix = check_prefix(prefix)
        with failures(prefix):
            paths = [str(one["path"]) for chunk in self.store.list(prefix.rstrip("/") or None) for one in chunk]
        return [path for path in paths if path.startswith(prefix) and is_key(path)]

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        """List what lies right below a prefix."""
        prefix = check_prefix(prefix)
        with failures(prefix):
            found = self.store.list_with_delimiter(prefix.rstrip("/") or None)
        keys = [str(one["path"]) for one in found["objects"]]
        prefixes = [str(one).rstrip("/") for one in found["common_prefixes"]]
        below = [key for key in keys if key.startswith(prefix) and is_key(key)]
        return below, [f"{one}/" for one in prefixes if one.startswith(prefix) and is_key(one)]

    def size(self, key: str) -> int | None:
        """Return the size of the object of a key."""
        check_key(key)
        return unless_missing(key, lambda: _missing_too(lambda: int(self.store.head(key)["size"])))

    def exists(self, key: str) -> bool:
        """Whether there is an object of a key."""
        return self.size(key) is not None

    def __repr__(self) -> str:
        return f"ObstoreStore({self.uri!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObstoreStore) and (self.store is other.store or self.store == other.store)

    def __hash__(self) -> int:
        return hash((ObstoreStore, type(self.store)))

    def __reduce__(self) -> tuple[object, ...]:
        return ObstoreStore, (self.store,)


@contextmanager
def _no_folder() -> Generator[None, None, None]:
    """Take the error of a key below a file, which some stores do not call missing, for a missing value."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ == "NotFoundError" or "Not a directory" in str(error):
            raise FileNotFoundError from error
        raise


def _missing_too(operation: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever the operation gives
    with _no_folder():
        return operation()


def _value(key: str, data: Buffer) -> bytes:
    return data if type(data) is bytes else byte_view(key, data).tobytes()


def _tag(meta: Any) -> str:  # noqa: ANN401 - a mapping of obspec
    return json.dumps({name: meta[name] for name in ("e_tag", "version") if meta.get(name) is not None})


def _uri(store: Any) -> str:  # noqa: ANN401 - obspec is a protocol
    """Name the place of a store that tells it; empty if it does not."""
    scheme = _SCHEMES.get(type(store).__name__, "")
    config = getattr(store, "config", None)
    if not scheme or not isinstance(config, dict):
        return ""
    bucket = next((str(config[name]) for name in _BUCKETS if name in config), "")
    account, endpoint = config.get("account_name"), config.get("endpoint") or config.get("base_url")
    start = f"{endpoint}/{bucket}" if endpoint else f"{scheme}://{f'{account}@' if account else ''}{bucket}"
    prefix = str(getattr(store, "prefix", None) or "").strip("/")
    return f"{start}/{prefix}" if prefix else start
