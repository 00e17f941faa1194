"""Where everything goes in a new netCDF-3 file, and the header that says so."""

from __future__ import annotations

from typing import Final

import numpy as np

from omnizarr.errors import UnsupportedError
from omnizarr.nc.files.classic_header import Header, Place, is_record, padded, record_bytes, row_bytes, strides_of
from omnizarr.nc.kinds import CDF5, CLASSIC, OFFSET64
from omnizarr.nc.tree import Attr, Group, Var
from omnizarr.nc.types import CHAR, Atomic

_VERSION: Final = {CLASSIC: 1, OFFSET64: 2, CDF5: 5}
_LARGEST: Final = {CLASSIC: (1 << 31) - 4, OFFSET64: (1 << 32) - 4}
"""What a variable, or one record of it, may take, unless it is the last."""
_FARTHEST: Final = (1 << 31) - 1


def lay_out(root: Group, kind: str) -> Header:
    """Decide where values go: fixed variables first, then records; `handle` of each variable says it.

    Raises:
        UnsupportedError: If the kind cannot hold so much.
    """
    version = _VERSION[kind]
    records = next((dim.size for dim in root.dims.values() if dim.unlimited), 0)
    header = Header(version, root, records, record_bytes(root))
    header.begins = dict.fromkeys(root.vars, 0)
    at = len(header_bytes(header))
    for grown in (False, True):
        for var in root.vars.values():
            if is_record(var) == grown:
                header.begins[var.name] = at
                var.handle = Place(at, strides_of(var, header.record_bytes))
                at += padded(row_bytes(var))
    _check_sizes(header, kind)
    return header


def _check_sizes(header: Header, kind: str) -> None:
    if kind == CDF5:
        return
    limit, root = _LARGEST[kind], header.root
    fixed = [var for var in root.vars.values() if not is_record(var)]
    grown = [var for var in root.vars.values() if is_record(var)]
    last = (grown or fixed)[-1:]
    large = [
        f"variable {v.name} of {row_bytes(v)} bytes" for v in (*fixed, *grown) if row_bytes(v) > limit and [v] != last
    ]
    large += [f"dimension {dim.name} of length {dim.size}" for dim in root.dims.values() if dim.size > limit]
    far = [name for name, begin in header.begins.items() if begin > _FARTHEST] if kind == CLASSIC else []
    large += [f"variable {name} beyond 2 GB" for name in far]
    if large:
        raise UnsupportedError(
            f"a file of kind {kind} has no room for {', '.join(large)}",
            hint="-k cdf5 has no such limits" + (", and -k '64-bit offset' fewer." if kind == CLASSIC else "."),
        )


def header_bytes(header: Header) -> bytes:
    """Return the header."""
    made = _Maker(header)
    return made.whole()


class _Maker:
    def __init__(self, header: Header) -> None:
        self._header = header
        self._width = 8 if header.version == 5 else 4
        self._numbers = {dim: number for number, dim in enumerate(header.root.dims.values())}

    def whole(self) -> bytes:
        header, root = self._header, self._header.root
        dims = [self._text(dim.name) + self._size(0 if dim.unlimited else dim.size) for dim in root.dims.values()]
        return b"".join(
            (
                b"CDF",
                bytes([header.version]),
                self._size(header.records),
                self._list(10, dims),
                self._attributes(root.attrs),
                self._list(11, [self._variable(var) for var in root.vars.values()]),
            )
        )

    def _size(self, number: int) -> bytes:
        return min(number, (1 << 8 * self._width) - 1).to_bytes(self._width, "big")

    def _text(self, name: str) -> bytes:
        data = name.encode("utf-8", "surrogateescape")
        return self._size(len(data)) + data.ljust(padded(len(data)), b"\0")

    def _list(self, tag: int, entries: list[bytes]) -> bytes:
        if not entries:
            return bytes(4) + self._size(0)
        return tag.to_bytes(4, "big") + self._size(len(entries)) + b"".join(entries)

    def _attributes(self, attrs: dict[str, Attr]) -> bytes:
        return self._list(12, [self._attribute(attr) for attr in attrs.values()])

    def _attribute(self, attr: Attr) -> bytes:
        kind = attr.type
        if not isinstance(kind, Atomic):  # checked before
            raise UnsupportedError(f"attribute {attr.name} is of a user type")
        if kind == CHAR:
            data: bytes = attr.value
        else:
            data = np.asarray(attr.value, kind.numpy.newbyteorder(">")).tobytes()
        count = len(attr.value)
        return (
            self._text(attr.name)
            + kind.code.to_bytes(4, "big")
            + self._size(count)
            + data.ljust(padded(len(data)), b"\0")
        )

    def _variable(self, var: Var) -> bytes:
        kind = var.type
        if not isinstance(kind, Atomic):  # checked before
            raise UnsupportedError(f"variable {var.name} is of a user type")
        begin = self._header.begins[var.name]
        return b"".join(
            (
                self._text(var.name),
                self._size(len(var.dims)),
                *(self._size(self._numbers[dim]) for dim in var.dims),
                self._attributes(var.attrs),
                kind.code.to_bytes(4, "big"),
                self._size(padded(row_bytes(var))),
                begin.to_bytes(8, "big") if self._header.version != 1 else min(begin, (1 << 32) - 1).to_bytes(4, "big"),
            )
        )
