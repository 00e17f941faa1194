"""Differences of booleans: the codec `delta`, whose numbers the kernel has no such type for.

numcodecs stores whether a value differs from the one before, but adds these up with "or" when reading, which gives true
for all after the first true. Undone as it was done, the values come back.
"""

from __future__ import annotations

import numpy as np

from omnizarr.codec.adapt import adapt
from omnizarr.codec.options import Options
from omnizarr.codec.stage import Stage
from omnizarr.codec.steps import Lowered
from omnizarr.model.codec import Codec


class BooleanDelta:
    """The codec for one chunk."""

    __slots__ = ("_astype",)

    def __init__(self, astype: np.dtype[np.generic]) -> None:
        self._astype = astype

    def encode(
        self, buf: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], /
    ) -> np.ndarray[tuple[int], np.dtype[np.generic]]:
        """Say where values change."""
        flat = buf.reshape(-1)
        return np.concatenate([flat[:1], flat[1:] ^ flat[:-1]]).astype(self._astype)

    def decode(
        self, buf: np.ndarray[tuple[int, ...], np.dtype[np.generic]], /
    ) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Follow the changes."""
        return np.logical_xor.accumulate(buf.reshape(-1).view(self._astype).astype(bool))


def lower_delta(codec: Codec, stage: Stage) -> Lowered:
    """Return the step of `delta` on booleans.

    Raises:
        MetadataError: If the codec was made for another type.
    """
    options = Options(codec.name, codec.configuration)
    dtype = options.dtype("dtype", stage.dtype)
    if dtype != stage.dtype:
        raise options.wrong("dtype", dtype.str, f"{stage.dtype.str!r}, the type that reaches the codec")
    astype = options.dtype("astype", dtype)
    options.done()
    made = adapt(codec.name, "array", BooleanDelta(astype), stage)
    return made._replace(config={"dtype": dtype.str, "astype": astype.str})
