"""How many chunks the arrays of a set have, and how their keys are made: what their documents say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple, cast

from omnizarr.errors import OmnizarrError
from omnizarr.format.dialects import DIALECTS
from omnizarr.hierarchy.nodes import parse
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.keys import Keys, v2_keys

_NAMES: Final = frozenset(name for one in DIALECTS.values() for name in one.documents)


class ChunkGrid(NamedTuple):
    """The chunks of an array, as far as references are concerned."""

    counts: tuple[int, ...]
    keys: Keys


def grid_of(meta: ArrayMeta) -> ChunkGrid:
    """Return the grid of what lies under the keys of an array: of its chunks, or shards."""
    return ChunkGrid(meta.grid.counts(meta.shape), meta.keys)


def array_metas(
    documents: Mapping[str, bytes],
    limits: Limits = DEFAULT_LIMITS,
    refused: dict[str, OmnizarrError] | None = None,
) -> Iterator[tuple[str, ArrayMeta]]:
    """Go through the arrays among the documents of a set: the path of each, and what it is.

    Args:
        documents: The documents, and whatever else there is, by key.
        limits: Bounds on what they may claim.
        refused: Takes the errors of those that break their specification, by path; without it, the first is raised.

    Raises:
        MetadataError: If a document breaks its specification.
    """
    nodes: dict[str, dict[str, bytes]] = {}
    for key, data in documents.items():
        path, _, name = key.rpartition("/")
        if name in _NAMES:
            nodes.setdefault(path, {})[name] = data
    for path, texts in nodes.items():
        try:
            meta = parse(path, texts, limits)
        except OmnizarrError as error:
            if refused is None:
                raise
            refused[path] = error
            continue
        if isinstance(meta, ArrayMeta):
            yield path, meta


def grids(
    documents: Mapping[str, bytes],
    limits: Limits = DEFAULT_LIMITS,
    refused: dict[str, OmnizarrError] | None = None,
) -> dict[str, ChunkGrid]:
    """Return the grid of each array.

    Most documents are plain ones of Zarr v2, whose grid is told by two lists; only others are parsed whole. Whoever
    opens an array has its documents parsed then, and sees their errors: an array that nobody understands keeps no one
    from the others.

    Args:
        documents: As for `array_metas`.
        limits: As there.
        refused: As there; what tells its grid is never refused.

    Raises:
        MetadataError: If a document breaks its specification, and does not tell the grid.

    >>> grids({"x/.zarray": b'{"shape": [10, 5], "chunks": [4, 5], "dtype": "?"}', "y/.zarray": b"{}"}, refused={})
    {'x': ChunkGrid(counts=(3, 1), keys=Keys(prefix='', separator='.', suffix='', scalar='0', reversed=False))}
    """
    found: dict[str, ChunkGrid] = {}
    odd: dict[str, bytes] = {}
    for key, data in documents.items():
        path, _, name = key.rpartition("/")
        grid = _plain_grid(data) if name == ".zarray" else None
        if grid is not None:
            found[path] = grid
        elif name in _NAMES:
            odd[key] = data
    odd = {key: data for key, data in odd.items() if key.rpartition("/")[0] not in found}
    found.update((path, grid_of(meta)) for path, meta in array_metas(odd, limits, refused))
    return found


def _plain_grid(data: bytes) -> ChunkGrid | None:
    try:
        document = json.loads(data)
        shape, chunks = _lengths(document["shape"], 0), _lengths(document["chunks"], 1)
        separator = document.get("dimension_separator", ".")
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if len(shape) != len(chunks) or separator not in (".", "/"):
        return None
    return ChunkGrid(tuple(-(-n // chunk) for n, chunk in zip(shape, chunks, strict=True)), v2_keys(separator))


def _lengths(value: object, least: int) -> list[int]:
    numbers = cast("list[int]", list(cast("Iterable[object]", value)))
    if not isinstance(value, list) or any(type(n) is not int or not least <= n < 1 << 63 for n in numbers):
        raise ValueError
    return numbers
