"""How much of an array one task of Dask takes: a task costs as much as reading several small chunks."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, Final

from xarray import Variable

_MANY: Final = 512
"""Units of an array that are few enough to be a task each."""
_SMALL: Final = 1 << 20
"""Bytes of a unit; one that has more is worth a task: Dask spends as long on it as decoding a mebibyte takes."""
_TASKS: Final = 16
"""About as many groups are left, so that what follows on the reading has work for several threads."""
_LEAST: Final = 4 << 20
"""Bytes that a group may have in any case."""
_MOST: Final = 64 << 20
"""Bytes that it may have at most: half of what Dask itself takes for a good chunk."""
_PREFERRED: Final = "preferred_chunks"


def group_small(variables: Mapping[str, Variable]) -> None:
    """Prefer multiples of stored units for Dask where an array has very many small ones.

    All variables that are cut alike along a dimension stay cut alike, else the dataset would have no chunks that fit
    all of it. What is written from such tasks still ends where stored units end.
    """
    factors: dict[tuple[Any, int], int] = {}
    for variable in variables.values():
        for place, factor in _wanted(variable).items():
            factors[place] = min(factor, factors.get(place, factor))
    if not factors:
        return
    for variable in variables.values():
        preferred = variable.encoding.get(_PREFERRED)
        if preferred:
            variable.encoding[_PREFERRED] = {
                dim: length * factors.get((dim, length), 1) if isinstance(length, int) else length
                for dim, length in preferred.items()
            }


def _wanted(variable: Variable) -> dict[tuple[Any, int], int]:
    """Return by what to multiply the lengths of a variable's units, innermost dimensions first."""
    if variable.size <= _MANY:
        return {}
    preferred = variable.encoding.get(_PREFERRED)
    if not preferred or not all(isinstance(length, int) and length for length in preferred.values()):
        return {}
    lengths = tuple(preferred.values())
    counts = [-(-size // length) for size, length in zip(variable.shape, lengths, strict=True)]
    group = prod(lengths) * variable.dtype.itemsize
    enough = max(_LEAST, min(_MOST, variable.nbytes // _TASKS))
    if prod(counts) <= _MANY or group > _SMALL:
        return {}
    found: dict[tuple[Any, int], int] = {}
    for place, count in zip(reversed(preferred.items()), reversed(counts), strict=True):
        found[place] = max(1, min(count, enough // max(1, group)))
        group *= found[place]
    return found
