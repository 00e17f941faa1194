"""Datasets put together in memory, for places that take them only as a whole: files of netCDF-3 and netCDF-4."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from omnizarr.errors import LimitError
from omnizarr.nc.source import Key, Source, Values, counts, everything, filled, grow, open_mesh, reach
from omnizarr.nc.tree import Group, Var
from omnizarr.nc.zarr.quantize import quantized

_AT_ONCE: Final = 4 << 20
"""Bytes of values that are handed over together."""


class BufferedSource:
    """Values of a dataset in memory, over those of another dataset, until they are written to their place.

    Args:
        kind: What the place will hold.
        name: Where it is.
        below: What is in the place already; its values are read only when they are asked for.
        finish: Called with this source to bring everything to the place; `None` to forget it all.
    """

    read_only = False

    def __init__(
        self,
        kind: str,
        name: str,
        below: Source | None = None,
        finish: Callable[[BufferedSource], None] | None = None,
    ) -> None:
        self.kind = kind
        self.name = name
        self.root = below.root if below is not None else Group()
        self._below = below
        self._finish = finish
        self._values: dict[int, tuple[Var, Values]] = {}
        self._shapes = _shapes(self.root) if below is not None else {}
        self._dirty = below is None
        self._open = True

    def read(self, var: Var, key: Key) -> Values:
        """Return the values that a key selects."""
        if self._below is not None and id(var) not in self._values and self._shapes.get(id(var)) == var.shape:
            return self._below.read(var, key)
        values = self._held(var)
        return np.array(values[open_mesh(key)] if key else values, copy=True)

    def write(self, var: Var, key: Key, values: Values) -> None:
        """Store values; unlimited dimensions grow."""
        self._dirty = True
        if var.storage.quantize is not None:
            values = quantized(values, *var.storage.quantize, var.fill)
        self._held(var)
        sizes = var.shape
        grow(var, key)
        if 0 in counts(key):
            return
        try:
            held = self._held(var)
        except (MemoryError, ValueError) as error:  # the latter of what is too much for any machine
            for dim, size in zip(var.dims, sizes, strict=True):
                dim.size = size
            raise LimitError(
                f"{math.prod(reach(key))} values do not fit into memory, where a netCDF file is put together",
                path=var.path,
                hint="Write Zarr, and copy it: `oz copy`.",
            ) from error
        if key:
            held[open_mesh(key)] = values
        else:
            held[...] = values

    def changed(self, node: Group | Var) -> None:  # noqa: ARG002 - all definitions are written together
        """Take note that definitions differ."""
        self._dirty = True

    def sync(self) -> None:
        """Bring everything to the place, as it is now."""
        if not self._dirty or self._finish is None:
            return
        for group in self.root.walk():
            for var in group.vars.values():
                self._held(var)
        if self._below is not None:
            self._below.close()
            self._below, self._shapes = None, {}
        self._finish(self)
        self._dirty = False

    def close(self) -> None:
        """Bring everything to the place."""
        if not self._open:
            return
        self._open = False
        self.sync()
        if self._below is not None:
            self._below.close()
        self._values.clear()

    def _held(self, var: Var) -> Values:
        """Return all values of a variable, as long as its dimensions are now."""
        _, held = self._values.get(id(var), (var, None))
        if held is None:
            held = self._first(var)
        if any(n > room for n, room in zip(var.shape, held.shape, strict=True)):
            # With room for more, so that adding one value after another does not copy all of them each time.
            wide = filled(
                var,
                tuple(
                    max(n, room + room // 2) if n > room else room
                    for n, room in zip(var.shape, held.shape, strict=True)
                ),
            )
            wide[tuple(slice(0, n) for n in held.shape)] = held
            held = wide
        self._values[id(var)] = (var, held)
        return held if held.shape == var.shape else held[tuple(slice(0, n) for n in var.shape)]

    def _first(self, var: Var) -> Values:
        shape = self._shapes.get(id(var))
        if self._below is None or shape is None:
            return filled(var, var.shape)
        return self._below.read(var, tuple(slice(0, n, 1) for n in shape))


def _shapes(root: Group) -> dict[int, tuple[int, ...]]:
    return {id(var): var.shape for group in root.walk() for var in group.vars.values()}


def copy_values(source: Source, target: Source) -> None:
    """Write all values to another source, whose tree has the same names."""
    for group in source.root.walk():
        other = target.root.find_group(group.path)
        for name, var in group.vars.items():
            if other is not None and 0 not in var.shape:
                _copy(source, var, target, other.vars[name])


def _copy(source: Source, var: Var, target: Source, other: Var) -> None:
    """Copy values in pieces along the first dimension."""
    if not var.dims:
        target.write(other, (), source.read(var, ()))
        return
    whole = everything(var)
    row = max(1, math.prod(counts(whole)[1:]) * var.type.numpy.itemsize)
    step = max(1, _AT_ONCE // row)
    for start in range(0, var.shape[0], step):
        key = (slice(start, min(start + step, var.shape[0]), 1), *whole[1:])
        values = source.read(var, key)
        if not _is_unwritten(values, var):
            target.write(other, key, values)


def _is_unwritten(values: Values, var: Var) -> bool:
    """Whether values are what a place holds anyway, where nothing was written."""
    return values.dtype.kind in "iuf" and not var.storage.no_fill and bool((values == var.fill).all())
