"""What all handles that come from one `open` share."""

from __future__ import annotations

import os
from _thread import RLock
from collections.abc import Callable
from typing import Any, Final

from omnizarr.array.io import NEAR, Access
from omnizarr.errors import OmnizarrError, ReadOnlyError
from omnizarr.format.check import byte_count, check_limits
from omnizarr.format.dialects import WRITABLE, ZARR2, ZARR3, dialect
from omnizarr.format.names import ZARR_JSON, ZMETADATA, join
from omnizarr.hierarchy.consolidated import Block, load_block
from omnizarr.hierarchy.lock import lock_of
from omnizarr.hierarchy.seen import SeenStore
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.store.protocol import Store, kernel_target, place_name

_COPIES: Final = {ZARR3.name: ZARR_JSON, ZARR2.name: ZMETADATA}
"""Which document of a group has its consolidated metadata."""


class Context:
    """A store, whether it may be written, and how it is read.

    All that opens or creates a node has one, so numbers that a user gives are checked here, before they are of use.

    Attributes:
        store: Where the nodes are.
        read_only: Whether writing is refused.
        limits: Bounds on what documents may claim.
        write_empty: Whether chunks that hold the fill value alone are stored.
        cache_bytes: Size of each array's cache of decoded chunks.
        only_read: The format of the nodes, if it is one that can only be read.
        block_root: Path of the group whose consolidated metadata may be used, or `None` for none.
        form: The format that was asked for, which nodes are looked for in first; empty if none was.
        seen: Documents that were fetched when the node was opened, until they are looked at again.
    """

    __slots__ = (
        *("_block", "_lock", "block_root", "cache_bytes"),
        *("form", "limits", "only_read", "read_only", "seen", "store", "write_empty"),
    )

    def __init__(
        self,
        store: Store,
        *,
        read_only: bool,
        limits: Limits = DEFAULT_LIMITS,
        write_empty: bool = False,
        cache_bytes: int = 0,
        block_root: str | None = None,
        only_read: str = "",
        form: str = "",
    ) -> None:
        self.store = store
        self.read_only = read_only
        self.limits = check_limits(limits)
        self.write_empty = write_empty
        self.cache_bytes = byte_count(cache_bytes, "cache_bytes")
        self.block_root = block_root
        self.only_read = only_read
        self.form = form
        self.seen: dict[str, bytes | None] | None = None
        self._block: Block | None = None
        self._lock: tuple[int, RLock] | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self.store, self.read_only, *self._settings())

    def _settings(self) -> tuple[object, ...]:
        return self.limits, self.write_empty, self.cache_bytes, self.block_root, self.only_read, self.form

    @property
    def lock(self) -> RLock:
        """What keeps the other threads of this process from changing metadata in the store."""
        known, process = self._lock, os.getpid()
        if known is None or known[0] != process:
            known = self._lock = process, lock_of(self.store)
        return known[1]

    @property
    def block(self) -> Block | None:
        """Consolidated metadata that answers for the documents below it; looked for when first asked for."""
        if self._block is None and self.block_root is not None:
            store = self.store if self.seen is None else SeenStore(self.store, self.seen)
            if self.form:  # as if there were no copy in any other format
                others = (name for form, name in _COPIES.items() if form != self.form)
                store = SeenStore(store, {join(self.block_root, name): None for name in others})
            self._block, self.seen = load_block(store, self.block_root, self.limits), None
            if self._block is None:
                self.block_root = None
        return self._block

    @property
    def is_near(self) -> bool:
        """Whether documents and listings are cheap: the store is in memory or in the file system."""
        return isinstance(kernel_target(self.store)[0], NEAR)

    def access(
        self, path: str, meta: ArrayMeta, *, write_empty: bool = False, missed: Callable[[], object] | None = None
    ) -> Access:
        """Return what reads and writes the array at a path.

        Args:
            path: The array's path.
            meta: What it is.
            write_empty: Whether chunks that hold the fill value alone are stored.
            missed: Raises if the array is gone; called when there is neither a chunk nor a document of it.
        """
        return Access(
            self.store,
            path,
            meta,
            limits=self.limits,
            write_empty=write_empty or self.write_empty,
            cache_bytes=self.cache_bytes,
            document=dialect(meta.format).nodes[0] if missed is not None and meta.format in WRITABLE else "",
            missed=missed,
        )

    def over(self, store: Store) -> Context:
        """Return the same over another view of the store."""
        return _restored(store, self.read_only, *self._settings())

    def for_format(self, name: str) -> Context:
        """Return the same for nodes of a format: one that refuses to write if the format can only be read."""
        if name in WRITABLE:
            return self
        return Context(
            self.store,
            read_only=True,
            limits=self.limits,
            cache_bytes=self.cache_bytes,
            only_read=name,
            form=self.form,
        )

    def placing(self, path: str) -> Placing:
        """Let errors of the store, which knows keys alone, say which node they are about, and where it is."""
        return Placing(self.store, path)

    def check_writable(self, path: str) -> None:
        """Raise if this was opened for reading, or cannot be written.

        Raises:
            ReadOnlyError: If so.
        """
        if not (self.only_read or self.read_only):
            return
        where = place_name(self.store, path)
        if self.only_read:
            hint = "Write its data to a new array."
            raise ReadOnlyError(f"the format {self.only_read} can only be read", path=where, hint=hint)
        raise ReadOnlyError("opened for reading only", path=where, hint='open it with mode="r+" to change it')


class Placing:
    """Gives errors that leave a `with` statement the place of a node, where they have none."""

    __slots__ = ("_path", "_store")

    def __init__(self, store: Store, path: str) -> None:
        self._store, self._path = store, path

    def __enter__(self) -> None:
        return

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: object) -> None:
        if isinstance(error, OmnizarrError) and error.path is None:
            error.path = place_name(self._store, self._path)


def _restored(store: Store, read_only: bool, *settings: Any) -> Context:  # noqa: ANN401 - as `__reduce__` gives them
    limits, write_empty, cache_bytes, block_root, only_read, form = settings
    return Context(
        store,
        read_only=read_only,
        limits=limits,
        write_empty=write_empty,
        cache_bytes=cache_bytes,
        block_root=block_root,
        only_read=only_read,
        form=form,
    )
