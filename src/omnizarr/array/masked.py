"""Masked arrays of NumPy: what is masked is written as the fill value, never as what lies under the mask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from omnizarr.array.values import as_values
from omnizarr.errors import ShapeError
from omnizarr.model.dtype import DType
from omnizarr.model.fill import Fill

if TYPE_CHECKING:
    import numpy.typing as npt


def is_masked(value: object) -> bool:
    """Whether a value is a masked array; quick, and without importing `numpy.ma` for anything plain."""
    return isinstance(value, np.ndarray) and type(value) is not np.ndarray and isinstance(value, np.ma.MaskedArray)


def without_mask(value: Any, dtype: DType, fill: Fill, path: str) -> npt.NDArray[Any]:  # noqa: ANN401 - as told
    """Return a masked array as a plain one, with the fill value where it is masked.

    Args:
        value: The masked array.
        dtype: The type of the array that it is written to.
        fill: The fill value of that array.
        path: The array, for messages.

    Raises:
        ShapeError: If values are masked and the array has no fill value, or if they cannot be stored.
    """
    plain = np.ma.getdata(value)
    mask = np.ma.getmaskarray(value)
    if mask.dtype.names is not None:
        return _records(value, dtype, fill, path) if any(mask.tobytes()) else plain
    if not mask.any():
        return plain
    _check(fill, path)
    made = np.empty(value.shape, object if dtype.vlen else dtype.numpy)
    made.fill(fill.value(dtype))
    # What lies under a mask may be anything, also what cannot be stored.
    made[~mask] = as_values(plain[~mask], dtype.numpy, dtype.vlen, path, ndim=1)
    return made


def _records(value: Any, dtype: DType, fill: Fill, path: str) -> npt.NDArray[Any]:  # noqa: ANN401 - a masked array
    """Return records, each field of which has a mask of its own."""
    _check(fill, path)
    try:
        filled: npt.NDArray[Any] = value.astype(dtype.numpy).filled(fill.value(dtype))
    except (TypeError, ValueError) as error:
        raise ShapeError(f"the values cannot be stored as {dtype.name}: {error}", path=path) from error
    return filled


def _check(fill: Fill, path: str) -> None:
    if fill.bits is None:
        raise ShapeError(
            "values are masked, and the array has no fill value to write in their place",
            path=path,
            hint="Write value.filled(x) with an x of your choice, or give the array a fill_value when it is made.",
        )
