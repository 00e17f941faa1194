"""Numbers narrower than NumPy's own, by the package ml_dtypes, which is imported when the first of them is met.

Under the codec `bytes` each takes a whole byte (bfloat16 two), of which only the low bits count.
https://github.com/zarr-developers/zarr-extensions/tree/main/data-types
"""

from __future__ import annotations

import math
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

import numpy as np

from omnizarr.errors import UnsupportedError

SMALL_FLOATS: Final = {
    "bfloat16": 16,
    "float4_e2m1fn": 4,
    "float6_e2m3fn": 6,
    "float6_e3m2fn": 6,
    "float8_e3m4": 8,
    "float8_e4m3": 8,
    "float8_e4m3b11fnuz": 8,
    "float8_e4m3fn": 8,  # not registered, but written by tensorstore; not the same as float8_e4m3
    "float8_e4m3fnuz": 8,
    "float8_e5m2": 8,
    "float8_e5m2fnuz": 8,
    "float8_e8m0fnu": 8,
}
"""Bits of each float that NumPy does not have."""

SMALL_INTEGERS: Final = {"int2": 2, "int4": 4, "uint2": 2, "uint4": 4}
"""Bits of each integer that NumPy does not have."""

SMALL: Final = {**SMALL_FLOATS, **SMALL_INTEGERS}
"""Bits of each type of ml_dtypes."""

PAIRS: Final = {f"complex_{name}": name for name in ("float16", *SMALL_FLOATS)}
"""The component of each complex type that NumPy does not have."""

NO_ZERO: Final = "float8_e8m0fnu"
"""The one type that has no zero: powers of two alone."""


@lru_cache(64)
def small_numpy(name: str) -> np.dtype[Any]:
    """Return the NumPy type of one of ml_dtypes' types.

    Raises:
        UnsupportedError: The package is not installed, or too old to have the type.
    """
    try:
        made: np.dtype[Any] = np.dtype(getattr(import_module("ml_dtypes"), name))
    except (ImportError, AttributeError):
        raise UnsupportedError(
            f"the data type {name!r} needs the package ml_dtypes", hint="pip install omnizarr[ml]"
        ) from None
    return made


@lru_cache(64)
def pair_numpy(name: str) -> np.dtype[Any]:
    """Return the NumPy type of a complex type that NumPy lacks: a structure of `real` and `imag`.

    Raises:
        UnsupportedError: The package ml_dtypes is not installed, or too old.
    """
    part = PAIRS[name]
    component = np.dtype(part) if part == "float16" else small_numpy(part)
    return np.dtype([("real", component), ("imag", component)])


def is_small(dtype: np.dtype[Any]) -> bool:
    """Whether a package other than NumPy made the type."""
    return dtype.isbuiltin == 2


def is_pair(dtype: np.dtype[Any]) -> bool:
    """Whether the type is such a structure of `real` and `imag`."""
    if dtype.names != ("real", "imag"):
        return False
    one, other = dtype["real"], dtype["imag"]
    return one == other and 2 * one.itemsize == dtype.itemsize and (one.char == "e" or is_small(one))


def pack_small_int(number: int, name: str) -> bytes:
    """Give the byte of a small integer: its low bits, and zeros above them.

    Raises:
        OverflowError: The type is too small.
    """
    bits = SMALL_INTEGERS[name]
    low, high = (0, (1 << bits) - 1) if name[0] == "u" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    if not low <= number <= high:
        raise OverflowError(f"it is not in {low} … {high}")
    return bytes((number & ((1 << bits) - 1),))


def pack_small_float(number: float, name: str) -> bytes:
    """Give the bytes, little-endian, of a small float, rounded half to even; too large a number becomes infinity.

    Raises:
        OverflowError: The type has no infinity, no NaN, no zero or no sign, and would need it.
    """
    dtype = small_numpy(name)
    info = import_module("ml_dtypes").finfo(dtype)
    exact = _rounded(number, info.nmant, info.minexp)
    with np.errstate(all="ignore"):
        stored = np.array(exact).astype(dtype)
    back = float(stored)
    if back == exact or (math.isnan(back) and math.isnan(number)) or (math.isinf(back) and back * number > 0):
        bits = stored.tobytes()
        return bits if dtype.newbyteorder("<") == dtype else bits[::-1]
    raise OverflowError("the type has no such number")


def _rounded(number: float, digits: int, lowest: int) -> float:
    """Round half to even to a number of bits after the first, but no finer than the smallest exponent allows.

    ml_dtypes itself goes by way of float32, and what has been rounded twice may be off by one.
    """
    if number == 0 or not math.isfinite(number):
        return number
    unit = max(math.frexp(number)[1] - 1, lowest) - digits
    try:
        return math.copysign(math.ldexp(round(math.ldexp(number, -unit)), unit), number)  # what is tiny keeps its sign
    except OverflowError:
        return math.copysign(math.inf, number)
