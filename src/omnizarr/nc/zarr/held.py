"""The values of a variable in Zarr: the array that holds them, and what makes values of netCDF of its elements."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field

import numpy as np

from omnizarr.errors import CorruptError, MetadataError, OmnizarrError, warn
from omnizarr.format.lenient import load
from omnizarr.format.names import ZARRAY, join
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.context import Context
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import canonical
from omnizarr.model.dtype import DType
from omnizarr.model.fill import Fill
from omnizarr.model.jsonvalue import JSON
from omnizarr.nc.source import Key, Values
from omnizarr.nc.zarr.foreign import Decode
from omnizarr.nc.zarr.nodes import Node
from omnizarr.nc.zarr.tolerant import tolerant_context
from omnizarr.store.protocol import place_name


@dataclass(slots=True)
class Held:
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
        node: What the array's documents hold.
    """

    context: Context
    path: str
    meta: ArrayMeta | None = None
    decode: Decode | None = None
    error: OmnizarrError | None = None
    scalar: bool = False
    netcdf: bool = False
    document: bytes | None = None
    node: Node | None = None
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
            context = tolerant_context(self.context, meta) if self._tolerant else self.context
            self._array = Array(context, self.path, meta)
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
        if (
            found is not None
            and found != self.document
            and self._parsed(found, key) != self._parsed(self.document, key)
        ):
            raise MetadataError(
                "the array is not what consolidated metadata say",
                path=place_name(self.context.store, self.path),
                key=key,
                hint="Open the dataset with consolidated=False.",
            )
        self.document = None

    def _parsed(self, document: bytes, key: str) -> JSON:
        """Parse a document; of types of one byte, the byte order, which has no meaning, is left out."""
        value = load(document, key, self.context.limits)
        dtype = value.get("dtype") if isinstance(value, dict) else None
        if isinstance(value, dict) and isinstance(dtype, str) and dtype[1:] in ("S1", "i1", "u1"):
            return {**value, "dtype": dtype[1:]}
        return value


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
