"""A variable in pieces that fit into memory, along the chunks of where they go."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Final

from omnizarr.nc.tree import Var
from omnizarr.nc.types import is_fixed

_GUESS: Final = 64
"""Bytes that an element of a type is taken to have whose elements differ in length."""
_MOST_AT_ONCE: Final = 16
"""A chunk that is so many times larger than the buffer is not handled as a whole."""


def item_bytes(var: Var) -> int:
    """Return about how many bytes an element takes in memory."""
    return max(1, var.type.numpy.itemsize) if is_fixed(var.type) else _GUESS


def piece_shape(
    var: Var, chunks: tuple[int, ...] | None, buffer: int, other: tuple[int, ...] | None = None
) -> tuple[int, ...]:
    """Return the shape of pieces: whole chunks, as many of them as fit into the buffer, the last dimension first.

    Args:
        var: The variable.
        chunks: Lengths of the chunks that are written, if there are any.
        buffer: About how many bytes a piece may have.
        other: Lengths of the chunks that are read; they are kept whole, too, if the buffer allows.

    >>> from omnizarr.nc.tree import Group
    >>> from omnizarr.nc.types import INT
    >>> x, y = (Group().add_dim(name, 100) for name in "xy")
    >>> piece_shape(Var("v", INT, (x, y)), (10, 10), 8000)
    (20, 100)
    """
    shape, size = var.shape, item_bytes(var)
    unit = tuple(min(n, c) for n, c in zip(shape, chunks or (1,) * len(shape), strict=True))
    if prod(unit) * size > _MOST_AT_ONCE * buffer:
        unit = (1,) * len(shape)
    piece = list(unit)
    if other is not None:
        wide = [min(n, -(-o // u) * u) for n, o, u in zip(shape, other, unit, strict=True)]
        if prod(wide) * size <= buffer:
            piece = wide
    for axis in reversed(range(len(shape))):
        room = buffer // (prod(piece) * size or 1)
        if room < 2:
            break
        piece[axis] = min(shape[axis], piece[axis] * room)
        if piece[axis] < shape[axis]:
            break
    return tuple(piece)


def pieces(shape: tuple[int, ...], piece: tuple[int, ...]) -> Iterator[tuple[slice, ...]]:
    """Go through all pieces of a shape, the last dimension fastest.

    >>> list(pieces((3,), (2,))), list(pieces((), ()))
    ([(slice(0, 2, 1),), (slice(2, 3, 1),)], [()])
    """
    starts = (range(0, n, step) for n, step in zip(shape, piece, strict=True))
    for corner in product(*starts):
        yield tuple(slice(a, min(a + s, n), 1) for a, s, n in zip(corner, piece, shape, strict=True))
