"""Values that users give, made into those that are stored: packed, filled, quantized, cast."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from omnizarr.nc.dataset.errors import BadOptionError, BadTypeError, DefinitionError, RangeError, TooLargeError
from omnizarr.nc.dataset.plan import default_fillvals
from omnizarr.nc.dataset.values import from_attr
from omnizarr.nc.tree import Var

DType = np.dtype[Any]
Values = np.ndarray[Any, Any]


def packed(data: Any, var: Var, dtype: DType) -> Values:  # noqa: ANN401 - masked arrays, too
    """Return values packed by `scale_factor` and `add_offset` and cast; what is masked becomes a missing value."""
    scale, offset = (
        from_attr(var.attrs[name]) if name in var.attrs else None for name in ("scale_factor", "add_offset")
    )
    if offset is not None:
        data = data - offset
    if scale is not None:
        data = data / scale
    if dtype.kind in "iu" and (scale is not None or offset is not None):
        data = np.around(data)
    if data.dtype != dtype:
        data = cast(data, dtype)
    return _filled(data, var, dtype) if np.ma.isMaskedArray(data) else data


def cast(data: Any, dtype: DType) -> Any:  # noqa: ANN401 - masked arrays, too
    """Return values of another type; NumPy warns of NaN that becomes some integer, unless it is masked."""
    if not np.ma.isMaskedArray(data):
        return data.astype(dtype)
    if data.dtype.kind == "f" and dtype.kind in "iu":
        data.compressed().astype(dtype)  # for its warning alone: below, what is masked would be warned of as well
    with np.errstate(invalid="ignore"):
        return data.astype(dtype)


def _filled(data: Any, var: Var, dtype: DType) -> Values:  # noqa: ANN401 - a masked array
    missing = from_attr(var.attrs["missing_value"]) if "missing_value" in var.attrs else None
    if missing is not None:
        if np.all(np.isin(data.data[np.ma.getmaskarray(data)], missing)):
            return np.asarray(data.data)
        if np.ndim(missing):
            raise DefinitionError(
                "cannot assign fill_value for masked array when missing_value attribute is not a scalar", path=var.path
            )
        fill = missing
    elif "_FillValue" in var.attrs:
        fill = from_attr(var.attrs["_FillValue"])
    else:
        fill = default_fillvals[dtype.str[1:]]
    if dtype.kind in "iu" and not np.iinfo(dtype).min <= int(fill) <= np.iinfo(dtype).max:
        hint = "Give the variable a missing_value that its type can hold, or a _FillValue instead."
        raise RangeError(f"masked values cannot be stored as {fill}, which is no {dtype}", path=var.path, hint=hint)
    filled = np.array(data.data, dtype)
    filled[np.ma.getmaskarray(data)] = np.array(fill).astype(dtype)
    return filled


def rounding(digit: Any, where: str) -> float:  # noqa: ANN401 - a number, if it is right
    """Return what values are multiplied with so that they can be rounded to a decimal place.

    Args:
        digit: The place, `least_significant_digit`.
        where: The variable.

    Raises:
        BadTypeError: If it is no number.
        BadOptionError: If it is not finite.
        TooLargeError: If doubles have no such place.
    """
    hint = "Give a small integer: 2 keeps two decimals."
    try:
        number = float(digit)
    except (TypeError, ValueError) as error:
        raise BadTypeError(f"least_significant_digit={digit!r} is no number", path=where, hint=hint) from error
    if math.isnan(number):
        raise BadOptionError(f"least_significant_digit={digit!r} is no number", path=where, hint=hint)
    try:
        power = math.log10(10.0**-number)
        power = math.floor(power) if power < 0 else math.ceil(power)
        return 2.0 ** math.ceil(math.log2(10.0**-power))
    except (ValueError, OverflowError) as error:  # the logarithm of 0, and what is infinite
        message = f"least_significant_digit={digit!r} is beyond what a double can hold"
        raise TooLargeError(message, path=where, hint=hint) from error


def rounded(data: Any, scale: float) -> Any:  # noqa: ANN401 - masked arrays, too
    """Return values with only as many binary digits as a decimal place needs, which compress better."""
    data = np.ma.asanyarray(data) if np.ma.isMaskedArray(data) else np.asanyarray(data)
    return np.around(scale * data) / scale
