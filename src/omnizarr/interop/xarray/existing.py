"""Variables that meet what is stored already: they must fit it, and are encoded as it is."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import Any

import numpy as np
from xarray import Variable, conventions

from omnizarr.errors import ShapeError
from omnizarr.hierarchy.array import Array
from omnizarr.interop.xarray.casting import unchanged
from omnizarr.interop.xarray.encoding import encode_variable
from omnizarr.interop.xarray.zarr_view import dimensions, variable


def encode_as_stored(
    variables: Mapping[str, Variable],
    arrays: Mapping[str, Array],
    region: Mapping[str, slice] | None,
    append_dim: Hashable | None,
) -> dict[str, Variable]:
    """Return variables encoded exactly as the arrays that they go to, with the dimensions in the arrays' order.

    Raises:
        ValueError: If a variable does not fit its array in type, dimensions or lengths.
        ShapeError: If values would change on their way, as fractions among whole numbers.
    """
    stored = {name: variable(arrays[name], "") for name in variables}
    decoded, _, _ = conventions.decode_cf_variables(stored, {})
    made: dict[str, Variable] = {}
    for name, var in variables.items():
        _check_type(name, decoded[name], var)
        copy = var.copy(deep=False)
        copy.encoding = dict(decoded[name].encoding)
        encoded = unchanged(name, encode_variable(copy, name), var, copy.encoding)
        made[name] = _fitting(name, encoded, decoded[name], region, append_dim)
    return made


def _check_type(name: str, old: Variable, new: Variable) -> None:
    """Refuse text of other lengths: it would be cut off."""
    kind = new.dtype.kind
    easy = kind in "iufcMmbO" or (kind in "SUT" and old.dtype.kind in "OT")
    if not easy and new.dtype != old.dtype:
        raise ValueError(
            f"Mismatched dtypes for variable {name}: what is stored has {old.dtype}, what is to be written {new.dtype}"
        )


def _fitting(
    name: str, new: Variable, old: Variable, region: Mapping[str, slice] | None, append_dim: Hashable | None
) -> Variable:
    if new.dims != old.dims:
        if set(new.dims) != set(old.dims):
            raise ValueError(
                f"variable {name!r} already exists with different dimension names {old.dims} != {new.dims}"
            )
        new = new.transpose(*old.dims)
    there = {dim: size for dim, size in old.sizes.items() if dim != append_dim}
    for dim, part in (region or {}).items():
        if dim in there:
            start, stop, _ = part.indices(there[dim])
            there[dim] = max(0, stop - start)
    here = {dim: size for dim, size in new.sizes.items() if dim != append_dim}
    if there != here:
        raise ValueError(
            f"variable {name!r} already exists with different dimension sizes: {there} != {here};"
            f" append_dim={append_dim!r} is the only one that can grow, and region= names a part"
        )
    return new


def check_all_grow(dim: Hashable, given: Collection[str], arrays: Mapping[str, Array]) -> None:
    """Refuse to leave out a variable that has the dimension that grows: the dataset would have two lengths of it.

    Args:
        dim: The dimension.
        given: The names of the variables that are appended.
        arrays: What is there.

    Raises:
        ShapeError: If one is left out.
    """
    left = [name for name, array in arrays.items() if name not in given and dim in dimensions(array.metadata)]
    if left:
        raise ShapeError(
            f"what is appended along {dim!r} has no {', '.join(map(repr, sorted(left)))}, which {dim!r} is a dimension"
            " of: not all variables would have the same length",
            hint=f"Append all variables along {dim!r} together; fill those that you have no values for.",
        )


def same_values(array: Array, values: Any) -> bool:  # noqa: ANN401 - whatever NumPy takes
    """Whether an array holds these values already, as coordinates do that are written with every append."""
    if not isinstance(values, np.ndarray) or values.shape != array.shape or values.nbytes > 1 << 24:
        return False
    stored = np.asarray(array[...])
    if stored.dtype.kind in "fc" and values.dtype.kind in "fciu":
        return bool(np.array_equal(stored, values, equal_nan=True))
    return bool(np.array_equal(stored, values))
