"""New netCDF-3 files, of all three versions."""

from __future__ import annotations

import os
from typing import Any, Final

import numpy as np

from omnizarr.errors import StoreError
from omnizarr.nc.files.classic_header import Header, is_record, padded, row_bytes
from omnizarr.nc.files.classic_layout import header_bytes, lay_out
from omnizarr.nc.files.classic_model import check_classic
from omnizarr.nc.files.new_file import NewFile
from omnizarr.nc.files.refusing import DefinedFile
from omnizarr.nc.files.regions import read_region
from omnizarr.nc.files.strided import FileBytes, Strided
from omnizarr.nc.source import Key, Values, counts, grow, reach
from omnizarr.nc.tree import Group, Var
from omnizarr.nc.tree_copying import copied

_PIECE: Final = 8 << 20


def create_source(where: object, root: Group, kind: str, **options: Any) -> ClassicWriter:  # noqa: ANN401, ARG001 - there are none yet
    """Create a netCDF-3 file. It is written under another name, and gets its own when it is closed.

    Raises:
        UnsupportedError: If the kind cannot hold what the tree defines; nothing is written then.
    """
    check_classic(root, kind, str(where))
    own = copied(root)
    return ClassicWriter(where, lay_out(own, kind), kind)


class ClassicWriter(DefinedFile):
    """A netCDF-3 file that is being written. All definitions are made when it is created."""

    def __init__(self, where: object, header: Header, kind: str) -> None:
        self.root, self.kind, self.name = header.root, kind, str(where)
        self._header = header
        self._new = NewFile(where)
        self._descriptor = os.open(self._new.path, os.O_RDWR | getattr(os, "O_BINARY", 0))
        self._data = FileBytes(self._descriptor)
        # How many indices of the first dimension hold values or the fill value by now.
        self._rows: dict[str, int] = dict.fromkeys(self.root.vars, 0)
        self._put(0, header_bytes(header))

    def read(self, var: Var, key: Key) -> Values:
        """Return values that were written, or the fill value."""
        there = (self._rows[var.name], *var.shape[1:]) if var.dims else ()
        if not var.dims and not self._rows[var.name]:
            self._fill(var, 1)
        array = self._array(var)
        return read_region(
            var,
            key,
            there,
            lambda start, count, step: array.read(
                [slice(a, a + n * s, s) for a, n, s in zip(start, count, step, strict=True)]
            ),
        )

    def write(self, var: Var, key: Key, values: Values) -> None:
        """Store values; the unlimited dimension grows."""
        grow(var, key)
        if 0 in counts(key):
            return
        first, last = (key[0].start if isinstance(key[0], slice) else 0, reach(key)[0]) if key else (0, 1)
        if first > self._rows[var.name]:
            self._fill(var, first)
        if not _is_whole(var, key):
            self._fill(var, last)
        try:
            self._array(var).write(key, np.broadcast_to(np.asarray(values, var.type.numpy), counts(key)))
        except OSError as error:
            raise StoreError(f"{self.name} cannot be written: {error.strerror}", path=var.path) from error
        self._rows[var.name] = max(self._rows[var.name], last)

    def sync(self) -> None:
        """Bring everything to the file, which has its name only when it is closed."""
        self._finish_values()

    def close(self) -> None:
        """Finish the file."""
        if self._descriptor < 0:
            return
        try:
            self._finish_values()
        except BaseException:
            self.discard()
            raise
        os.close(self._descriptor)
        self._descriptor = -1
        self._new.finish()

    def discard(self) -> None:
        """Leave nothing behind, and what was there before as it was."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        self._new.discard()

    def _finish_values(self) -> None:
        header = self._header
        end = len(header_bytes(header))
        for var in self.root.vars.values():
            self._fill(var, var.shape[0] if var.dims else 1)
            begin = header.begins[var.name]
            rows = header.root.dims[var.dims[0].name].size if is_record(var) else 1
            if rows:
                alone = is_record(var) and row_bytes(var) == header.record_bytes
                size = row_bytes(var) if alone else padded(row_bytes(var))
                end = max(end, begin + (rows - 1) * header.record_bytes * is_record(var) + size)
        header.records = next((dim.size for dim in self.root.dims.values() if dim.unlimited), 0)
        self._put(0, header_bytes(header))
        if self._data.size() < end:
            os.truncate(self._descriptor, end)

    def _array(self, var: Var) -> Strided:
        return Strided(self._data, var.handle.begin, var.handle.strides, var.type.numpy)

    def _fill(self, var: Var, rows: int) -> None:
        """Write the fill value until so many indices of the first dimension hold something."""
        first = self._rows[var.name]
        if rows <= first:
            return
        self._rows[var.name] = rows
        if var.storage.no_fill:
            return
        array, inner = self._array(var), var.shape[1:]
        if not var.dims:
            array.write((), np.array(var.fill, var.type.numpy))
            return
        step = max(1, _PIECE // max(1, row_bytes(var) // (1 if is_record(var) else max(var.shape[0], 1))))
        for low in range(first, rows, step):
            high = min(low + step, rows)
            part = np.broadcast_to(np.array(var.fill, var.type.numpy), (high - low, *inner))
            array.write([slice(low, high, 1), *(slice(0, n, 1) for n in inner)], part)

    def _put(self, start: int, data: bytes) -> None:
        try:
            self._data.put(start, data)
        except OSError as error:
            raise StoreError(f"{self.name} cannot be written: {error.strerror}") from error


def _is_whole(var: Var, key: Key) -> bool:
    """Whether a key leaves out nothing between the first and the last index of the first dimension."""
    if not all(isinstance(part, slice) and part.step == 1 for part in key):
        return False
    return counts(key)[1:] == var.shape[1:]
