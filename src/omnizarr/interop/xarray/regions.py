"""Which part of what is stored a dataset goes to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from xarray import Dataset, conventions

from omnizarr.errors import NotFoundError
from omnizarr.hierarchy.array import Array
from omnizarr.interop.xarray.zarr_view import variable

Region: TypeAlias = Mapping[str, slice | Literal["auto"]] | Literal["auto"]


def settled(region: Region, dataset: Dataset, arrays: Mapping[str, Array], mode: str) -> dict[str, slice]:
    """Return the part of each dimension that is written; "auto" is found by the values of coordinates.

    Raises:
        ValueError: If it is no part of the dataset's dimensions, or a variable has none of them.
        TypeError: If it is not a mapping of slices.
        KeyError: If values of a coordinate are not among those that are stored.
    """
    found: dict[str, Any]
    if isinstance(region, str):
        if region != "auto":
            raise TypeError(f"region must be a dict or 'auto', got {region!r}")
        found = {str(dim): "auto" for dim in dataset.dims}
    elif isinstance(region, Mapping):
        found = dict(region)
    else:
        raise TypeError(f"``region`` must be a dict, got {type(region)}")
    if any(isinstance(part, str) for part in found.values()) and mode not in ("r+", "a"):
        raise ValueError(f"``mode`` must be 'r+' or 'a' when using ``region='auto'``, got {mode!r}")
    for dim, part in found.items():
        if isinstance(part, str) and part == "auto":
            found[dim] = _by_values(dim, dataset, arrays)
    _check(found, dataset)
    return found


def _by_values(dim: str, dataset: Dataset, arrays: Mapping[str, Array]) -> slice:
    if dim not in dataset.variables:
        return slice(0, dataset.sizes[dim])
    if dim not in arrays:
        raise NotFoundError(f"there is no coordinate {dim!r} by which the region could be found")
    stored = conventions.decode_cf_variable(dim, variable(arrays[dim], "").load())
    wanted = dataset[dim].to_index()
    at = stored.to_index_variable().to_index().get_indexer(wanted)
    if (at == -1).any():
        raise KeyError(
            f"Not all values of coordinate '{dim}' in the new array were found in the original store. Writing to a"
            " region requires that no dimensions or metadata are changed by the write."
        )
    if (np.diff(at) != 1).any():
        raise ValueError(
            f"The auto-detected region of coordinate '{dim}' for writing new data to the original store had"
            " non-contiguous indices: the new data must be a contiguous part of what is stored."
        )
    return slice(int(at[0]), int(at[-1]) + 1) if len(at) else slice(0, 0)


def _check(region: Mapping[str, Any], dataset: Dataset) -> None:
    for dim, part in region.items():
        if dim not in dataset.dims:
            raise ValueError(
                f"all keys in ``region`` are not in Dataset dimensions, got {list(region)} and {list(dataset.dims)}"
            )
        if not isinstance(part, slice):
            raise TypeError(f"all values in ``region`` must be slice objects, got region={region}")
        if part.step not in (1, None):
            raise ValueError(f"step on all slices in ``region`` must be 1 or None, got region={region}")
    apart = [name for name, var in dataset.variables.items() if not set(region) & set(var.dims)]
    if region and apart:
        raise ValueError(
            "when setting `region` explicitly, all variables in the dataset to write must have at least one dimension"
            f" in common with the region's dimensions {list(region)}, but that is not the case for some variables here."
            f" To drop these variables from this dataset before writing, write: .drop_vars({apart!r})"
        )
