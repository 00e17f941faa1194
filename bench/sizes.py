"""How large the race is: the real one, and a small one that proves that everything runs."""

from __future__ import annotations

from dataclasses import dataclass

ITEMSIZE = 4  # float32 throughout


@dataclass(frozen=True, slots=True)
class Sizes:
    """Shapes and counts from which all workloads are derived."""

    cube: tuple[int, int, int]
    table: tuple[int, int]
    """The same bytes as the cube, seen as rows."""
    arrays: int
    """How many arrays a group of the metadata cells has."""
    chunk_counts: tuple[int, ...]
    """Numbers of chunks in the growth cells."""

    @property
    def nbytes(self) -> int:
        """Size of the cube in memory."""
        n, h, w = self.cube
        return n * h * w * ITEMSIZE


FULL = Sizes(cube=(64, 1024, 1024), table=(65536, 1024), arrays=2000, chunk_counts=(100, 1_000, 10_000, 100_000))
SMALL = Sizes(cube=(64, 256, 256), table=(4096, 1024), arrays=50, chunk_counts=(100, 1_000))

BY_NAME = {"full": FULL, "small": SMALL}
