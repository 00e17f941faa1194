"""Which nodes of a hierarchy are meant: patterns of names, and the keys that belong to what they leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from omnizarr.format.consolidated import MARK, render_v2, render_v3, split_v2, split_v3
from omnizarr.format.dialects import DIALECTS
from omnizarr.format.names import ZARR_JSON, ZMETADATA, join
from omnizarr.store.protocol import Store
from omnizarr.tools.patterns import wanted

_NAMES = frozenset((ZMETADATA, *(name for one in DIALECTS.values() for name in one.documents)))
_MAIN = frozenset(name for one in DIALECTS.values() for name in one.nodes)


def chosen(paths: Iterable[str], include: Sequence[str], exclude: Sequence[str]) -> tuple[set[str], set[str]]:
    """Choose nodes by their paths within a group.

    Returns:
        The nodes that are meant, and the groups above them that are not meant themselves but hold them.

    >>> kept, above = chosen(["a", "a/t", "a/u", "b"], ["t"], [])
    >>> kept, above
    ({'a/t'}, {'a'})
    """
    kept = set(filter(wanted(include, exclude), paths))
    above: set[str] = set()
    for path in kept:
        parts = path.split("/")
        above.update("/".join(parts[:depth]) for depth in range(1, len(parts)))
    return kept, above - kept


def is_document(key: str) -> bool:
    """Whether a key has the name of a document of some dialect."""
    return key.rpartition("/")[2] in _NAMES


def in_order(documents: Iterable[str]) -> list[list[str]]:
    """Order documents so that each node shows up whole: the deepest first, what makes a node after what it says.

    >>> in_order([".zgroup", "a/.zarray", "a/.zattrs", ".zmetadata"])
    [['a/.zattrs'], ['a/.zarray'], ['.zgroup'], ['.zmetadata']]
    """
    ranked: dict[tuple[int, int], list[str]] = {}
    for key in documents:
        name = key.rpartition("/")[2]
        rank = 2 if name == ZMETADATA else 1 if name in _MAIN else 0
        ranked.setdefault((-key.count("/"), rank), []).append(key)
    return [ranked[rank] for rank in sorted(ranked)]


def own_documents(store: Store, start: str, groups: Iterable[str]) -> list[str]:
    """List the keys of documents that groups have, below what keys begin with."""
    found: list[str] = []
    for group in groups:
        keys, _ = store.list_dir(f"{start}{group}/" if group else start)
        found += [key[len(start) :] for key in keys if is_document(key)]
    return found


def reduced(key: str, data: bytes, kept: Callable[[str], bool]) -> bytes | None:
    """Return consolidated metadata without the nodes that are left out; `None` if a document has none in it.

    Args:
        key: The key of the document below the group that was chosen from.
        data: Its text.
        kept: Whether the node at a path below that group is kept.
    """
    group, _, name = key.rpartition("/")
    if name == ZMETADATA:
        texts = split_v2(data, key)
    elif name == ZARR_JSON and MARK in data:
        found = split_v3(data, key)
        if found is None:
            return None
        texts = found
    else:
        return None
    left = {one: text for one, text in texts.items() if kept(join(group, one.rpartition("/")[0]).strip("/"))}
    return render_v2(left) if name == ZMETADATA else render_v3(data, left)
