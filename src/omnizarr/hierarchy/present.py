"""Whether an array is still there, and still the one that a handle was made for."""

from __future__ import annotations

from typing import Literal

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


def check_same(context: Context, path: str, meta: ArrayMeta, order: Literal["C", "F"] | None) -> None:
    """Raise if another node has taken an array's place, whose chunks are not these; its shape may have changed.

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
