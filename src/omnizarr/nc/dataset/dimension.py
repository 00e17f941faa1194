"""Dimensions."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NoReturn

from omnizarr.nc.dataset.words import class_text
from omnizarr.nc.tree import Dim

if TYPE_CHECKING:
    from omnizarr.nc.dataset.dataset import Dataset


class Dimension:
    """A named length, shared by variables. `len` gives the current one."""

    __slots__ = ("__weakref__", "_grp", "node")

    def __init__(self, group: Dataset, node: Dim) -> None:
        self._grp: Any = weakref.proxy(group) if group.keepweakref else group
        self.node = node
        """The record in the tree."""

    @property
    def name(self) -> str:
        """The name."""
        return self.node.name

    @property
    def size(self) -> int:
        """The current length."""
        return self.node.size

    def __len__(self) -> int:
        return self.node.size

    def group(self) -> Dataset:
        """Return the group that defines the dimension."""
        group: Dataset = self._grp
        return group

    def isunlimited(self) -> bool:
        """Say whether writing can make it longer."""
        return self.node.unlimited

    def __repr__(self) -> str:
        unlimited = " (unlimited)" if self.node.unlimited else ""
        return f"{class_text(self)!r}{unlimited}: name = {self.name!r}, size = {len(self)}"

    def __reduce__(self) -> NoReturn:
        raise NotImplementedError("Dimension is not picklable")
