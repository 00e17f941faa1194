"""What flows between two codecs of a chain: an array of known type and shape, or bytes."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np


class Stage(NamedTuple):
    """The data between two codecs, as far as metadata alone tells.

    Attributes:
        dtype: Type of the elements, with their byte order in memory; of bytes, the type they were made from.
        shape: Shape of the array; of bytes, the shape they were made from.
        size: Number of bytes, or `None` where it depends on the values.
        is_array: Whether array codecs may follow.
        vlen: "string" or "bytes" where the elements have no fixed size.
        typed: Of bytes, whether they still are the plain elements of `dtype`, so that a compressor may look at them so.
        name: The neutral name of the type of elements, where it says more than `dtype`: of types smaller than a byte.
    """

    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    size: int | None
    is_array: bool = True
    vlen: str = ""
    typed: bool = True
    name: str = ""

    @property
    def label(self) -> str:
        """The type of the elements, for messages."""
        return self.name or self.vlen or self.dtype.name

    @property
    def itemsize(self) -> int:
        """Bytes of one element as a compressor sees it: 1 once the bytes are a stream without elements."""
        return self.dtype.itemsize if self.typed and not self.vlen else 1

    def to_array(self, dtype: np.dtype[np.generic], shape: tuple[int, ...]) -> Stage:
        """Return the stage after an array codec that emits this type and shape."""
        return Stage(dtype, shape, dtype.itemsize * prod(shape))

    def to_bytes(self, size: int | None, *, typed: bool) -> Stage:
        """Return the stage after a codec that emits bytes."""
        return Stage(self.dtype, self.shape, size, is_array=False, vlen=self.vlen, typed=typed)


def array_stage(dtype: np.dtype[np.generic], shape: tuple[int, ...], vlen: str = "", name: str = "") -> Stage:
    """Return the stage that a chain starts with: one whole chunk."""
    return Stage(dtype, shape, None if vlen else dtype.itemsize * prod(shape), vlen=vlen, name=name)


def swap_unit(dtype: np.dtype[np.generic]) -> int:
    """Return the bytes of the unit that byte order applies to: 1 where there is none."""
    if dtype.kind == "c":
        return dtype.itemsize // 2
    if dtype.kind == "U":
        return 4
    if dtype.kind in "SVOb" or dtype.itemsize == 1:
        return 1
    return dtype.itemsize


def byte_order(dtype: np.dtype[np.generic]) -> str:
    """Return "little" or "big": how a multi-byte element of the type lies in memory."""
    # newbyteorder("<") is the type itself exactly if it is little-endian already.
    return "little" if dtype == dtype.newbyteorder("<") else "big"
