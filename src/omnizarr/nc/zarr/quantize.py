"""Rounding numbers to the digits or bits that count, so that they compress well, as netcdf-c does it, bit for bit."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from omnizarr.errors import UnsupportedError
from omnizarr.nc.filters import BIT_GROOM, BIT_ROUND, GRANULAR
from omnizarr.nc.source import Values

_BITS_PER_DIGIT: Final = math.log(10) / math.log(2)
_DIGITS_PER_BIT: Final = math.log(2) / math.log(10)


def quantized(values: Values, method: str, number: int, fill: Any) -> Values:  # noqa: ANN401 - a number
    """Return numbers with fewer bits that matter; zeros, NaN and the fill value stay as they are.

    Args:
        values: Numbers of four or eight bytes, in native order.
        method: The name of the attribute that says so.
        number: How many digits, or bits, count.
        fill: The fill value.

    Raises:
        UnsupportedError: If there is no such method.

    >>> quantized(np.array([3.14159265], "f4"), BIT_ROUND, 4, 0)
    array([3.125], dtype=float32)
    """
    if values.dtype.kind != "f":
        return values
    made = np.array(values, copy=True, order="C")
    flat = made.reshape(-1)
    kept = (flat == fill) | (flat == 0) | np.isnan(flat)
    bits = flat.view(f"u{flat.itemsize}")
    explicit = 23 if flat.itemsize == 4 else 52
    if method == BIT_GROOM:
        new = _groomed(bits, explicit - math.ceil(number * _BITS_PER_DIGIT) - 1)
    elif method == BIT_ROUND:
        new = _rounded(bits, np.array(explicit - number))
    elif method == GRANULAR:
        new = _rounded(bits, explicit - _needed(flat, number, ~kept))
    else:
        raise UnsupportedError(f"there is no way of rounding called {method!r}")
    np.copyto(bits, new, where=~kept)
    return made


def _groomed(bits: Values, dropped: int) -> Values:
    """Set the bits that do not matter to zeros and to ones in turn, so that sums stay what they were."""
    ones = bits.dtype.type((1 << max(dropped, 0)) - 1)
    made = bits.copy()
    made[::2] &= ~ones
    made[1::2] |= ones
    return made


def _rounded(bits: Values, dropped: Values) -> Values:
    """Round to the bits above the dropped ones; a carry goes into the exponent, as it must."""
    unsigned = bits.dtype.type
    ones = ~(~unsigned(0) << (dropped & (8 * bits.itemsize - 1)).astype(bits.dtype))
    half = ones & (~ones >> unsigned(1))
    made: Values = (bits + half) & ~ones
    return made


def _needed(numbers: Values, digits: int, which: Values) -> Values:
    """Return how many explicit bits of each number hold so many decimal digits."""
    parts, exponents = np.frexp(np.where(which, numbers, 1).astype("f8"))
    logs = np.log10(np.abs(parts))
    before = np.floor(exponents * _DIGITS_PER_BIT + logs).astype("i8") + 1
    power = np.floor(_BITS_PER_DIGIT * (before - digits)).astype("i8")
    made: Values = np.abs(np.floor(exponents - _BITS_PER_DIGIT * logs).astype("i8") - power) - 1
    return made
