"""What flows between two codecs of a chain: an array of known type and shape, or bytes."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from omnizarr.model.dtype import DType
from omnizarr.model.small import is_pair
from omnizarr.model.structs import has_order, struct_order


class Stage(NamedTuple):
    """The data between two codecs, as far as metadata alone tells.

    Attributes:
        dtype: Type of the elements, with their byte order in memory; of bytes, the type they were made from.
        shape: Shape of the array; of bytes, the shape they were made from.
        size: Number of bytes, or `None` where it depends on the values.
        is_array: Whether array codecs may follow.
        vlen: "string", "bytes" or "object" where the elements have no fixed size.
        objects: Their type, where the elements are objects.
        typed: Of bytes, whether they still are the plain elements of `dtype`, so that a compressor may look at them so.
        name: The neutral name of the type of elements, where it says more than `dtype`: of types smaller than a byte.
    """

    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    size: int | None
    is_array: bool = True
    vlen: str = ""
    typed: bool = True
    objects: DType | None = None
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


def array_stage(
    dtype: np.dtype[np.generic],
    shape: tuple[int, ...],
    vlen: str = "",
    *,
    name: str = "",
    objects: DType | None = None,
) -> Stage:
    """Return the stage that a chain starts with: one whole chunk."""
    size = None if vlen else dtype.itemsize * prod(shape)
    return Stage(dtype, shape, size, vlen=vlen, name=name, objects=objects)


def swap_unit(dtype: np.dtype[Any]) -> int:
    """Return the bytes of the unit that byte order applies to: 1 where there is none, or no single one."""
    if is_pair(dtype):
        return dtype.itemsize // 2
    if dtype.names is not None or not has_order(dtype):
        return 1
    if dtype.kind == "c":
        return dtype.itemsize // 2
    return 4 if dtype.kind == "U" else dtype.itemsize


def byte_order(dtype: np.dtype[Any]) -> str:
    """Return "little" or "big": how a multi-byte element of the type lies in memory."""
    # newbyteorder("<") is the type itself exactly if it is little-endian already.
    return "little" if dtype == dtype.newbyteorder("<") else "big"


def fields_order(dtype: np.dtype[Any]) -> str:
    """Return the byte order of a structure's fields in memory; "" where it means nothing, "mixed" if they differ."""
    return struct_order(dtype) if dtype.names is not None and not is_pair(dtype) else ""
