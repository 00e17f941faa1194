"""Where documents are taken from: the store, or the copy of all of them that `.zmetadata` is.

The copy is a cache that other programs may leave behind. It is used where asking for each document would take long, if
its copy of the root's documents says what they say; and where there are no other documents at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from omnizarr.errors import OmnizarrError, warn
from omnizarr.format.consolidated import split_v2
from omnizarr.format.lenient import load
from omnizarr.format.names import ZARRAY, ZATTRS, ZGROUP, ZMETADATA, join
from omnizarr.limits import Limits
from omnizarr.store.protocol import Store


class Texts:
    """Documents by key."""

    def __init__(self, store: Store, root: str, copies: Mapping[str, bytes] | None = None) -> None:
        self._store = store
        self._root = root
        self._copies = copies
        self._names: dict[str, list[str]] | None = None

    @property
    def copied(self) -> bool:
        """Whether documents come from a copy."""
        return self._copies is not None

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the documents of keys, in one go."""
        if self._copies is None:
            return self._store.get_many(keys)
        start = len(self._root) + 1 if self._root else 0
        return [self._copies.get(key[start:]) for key in keys]

    def children(self, path: str) -> list[str]:
        """Return the names that may be nodes right below a path, sorted."""
        if self._copies is None:
            start = path + "/" if path else ""
            return sorted(prefix[len(start) : -1] for prefix in self._store.list_dir(start)[1])
        if self._names is None:
            self._names = {}
            nodes = {key.rpartition("/")[0] for key in self._copies if key.rpartition("/")[2] in (ZARRAY, ZGROUP)}
            for node in sorted(nodes - {""}):
                above, _, name = node.rpartition("/")
                self._names.setdefault(join(self._root, above).strip("/"), []).append(name)
        return self._names.get(path, [])


def texts_of(store: Store, root: str, own: Mapping[str, bytes], limits: Limits, *, near: bool) -> Texts:
    """Choose where the documents of a v2 hierarchy come from.

    Args:
        store: Where the hierarchy is.
        root: The path of its root.
        own: The root's own documents, by name.
        limits: Bounds on documents.
        near: Whether asking for each document is cheap.
    """
    consolidated = own.get(ZMETADATA)
    has_own = any(name in own for name in (ZGROUP, ZARRAY, ZATTRS))
    if consolidated is None or (near and has_own):
        return Texts(store, root)
    try:
        copies = split_v2(consolidated, join(root, ZMETADATA), limits)
    except OmnizarrError as error:
        if not has_own:
            raise
        warn(f"{join(root, ZMETADATA)!r} is not used: {error.message}")
        return Texts(store, root)
    names = [name for name in own if name != ZMETADATA]
    if all(_agree(own[name], copies.get(name), limits) for name in names):
        return Texts(store, root, copies)
    return Texts(store, root)


def _agree(one: bytes, other: bytes | None, limits: Limits) -> bool:
    if one == other:
        return True
    try:
        return other is not None and load(one, "", limits) == load(other, "", limits)
    except OmnizarrError:
        return False
