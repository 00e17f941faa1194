"""netCDF-3 files (classic, 64-bit offset, 64-bit data) as references."""

from __future__ import annotations

from math import prod
from typing import Any, BinaryIO, Final

import numpy as np

from omnizarr.errors import CorruptError
from omnizarr.format.fill_attribute import without_nan
from omnizarr.nc.files.classic_header import HeaderReader, is_record, row_bytes
from omnizarr.nc.files.strided import Strided
from omnizarr.nc.tree import Attr, Var
from omnizarr.nc.types import CHAR
from omnizarr.nc.zarr.attributes import to_json
from omnizarr.refs.scanners.building import Builder
from omnizarr.refs.scanners.picking import Picked
from omnizarr.refs.scanners.source import DEFAULTS, Options, SourceFile
from omnizarr.refset.model import Chunks, References

_LARGEST: Final = 16 << 20
"""Variables of more bytes are cut into chunks, which readers can fetch one by one."""

_WORTH_COPYING: Final = 1 << 20
"""Up to this size, a variable whose records have but a few bytes is taken into the set instead of its records."""


def scan(source: SourceFile, options: Options = DEFAULTS) -> References:
    """Find the values of a netCDF-3 file.

    Fixed variables lie in one piece, which is cut where it is large; each record is a chunk of its own.

    Raises:
        CorruptError: If the file is damaged, or ends before its values do.
    """
    with source.open() as file:
        data = _FileObject(file)
        header = HeaderReader(data, source.url).read()
        root, picked = header.root, Picked(options, [var.name for var in header.root.vars.values()])
        made = Builder(source)
        made.group("", _attributes(root.attrs))
        for var in root.vars.values():
            if picked(var.name):
                _Variable(var, data, source.url, options).add_to(made)
    return made.references


class _FileObject:
    """The bytes of a binary file object, for the reader of headers."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = file.seek(0, 2)

    def size(self) -> int:
        return self._size

    def get(self, start: int, count: int) -> bytes:
        self._file.seek(start)
        return self._file.read(count)

    def put(self, start: int, data: Any) -> None:  # noqa: ANN401 - any buffer
        raise NotImplementedError


class _Variable:
    """One variable, on its way into the set."""

    def __init__(self, var: Var, data: _FileObject, url: str, options: Options) -> None:
        self._var, self._data, self._url, self._options = var, data, url, options
        self._dtype = np.dtype("S1") if var.type == CHAR else var.type.numpy.newbyteorder(">")
        self._shape = var.shape

    def add_to(self, made: Builder) -> None:
        var = self._var
        shape, rows = self._rows()
        told = var.attrs.get("_FillValue")
        fill = None if told is None or not len(told.value) else var.fill
        made.array(
            var.name,
            rows,
            shape=self._shape,
            chunks=shape or None,
            dtype=self._dtype,
            codecs=None,
            fill_value=fill,
            dims=[dim.name for dim in var.dims],
            attrs=without_nan(_attributes(var.attrs), None if fill is None else np.asarray(fill).reshape(-1)[0]),
        )

    def _rows(self) -> tuple[tuple[int, ...], Chunks | None]:
        """Return the shape of the chunks, and where they are."""
        var, (begin, strides) = self._var, self._var.handle
        size, length = prod(self._shape) * self._dtype.itemsize, row_bytes(var)
        if not size:
            return tuple(max(n, 1) for n in self._shape), None
        records = self._shape[0] if is_record(var) else 1
        step = strides[0] if is_record(var) else length
        self._check_end(begin + (records - 1) * step + length)
        whole = (1,) * len(self._shape)
        if size < self._options.inline or (length < self._options.inline and size <= _WORTH_COPYING):
            return self._shape, Chunks.of_bytes(whole, {0: self._values()})
        if records > 1 and step != length:
            starts = begin + step * np.arange(records, dtype=np.uint64)
            return (1, *self._shape[1:]), Chunks.ranges((records, *whole[1:]), 0, starts, length)
        parts = _parts(self._shape, self._dtype.itemsize)
        starts = begin + (size // parts) * np.arange(parts, dtype=np.uint64)
        shape = (self._shape[0] // parts, *self._shape[1:]) if self._shape else ()
        return shape, Chunks.ranges((parts, *whole[1:]) if shape else (), 0, starts, size // parts)

    def _values(self) -> bytes:
        begin, strides = self._var.handle
        key = tuple(slice(0, n, 1) for n in self._shape)
        values = Strided(self._data, begin, strides, self._var.type.numpy).read(key)
        return np.asarray(values, self._dtype).tobytes()

    def _check_end(self, end: int) -> None:
        if end > self._data.size():
            raise CorruptError(
                f"{self._url} is cut off: it has {self._data.size()} bytes, and the values of {self._var.name} end at "
                f"{end}",
                path=self._var.path,
            )


def _parts(shape: tuple[int, ...], itemsize: int) -> int:
    """Return into how many equal parts to cut the first dimension, so that none is larger than it should be."""
    if not shape:
        return 1
    wanted = -(-prod(shape) * itemsize // _LARGEST)
    return next((parts for parts in range(wanted, min(shape[0], 64 * wanted) + 1) if shape[0] % parts == 0), 1)


def _attributes(attrs: dict[str, Attr]) -> dict[str, Any]:
    return {name: to_json(attr)[0] for name, attr in attrs.items()}
