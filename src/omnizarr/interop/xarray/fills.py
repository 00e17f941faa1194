"""`_FillValue` in Zarr v3, where the array's own fill value does not mean "missing": as xarray writes the attribute.

Bytes and floating point numbers are base64, complex numbers two of them, all else is itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from omnizarr.errors import ShapeError
from omnizarr.format.fill_attribute import as_base64, packed


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
