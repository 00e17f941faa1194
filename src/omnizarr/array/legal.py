"""Stored bits that the type has no value for: NumPy does not look, and fails or errs much later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from omnizarr.errors import CorruptError

if TYPE_CHECKING:
    import numpy.typing as npt

_LAST: Final = 0x10FFFF
"""The last code point of Unicode."""


def has_illegal(dtype: np.dtype[Any]) -> bool:
    """Whether a type, or a field of it, has bits without a value.

    >>> has_illegal(np.dtype("<U3")), has_illegal(np.dtype([("a", "?")])), has_illegal(np.dtype("f4"))
    (True, True, False)
    """
    if dtype.names is not None:
        return any(has_illegal(dtype[name]) for name in dtype.names)
    return dtype.base.kind in "bU"


def legalise(raw: npt.NDArray[Any], path: str) -> None:
    """Make booleans of whatever is not zero, in place, and refuse text that is none.

    Raises:
        CorruptError: If a character lies beyond Unicode.

    >>> odd = np.array([0, 1, 2], "u1").view("?")
    >>> legalise(odd, "/x")
    >>> odd.view("u1")
    array([0, 1, 1], dtype=uint8)
    """
    if raw.dtype.names is not None:
        for name in raw.dtype.names:
            if has_illegal(raw.dtype[name]):
                legalise(raw[name], path)
    elif not raw.size:
        return
    elif raw.dtype.kind == "b":
        stored = raw.view(np.uint8)
        if stored.max() > 1:
            np.not_equal(stored, 0, out=raw)
    elif raw.dtype.itemsize:
        points = np.ascontiguousarray(raw).view(np.dtype(np.uint32).newbyteorder(raw.dtype.byteorder))
        if points.max() > _LAST:
            raise CorruptError(
                f"a chunk of the selection has the character {int(points.max()):#x}, which is not in Unicode", path=path
            )
