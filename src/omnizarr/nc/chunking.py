"""The lengths of chunks that netcdf-c chooses where nobody says any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

_CHUNK_BYTES: Final = 16 << 20
_RECORD_BYTES: Final = 4096


def default_chunks(lengths: Sequence[int | None], itemsize: int) -> tuple[int, ...]:
    """Return the lengths of a chunk for a variable; `None` is the length of an unlimited dimension.

    >>> default_chunks([3000, 3000], 8), default_chunks([None, 720, 1440], 4), default_chunks([None], 8)
    ((1000, 1000), (1, 720, 1440), (512,))
    """
    fixed = [length for length in lengths if length is not None]
    count = len(lengths)
    if not fixed and count == 1:
        return (max(1, min(_CHUNK_BYTES // itemsize, _RECORD_BYTES) // itemsize),)
    if not fixed:
        return (max(1, int((_CHUNK_BYTES / itemsize) ** (1 / count))),) * count if count else ()
    # The C library multiplies in single precision, which shows in the last digit of large chunks.
    values = np.float32(1)
    for length in fixed:
        values = np.float32(values * np.float32(max(length, 1)))
    whole = float(np.float32(values * np.float32(itemsize)))
    share = (_CHUNK_BYTES / whole) ** (1 / len(fixed))
    return tuple(1 if length is None else _part(length, share) for length in lengths)


def _part(length: int, share: float) -> int:
    """Return a share of a length, so that the last chunk reaches little beyond the end."""
    part = max(1, min(int(max(0.0, share * length - 0.5)), length))
    number = -(-length // part)
    return part - (number * part - length) // number if number else part
