"""`_FillValue` in Zarr v3, where the array's own fill value does not mean "missing": as xarray writes the attribute.

Bytes and floating point numbers are base64, complex numbers two of them, all else is itself. Whoever else wrote the
attribute wrote a number, which is taken as it is.
"""

from __future__ import annotations

import base64
import binascii
import struct
from typing import Any

import numpy as np

from omnizarr.errors import ShapeError


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
            return base64.standard_b64encode(_bytes(value)).decode()
        if kind == "b":
            return bool(value)
        if kind in "iu":
            return int(value)
        if kind == "f":
            return _packed(float(value))
        if kind == "c":
            number = complex(value)
            return [_packed(number.real), _packed(number.imag)]
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{value!r} cannot be the _FillValue of values of type {dtype}") from error
    return value.item() if isinstance(value, np.generic) else value


def _bytes(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError
    return bytes(value)


def _packed(number: float) -> str:
    return base64.standard_b64encode(struct.pack("<d", number)).decode()


def _unpacked(text: object) -> float:
    if not isinstance(text, str):
        raise TypeError
    number: float = struct.unpack("<d", base64.b64decode(text, validate=True))[0]
    return number


def from_json(value: Any, dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 - JSON in, a scalar out
    """Return the fill value that the attribute says."""
    kind = dtype.kind
    try:
        if kind == "f":
            return np.dtype(dtype.newbyteorder("=")).type(_unpacked(value))
        if kind == "c" and isinstance(value, list) and len(value) == 2:
            return dtype.type(complex(_unpacked(value[0]), _unpacked(value[1])))
        if kind == "S" and isinstance(value, str):
            return base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error, struct.error):
        pass
    if kind in "iufb" and isinstance(value, (int, float)):
        return dtype.type(value)
    if kind == "f" and isinstance(value, str):
        return dtype.type(float(value))  # "NaN", "Infinity"
    return value
