"""The values that a new array is made with: read and checked while what they may come from is still there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from omnizarr.array.masked import is_masked, without_mask
from omnizarr.array.objects import packed
from omnizarr.array.values import as_values, broadcast
from omnizarr.errors import ShapeError
from omnizarr.hierarchy.create import ArrayOptions
from omnizarr.model.array import ArrayMeta

if TYPE_CHECKING:
    import numpy.typing as npt


def with_data(options: ArrayOptions) -> ArrayOptions:
    """Read the data, where they are an array of any package; lists and scalars stay what they are."""
    data, options = options.get("data"), options.copy()
    meta = getattr(data, "metadata", None)
    if isinstance(meta, ArrayMeta) and options.get("dtype") is None:
        # An array of Omnizarr's own: NumPy's type would not tell text or bytes of any length from objects.
        options["dtype"] = meta.dtype
    if hasattr(data, "__array__") and not isinstance(data, (np.ndarray, np.generic)):
        options["data"] = np.asarray(data)
    return options


def fitting(data: object, meta: ArrayMeta, path: str) -> npt.NDArray[Any]:
    """Return data in the type and shape of an array.

    Raises:
        ShapeError: If they do not fit.
    """
    if is_masked(data):
        data = without_mask(data, meta.dtype, meta.fill, path)
    values = as_values(data, meta.dtype.numpy, meta.dtype.vlen, path, ndim=len(meta.shape))
    if meta.dtype.item:
        packed(values, meta.dtype, path)
        return broadcast(values, meta.shape, path)
    values = broadcast(values, meta.shape, path)
    if meta.dtype.vlen:
        _check_items(values.reshape(-1).tolist(), meta.dtype.vlen, path)
    return values


def _check_items(items: list[Any], vlen: str, path: str) -> None:
    # Joining is the one pass over all items that takes no time for each in Python.
    try:
        if vlen == "string":
            "".join(items).encode()
        else:
            b"".join(items)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"the values cannot be stored as {vlen}: {error}", path=path) from error
