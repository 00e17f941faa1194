"""`_FillValue` in Zarr v3, where the array's own fill value does not mean "missing": as xarray writes the attribute.

Bytes and floating point numbers are base64, complex numbers two of them, all else is itself. Whoever else wrote the
attribute wrote a number, which is taken as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from omnizarr.errors import ShapeError
from omnizarr.format.fill_attribute import as_base64, from_base64, packed, unpacked


def to_json(value: Any, dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 - a scalar in, JSON out
    """Return the value of the attribute for a fill value.

    Raises:
        ShapeError: If the value is none of the type.
    """
    if isinstance(value, np.ndarray):
        value = value.item() if value.size == 1 else value
    kind = dtype.kind
    try:
        if kind == "S":
            return as_base64(_bytes(value))
        if kind == "b":
            return bool(value)
        if kind in "iu":
            return int(value)
        if kind == "f":
            return packed(float(value))
        if kind == "c":
            number = complex(value)
            return [packed(number.real), packed(number.imag)]
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{value!r} cannot be the _FillValue of values of type {dtype}") from error
    return value.item() if isinstance(value, np.generic) else value


def _bytes(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError
    return bytes(value)


def from_json(value: Any, dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 - JSON in, a scalar out
    """Return the fill value that the attribute says; what says none of the type is returned as it is."""
    kind = dtype.kind
    try:
        if kind == "c" and isinstance(value, list) and len(value) == 2:
            return dtype.type(complex(_float(value[0]), _float(value[1])))
        if kind == "S" and isinstance(value, str):
            return from_base64(value)
        if kind == "f" and isinstance(value, str):
            return np.dtype(dtype.newbyteorder("=")).type(_float(value))
        if kind in "iu" and isinstance(value, (int, float)):
            return _whole(value, dtype)
        if kind in "fb" and isinstance(value, (int, float)):
            return dtype.type(value)
    except (TypeError, ValueError, OverflowError):
        pass
    return value


def _whole(value: float, dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 - as above
    """Return a whole number of a type; 255 is taken for the signed byte that has the same bits, as others do.

    Raises:
        ValueError: If it is no whole number, or has too many bits.
        OverflowError: If it is infinite.
    """
    number, bits = int(value), 8 * dtype.itemsize
    if number != value or not -(1 << bits - 1) <= number < 1 << bits:
        raise ValueError(f"{value!r} is not of type {dtype}")
    return np.array(number % (1 << bits), f"u{dtype.itemsize}").astype(dtype.newbyteorder("="))[()]


def _float(text: object) -> float:
    """Return a float from base64, or from what JSON has for those that it has no number for."""
    if not isinstance(text, str):
        raise TypeError
    try:
        return unpacked(text)
    except ValueError:
        return float(text)
