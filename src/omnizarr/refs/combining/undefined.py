"""Arrays without a fill value beside others that have one.

Scans give arrays that have all their chunks no fill value, since v2 has one value for two things, and xarray would take
it for "missing". Nothing of such an array is ever filled, so that it has the fill value of the others as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from omnizarr.model.array import ArrayMeta
from omnizarr.refs.combining.inputs import Input
from omnizarr.refs.combining.variables import Member
from omnizarr.refset.model import MISSING, Chunks


def with_one_fill(path: str, members: list[Member], inputs: Sequence[Input]) -> list[Member]:
    """Give the arrays of a variable that have all their chunks the fill value of the others.

    Args:
        path: The variable.
        members: It, in each of the sets that have it.
        inputs: All sets.

    Returns:
        The members as they were, unless there is one such value, and all that have none can take it.
    """
    fills = {member.meta.fill.bits for member in members}
    given = fills - {None}
    if len(fills) != 2 or len(given) != 1:
        return members
    fill = next(member.meta.fill for member in members if member.meta.fill.bits is not None)
    bare = [member for member in members if member.meta.fill.bits is None]
    if not all(_is_complete(inputs[member.source].chunks(path)) for member in bare):
        return members
    made: dict[int, ArrayMeta] = {}  # most sets share one document, which stays one
    for member in bare:
        if id(member.meta) not in made:
            made[id(member.meta)] = member.meta._replace(fill=fill)
    return [member._replace(meta=made.get(id(member.meta), member.meta)) for member in members]


def _is_complete(chunks: Chunks) -> bool:
    return len(chunks) == prod(chunks.counts) and not bool((chunks.urls == MISSING).any())
