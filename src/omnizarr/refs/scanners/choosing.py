"""A part of a set: one group of it, which becomes the root, and the variables that are wanted."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from omnizarr.errors import NodeTypeError, NotFoundError
from omnizarr.refs.scanners.picking import Picked
from omnizarr.refs.scanners.source import Options
from omnizarr.refset.model import INLINE, References

_COPY: Final = ".zmetadata"
_INNER_COPY: Final = "consolidated_metadata"


def chosen(references: References, options: Options, where: str) -> References:
    """Return what is wanted of a set; files that nothing refers to any more are forgotten.

    Args:
        references: The set, which stays as it is.
        options: The group and the names of variables; all else is left to scanners.
        where: What messages call it.

    Raises:
        NotFoundError: If there is no such group or variable.
        NodeTypeError: If an array is where the group should be.
    """
    group = options.group.strip("/")
    if not (group or options.only or options.skip):
        return references
    found = _below(references, group, where) if group else references
    picked = Picked(options, list(found.arrays))
    left_out = [path for path in found.arrays if not picked(path)]
    if not (group or left_out):
        return references
    inside = tuple(f"{path}/" for path in left_out)
    return _used(
        replace(
            found,
            documents={key: _without_copy(key, text) for key, text in found.documents.items() if _stays(key, inside)},
            arrays={path: rows for path, rows in found.arrays.items() if path not in left_out},
            others={key: value for key, value in found.others.items() if _stays(key, inside)},
        )
    )


def _below(references: References, group: str, where: str) -> References:
    if group in references.arrays:
        raise NodeTypeError(f"{where} has a variable at {group!r}, not a group", path=group)
    start = f"{group}/"
    found = replace(
        references,
        documents=_inside(references.documents, start),
        arrays=_inside(references.arrays, start),
        others=_inside(references.others, start),
    )
    if not (found.documents or found.others):
        raise NotFoundError(f"{where} has no group {group!r}", path=group)
    return found


def _inside(given: dict[str, Any], start: str) -> dict[str, Any]:
    return {key[len(start) :]: value for key, value in given.items() if key.startswith(start)}


def _stays(key: str, left_out: tuple[str, ...]) -> bool:
    return key.rpartition("/")[2] != _COPY and not key.startswith(left_out)


def _without_copy(key: str, text: bytes) -> bytes:
    """Return a document without copies of others, which may be of what is left out."""
    if key.rpartition("/")[2] != "zarr.json" or _INNER_COPY.encode() not in text:
        return text
    document = json.loads(text)
    document.pop(_INNER_COPY, None)
    return json.dumps(document).encode()


def _used(references: References) -> References:
    """Forget URLs that no chunk is at."""
    kept = np.zeros(len(references.urls), np.bool_)
    for rows in references.arrays.values():
        kept[rows.urls[rows.urls < INLINE]] = True
    urls = [url for url, one in zip(references.urls, kept.tolist(), strict=True) if one]
    numbers = (np.cumsum(kept, dtype=np.int64) - 1).astype(np.uint32)
    arrays = dict(references.arrays)
    for path, rows in arrays.items():
        new = rows.urls.copy()
        there = rows.urls < INLINE
        new[there] = numbers[rows.urls[there]]
        arrays[path] = replace(rows, urls=new)
    known = {*urls, *_others(references.others.values())}
    return replace(
        references,
        arrays=arrays,
        urls=urls,
        stamps={url: stamp for url, stamp in references.stamps.items() if url in known},
    )


def _others(values: Iterable[object]) -> Iterable[str]:
    return (value[0] for value in values if isinstance(value, tuple))
