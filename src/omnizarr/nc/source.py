"""What holds a dataset: a tree and its values.

Any object with the members of `Source` is one; there is one for each kind of place (Zarr, HDF5, netCDF-3, memory).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from omnizarr.errors import LimitError, ReadOnlyError, SelectionError
from omnizarr.nc.tree import Dim, Group, Var
from omnizarr.nc.types import zeros

Values: TypeAlias = np.ndarray[Any, Any]
Key: TypeAlias = Sequence["slice | Values"]
"""One entry for each dimension: a slice with start, stop and step ≥ 1 all given, or a one-dimensional array of integers
(each selects from its own dimension). No dimension is dropped."""

MOST: Final = 2**63 - 1
"""What no length, and no number of elements, may exceed: whoever reads counts in 64 bits."""


class Source(Protocol):
    """An open dataset."""

    @property
    def root(self) -> Group:
        """The tree. Whoever may write changes it in place and then calls `changed`."""
        ...

    @property
    def kind(self) -> str:
        """What `ncdump -k` says; one of `omnizarr.nc.kinds.KINDS`, or "memory"."""
        ...

    @property
    def name(self) -> str:
        """Where the dataset is, for messages and for the name in CDL."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether changes are refused."""
        ...

    def read(self, var: Var, key: Key) -> Values:
        """Return the values that a key selects, in the form that `omnizarr.nc.types` gives for the variable's type.

        What was never written reads as the fill value. The array is the caller's, writable and in native byte order.
        """
        ...

    def write(self, var: Var, key: Key, values: Values) -> None:
        """Store values of just the shape that a key selects; unlimited dimensions grow to what the key reaches.

        The `size` of the `Dim` records grows with them.
        """
        ...

    def changed(self, node: Group | Var) -> None:
        """Take note that definitions of a node (dimensions, types, attributes, storage, children) are new or differ."""
        ...

    def sync(self) -> None:
        """Bring everything to the place, in an order that leaves a readable dataset at every point in between."""
        ...

    def close(self) -> None:
        """As `sync`, and let go of the place. A second call does nothing."""
        ...


class MemorySource:
    """A dataset without a place: arrays in memory. What a CDL text means, and the model for tests."""

    kind = "memory"
    read_only = False

    def __init__(self, root: Group | None = None, name: str = "memory") -> None:
        self.root = root or Group()
        self.name = name

    def read(self, var: Var, key: Key) -> Values:
        """Return the values that a key selects."""
        values = self._values(var)
        return _copied(values[open_mesh(key)] if key else values)

    def write(self, var: Var, key: Key, values: Values) -> None:
        """Store values; unlimited dimensions grow."""
        grow(var, key)
        if 0 in counts(key):
            return
        held = self._values(var)
        if key:
            held[open_mesh(key)] = values
        else:
            held[...] = values

    def changed(self, node: Group | Var) -> None:
        """Do nothing: the tree is the dataset."""

    def sync(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def _values(self, var: Var) -> Values:
        """Return all values of a variable, as long as its dimensions are now."""
        held: Values | None = var.handle
        if held is not None and held.shape == var.shape:
            return held
        wide = filled(var, var.shape)
        if held is not None:
            kept = tuple(slice(0, min(a, b)) for a, b in zip(held.shape, var.shape, strict=True))
            wide[kept] = held[kept]
        var.handle = wide
        return wide


def filled(var: Var, shape: tuple[int, ...]) -> Values:
    """Return an array of a variable's fill value."""
    values = zeros(shape, var.type)
    fill = var.fill
    if values.dtype == object and not isinstance(fill, str):
        for index in np.ndindex(shape):
            values[index] = fill
    else:
        values[...] = fill
    return values


def reach(key: Key) -> tuple[int, ...]:
    """Return how far a key goes along each dimension: one more than the last index, 0 if it selects nothing.

    >>> reach([slice(0, 10, 4), slice(3, 3, 1), np.array([5, 2])])
    (9, 0, 6)
    """
    ends: list[int] = []
    for part in key:
        if isinstance(part, slice):
            chosen = range(part.start, part.stop, part.step)
            ends.append(chosen[-1] + 1 if chosen else 0)
        else:
            ends.append(int(part.max()) + 1 if part.size else 0)
    return tuple(ends)


def counts(key: Key) -> tuple[int, ...]:
    """Return the shape of what a key selects."""
    return tuple(len(range(p.start, p.stop, p.step)) if isinstance(p, slice) else len(p) for p in key)


def grow(var: Var, key: Key) -> bool:
    """Let unlimited dimensions reach as far as a key does; say whether any grew.

    Raises:
        SelectionError: If the key reaches beyond a dimension that cannot grow.
        LimitError: If a variable would become longer than can be read.
    """
    ends = reach(key)
    if 0 in ends:
        return False
    longer: dict[Dim, int] = {}
    for dim, end in zip(var.dims, ends, strict=True):
        if end > dim.size:
            if not dim.unlimited:
                raise _out_of_bounds(var, dim, end)
            longer[dim] = max(end, longer.get(dim, 0))
    if longer:
        _check_size(var, longer)
        for dim, end in longer.items():
            dim.size = end
    return bool(longer)


def _check_size(var: Var, longer: dict[Dim, int]) -> None:
    """Raise if a variable would have too many elements, with dimensions that it may share with others."""
    for one in var.group.root.all_vars() if var.group is not None else (var,):
        if any(dim in longer for dim in one.dims):
            check_size(one, tuple(longer.get(dim, dim.size) for dim in one.dims))


def check_size(var: Var, shape: tuple[int, ...]) -> None:
    """Raise if a variable would have more elements than can be read, along dimensions that are empty yet as well.

    Raises:
        LimitError: If so.
    """
    if prod(size or 1 for size in shape) > MOST:
        text = " × ".join(f"{dim.name} = {size}" for dim, size in zip(var.dims, shape, strict=True))
        hint = "Choose smaller indices or dimensions."
        raise LimitError(f"2**63 elements or more cannot be stored: {text}", path=var.path, hint=hint)


def check_bounds(var: Var, key: Key) -> None:
    """Raise if a key reaches beyond a variable.

    Raises:
        SelectionError: If so.
    """
    for dim, end in zip(var.dims, reach(key), strict=True):
        if end > dim.size:
            raise _out_of_bounds(var, dim, end)


def _out_of_bounds(var: Var, dim: Dim, end: int) -> SelectionError:
    return SelectionError(
        f"index {end - 1} is out of bounds for dimension {dim.name} of size {dim.size}", path=var.path
    )


def open_mesh(key: Key) -> Any:  # noqa: ANN401 - an index of NumPy
    """Return a key as an index of NumPy: slices where they are enough."""
    if all(isinstance(part, slice) for part in key):
        return tuple(key)
    return np.ix_(*(np.arange(part.start, part.stop, part.step) if isinstance(part, slice) else part for part in key))


def everything(var: Var) -> Key:
    """Return the key of all values."""
    return tuple(slice(0, n, 1) for n in var.shape)


def check_writable(source: Source, what: str) -> None:
    """Raise if a source refuses changes.

    Raises:
        ReadOnlyError: If so.
    """
    if source.read_only:
        raise ReadOnlyError(
            f"{source.name} is open for reading only, so {what} cannot change", hint='Open it with mode "a".'
        )


def _copied(values: Values) -> Values:
    return np.array(values, copy=True)
