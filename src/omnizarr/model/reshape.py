"""The shape that the codec `reshape` gives an array.

https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/reshape
"""

from __future__ import annotations

from math import prod

from omnizarr.model.jsonvalue import JSON


def reshaped(lengths: JSON, shape: tuple[int, ...]) -> tuple[tuple[int, ...] | None, str]:
    """Work out the shape that `lengths` asks for; None, and what is wrong, where there is none.

    Args:
        lengths: For each dimension a number, -1 for what is left, or the list of dimensions that it is the product of.
        shape: The shape before.

    >>> reshaped([[0, 1], [2], 3], (100, 50, 64, 3))
    ((5000, 64, 3), '')
    >>> reshaped([-1, 7], (2, 4))
    (None, 'a shape of 8 elements')
    """
    if not isinstance(lengths, list):
        return None, "a list"
    made: list[int] = []
    rest: int | None = None
    for at, length in enumerate(lengths):
        size, problem = _length(length, shape)
        if problem:
            return None, problem
        if size == -1:
            if rest is not None:
                return None, "a list with one -1 at most"
            rest = at
        made.append(size)
    if rest is not None:
        others = prod(made[:rest] + made[rest + 1 :])
        made[rest] = prod(shape) // others if others else 0
    if prod(made) != prod(shape):
        return None, f"a shape of {prod(shape)} elements"
    return (tuple(made), "") if _aligned(lengths, made, shape) else (None, "lists of dimensions that stay in place")


def _length(length: JSON, shape: tuple[int, ...]) -> tuple[int, str]:
    """Return one length, -1 for what is left; or what is wrong with it."""
    if type(length) is int:
        return (length, "") if length == -1 or length > 0 else (0, "positive numbers, -1 and lists of dimensions")
    if not isinstance(length, list):
        return 0, "positive numbers, -1 and lists of dimensions"
    dims = [dim for dim in length if type(dim) is int and 0 <= dim < len(shape)]
    if len(dims) != len(length):
        return 0, f"dimensions from 0 to {len(shape) - 1}"
    return prod(shape[dim] for dim in dims), ""


def _aligned(lengths: list[JSON], made: list[int], shape: tuple[int, ...]) -> bool:
    """Whether the dimensions that are named keep their order, and all that is before and behind them."""
    before = -1
    for at, length in enumerate(lengths):
        if not isinstance(length, list) or not length:
            continue
        dims = [dim for dim in length if isinstance(dim, int)]
        for dim in dims:
            if dim <= before:
                return False
            before = dim
        if prod(made[:at]) != prod(shape[: dims[0]]) or prod(made[at + 1 :]) != prod(shape[dims[-1] + 1 :]):
            return False
    return True
