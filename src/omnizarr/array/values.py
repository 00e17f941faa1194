"""Values to be written: cast as NumPy's assignment casts, broadcast as it broadcasts."""

from __future__ import annotations

import sys
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from omnizarr.errors import LimitError, ShapeError
from omnizarr.late import LateModule
from omnizarr.model.small import SMALL_FLOATS, SMALL_INTEGERS, is_pair, is_small
from omnizarr.model.structs import padding

if TYPE_CHECKING:
    import numpy.typing as npt

    from omnizarr.array import objects
else:
    objects = LateModule("omnizarr.array.objects")

_OBJECT = np.dtype(object)
_NUMBERS = (bool, int, float, complex)


def as_values(value: object, dtype: np.dtype[np.generic], vlen: str, path: str, *, ndim: int = 0) -> npt.NDArray[Any]:
    """Return the value as an array that the kernel takes: of the array's type, or of objects for variable length.

    Args:
        value: Whatever NumPy takes.
        dtype: The array's type.
        vlen: Which of the types of variable length it is, or the empty string.
        path: The array, for messages.
        ndim: How many dimensions it is written to; where elements are objects, only that tells lists of them from lists
            in them.

    Raises:
        ShapeError: If the value cannot be had in that type.
    """
    if isinstance(value, np.ndarray) and value.dtype == dtype and not vlen:
        return value
    if vlen == "object":
        return objects.as_objects(value, ndim)
    try:
        if vlen:
            return _strings(value, dtype) if vlen == "string" else _byte_strings(value)
        if dtype.names is not None and is_pair(dtype):
            return _pairs(value, dtype)
        if is_small(dtype) and not isinstance(value, np.ndarray):
            return _small(value, dtype)
        return to_integers(value, dtype) if dtype.kind in "iu" or is_small(dtype) else np.asarray(value, dtype)
    except (TypeError, ValueError, ArithmeticError) as error:
        shown = vlen or dtype.name
        raise ShapeError(f"the values cannot be stored as {shown}: {error}", path=path) from error


def to_integers(value: object, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Cast to integers; fractions are cut off, as NumPy does.

    Raises:
        ArithmeticError: If a float is none that an integer of the type is near to. NumPy would make some number of it.
    """
    if type(value) in _NUMBERS:  # NumPy itself refuses those that do not fit
        return np.asarray(value, dtype)
    if isinstance(value, (list, tuple)):
        # Of its own numbers in a list, NumPy only warns.
        with np.errstate(invalid="raise"):
            return np.asarray(value, dtype)
    array = np.asarray(value)
    if array.size and (array.dtype.kind in "fc" or array.dtype.name in SMALL_FLOATS) and dtype.name not in SMALL_FLOATS:
        _check_range(array, dtype)
    return array.astype(dtype, copy=False)


def without_padding(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the values with zeros between their fields, where there otherwise is whatever was in memory."""
    clean = values.copy()
    clean.reshape(-1).view(np.uint8).reshape(-1, values.itemsize)[:, padding(values.dtype)] = 0
    return clean


def broadcast(values: npt.NDArray[Any], shape: tuple[int, ...], path: str) -> npt.NDArray[Any]:
    """Return a view of the values with the shape of the selection.

    Raises:
        ShapeError: If the shapes do not fit.
        LimitError: If no array can have as many elements.
    """
    if values.shape == shape:
        return values
    while values.ndim > len(shape) and values.shape[0] == 1:
        values = values.reshape(values.shape[1:])  # an index would take the one object out of its array
    try:
        if not values.ndim and values.dtype != _OBJECT:
            # One element repeated without steps: what np.broadcast_to does, in a tenth of the time.
            return np.ndarray(shape, values.dtype, values, 0, (0,) * len(shape))
        return np.broadcast_to(values, shape)
    except ValueError:
        size = prod(length or 1 for length in shape) * values.itemsize
        if size > sys.maxsize:
            raise LimitError(
                f"a selection of {size} bytes is more than an array can have", path=path, hint="Write less at a time."
            ) from None
        raise ShapeError(f"values of shape {values.shape} do not broadcast to {shape}", path=path) from None


def _pairs(value: object, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Split complex numbers, which NumPy would put whole into both parts."""
    array = np.asarray(value)
    if array.dtype.names is not None:
        return array.astype(dtype, copy=False)
    if array.dtype.kind not in "biufc" and not is_small(array.dtype):
        return np.asarray(value, dtype)
    made = np.zeros(array.shape, dtype)
    made["real"], made["imag"] = (np.real(array), np.imag(array)) if array.dtype.kind == "c" else (array, 0)
    return made


def _check_range(array: npt.NDArray[Any], dtype: np.dtype[Any]) -> None:
    low, high = _range(dtype)
    with np.errstate(invalid="ignore"):
        # Both are NaN if any number is.
        least, most = (float(found.real) for found in (array.min(), array.max()))
    if not (low - 1 < least and most < high + 1):
        bad = next(one for one in (least, most) if not low - 1 < one < high + 1)
        raise OverflowError(f"{bad} is no number of that type; replace such numbers first")


def _range(dtype: np.dtype[Any]) -> tuple[int, int]:
    if is_small(dtype):
        bits = SMALL_INTEGERS[dtype.name]
        return (0, (1 << bits) - 1) if dtype.name.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _small(value: object, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    with np.errstate(invalid="ignore"):  # it is looked at below
        made = np.asarray(value, dtype)
    if "int" in dtype.name:
        # As NumPy does for its own: Python's integers must fit, only arrays wrap around.
        plain = np.asarray(value)
        if plain.dtype.kind == "f" and plain.size:
            _check_range(plain, dtype)
        if plain.dtype.kind in "iuO" and (made.astype(np.int64) != plain).any():
            raise OverflowError(f"a number is out of the range of {dtype.name}")
    return made


def _strings(value: object, dtype: np.dtype[np.generic]) -> npt.NDArray[Any]:
    # Not by way of NumPy's fixed-width text, which is as wide as its longest item and loses trailing NULs.
    array = value if isinstance(value, np.ndarray) else np.asarray(value, _OBJECT)
    if array.dtype == _OBJECT:
        return array
    if array.dtype.kind not in "UT" and dtype != _OBJECT:
        array = array.astype(dtype)
    return array.astype(_OBJECT)


def _byte_strings(value: object) -> npt.NDArray[Any]:
    array = value if isinstance(value, np.ndarray) else np.asarray(value, _OBJECT)
    if array.dtype.kind not in "OSV":
        raise TypeError(f"{array.dtype} is not bytes")
    return array.astype(_OBJECT) if array.dtype.kind != "V" else _void(array)


def _void(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    items = np.empty(array.shape, _OBJECT)
    items.reshape(-1)[:] = [item.tobytes() for item in array.reshape(-1)]
    return items
