"""Whether an array is still there, and still the one that a handle was made for."""

from __future__ import annotations

from math import prod
from typing import Literal

from omnizarr.array.index import Mask, Points, Selection
from omnizarr.errors import ConflictError, NotFoundError
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.listing import reload
from omnizarr.hierarchy.nodes import Meta
from omnizarr.hierarchy.real_keys import with_real_keys
from omnizarr.model.array import ArrayMeta, have_same_chunks, with_order
from omnizarr.store.protocol import place_name


def there(context: Context, path: str, form: str) -> Meta:
    """Return what is by now where an array of a format was.

    Raises:
        NotFoundError: If nothing is.
    """
    meta = reload(context, path, form)
    if meta is None:
        hint = "Another program or handle has erased or moved it: open it again, or create it anew."
        raise NotFoundError("the array is gone", path=place_name(context.store, path), hint=hint)
    return meta


def check_same(context: Context, path: str, meta: ArrayMeta, order: Literal["C", "F"] | None) -> tuple[int, ...]:
    """Raise if another node has taken an array's place, whose chunks are not these; its shape may have changed.

    Returns:
        The shape that it has by now.

    Args:
        context: The store.
        path: The array's path.
        meta: The array as it was.
        order: The order that elements really have, where a user knows better than the document.

    Raises:
        ConflictError: If so.
        NotFoundError: If nothing is there.
    """
    now = there(context, path, meta.format)
    if isinstance(now, ArrayMeta) and now.keys != meta.keys:
        now = with_real_keys(context.store, path, now, near=context.is_near)
    if not (isinstance(now, ArrayMeta) and have_same_chunks(meta, with_order(now, order))):
        raise ConflictError(
            "the array was replaced by another since it was opened",
            path=place_name(context.store, path),
            hint="Open it again; what this handle writes would damage the new one.",
        )
    return now.shape


def check_within(found: Selection | Points | Mask, shape: tuple[int, ...], now: tuple[int, ...], where: str) -> None:
    """Raise if a selection lies outside an array that was cut: what is written there would come back by growing again.

    Args:
        found: What was selected.
        shape: The shape that it was selected from.
        now: The shape that the array has by now.
        where: The array, for messages.

    Raises:
        ConflictError: If so.
    """
    ends = _ends(found, now) if any(after < before for before, after in zip(shape, now, strict=True)) else now
    if any(end > length for end, length in zip(ends, now, strict=True)):
        raise ConflictError(
            f"somebody else has cut the array from {shape} to {now} since it was opened, and this lies outside",
            path=where,
            hint="Call refresh(), and select from what is there now.",
        )


def _ends(found: Selection | Points | Mask, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return where a selection ends in each dimension: nowhere, if it is empty."""
    if not prod(found.shape):
        return (0,) * len(shape)
    if not isinstance(found, Selection):
        coords = found.points().coords if isinstance(found, Mask) else found.coords
        return tuple(int(axis.max()) + 1 for axis in coords)
    ends = []
    for axis in found.dims:
        if isinstance(axis, tuple):
            start, step, count = axis
            ends.append(start + (count - 1) * step + 1)
        else:
            ends.append(int(axis.max()) + 1)
    return tuple(ends)
