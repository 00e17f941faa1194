"""What the handles of arrays and groups share: where the node is, and that its store may have to be closed."""

from __future__ import annotations

from typing import Self

from omnizarr.hierarchy.context import Context
from omnizarr.store.protocol import Store


class Handle:
    """A handle on a node; its store is closed by hand or by a `with` statement."""

    __slots__ = ()

    _context: Context
    _path: str

    @property
    def store(self) -> Store:
        """The store that the node is in."""
        return self._context.store

    @property
    def path(self) -> str:
        """Path of the node in its store; empty at the root."""
        return self._path

    @property
    def name(self) -> str:
        """Path of the node with a slash in front."""
        return "/" + self._path

    @property
    def basename(self) -> str:
        """Last part of the path."""
        return self._path.rpartition("/")[2]

    @property
    def read_only(self) -> bool:
        """Whether the node was opened for reading."""
        return self._context.read_only

    def close(self) -> None:
        """Close the store, if it is one that can be: a zip archive is written then.

        Other nodes that were opened together with this one cannot be used afterwards, either.
        """
        store: object = self._context.store
        while store is not None:
            close = getattr(store, "close", None)
            if close is not None:
                close()
                return
            store = getattr(store, "inner", None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
