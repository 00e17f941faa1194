"""How an array is cut into chunks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias


class RegularGrid(NamedTuple):
    """Chunks of one shape; the last ones overhang the array and are stored whole.

    >>> RegularGrid((4, 5)).counts((10, 10))
    (3, 2)
    """

    chunk_shape: tuple[int, ...]

    def counts(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Say how many chunks lie along each dimension: none where the array or the chunk has no length."""
        return tuple(-(-n // c) if c else 0 for n, c in zip(shape, self.chunk_shape, strict=True))


Grid: TypeAlias = RegularGrid
"""Every kind of grid that an array may have."""
