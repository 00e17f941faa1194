"""Arrays of Python objects: which part of a value is the array's shape, and which is inside its elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from omnizarr.errors import CorruptError, ShapeError
from omnizarr.model.dtype import DType
from omnizarr.model.items import pack_all, unpack_all

if TYPE_CHECKING:
    import numpy.typing as npt

_OBJECT = np.dtype(object)


def boxed(value: object) -> npt.NDArray[Any]:
    """Return an array without dimensions that holds the value, be it a list or an array itself."""
    box = np.empty(1, _OBJECT)
    box[0] = value
    return box.reshape(())


def as_objects(value: object, ndim: int) -> npt.NDArray[Any]:
    """Return a value as an array of objects of at most `ndim` dimensions.

    An array of objects is taken as it stands. Of lists, tuples and arrays of any other type, the first `ndim` levels
    are the shape, as long as they are as regular as a shape; all below are elements.

    >>> as_objects([[1, 2], [3, 4]], 1).shape, as_objects([[1, 2], [3, 4]], 2).shape, as_objects("text", 1).shape
    ((2,), (2, 2), ())
    """
    if isinstance(value, np.ndarray) and value.dtype == _OBJECT and (value.ndim == 0 or ndim > 0):
        return value
    shape: list[int] = []
    items: list[Any] = [value]
    while len(shape) < ndim and all(_is_level(item) for item in items):
        lengths = {len(item) for item in items}
        if len(lengths) > 1 or not items:
            break
        shape.append(lengths.pop())
        items = [item for level in items for item in level]
    made = np.empty(len(items), _OBJECT)
    for at, item in enumerate(items):
        made[at] = item
    return made.reshape(shape)


def _is_level(value: object) -> bool:
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def packed(values: npt.NDArray[Any], dtype: DType, path: str) -> npt.NDArray[Any]:
    """Return the bytes of each object.

    Raises:
        ShapeError: If the type cannot hold one of them.
    """
    try:
        return pack_all(values, dtype)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ShapeError(f"the values cannot be stored as {dtype.item} objects: {error}", path=path) from error


def unpacked(values: npt.NDArray[Any], dtype: DType, path: str) -> npt.NDArray[Any]:
    """Return the objects that byte strings stand for.

    Raises:
        CorruptError: If one stands for none.
    """
    try:
        return unpack_all(values, dtype)
    except (TypeError, ValueError, IndexError, RecursionError) as error:
        raise CorruptError(f"a stored element is not one of {dtype.item} objects: {error}", path=path) from error
