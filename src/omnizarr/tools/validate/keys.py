"""Rules about keys that are no documents: chunks that nobody would look for, and what does not belong there."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from omnizarr.format.names import join
from omnizarr.hierarchy import unfinished
from omnizarr.model.array import ArrayMeta
from omnizarr.model.keys import default_keys, v2_keys
from omnizarr.tools.validate.nodes import Node
from omnizarr.tools.validate.report import Cure, Sink
from omnizarr.tools.validate.scene import Scene, nearest

_CLUTTER: Final = frozenset((".DS_Store", "Thumbs.db", "desktop.ini", ".directory", ".Spotlight-V100", ".Trashes"))
_KNOWN: Final = frozenset((".nczarr", ".nczarray", ".nczgroup", ".nczattr", ".nczvar"))
"""Documents of netCDF, which lie beside those of v2."""

_DOCUMENTS: Final = frozenset(("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"))
_UNFINISHED: Final = re.compile(r"\..+\.partial|.+\.[0-9a-f]{32}\.partial|.+\.__lock")
"""What Omnizarr, zarr-python and tensorstore call files while they write them; others may be somebody's own."""

_MOST_CURED: Final = 100_000

_WORDS: Final[dict[str, tuple[str, str]]] = {
    "OZ601": ("is neither a document nor a chunk", "are neither documents nor chunks"),
    "OZ602": ("was left behind by an operating system or editor", "were left behind by an operating system or editor"),
    "OZ603": ("was begun to be written and not finished", "were begun to be written and not finished"),
    "OZ604": ("is a lock that was left behind", "are locks that were left behind"),
    "OZ605": ("is a chunk outside the array", "are chunks outside the array"),
    "OZ606": ("is a chunk under a key of another encoding", "are chunks under keys of another encoding"),
    "OZ607": ("has leading zeros in its indices", "have leading zeros in their indices"),
    "OZ608": ("has another number of indices than the array", "have another number of indices than the array"),
    "OZ609": ("lies in a folder where a chunk should be", "lie in folders where chunks should be"),
    "OZ612": ("says that arrays were being made longer", "say that arrays were being made longer"),
    "OZ611": ("says that the array was being cut", "say that the array was being cut"),
    "OZ610": ("lies in a folder where a document should be", "lie in folders where documents should be"),
}
_NOTES: Final[dict[str, tuple[str, Callable[[str], tuple[Cure, ...]]]]] = {
    unfinished.CUT: ("OZ611", lambda path: (Cure("cut", path),)),
    unfinished.GROWTH: ("OZ612", lambda path: (Cure("grow", path),)),
}
_ERASED: Final = frozenset(("OZ602", "OZ603", "OZ604", "OZ605"))


class Odd(NamedTuple):
    """Keys of an array that are not of its chunks inside the shape, below the array's path."""

    outside: Sequence[str]
    noutside: int
    others: Sequence[str]


def share(scene: Scene, nodes: Mapping[str, Node]) -> dict[str | None, list[str]]:
    """Return keys that are no documents by the path of the nearest node above them."""
    shared: dict[str | None, list[str]] = defaultdict(list)
    owners: dict[str, str | None] = {}
    for key in scene.others:
        folder = key.rpartition("/")[0]
        if folder not in owners:
            owners[folder] = nearest(folder, nodes)
        shared[owners[folder]].append(key)
    return shared


def odd_keys(meta: ArrayMeta, path: str, keys: Iterable[str]) -> Odd:
    """Find the odd ones among the keys below an array, where the kernel cannot."""
    start = len(path) + 1 if path else 0
    counts = meta.grid.counts(meta.shape)
    outside: list[str] = []
    others: list[str] = []
    for key in keys:
        index = meta.keys.parse(key[start:], meta.ndim)
        if index is None:
            others.append(key[start:])
        elif any(i >= n for i, n in zip(index, counts, strict=True)):
            outside.append(key[start:])
    return Odd(outside, len(outside), others)


def check_keys(scene: Scene, nodes: Mapping[str, Node], odd: Mapping[str, Odd], sink: Sink) -> None:
    """Check all keys that are no documents.

    Args:
        scene: What is there.
        nodes: The nodes by path.
        odd: What is known already of arrays, by path.
        sink: Takes findings.
    """
    shared = share(scene, nodes)
    for path in odd:
        shared.setdefault(path, [])
    for owner, keys in shared.items():
        node = None if owner is None else nodes[owner]
        path = scene.start if owner is None else owner
        if node is None or node.kind == "group":
            _tell(scene, path, None, Odd((), 0, [_below(path, key) for key in keys]), sink)
        elif isinstance(node.meta, ArrayMeta):
            found = odd.get(path)
            _tell(scene, path, node.meta, odd_keys(node.meta, path, keys) if found is None else found, sink)


def _below(path: str, key: str) -> str:
    return key[len(path) + 1 :] if path else key


def _tell(scene: Scene, path: str, meta: ArrayMeta | None, odd: Odd, sink: Sink) -> None:
    sorted_out: dict[str, list[str]] = defaultdict(list)
    if odd.outside:
        sorted_out["OZ605"] = sorted(odd.outside)
    for key in odd.others:
        rule = _rule(scene, path, key, meta)
        if rule is not None:
            sorted_out[rule].append(key)
    for rule, keys in sorted(sorted_out.items()):
        count = odd.noutside if rule == "OZ605" else len(keys)
        first = scene.chunk(path, min(keys))
        singular, plural = _WORDS[rule]
        message = f"{first!r} {singular}" if count == 1 else f"{count} keys {plural}, such as {first!r}"
        cures = tuple(Cure("erase", join(path, key)) for key in keys[:_MOST_CURED]) if rule in _ERASED else ()
        cures = next((cure(path) for note, cure in _NOTES.values() if note == rule), cures)
        sink.add(rule, (path, first), message, times=count, cures=() if scene.draft is not None else cures)


def _rule(scene: Scene, path: str, key: str, meta: ArrayMeta | None) -> str | None:
    folders, _, name = key.rpartition("/")
    if name in _KNOWN:
        return None
    if name in _CLUTTER or name.startswith("._") or name.endswith("~") or key.startswith("__MACOSX/"):
        return "OZ602"
    if _UNFINISHED.fullmatch(name) or (name in _NOTES and not folders):
        return _NOTES[name][0] if name in _NOTES else "OZ603"
    if name.endswith(".lock"):
        return "OZ604" if scene.store.size(join(path, key)) == 0 else "OZ601"
    if not _DOCUMENTS.isdisjoint(folders.split("/")):
        return "OZ610"
    return "OZ601" if meta is None else _almost_chunk(key, meta)


def _almost_chunk(key: str, meta: ArrayMeta) -> str:
    own, ndim = meta.keys, meta.ndim
    for other in (v2_keys("."), v2_keys("/"), default_keys("/"), default_keys(".")):
        if other != own and other.parse(key, ndim) is not None:
            return "OZ606"
    without = re.sub(r"(?<![0-9])0+(?=[0-9])", "", key)
    if without != key and own.parse(without, ndim) is not None:
        return "OZ607"
    if own.parse(key) is not None:
        return "OZ608"
    at = key.find("/")
    while at >= 0:
        if own.parse(key[:at], ndim) is not None:
            return "OZ609"
        at = key.find("/", at + 1)
    return "OZ601"
