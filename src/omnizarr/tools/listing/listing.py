"""What lies below a node: names, shapes and types from the documents alone; no chunk is looked at unless asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from omnizarr.late import LateModule
from omnizarr.tools.listing.entries import Entry, matching
from omnizarr.tools.listing.glance import glance

if TYPE_CHECKING:
    from omnizarr.tools.listing import full as full_listing
else:
    full_listing = LateModule("omnizarr.tools.listing.full")

__all__ = ["Entry", "list_nodes"]


def list_nodes(
    where: object,
    *,
    path: str | None = None,
    depth: int | None = None,
    patterns: Sequence[str] = (),
    stored: bool = False,
) -> list[Entry]:
    """List a node and all below it, parents before their children.

    Args:
        where: Whatever `omnizarr.open` takes, or a handle.
        path: Path of the node within it.
        depth: How many levels below the node are listed; all if not given.
        patterns: Patterns such as `temp*` of names, or of whole paths if they hold a slash. What matches none is left
            out, except the groups above what does, and all below a group that does.
        stored: Whether to measure how many bytes each array takes in the store, which lists its chunks.

    Raises:
        NotFoundError: If nothing is there.

    >>> import omnizarr as oz
    >>> g = oz.create_group({})
    >>> a = g.create_array("ocean/t", shape=(3, 4), dtype="f4")
    >>> [(entry.path, entry.kind, entry.nbytes) for entry in list_nodes(g)]
    [('', 'group', None), ('ocean', 'group', None), ('ocean/t', 'array', 48)]
    """
    entries = glance(where, depth) if path is None and not stored else None
    if entries is None:
        return full_listing.list_nodes(where, path, depth, patterns, stored=stored)
    return matching(entries, patterns)
