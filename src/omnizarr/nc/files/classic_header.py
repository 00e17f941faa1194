"""The header of netCDF-3 files, of all three versions.

https://docs.unidata.ucar.edu/netcdf-c/current/file_format_specifications.html#netcdf_3_spec
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Final, NamedTuple, NoReturn

import numpy as np

from omnizarr.errors import CorruptError, LimitError, UnsupportedError
from omnizarr.nc.files.strided import Bytes
from omnizarr.nc.tree import Attr, Dim, Group, Storage, Var
from omnizarr.nc.types import BY_CODE, CHAR, Atomic

_DIMENSION: Final = 10
_VARIABLE: Final = 11
_ATTRIBUTE: Final = 12
_STREAMING: Final = {4: (1 << 32) - 1, 8: (1 << 64) - 1}
_LONGEST: Final = 256 << 20
_MOST_DIMS: Final = 64
_LAST_CODE: Final = {1: 6, 2: 6, 5: 11}


class Place(NamedTuple):
    """Where the values of a variable lie; what the tree keeps for it."""

    begin: int
    strides: tuple[int, ...]


@dataclass(slots=True)
class Header:
    """What a header says."""

    version: int
    root: Group
    records: int
    record_bytes: int
    begins: dict[str, int] = field(default_factory=dict[str, int])


def padded(count: int) -> int:
    """Return a number of bytes, rounded up to a multiple of four.

    >>> padded(5), padded(8)
    (8, 8)
    """
    return -(-count // 4) * 4


def is_record(var: Var) -> bool:
    """Whether a variable grows."""
    return bool(var.dims) and var.dims[0].unlimited


def row_bytes(var: Var) -> int:
    """Return the number of bytes of a record, or of all values of a variable that has none, without padding."""
    return prod(var.shape[1:] if is_record(var) else var.shape) * var.type.numpy.itemsize


def record_bytes(root: Group) -> int:
    """Return how far it is from record to record: each variable is padded, unless there is only one."""
    sizes = [row_bytes(var) for var in root.vars.values() if is_record(var)]
    return sizes[0] if len(sizes) == 1 else sum(map(padded, sizes))


def strides_of(var: Var, step: int) -> tuple[int, ...]:
    """Return how far it is from element to element along each dimension."""
    strides: list[int] = []
    size = var.type.numpy.itemsize
    for length in reversed(var.shape):
        strides.insert(0, size)
        size *= max(length, 1)
    if is_record(var):
        strides[0] = step
    return tuple(strides)


class HeaderReader:
    """Reads a header; nothing that it claims is taken for true before there are bytes for it."""

    def __init__(self, data: Bytes, name: str) -> None:
        self._data, self._name = data, name
        self._at = 4
        magic = data.get(0, min(4, data.size()))
        if magic[:3] != b"CDF" or magic[3:] not in (b"\x01", b"\x02", b"\x05"):
            raise CorruptError(f"{name} is no netCDF-3 file: it begins with {bytes(magic)!r}")
        self._version = magic[3]
        self._width = 8 if self._version == 5 else 4
        self._dims: list[Dim] = []
        self._begins: dict[str, int] = {}

    def read(self) -> Header:
        """Return the header."""
        root = Group()
        records = self._number(self._width, "the number of records")
        for _ in range(self._count(_DIMENSION, 2 * self._width, "dimensions")):
            self._read_dim(root)
        root.attrs = self._attributes()
        for _ in range(self._count(_VARIABLE, 4 * self._width, "variables")):
            self._read_var(root)
        step = record_bytes(root)
        if records == _STREAMING[self._width]:
            first = min((self._begins[v.name] for v in root.vars.values() if is_record(v)), default=0)
            records = max(self._data.size() - first, 0) // step if step else 0
        for dim in self._dims:
            if dim.unlimited:
                dim.size = records
        for var in root.vars.values():
            var.handle = Place(self._begins[var.name], strides_of(var, step))
        return Header(self._version, root, records, step, self._begins)

    def _fail(self, what: str) -> NoReturn:
        raise CorruptError(f"{self._name} is a damaged netCDF-3 file: {what} (at byte {self._at})")

    def _take(self, count: int, what: str) -> bytes:
        if count > self._data.size() - self._at:
            self._fail(f"it ends within {what}")
        if self._at + count > _LONGEST:
            raise LimitError(f"{self._name} has a header of more than {_LONGEST >> 20} MB")
        found = self._data.get(self._at, count)
        self._at += count
        return found

    def _number(self, width: int, what: str) -> int:
        return int.from_bytes(self._take(width, what), "big")

    def _count(self, tag: int, least: int, what: str) -> int:
        """Read the head of a list; `least` is how many bytes each entry has at least."""
        found, count = self._number(4, f"the list of {what}"), self._number(self._width, f"the number of {what}")
        if found not in (0, tag) or (found == 0 and count):
            self._fail(f"a list of {what} cannot begin with {found}")
        if count * least > self._data.size() - self._at:
            self._fail(f"there is no room for {count} {what}")
        return count

    def _text(self, what: str) -> str:
        length = self._number(self._width, what)
        text = self._take(length, what)
        self._take(padded(length) - length, what)
        return text.decode("utf-8", "surrogateescape")

    def _read_dim(self, root: Group) -> None:
        name = self._text("the name of a dimension")
        size = self._number(self._width, f"the length of dimension {name}")
        if name in root.dims or (size == 0 and any(dim.unlimited for dim in self._dims)):
            self._fail(f"dimension {name} is defined twice" if name in root.dims else f"{name} is unlimited, too")
        if size >= 1 << 63:
            self._fail(f"dimension {name} cannot have a length of {size}")
        self._dims.append(root.add_dim(name, size, unlimited=size == 0))

    def _attributes(self) -> dict[str, Attr]:
        found: dict[str, Attr] = {}
        for _ in range(self._count(_ATTRIBUTE, 4 + 2 * self._width, "attributes")):
            name = self._text("the name of an attribute")
            kind = self._type(f"attribute {name}")
            count = self._number(self._width, f"attribute {name}")
            size = count * kind.numpy.itemsize
            data = self._take(size, f"attribute {name}")
            # The last bytes of a file may be missing if they are only padding.
            self._take(min(padded(size) - size, self._data.size() - self._at), f"attribute {name}")
            if name in found:
                self._fail(f"attribute {name} is defined twice")
            value = data if kind == CHAR else np.frombuffer(data, kind.numpy.newbyteorder(">")).astype(kind.numpy)
            found[name] = Attr(name, kind, value)
        return found

    def _type(self, what: str) -> Atomic:
        code = self._number(4, f"the type of {what}")
        if not 1 <= code <= _LAST_CODE[self._version]:
            self._fail(f"{what} has the type {code}, which there is not")
        return BY_CODE[code]

    def _read_var(self, root: Group) -> None:
        name = self._text("the name of a variable")
        rank = self._number(self._width, f"variable {name}")
        if rank * self._width > self._data.size() - self._at:
            self._fail(f"there is no room for {rank} dimensions of {name}")
        if rank > _MOST_DIMS:
            raise UnsupportedError(f"variable {name} of {self._name} has {rank} dimensions, more than {_MOST_DIMS}")
        dims = [self._dim(self._number(self._width, f"variable {name}"), name) for _ in range(rank)]
        if any(dim.unlimited for dim in dims[1:]):
            self._fail(f"the unlimited dimension of {name} is not its first")
        attrs = self._attributes()
        kind = self._type(f"variable {name}")
        self._number(
            self._width, f"variable {name}"
        )  # its size, which follows from the rest and overflows in large files
        begin = self._number(4 if self._version == 1 else 8, f"variable {name}")
        if name in root.vars:
            self._fail(f"variable {name} is defined twice")
        if begin >= 1 << 63:
            self._fail(f"{name} cannot begin at {begin}")
        var = root.add_var(name, kind, tuple(dims), Storage(kind="chunked" if is_grown(dims) else "contiguous"))
        var.attrs = attrs
        self._begins[name] = begin

    def _dim(self, number: int, name: str) -> Dim:
        if number >= len(self._dims):
            self._fail(f"{name} has dimension {number}, and there are {len(self._dims)}")
        return self._dims[number]


def is_grown(dims: list[Dim]) -> bool:
    """Whether any of some dimensions is unlimited."""
    return any(dim.unlimited for dim in dims)
