"""Words for nodes, as several commands print them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omnizarr.cli.output import Output
from omnizarr.letters import columns_of
from omnizarr.sizes import human_bytes
from omnizarr.tools.listing.entries import Entry


def location(where: str) -> str:
    """Return a place as it was typed, without what is not needed."""
    return where.rstrip("/") or where


def counted(number: int, what: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "array"), counted(2000, "key")
    ('1 array', '2,000 keys')
    """
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def summary(found: Sequence[Entry]) -> str:
    """Return how much there is of what, in a line."""
    arrays = [entry for entry in found if entry.kind == "array"]
    groups = sum(entry.kind == "group" for entry in found)
    broken = sum(entry.kind == "unreadable" for entry in found)
    parts = [counted(groups, "group")] if groups else []
    parts.append(counted(len(arrays), "array"))
    parts += [f"{broken:,} that cannot be read"] if broken else []
    parts.append(human_bytes(sum(entry.nbytes or 0 for entry in arrays)))
    stored = [entry.nbytes_stored for entry in arrays if entry.nbytes_stored is not None]
    parts += [f"{human_bytes(sum(stored))} stored"] if stored else []
    return ", ".join(parts)


def as_object(entry: Entry, *, with_attributes: bool = False) -> dict[str, Any]:
    """Return a node as an object of JSON."""
    made: dict[str, Any] = {"name": entry.name, "path": entry.path, "kind": entry.kind}
    if entry.error is not None:
        made["error"] = entry.error
        return made
    made["format"] = entry.format
    layout = entry.layout
    if layout is not None:
        made |= {"shape": entry.shape, "dims": entry.dims, "dtype": layout.dtype}
        made["chunks"] = layout.chunks if len(layout.chunks) == len(entry.shape) else layout.chunks_text
        made["shards"] = layout.shards if layout.shards != () or not entry.shape else layout.shards_text
        made |= {"codecs": layout.codecs, "nbytes": entry.nbytes}
        if entry.nbytes_stored is not None:
            made["nbytes_stored"] = entry.nbytes_stored
    if with_attributes:
        made["attributes"] = entry.attributes
    return made


def cut(out: Output, text: str, used: int) -> str:
    """Return text that fits into the line of a terminal behind what stands there already."""
    if not out.is_terminal:
        return text
    room = out.width - used
    if columns_of(text) <= room:
        return text
    end = "…" if out.can_draw else "..."
    if room <= len(end):
        return ""
    kept = text[: room - len(end)]
    while columns_of(kept) > room - len(end):
        kept = kept[:-1]
    return kept + end
