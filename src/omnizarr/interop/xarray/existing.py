"""Variables that meet what is stored already: they must fit it, and are encoded as it is."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import Any

import numpy as np
from xarray import Variable, conventions

from omnizarr.errors import ShapeError
from omnizarr.hierarchy.array import Array
from omnizarr.interop.xarray.casting import unchanged, uncut
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
        ShapeError: If values would change on their way, as fractions among whole numbers, text that is too long, or
            times in other units.
    """
    stored = {name: variable(arrays[name], "") for name in variables}
    decoded, _, _ = conventions.decode_cf_variables(stored, {})
    made: dict[str, Variable] = {}
    for name, var in variables.items():
        _check_type(name, decoded[name], var)
        copy = var.copy(deep=False)
        copy.encoding = dict(decoded[name].encoding)
        encoded = unchanged(name, encode_variable(copy, name), var, copy.encoding)
        encoded = uncut(name, encoded, var, arrays[name].dtype)
        _check_units(name, stored[name].attrs.get("units"), encoded, var)
        made[name] = _fitting(name, encoded, decoded[name], region, append_dim)
    return made


def _check_type(name: str, old: Variable, new: Variable) -> None:
    """Refuse text of other lengths, which would be cut off, and text among numbers, or numbers among text."""
    kind, there = new.dtype.kind, old.dtype.kind
    if kind in "SUT":
        fits = there in "OT" or new.dtype == old.dtype
    elif kind == "O":
        # What is lazy is not computed for that.
        first = new[(0,) * new.ndim].values.item() if new.size and new.chunks is None else None
        fits = not isinstance(first, (str, bytes)) or there in "OSUT"
    else:
        fits = kind not in "biufc" or there not in "SUT"
    if not fits:
        raise ValueError(
            f"Mismatched dtypes for variable {name}: what is stored has {old.dtype}, what is to be written {new.dtype}"
        )


def _check_units(name: str, there: object, encoded: Variable, given: Variable) -> None:
    """Refuse times that xarray counts in other units than those that are stored, which stay: they would be others."""
    kind, units = given.dtype.kind, encoded.attrs.get("units")
    if units is None or not (kind in "mM" or (kind == "O" and encoded.dtype.kind in "iuf")):
        return
    if there is None:
        raise ShapeError(
            f"variable {name!r} holds plain numbers without units, and what is to be written are times",
            hint="Write the dataset anew, or write numbers.",
        )
    if _unit(there) != _unit(units):
        raise ShapeError(
            f"the times of variable {name!r} are no whole numbers of what is stored, {there!r}; they would need"
            f" {units!r}",
            hint=f"Round them, or write the dataset anew with encoding={{{name!r}: {{'units': {units!r}}}}}.",
        )


def _unit(units: object) -> str:
    """Return the unit of time alone, however it is spelled: Days, day and days are one."""
    return str(units).strip().partition(" ")[0].lower().rstrip("s")


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
            + (" append_dim= names one that grows" if append_dim is None else f" only {append_dim!r} can grow")
            + ", and region= a part"
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


def check_lengths(
    new: Mapping[str, Variable], old: Mapping[str, Variable], arrays: Mapping[str, Array], append_dim: Hashable | None
) -> None:
    """Refuse new variables that would give a dimension a second length: nobody could open the dataset then.

    Args:
        new: The variables that are to be made.
        old: Those that are written into arrays.
        arrays: What is there.
        append_dim: The dimension that grows.

    Raises:
        ShapeError: If there is one.
    """
    lengths: dict[Hashable, set[int]] = {}
    for name, array in arrays.items():
        for dim, length in zip(dimensions(array.metadata), array.shape, strict=True):
            added = old[name].sizes.get(dim, 0) if dim == append_dim and name in old else 0
            lengths.setdefault(dim, set()).add(length + added)
    for name, var in new.items():
        for dim, length in var.sizes.items():
            there = lengths.get(dim)
            if there and length not in there:
                raise ShapeError(
                    f"variable {name!r} is new, and its dimension {dim!r} has the length {length}, where that of the"
                    f" others is {', '.join(map(str, sorted(there)))}",
                    hint=f"Give it values for all of {dim!r}, or write it along a dimension of another name.",
                )


def same_values(array: Array, values: Any) -> bool:  # noqa: ANN401 - whatever NumPy takes
    """Whether an array holds these values already, as coordinates do that are written with every append."""
    if not isinstance(values, np.ndarray) or values.shape != array.shape or values.nbytes > 1 << 24:
        return False
    stored = np.asarray(array[...])
    if stored.dtype.kind in "fc" and values.dtype.kind in "fciu":
        return bool(np.array_equal(stored, values, equal_nan=True))
    return bool(np.array_equal(stored, values))
