"""Values that are neither constant nor noise, for files that are scanned."""

from __future__ import annotations

from typing import Any

import numpy as np


def values_of(shape: Any, dtype: Any) -> Any:
    """Values with both signs where the type has them."""
    wave = np.sin(np.arange(np.prod(shape)) / 7) * 100 + np.arange(np.prod(shape)) % 13
    if np.dtype(dtype).kind == "u":
        wave = np.abs(wave)
    return wave.reshape(shape).astype(dtype)
