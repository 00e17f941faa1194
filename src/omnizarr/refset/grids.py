"""How many chunks the arrays of a set have, and how their keys are made: what their documents say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from omnizarr.format.dialects import DIALECTS
from omnizarr.hierarchy.nodes import parse
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.keys import Keys

_NAMES = frozenset(name for one in DIALECTS.values() for name in one.documents)


class ChunkGrid(NamedTuple):
    """The chunks of an array, as far as references are concerned."""

    counts: tuple[int, ...]
    keys: Keys


def grid_of(meta: ArrayMeta) -> ChunkGrid:
    """Return the grid of what lies under the keys of an array: of its chunks, or shards."""
    return ChunkGrid(meta.grid.counts(meta.shape), meta.keys)


def array_metas(documents: Mapping[str, bytes], limits: Limits = DEFAULT_LIMITS) -> Iterator[tuple[str, ArrayMeta]]:
    """Go through the arrays among the documents of a set: the path of each, and what it is.

    Raises:
        MetadataError: If a document breaks its specification.
    """
    nodes: dict[str, dict[str, bytes]] = {}
    for key, data in documents.items():
        path, _, name = key.rpartition("/")
        if name in _NAMES:
            nodes.setdefault(path, {})[name] = data
    for path, texts in nodes.items():
        meta = parse(path, texts, limits)
        if isinstance(meta, ArrayMeta):
            yield path, meta
