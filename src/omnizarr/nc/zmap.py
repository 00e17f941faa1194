"""A store under the name that netCDF gives it: the zmap, a tree of keys of which the leaves hold bytes.

A key is "/", or "/" and a segment, again and again; a segment is text without "/" and control characters. Every key
that is the start of another one stands for what lies below it; only the leaves, here called objects, have content. A
dataset is everything below the key of its root.

https://docs.unidata.ucar.edu/netcdf-c/current/nczarr_head.html#nczarr_mapimpl
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, ClassVar, Literal

from omnizarr.errors import ExistsError, NotFoundError, ReadOnlyError, SelectionError, UnsafeError
from omnizarr.nc.codes import NC_EEDGE, NC_EEMPTY, NC_EINVAL, NC_ENOOBJECT, NC_EOBJECT
from omnizarr.store.keys import is_key
from omnizarr.store.protocol import Store
from omnizarr.store.resolve import resolve

if TYPE_CHECKING:
    from typing import Self

    from typing_extensions import Buffer


class EmptyKeyError(NotFoundError):
    """A key without content was read."""

    code: ClassVar[int] = NC_EEMPTY


class ObjectExistsError(ExistsError):
    """An object is there that should not be."""

    code: ClassVar[int] = NC_EOBJECT


class NoObjectError(NotFoundError):
    """An object is not there that should be."""

    code: ClassVar[int] = NC_ENOOBJECT


class BadKeyError(UnsafeError):
    """Text that is not a key."""

    code: ClassVar[int] = NC_EINVAL


class OutsideError(SelectionError):
    """Bytes were asked for that lie behind the end of an object."""

    code: ClassVar[int] = NC_EEDGE


class Zmap:
    """The keys and objects below a place.

    Args:
        store: Where the objects are.
        path: The path in the store that is the root here.

    >>> zmap = Zmap.create({})
    >>> zmap.write("/g/v/.zarray", b"{}")
    >>> zmap.search("/"), zmap.search("/g"), zmap.len("/g/v/.zarray"), zmap.exists("/g")
    (['g'], ['v'], 2, False)
    """

    def __init__(self, store: Store, path: str = "") -> None:
        self._store = store
        self._start = f"{path}/" if path else ""

    @classmethod
    def open(cls, where: object, mode: Literal["r", "a"] = "r") -> Self:
        """Open what is at a place: a path, a URL, an archive, a mapping or a store.

        Raises:
            NoObjectError: If nothing is there.
        """
        found = cls(*resolve(where, read_only=mode == "r"))
        if not found.search("/"):
            raise NoObjectError("nothing is there", path=found.uri)
        return found

    @classmethod
    def create(cls, where: object, *, overwrite: bool = False) -> Self:
        """Begin anew at a place.

        Args:
            where: As for `open`.
            overwrite: Whether to erase what is there.

        Raises:
            ObjectExistsError: If something is there, and must not be erased.
        """
        found = cls(*resolve(where))
        if found.search("/"):
            if not overwrite:
                raise ObjectExistsError("something is there already", path=found.uri, hint="pass overwrite=True")
            found.clear()
        return found

    @property
    def uri(self) -> str:
        """Where the root is."""
        return f"{self._store.uri}/{self._start}".rstrip("/") if self._start else self._store.uri

    @property
    def read_only(self) -> bool:
        """Whether changes are refused."""
        return self._store.read_only

    def exists(self, key: str) -> bool:
        """Whether a key has content."""
        return key != "/" and self._store.exists(self._key(key))

    def len(self, key: str) -> int:
        """Return the number of bytes of an object.

        Raises:
            EmptyKeyError: If the key has no content.
        """
        size = self._store.size(self._key(key)) if key != "/" else None
        if size is None:
            raise self._empty(key)
        return size

    def read(self, key: str, start: int = 0, count: int | None = None) -> bytes:
        """Return bytes of an object: `count` from `start` on, by default all.

        Raises:
            EmptyKeyError: If the key has no content.
            OutsideError: If there are not as many.
        """
        if start < 0 or (count is not None and count < 0):
            raise OutsideError(f"{count} bytes from {start} on cannot be", key=key)
        if key == "/":
            raise self._empty(key)
        name = self._key(key)
        data = self._store.get(name) if not start and count is None else self._store.get_range(name, start, count)
        if data is None:
            raise self._empty(key)
        if (count is not None and len(data) < count) or (start and start > self.len(key)):
            raise OutsideError(f"there are no {count or 0} bytes from {start} on, of {self.len(key)}", key=key)
        return data

    def write(self, key: str, data: Buffer) -> None:
        """Store an object, whole.

        Raises:
            ObjectExistsError: If an object lies above the key or below it: only leaves have content.
            ReadOnlyError: If it is open for reading only.
        """
        name = self._key(key)
        if any(character < " " or character == "\x7f" for character in key):
            # Stores of others may have such keys, which can be read.
            raise BadKeyError("a key of a zmap has no control characters", key=key)
        if not name or self.read_only:
            raise BadKeyError("the root has no content", key=key) if not name else self._refused(key)
        parts = key.split("/")
        for end in range(2, len(parts)):
            above = "/".join(parts[:end])
            if self.exists(above):
                raise ObjectExistsError(f"{above!r} is an object, so nothing can be below it", key=key)
        if self.search(key):
            raise ObjectExistsError("there are objects below this key, so it cannot be one itself", key=key)
        self._store.put(name, data)

    def search(self, prefix: str = "/") -> list[str]:
        """Return the names right below a key: all that, put behind it, begin the key of some object; sorted.

        One level only. Objects themselves have nothing below them.
        """
        start = self._key(prefix)
        start = f"{start}/" if start and not start.endswith("/") else start
        keys, prefixes = self._store.list_dir(start)
        names = {key[len(start) :] for key in keys}
        # An empty folder is no key: nothing with content begins with it.
        names |= {name[len(start) : -1] for name in prefixes if self._holds(name)}
        return sorted(names)

    def walk(self, prefix: str = "/") -> Iterator[str]:
        """Go through the keys of all objects below a key, and of itself if it is one: depth first, sorted by name."""
        if self.exists(prefix):
            yield prefix
            return
        for name in self.search(prefix):
            yield from self.walk(f"{prefix.rstrip('/')}/{name}")

    def glob(self, pattern: str) -> Iterator[str]:
        """Go through keys of objects that fit a pattern: `*` and `?` within a segment, `**` for any number of them.

        >>> zmap = Zmap.open({"x/.zarray": b"", "x/0": b"", "y/0": b""})
        >>> list(zmap.glob("/*/0")), list(zmap.glob("/x/**"))
        (['/x/0', '/y/0'], ['/x/.zarray', '/x/0'])
        """
        return self._glob("/", [part for part in pattern.split("/") if part])

    def clear(self) -> None:
        """Erase every object.

        Raises:
            ReadOnlyError: If it is open for reading only.
        """
        if self.read_only:
            raise self._refused("/")
        self._store.erase_prefix(self._start)

    def close(self, *, delete: bool = False) -> None:
        """Let go of the place; with `delete`, erase everything first."""
        if delete:
            self.clear()
        close = getattr(self._store, "close", None)
        if callable(close):
            close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _glob(self, here: str, parts: list[str]) -> Iterator[str]:
        if not parts:
            if self.exists(here):
                yield here
            return
        if parts == ["**"]:
            yield from self.walk(here)
            return
        for name in self.search(here):
            inner = f"{here.rstrip('/')}/{name}"
            if parts[0] == "**":
                yield from self._glob(inner, parts)
                if fnmatchcase(name, parts[1]):
                    yield from self._glob(inner, parts[2:])
            elif fnmatchcase(name, parts[0]):
                yield from self._glob(inner, parts[1:])

    def _holds(self, prefix: str) -> bool:
        keys, prefixes = self._store.list_dir(prefix)
        return bool(keys) or any(self._holds(one) for one in prefixes)

    def _key(self, key: str) -> str:
        """Return the store's key.

        Raises:
            BadKeyError: If the text is not a key.
        """
        inner = key[1:]
        if not key.startswith("/") or (inner and not is_key(inner)):
            raise BadKeyError("not a key of a zmap", key=key, hint='Keys look like "/" or "/x/y".')
        return self._start + inner

    def _empty(self, key: str) -> EmptyKeyError:
        below = "" if key == "/" or not self.search(key) else ", but others below it have"
        return EmptyKeyError(f"the key has no content{below}", path=self.uri, key=key)

    def _refused(self, key: str) -> ReadOnlyError:
        return ReadOnlyError("open for reading only", path=self.uri, key=key, hint='Open it with mode "a".')
