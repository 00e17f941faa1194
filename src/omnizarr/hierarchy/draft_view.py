"""A hierarchy of a v3 draft as a store in which each node's documents and chunks lie below the node's own path.

The drafts of 2019 to 2022 keep documents below `meta/` and chunks below `data/`. The kernel reads chunks from the store
itself: for it, the view is nothing but another prefix.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NoReturn

from omnizarr.errors import NotFoundError, ReadOnlyError
from omnizarr.format.consolidated import split_v2
from omnizarr.format.draft import parse_entry_point
from omnizarr.format.draft_names import CONSOLIDATED, Layout, find_layout
from omnizarr.format.names import DRAFT_ARRAY, DRAFT_ARRAY_2019, DRAFT_GROUP, ZARR_JSON, ZMETADATA, join
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.store.protocol import Store

if TYPE_CHECKING:
    from typing_extensions import Buffer

_DOCUMENTS = frozenset((DRAFT_ARRAY, DRAFT_ARRAY_2019, DRAFT_GROUP))


def find_draft(store: Store, path: str, limits: Limits = DEFAULT_LIMITS) -> tuple[DraftView, str] | None:
    """Look for the hierarchy of a draft at a path or above it.

    Returns:
        A view of the hierarchy, and the path in it; `None` if there is none.

    Raises:
        UnsupportedError: If the hierarchy needs an extension.
    """
    parts = path.split("/") if path else []
    for depth in range(len(parts), -1, -1):
        root = "/".join(parts[:depth])
        layout = _layout(store, root, limits)
        if layout is not None:
            return DraftView(store, root + "/" if root else "", layout, limits), "/".join(parts[depth:])
    return None


def _layout(store: Store, root: str, limits: Limits) -> Layout | None:
    data = store.get(join(root, ZARR_JSON))
    suffix = None if data is None else parse_entry_point(data, join(root, ZARR_JSON), limits)
    if data is not None and suffix is None:
        return None  # another v3, in which `meta` is a name like any other
    files, folders = _names(store, join(root, "meta/"))
    if suffix is None and not (files or folders):
        return None
    _, chunks = _names(store, join(root, "data/"))
    layout = find_layout((files, folders), chunks, ".json" if suffix is None else suffix)
    # An entry point alone is a hierarchy without nodes, whose root is a group.
    return layout or (Layout("meta/root", "data/root/", suffix) if suffix is not None else None)


def _names(store: Store, prefix: str) -> tuple[list[str], list[str]]:
    keys, prefixes = store.list_dir(prefix)
    return [key[len(prefix) :] for key in keys], [one[len(prefix) : -1] for one in prefixes]


class DraftView:
    """The view; it can only be read."""

    __slots__ = ("_copies", "inner", "layout", "limits", "start")

    native = None
    read_only = True

    def __init__(self, inner: Store, start: str, layout: Layout, limits: Limits) -> None:
        self.inner = inner
        self.start = start
        self.layout = layout
        self.limits = limits
        self._copies: dict[str, bytes] | None = None

    @property
    def uri(self) -> str:
        """Where the hierarchy is."""
        return f"{self.inner.uri}/{self.start}".rstrip("/") if self.start else self.inner.uri

    def see_through(self, prefix: str) -> tuple[Store, str]:
        """Tell where the kernel finds the chunks of the array at a prefix."""
        return self.inner, f"{self.start}{self.layout.data}{prefix}"

    def get(self, key: str) -> bytes | None:
        """Return a document, or a chunk."""
        path, _, name = key.rpartition("/")
        if name not in _DOCUMENTS:
            return self.inner.get(self._chunk(key))
        candidates = self.layout.candidates(path, name)
        for value in self.inner.get_many([self.start + one for one in candidates]):
            if value is not None:
                return value
        copies = self._consolidated()
        copy = next((copies[one] for one in candidates if one in copies), None)
        if copy is None and name == DRAFT_GROUP and self._is_implied(path):
            return b"{}"
        return copy

    def get_range(self, key: str, start: int, length: int | None = None) -> bytes | None:
        """Return a part of a chunk."""
        return self.inner.get_range(self._chunk(key), start, length)

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return several values."""
        return [self.get(key) for key in keys]

    def size(self, key: str) -> int | None:
        """Return the number of bytes of a chunk."""
        return self.inner.size(self._chunk(key))

    def exists(self, key: str) -> bool:
        """Whether there is a document or chunk."""
        if key.rpartition("/")[2] in _DOCUMENTS:
            return self.get(key) is not None
        return self.inner.exists(self._chunk(key))

    def list_prefix(self, prefix: str) -> Iterable[str]:
        """List the chunks below a prefix."""
        start = f"{self.start}{self.layout.data}"
        return [key[len(start) :] for key in self.inner.list_prefix(start + prefix)]

    def list_dir(self, prefix: str) -> tuple[Sequence[str], Sequence[str]]:
        """List the nodes right below a path."""
        files, folders = _names(self.inner, f"{self.start}{self.layout.meta}/{prefix}")
        if not prefix and self.layout.meta == "meta":
            files = [name for name in files if f"meta/{name}" not in self._root_documents()]
        names = {self.layout.node(name) for name in files} | {*folders}
        names |= {one.partition("/")[0] for one in self._copied_nodes(prefix)}
        if not prefix and self._has_copies():
            names.discard(CONSOLIDATED)
        return [], [f"{prefix}{name}/" for name in sorted(name for name in names if name)]

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

    def __repr__(self) -> str:
        return f"DraftView({self.inner!r}, {self.start!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.inner, self.start, self.limits)

    def _chunk(self, key: str) -> str:
        return f"{self.start}{self.layout.data}{key}"

    def _is_implied(self, path: str) -> bool:
        """Whether a group needs no document, because something lies below it, or because it is the root."""
        if not path:
            return all(value is None for value in self.inner.get_many([self.start + one for one in self._arrays("")]))
        keys, prefixes = self.inner.list_dir(f"{self.start}{self.layout.meta}/{path}/")
        return bool(keys or prefixes) and path != CONSOLIDATED

    def _arrays(self, path: str) -> list[str]:
        return self.layout.candidates(path, self.layout.array)

    def _root_documents(self) -> list[str]:
        return [*self._arrays(""), *self.layout.candidates("", DRAFT_GROUP)]

    def _block_key(self) -> str:
        return f"{self.start}{self.layout.meta}/{CONSOLIDATED}/{ZMETADATA}"

    def _has_copies(self) -> bool:
        return bool(self._consolidated())

    def _consolidated(self) -> dict[str, bytes]:
        """Return the documents in the consolidated metadata by their keys; they answer where the documents are gone."""
        if self._copies is None:
            data = self.inner.get(self._block_key())
            self._copies = {} if data is None else split_v2(data, self._block_key(), self.limits)
        return self._copies

    def _copied_nodes(self, prefix: str) -> list[str]:
        start = f"{self.layout.meta}/{prefix}"
        names = (key[len(start) :] for key in self._consolidated() if key.startswith(start))
        return [node for node in (self.layout.node(name) or name for name in names) if node]


def _again(inner: Store, start: str, limits: Limits) -> DraftView:
    found = find_draft(inner, start.rstrip("/"), limits)
    if found is None:
        raise NotFoundError("the hierarchy is gone", path=inner.uri)
    return found[0]


def _refuse(key: str) -> NoReturn:
    hint = "Copy what is in it to a new hierarchy."
    raise ReadOnlyError("hierarchies of the drafts of Zarr v3 can only be read", key=key, hint=hint)
