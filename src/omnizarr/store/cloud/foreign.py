"""What the stores of other libraries have in common here: names, and errors that say which key."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, TypeVar
from weakref import WeakValueDictionary

from omnizarr.errors import OmnizarrError, ReadOnlyError, StoreError
from omnizarr.store.cloud.secret import without_secrets
from omnizarr.store.mapping import random_uri

T = TypeVar("T")

MISSING: Final = (FileNotFoundError, IsADirectoryError, NotADirectoryError)
"""What file systems raise where there is no value."""

_MOST: Final = 300


class Named:
    """The name of an object in memory, for as long as a store of it lives; it keeps the object, and so its `id`."""

    __slots__ = ("__weakref__", "target", "uri")

    def __init__(self, target: object) -> None:
        self.target = target
        self.uri = random_uri()


_names: WeakValueDictionary[int, Named] = WeakValueDictionary()


def named(target: object) -> Named:
    """Return the name of an object, which all stores of it share."""
    return _names.get(id(target)) or _names.setdefault(id(target), Named(target))


def said(error: BaseException) -> str:
    """Return what an error of another library says, on one line, and without what stands behind a "?" in a URL."""
    text = str(error).strip().partition("\n")[0][:_MOST] or type(error).__name__
    return re.sub(r"(://[^\s?'\"]*)\?[^\s'\"]*", r"\1", text)


def shown(where: str) -> str:
    """Return a URL, or a chain of them, for messages: without passwords.

    >>> shown("simplecache::ftp://me:hush@example.org/a?key=hush")
    'simplecache::ftp://example.org/a'
    """
    return "::".join(without_secrets(one) if "://" in one else one for one in where.split("::"))


@contextmanager
def failures(key: str | None, place: str | None = None) -> Generator[None, None, None]:
    """Turn whatever another library raises into an error that names the key, or the place."""
    try:
        yield
    except OmnizarrError:
        raise
    except NotImplementedError as error:
        raise ReadOnlyError(f"this store cannot do that: {said(error)}", path=place, key=key) from error
    except Exception as error:
        raise _failure(error, key, place) from error


def _failure(error: Exception, key: str | None, place: str | None) -> StoreError:
    hint = None if place is None else "Look at the address, and whether the server can be reached from here."
    failed = StoreError(f"the store failed: {type(error).__name__}: {said(error)}", path=place, key=key, hint=hint)
    if isinstance(error, OSError):
        failed.errno = error.errno
    return failed


def unless_missing(key: str, operation: Callable[[], T]) -> T | None:
    """Return what an operation gives, None where there is no value."""
    with failures(key):
        try:
            return operation()
        except MISSING:
            return None


def module_of(target: object) -> str:
    """Return the package that an object's class, or one that it inherits from, is of: fsspec, obstore, zarr or ""."""
    for base in type(target).__mro__:
        package = base.__module__.partition(".")[0]
        if package in ("fsspec", "obstore", "zarr"):
            return package
    return ""


def sub_key(root: str, path: str) -> str | None:
    """Return a path relative to a root, both without slashes at their ends; None if it is not below.

    >>> sub_key("/a/b", "/a/b/c/d"), sub_key("", "c"), sub_key("a", "ab/c"), sub_key("a", "a")
    ('c/d', 'c', None, None)
    """
    if not root:
        return path.lstrip("/") or None
    return path[len(root) + 1 :] if path.startswith(f"{root}/") and len(path) > len(root) + 1 else None
