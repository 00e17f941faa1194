"""One object, rather than all that lies below a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnizarr.store.cloud.at import At
from omnizarr.store.cloud.options import settle
from omnizarr.store.cloud.store import native_store

if TYPE_CHECKING:
    from typing_extensions import Buffer


def object_exists(where: str | At) -> bool:
    """Whether there is an object of this very key."""
    settled = settle(where.where, where.options) if isinstance(where, At) else settle(where)
    return native_store(settled, "").exists(settled.prefix)


def put_object(where: str | At, data: Buffer) -> None:
    """Store an object, whole or not at all."""
    settled = settle(where.where, where.options) if isinstance(where, At) else settle(where)
    native_store(settled, "").put(settled.prefix, data)
