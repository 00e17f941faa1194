<<<<<<< HEAD
"""The values of a variable in Zarr: the array that holds them, and what makes values of netCDF of its elements."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from math import prod

import numpy as np

from omnizarr.errors import CorruptError, MetadataError, OmnizarrError, warn
from omnizarr.format.names import ZARRAY, join
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.context import Context
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import canonical
from omnizarr.model.dtype import DType
from omnizarr.model.fill import Fill
from omnizarr.nc.source import Key, Values
from omnizarr.nc.zarr.foreign import Decode
from omnizarr.nc.zarr.lenient import load
from omnizarr.nc.zarr.tolerant import tolerant
from omnizarr.store.protocol import place_name


@dataclass(slots=True)
class Stored:
    """What a variable of a Zarr source has for a handle.

    Attributes:
        context: The store, and how it is read.
        path: The array's path in it.
        meta: What the array is like, elements in the machine's byte order; `None` if that cannot be told.
        decode: What makes values of stored elements; `None` if they are values.
        error: Why the values cannot be read.
        scalar: Whether an array of shape `[1]` stands for a variable without dimensions.
        netcdf: Whether netcdf-c wrote the array, which leaves chunks that are too long or too short.
        document: A copy that the array is known from, to be compared with its document before it is read.
    """

    context: Context
    path: str
    meta: ArrayMeta | None = None
    decode: Decode | None = None
    error: OmnizarrError | None = None
    scalar: bool = False
    netcdf: bool = False
    document: bytes | None = None
    _array: Array | None = field(default=None, repr=False)
    _tolerant: bool = field(default=False, repr=False)

    def read(self, key: Key, shape: tuple[int, ...]) -> Values:
        """Return the values that a key selects.

        Args:
            key: As `omnizarr.nc.source` says.
            shape: The variable's shape now; where it goes beyond the array there is nothing but the fill value.

        Raises:
            OmnizarrError: If they cannot be read; the message says why.
        """
        array = self.array(shape)
        try:
            values = _select(array, key, scalar=self.scalar)
        except CorruptError as error:
            if not self.netcdf or self._tolerant:
                raise
            values = self._read_tolerantly(key, shape, error)
        return values if self.decode is None else self.decode(values)

    def array(self, shape: tuple[int, ...]) -> Array:
        """Return the array, as large as the variable is now.

        Raises:
            OmnizarrError: If it cannot be read.
        """
        if self.error is not None or self.meta is None:
            raise copy(self.error) if self.error is not None else MetadataError("no array is there", path=self.path)
        if self.scalar:
            shape = self.meta.shape
        if self._array is None:
            self._check_document()
        if self._array is None or self._array.shape != shape:
            meta = self.meta if self.meta.shape == shape else self.meta._replace(shape=shape)
            self._array = Array(self.context, self.path, tolerant(meta) if self._tolerant else meta)
        return self._array

    def _read_tolerantly(self, key: Key, shape: tuple[int, ...], error: CorruptError) -> Values:
        """Read again as netcdf-c does: what follows a chunk is ignored, what is missing of a raw one is zero."""
        self._tolerant, self._array = True, None
        try:
            values = _select(self.array(shape), key, scalar=self.scalar)
        except OmnizarrError:
            self._tolerant, self._array = False, None
            raise error from None
        warn(f"{self.path!r} has chunks that are longer or shorter than they should be; read as netcdf-c does")
        return values

    def _check_document(self) -> None:
        if self.document is None:
            return
        key = join(self.path, ZARRAY)
        found = self.context.store.get(key)
        limits = self.context.limits
        if found is not None and found != self.document and load(found, key, limits) != load(self.document, key, limits):
            raise MetadataError(
                "the array is not what consolidated metadata say",
                path=place_name(self.context.store, self.path),
                key=key,
                hint="Open the dataset with consolidated=False.",
            )
        self.document = None


def _select(array: Array, key: Key, *, scalar: bool) -> Values:
    if not array.ndim:
        return np.asarray(array[...])
    if scalar:
        return np.asarray(array[0:1]).reshape(())
    parts = tuple(key)
    if all(isinstance(part, slice) for part in parts):
        return np.asarray(array[parts])
    return np.asarray(array.oindex[parts])


def native(meta: ArrayMeta) -> ArrayMeta:
    """Return an array whose elements come out in the machine's byte order, if the kernel can do that itself."""
    dtype = meta.dtype
    if dtype.numpy.isnative or dtype.family not in ("int", "uint", "float", "complex", "time"):
        return meta
    first = next((codec for codec in meta.codecs if canonical(codec.name) != "transpose"), None)
    if first is None or canonical(first.name) != "bytes":
        return meta
    own = dtype.with_byteorder("native")
    return meta._replace(dtype=own, fill=_swapped(meta.fill, dtype))


def _swapped(fill: Fill, dtype: DType) -> Fill:
    if fill.bits is None:
        return fill
    unit = dtype.swap_unit
    return Fill(b"".join(fill.bits[at : at + unit][::-1] for at in range(0, len(fill.bits), unit)))


def one_chunk(meta: ArrayMeta) -> bool:
    """Whether one chunk holds all of an array."""
    return prod(meta.grid.counts(meta.shape)) <= 1
=======
"""An array in a store that holds the values of a variable."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from omnizarr.array.io import Access
from omnizarr.array.selection import Axis, Selection
from omnizarr.errors import warn
from omnizarr.hierarchy.context import Context
from omnizarr.model.array import ArrayMeta
from omnizarr.model.grid import place
from omnizarr.nc.source import Key, counts
from omnizarr.nc.tree import Var
from omnizarr.nc.types import STRING
from omnizarr.nc.zarr.elements import longest, to_stored, to_values
from omnizarr.nc.zarr.layout import string_length
from omnizarr.nc.zarr.quantize import quantized
from omnizarr.nc.zarr.texts import NOTHING, Kept

Values: TypeAlias = np.ndarray[Any, Any]


class Stored:
    """The array of a variable.

    Attributes:
        path: Where it is in the store.
        meta: What it is like; its shape is the one that the documents say.
        kept: What its documents held when it was opened.
        is_new: Whether the store has no documents of it yet.
        has_data: Whether there may be chunks.
        document: Its main document as it was when it was opened, attributes aside; `None` if it is made from `meta`.
    """

    __slots__ = ("_access", "_clean", "context", "document", "has_data", "is_new", "kept", "meta", "path")

    def __init__(self, context: Context, path: str, meta: ArrayMeta, kept: Kept = NOTHING, *, is_new: bool) -> None:
        self.context = context
        self.path = path
        self.meta = meta
        self.kept = kept
        self.is_new = is_new
        self.has_data = not is_new
        self.document: dict[str, Any] | None = None
        # Whether nothing lies beyond the end: what a crash left there must not come back by growing.
        self._clean = is_new
        self._access: tuple[tuple[int, ...], Access] | None = None

    def replaced(self, path: str, meta: ArrayMeta) -> None:
        """Take another place or form."""
        self.path, self.meta, self._access = path, meta, None

    def access(self, shape: tuple[int, ...]) -> Access:
        """Return what reads and writes the array, as if it had a shape."""
        known = self._access
        if known is None:
            known = (self.meta.shape, self.context.access(self.path, self.meta))
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
        """Erase what lies beyond the end as the documents say it, before the array grows for the first time."""
        shape = self.meta.shape
        if self._clean or shape == self._shape(var):
            return
        self._clean = True
        self.access(shape).kernel.trim()
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

    def _shape(self, var: Var) -> tuple[int, ...]:
        return var.shape if var.dims else self.meta.shape


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
>>>>>>> 1e27ebd
