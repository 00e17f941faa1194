"""What the race asks of an engine; what one cannot do, it refuses with `Unsupported`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, ClassVar

from bench.data import Floats
from bench.layout import Layout

Handle = Any
"""An open array, of whatever class the engine has."""


class Unsupported(Exception):  # noqa: N818 - an answer, not a failure
    """The engine has no such feature; its cell stays empty."""


class Engine:
    """One implementation. `base` is a folder; the array stands in it under the name `v`."""

    own_format: ClassVar[bool] = False
    """The engine cannot read Zarr and gets a copy of the data in files of its own."""

    def version(self) -> str:
        """What the table prints."""
        raise NotImplementedError

    def cold(self, base: Path, layout: Layout) -> str:
        """A program that imports the engine, opens the array and reads one element."""
        raise Unsupported

    def create(self, base: Path, layout: Layout) -> Handle:
        """Make the array anew, with nothing in it."""
        raise Unsupported

    def open(self, base: Path, layout: Layout) -> Handle:
        """Open an array for reading."""
        raise Unsupported

    def finish(self, array: Handle) -> None:
        """Make written values visible to another process."""

    def close(self, array: Handle) -> None:
        """Give up the array, where that needs saying."""

    def get(self, array: Handle, selection: Any) -> Floats:
        """Read a NumPy basic selection."""
        raise Unsupported

    def set(self, array: Handle, selection: Any, values: Floats) -> None:
        """Write a NumPy basic selection."""
        raise Unsupported

    def oindex(self, array: Handle, selection: Any) -> Floats:
        """Read the outer product of indices or masks."""
        raise Unsupported

    def vindex(self, array: Handle, points: Any) -> Floats:
        """Read single points."""
        raise Unsupported

    def mask(self, array: Handle, mask: Any) -> Floats:
        """Read where an array of booleans is true."""
        raise Unsupported

    def append(self, array: Handle, block: Floats) -> Handle:
        """Grow the first dimension by a block and return the grown array."""
        raise Unsupported

    def memory(self, layout: Layout, values: Floats) -> Handle:
        """Make an array in memory and fill it."""
        raise Unsupported

    def group_create(self, base: Path, count: int, version: int) -> None:
        """Make a group of `count` little arrays `a0000`… with ten values each."""
        raise Unsupported

    def group_consolidate(self, base: Path, version: int) -> None:
        """Write the consolidated metadata of that group."""
        raise Unsupported

    def group_list(self, base: Path, version: int, *, consolidated: bool) -> dict[str, tuple[int, ...]]:
        """Open that group and tell the shape of every array in it."""
        raise Unsupported


def array_path(base: Path) -> Path:
    """Where the array of a folder stands."""
    return base / "v"


def fresh(base: Path) -> Path:
    """Empty the folder and make it again."""
    shutil.rmtree(base, ignore_errors=True)
    base.mkdir(parents=True)
    return base
