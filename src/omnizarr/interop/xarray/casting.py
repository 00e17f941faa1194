"""Values that meet a stored type: those that would become others are an error, before or while they are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from xarray import Variable

from omnizarr.errors import ShapeError

_Values = np.ndarray[Any, np.dtype[Any]]

_NUMBERS = "biufc"


class _Packing(NamedTuple):
    """How numbers are stored."""

    name: str
    scale: float | None
    offset: float | None
    has_fill: bool

    @property
    def is_plain(self) -> bool:
        return self.scale is None and self.offset is None


def unchanged(name: str, stored: Variable, given: Variable, encoding: Mapping[str, Any]) -> Variable:
    """Return what is to be stored, once it is known to mean what was given.

    Numbers may lose digits where they are stored as floating point numbers of fewer bits, or packed; they may not
    become others: fractions among whole numbers, what is too large for the type, NaN where nothing stands for it,
    complex numbers without their imaginary part, or truth in place of a number. What is lazy is looked at when it is
    computed.

    Args:
        name: The variable, for messages.
        stored: What is to be stored, encoded.
        given: What was given.
        encoding: How it was encoded.

    Raises:
        ShapeError: If values have become others.
    """
    kinds = given.dtype.kind + stored.dtype.kind
    if any(kind not in _NUMBERS for kind in kinds) or kinds == "bb":
        return stored
    has_fill = encoding.get("_FillValue") is not None or encoding.get("missing_value") is not None
    packing = _Packing(name, _number(encoding, "scale_factor"), _number(encoding, "add_offset"), has_fill)
    if packing.is_plain and np.can_cast(given.dtype, stored.dtype, "safe"):
        return stored
    return _looked_at(stored, partial(_checked, packing=packing), given)


def uncut(name: str, stored: Variable, given: Variable, dtype: np.dtype[Any]) -> Variable:
    """Return what is to be stored, once it is known that no text is longer than an array's type allows.

    Args:
        name: The variable, for messages.
        stored: What is to be stored, encoded.
        given: What was given.
        dtype: The array's type.

    Raises:
        ShapeError: If text has been cut off.
    """
    # Where text is stored letter by letter, its length is that of a dimension.
    if dtype.kind not in "SU" or given.dtype.kind != "O" or stored.ndim != given.ndim:
        return stored
    return _looked_at(stored, partial(_whole, name=name, dtype=dtype), given)


def _looked_at(stored: Variable, check: Callable[..., _Values], *given: Variable) -> Variable:
    """Let a function look at values; at those that are lazy when they are computed."""
    if stored.chunks is None:
        check(np.asarray(stored.data), *(np.asarray(one.data) for one in given))
        return stored
    import dask.array as da  # noqa: PLC0415 - only what is lazy needs it

    blocks = (stored.data, *(one.data for one in given))
    lazy = da.map_blocks(check, *blocks, dtype=stored.dtype, meta=np.empty(0, stored.dtype))
    return stored.copy(deep=False, data=lazy)


def _whole(stored: _Values, given: _Values, *, name: str, dtype: np.dtype[Any]) -> _Values:
    """Return text if all of what was given is short enough."""
    most = dtype.itemsize // (4 if dtype.kind == "U" else 1)
    long = [one for one in given.ravel().tolist() if isinstance(one, (str, bytes)) and len(one) > most]
    if long:
        raise ShapeError(
            f"{len(long)} values of variable {name!r} would be cut off as {dtype}; the first is {long[0]!r}",
            hint="Write the dataset anew with a longer type, or with text of any length.",
        )
    return stored


def _number(encoding: Mapping[str, Any], word: str) -> float | None:
    found = encoding.get(word)
    return None if found is None else float(found)


def _checked(stored: _Values, given: _Values, *, packing: _Packing) -> _Values:
    """Return what is to be stored, if it means what was given."""
    with np.errstate(all="ignore"):
        bad = _changed(stored, given, packing)
    if bad.any():
        first = given[bad].reshape(-1)[0].item()
        packed = "" if packing.is_plain else ", packed as what is there"
        raise ShapeError(
            f"{int(bad.sum())} values of variable {packing.name!r} would change as {stored.dtype}{packed}; the first is"
            f" {first!r}",
            hint="Round or clip them as they should be stored, or write the dataset anew with another dtype.",
        )
    return stored


def _changed(stored: _Values, given: _Values, packing: _Packing) -> _Values:
    if given.dtype.kind == "c" and stored.dtype.kind != "c":
        dropped: _Values = np.imag(given) != 0
        return dropped | _changed(stored, np.real(given), packing)
    if stored.dtype.kind in "fc":
        return np.isfinite(given) & ~np.isfinite(stored)
    missing = np.isnan(given) if given.dtype.kind == "f" else np.zeros(given.shape, bool)
    if packing.is_plain:
        other = given != stored
    else:
        scale = 1.0 if packing.scale is None else packing.scale
        wide = given.astype("f8")
        meant = stored.astype("f8") * scale + (packing.offset or 0.0)
        digits = np.finfo(given.dtype if given.dtype.kind == "f" else "f8").eps
        allowed = abs(scale) * 0.5001 + 8 * digits * (np.abs(wide) + abs(packing.offset or 0.0))
        other = ~(np.abs(meant - wide) <= allowed)
    changed: _Values = other & ~missing
    return changed if packing.has_fill else changed | missing
