"""The values that are read and written: a smooth field with a little noise, as measurements have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.sizes import Sizes

Floats = NDArray[np.float32]


def make(root: Path, sizes: Sizes) -> None:
    """Write the values into `root`, once."""
    path = root / "values.npy"
    if path.exists():
        return
    rng = np.random.default_rng(0)
    n, h, w = sizes.cube
    x = np.linspace(0, 10, h, dtype=np.float32)[None, :, None]
    y = np.linspace(0, 5, w, dtype=np.float32)[None, None, :]
    t = np.arange(n, dtype=np.float32)[:, None, None]
    field = np.round(np.sin(x + t * np.float32(0.01)) * np.cos(y) * 10 + 280, 2)
    noise = rng.normal(0, 0.01, sizes.cube).astype(np.float32).round(2)
    np.save(path, (field + noise).astype(np.float32))


class Values:
    """The values in every shape that a layout asks for, mapped from the file or held in memory."""

    def __init__(self, root: Path, sizes: Sizes) -> None:
        self._path = root / "values.npy"
        self._cube = sizes.cube
        self._mapped: Floats | None = None
        self._held: Floats | None = None

    def mapped(self, shape: tuple[int, ...]) -> Floats:
        """For comparing: costs this process no memory."""
        if self._mapped is None:
            self._mapped = np.load(self._path, mmap_mode="r")
        return self._shaped(self._mapped, shape)

    def held(self, shape: tuple[int, ...]) -> Floats:
        """For writing: in memory, so that no file is read while the clock runs."""
        if self._held is None:
            self._held = np.array(self.mapped(self._cube))
        return self._shaped(self._held, shape)

    def _shaped(self, values: Floats, shape: tuple[int, ...]) -> Floats:
        if shape[1:] == self._cube[1:]:
            return values[: shape[0]]
        return values.reshape(-1)[: int(np.prod(shape))].reshape(shape)
