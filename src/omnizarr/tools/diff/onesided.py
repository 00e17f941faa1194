"""Nodes that are only in one of two hierarchies, and guesses at where they went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from omnizarr.errors import OmnizarrError
from omnizarr.hierarchy.array import Array
from omnizarr.tools.diff.result import OneSided, Rename
from omnizarr.tools.diff.structure import attributes_of, dims_of
from omnizarr.tools.nodes import Node

Found: TypeAlias = Node | OmnizarrError


def one_sided(ours: Mapping[str, Found], theirs: Mapping[str, Found]) -> tuple[OneSided, ...]:
    """List the nodes that are missing on the other side; what lies below one of them is counted with it."""
    tops: dict[str, int] = {}
    for path, node in ours.items():
        if path in theirs or isinstance(node, OmnizarrError):
            continue
        # Parents come first, so that the topmost one is known already.
        top = next((above for above in _above(path) if above in tops), None)
        if top is None:
            tops[path] = 1
        else:
            tops[top] += 1
    return tuple(_described(path, ours[path], count) for path, count in tops.items())


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts))]


def _described(path: str, node: Found, count: int) -> OneSided:
    if isinstance(node, Array):
        return OneSided(path, "array", f"{node.shape} {node.metadata.dtype.label}", count)
    return OneSided(path, "group", "", count)


def guess_renames(
    gone: Sequence[OneSided], new: Sequence[OneSided], a: Mapping[str, Found], b: Mapping[str, Found]
) -> tuple[Rename, ...]:
    """Pair what is only in A with what is only in B if they look the same, and like nothing else among these."""
    if not gone or not new:
        return ()
    ours, theirs = (_by_looks(nodes, found) for nodes, found in ((gone, a), (new, b)))
    return tuple(
        Rename(paths[0], theirs[looks][0])
        for looks, paths in ours.items()
        if len(paths) == 1 and len(theirs.get(looks, ())) == 1
    )


def _by_looks(tops: Sequence[OneSided], found: Mapping[str, Found]) -> dict[str, list[str]]:
    looks: dict[str, list[str]] = {top.path: [] for top in tops}
    for path, node in found.items():
        top = next((above for above in (*_above(path), path) if above in looks), None)
        if top is not None:
            looks[top].append(f"{path[len(top) :]}: {_look(node)}")
    alike: dict[str, list[str]] = {}
    for top, lines in looks.items():
        alike.setdefault("\n".join(sorted(lines)), []).append(top)
    return alike


def _look(node: Found) -> str:
    if isinstance(node, OmnizarrError):
        return node.message
    attributes = sorted(attributes_of(node).items())
    if isinstance(node, Array):
        meta = node.metadata
        return repr((meta.shape, meta.dtype.with_byteorder("native").label, dims_of(meta), attributes))
    return repr(attributes)
