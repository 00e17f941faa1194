"""An array in a store that holds the values of a variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnizarr.array.io import Access
from omnizarr.array.selection import Axis, Selection
from omnizarr.errors import warn
from omnizarr.hierarchy.context import Context
from omnizarr.model.array import ArrayMeta
from omnizarr.model.grid import place
from omnizarr.nc.source import Key, Values, counts, reach
from omnizarr.nc.tree import Var
from omnizarr.nc.types import STRING
from omnizarr.nc.zarr.elements import longest, to_stored, to_values
from omnizarr.nc.zarr.layout import string_length
from omnizarr.nc.zarr.quantize import quantized
from omnizarr.nc.zarr.texts import NOTHING, Kept


class Written:
    """The array of a variable.

    Attributes:
        path: Where it is in the store.
        meta: What it is like; its shape is the one that the documents say.
        kept: What its documents held when it was opened.
        is_new: Whether the store has no documents of it yet.
        has_data: Whether there may be chunks.
        document: Its main document as it was when it was opened, attributes aside; `None` if it is made from `meta`.
        bridge: A document to be written before any other: what was wrong in the old one is right, the rest as it was.
    """

    __slots__ = (
        "_access", "_clean", "_end", "bridge", "context", "document", "has_data", "is_new", "kept", "meta", "path",
    )  # fmt: skip

    def __init__(self, context: Context, path: str, meta: ArrayMeta, kept: Kept = NOTHING, *, is_new: bool) -> None:
        self.context = context
        self.path = path
        self.meta = meta
        self.kept = kept
        self.is_new = is_new
        self.has_data = not is_new
        self.document: dict[str, Any] | None = None
        self.bridge: dict[str, Any] | None = None
        # Whether nothing lies beyond the end: what a crash left there must not come back by growing.
        self._clean = is_new
        self._end: tuple[int, ...] | None = None
        self._access: tuple[tuple[int, ...], Access] | None = None

    def replaced(self, path: str, meta: ArrayMeta) -> None:
        """Take another place or form."""
        self.path, self.meta, self._access = path, meta, None

    def access(self, shape: tuple[int, ...]) -> Access:
        """Return what reads and writes the array, as if it had a shape."""
        known = self._access
        if known is None:
            # netcdf-c reverses the bytes of the fill value where chunks are not there, if they are big-endian.
            is_big = any(one.configuration.get("endian") == "big" for one in self.meta.codecs)
            known = (self.meta.shape, self.context.access(self.path, self.meta, write_empty=is_big))
        if known[0] != shape:
            known = (shape, known[1].with_shape(shape))
        self._access = known
        return known[1]

    def read(self, var: Var, key: Key) -> Values:
        """Return values; what was never written is the fill value."""
        access = self.access(self._shape(var))
        if not var.dims:
            stored = np.asarray(access.boxed(access.read(_selection(key, len(self.meta.shape)))))
            return to_values(stored.reshape(()), var.type)
        stored = access.read(_selection(key, 0))
        made = to_values(np.asarray(stored), var.type)
        return made if made.flags.writeable else made.copy()

    def write(self, var: Var, key: Key, values: Values) -> None:
        """Store values; the dimensions reach as far already."""
        if var.storage.quantize is not None:
            values = quantized(values, *var.storage.quantize, var.fill)
        stored = to_stored(values, var.type, self.meta.dtype.numpy)
        selection = _selection(key, 0 if var.dims else len(self.meta.shape))
        access = self.access(self._shape(var))
        self.has_data = True
        access.write(selection, stored.reshape(selection.counts))

    def too_long(self, var: Var, values: Values) -> int:
        """Return the bytes of the longest string if the array cannot hold it and may be widened, else 0."""
        if var.type != STRING or self.meta.dtype.vlen:
            return 0
        length = longest(values)
        if length <= self.meta.dtype.itemsize:
            return 0
        if not string_length(var)[1]:
            return length
        warn(
            f"{var.path}: strings of up to {length} bytes are cut to {self.meta.dtype.itemsize}, "
            f"as the attribute _nczarr_maxstrlen or _nczarr_default_maxstrlen says"
        )
        return 0

    def clean_beyond(self, var: Var) -> None:
        """Erase what lies beyond the end, before the array grows for the first time, or after a write that failed."""
        shape = self._end or self.meta.shape
        if self._clean or shape == self._shape(var):
            return
        self.access(shape).kernel.trim()
        self._clean_edges(shape)
        self._clean, self._end = True, None

    def grown_to(self, shape: tuple[int, ...]) -> None:
        """Take note how long the documents say by now that it is."""
        self.meta = self.meta._replace(shape=shape)
        if self._end is not None:
            self._end = tuple(map(max, self._end, shape))

    def shown_to(self, shape: tuple[int, ...]) -> None:
        """Take note how far readers see it: a crash may have kept its document behind, of which others are longer."""
        self._end = tuple(map(max, self.meta.shape, shape))

    def left_beyond(self, shape: tuple[int, ...]) -> None:
        """Take note that a write failed that may have left something beyond a shape."""
        if self._clean:
            self._clean, self._end = False, shape

    def _clean_edges(self, shape: tuple[int, ...]) -> None:
        if 0 in shape or self.meta.fill.bits is None:
            return
        fill = self.meta.fill.value(self.meta.dtype)
        last = [place(edges, length - 1) for edges, length in zip(self.meta.grid.edges, shape, strict=True)]
        ends = tuple(start + length for _, start, length in last)
        wide = self.access(ends)
        for axis, (end, length) in enumerate(zip(ends, shape, strict=True)):
            if end > length:
                sizes = (*ends[:axis], end - length, *shape[axis + 1 :])
                dims: list[Axis] = [(length if i == axis else 0, 1, size) for i, size in enumerate(sizes)]
                wide.write(Selection(dims, sizes, sizes), fill)

    def whole_chunks(self, var: Var, key: Key) -> tuple[slice, ...]:
        """Return the smallest box of whole chunks that holds all that a key selects."""
        made: list[slice] = []
        for part, end, length, size in zip(key, reach(key), self.meta.grid.longest, var.shape, strict=True):
            start = part.start if isinstance(part, slice) else int(part.min())
            made.append(slice(start // length * length, min(-(-end // length) * length, size), 1))
        return tuple(made)

    def _shape(self, var: Var) -> tuple[int, ...]:
        """Return how long the array is: never shorter than others made it, whose values are in the same chunks."""
        known, shape = self.meta.shape, var.shape
        if not shape:
            return known
        if shape == known or self.is_new or len(shape) != len(known):
            return shape
        return tuple(map(max, shape, known))


def shifted(key: Key, region: tuple[slice, ...]) -> Key:
    """Return a key that selects from a region what another selects from everything.

    >>> shifted([slice(5, 9, 2)], (slice(4, 8, 1),))
    (slice(1, 5, 2),)
    """
    return tuple(
        slice(part.start - box.start, part.stop - box.start, part.step) if isinstance(part, slice) else part - box.start
        for part, box in zip(key, region, strict=True)
    )


def _selection(key: Key, scalar: int) -> Selection:
    if scalar or not key:
        sizes = (1,) * scalar
        return Selection([(0, 1, 1)] * scalar, sizes, sizes)
    dims: list[Axis] = []
    for part in key:
        if isinstance(part, slice):
            dims.append((part.start, part.step, len(range(part.start, part.stop, part.step))))
        else:
            dims.append(np.ascontiguousarray(part, np.int64))
    sizes = counts(key)
    return Selection(dims, sizes, sizes)
