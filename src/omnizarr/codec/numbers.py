"""Types of real numbers for codecs that compute: their range, their precision, and their scalars in JSON."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any, Final, NamedTuple

import numpy as np

from omnizarr.errors import UnsupportedError
from omnizarr.model.jsonvalue import JSON

INTEGERS: Final = {
    **{f"{sign}int{bits}": (bits, not sign) for sign in ("", "u") for bits in (2, 4, 8, 16, 32, 64)},
}
"""Bits of each integer type, and whether it has a sign."""

FLOATS: Final = frozenset(
    (
        *("float16", "float32", "float64", "bfloat16", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"),
        *("float8_e3m4", "float8_e4m3", "float8_e4m3fn", "float8_e4m3b11fnuz", "float8_e4m3fnuz"),
        *("float8_e5m2", "float8_e5m2fnuz"),
    )
)
"""Float types; float8_e8m0fnu, which has neither a sign nor a zero, is none to compute with."""

_WORDS: Final = {"NaN": math.nan, "Infinity": math.inf, "+Infinity": math.inf, "-Infinity": -math.inf}


class Numbers(NamedTuple):
    """A type of integers or floats."""

    name: str
    dtype: np.dtype[Any]
    """As it lies in memory, in the machine's byte order."""

    bits: int
    low: int | float
    high: int | float
    """The least and the greatest finite value."""

    digits: int = 0
    """Bits of a float's fraction."""

    lowest: int = 0
    """Exponent of the smallest normal float."""

    infinite: bool = False
    nan: bool = False

    @property
    def is_float(self) -> bool:
        """Whether the type is one of floats."""
        return self.digits > 0

    @property
    def is_native(self) -> bool:
        """Whether NumPy has the type itself."""
        return self.dtype.isbuiltin == 1


def numbers_of(name: str) -> Numbers | None:
    """Describe the type of a name; `None` where it is no type of real numbers.

    Raises:
        UnsupportedError: The package ml_dtypes is needed and not installed.

    >>> numbers_of("int4")[3:5], numbers_of("float16").high, numbers_of("bool")
    ((-8, 7), 65504.0, None)
    """
    if name in INTEGERS:
        bits, signed = INTEGERS[name]
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        dtype = np.dtype(name) if bits >= 8 else _small(name)
        return Numbers(name, dtype, bits, low, high)
    if name not in FLOATS:
        return None
    dtype = np.dtype(name) if name in ("float16", "float32", "float64") else _small(name)
    info: Any = np.finfo(dtype) if dtype.isbuiltin == 1 else import_module("ml_dtypes").finfo(dtype)
    with np.errstate(all="ignore"):
        infinite, nan = (float(np.array(value).astype(dtype)) for value in (math.inf, math.nan))
    most, precision = float(info.max), (int(info.nmant), int(info.minexp))
    return Numbers(name, dtype, 8 * dtype.itemsize, -most, most, *precision, math.isinf(infinite), math.isnan(nan))


def _small(name: str) -> np.dtype[Any]:
    try:
        made: np.dtype[Any] = np.dtype(getattr(import_module("ml_dtypes"), name))
    except (ImportError, AttributeError):
        hint = "pip install omnizarr[ml]"
        raise UnsupportedError(f"the data type {name!r} needs the package ml_dtypes", hint=hint) from None
    return made


def parse_scalar(value: JSON, numbers: Numbers) -> int | float | None:
    """Read a scalar as documents spell fill values; `None` where it is no value of the type.

    Integers come back as such, floats as the nearest value of the type.
    """
    if isinstance(value, bool):
        return None
    if not numbers.is_float:
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        return whole if isinstance(whole, int) and numbers.low <= whole <= numbers.high else None
    if isinstance(value, str):
        if value in _WORDS:
            number = _WORDS[value]
            return number if (numbers.nan if math.isnan(number) else numbers.infinite) else None
        return _from_hex(value, numbers)
    if not isinstance(value, int | float):
        return None
    with np.errstate(all="ignore"):
        made = float(np.array(float(value)).astype(numbers.dtype))
    return made if math.isfinite(made) else None


def _from_hex(value: str, numbers: Numbers) -> float | None:
    digits = 2 * numbers.dtype.itemsize
    if not value.startswith("0x") or len(value) != digits + 2:
        return None
    try:
        bits = int(value, 16)
    except ValueError:
        return None
    word = np.array(bits, f"u{numbers.dtype.itemsize}")
    return float(word.view(numbers.dtype))
