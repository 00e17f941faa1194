"""netCDF-3 files (classic, 64-bit offset, 64-bit data) as datasets to read."""

from __future__ import annotations

import os
from typing import Any, BinaryIO, Final, cast

from omnizarr.errors import CorruptError, NotFoundError, StoreError, UnsupportedError
from omnizarr.nc.files.classic_header import HeaderReader
from omnizarr.nc.files.refusing import ReadOnlyFile
from omnizarr.nc.files.strided import Bytes, FileBytes, MemoryBytes, ObjectBytes, Strided
from omnizarr.nc.kinds import CDF5, CLASSIC, OFFSET64
from omnizarr.nc.source import Key, Values, check_bounds
from omnizarr.nc.tree import Group, Var

KIND_OF: Final = {1: CLASSIC, 2: OFFSET64, 5: CDF5}


def open_source(where: object, mode: str = "r", **options: Any) -> ClassicSource:  # noqa: ANN401, ARG001 - there are none yet
    """Open a netCDF-3 file for reading.

    Args:
        where: A path, an open file, or the bytes of a file.
        mode: Only "r".
        options: None yet.

    Raises:
        NotFoundError: If nothing is there.
        CorruptError: If it is no netCDF-3 file, or a damaged one.
        UnsupportedError: If it is to be changed.
    """
    if mode != "r":
        raise UnsupportedError(
            f"{where} is a netCDF-3 file, which cannot be changed in place", hint="Copy it to Zarr: `oz copy`."
        )
    return ClassicSource(where)


class ClassicSource(ReadOnlyFile):
    """An open netCDF-3 file."""

    def __init__(self, where: object, name: str = "memory") -> None:
        self._descriptor = -1
        self.name = name
        if isinstance(where, (bytes, bytearray, memoryview)):
            self._data: Bytes = MemoryBytes(bytes(where))
        elif hasattr(where, "readinto"):
            self._data = ObjectBytes(cast("BinaryIO", where))
        else:
            self.name = os.fspath(where)  # type: ignore[call-overload]  # else this is the error that is right
            self._descriptor = _opened(self.name)
            self._data = FileBytes(self._descriptor)
        try:
            header = HeaderReader(self._data, self.name).read()
        except BaseException:
            self.close()
            raise
        self.root: Group = header.root
        self.kind = KIND_OF[header.version]

    def read(self, var: Var, key: Key) -> Values:
        """Return the values that a key selects.

        Raises:
            SelectionError: If it reaches beyond the variable.
            CorruptError: If the file ends before that.
        """
        check_bounds(var, key)
        try:
            return Strided(self._data, var.handle.begin, var.handle.strides, var.type.numpy).read(key)
        except (EOFError, MemoryError, OverflowError) as error:
            raise CorruptError(
                f"{self.name} is cut off: it ends within the values of {var.name}", path=var.path
            ) from error
        except OSError as error:
            raise StoreError(f"{self.name} cannot be read: {error.strerror}", path=var.path) from error

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        self.close()


def _opened(name: str) -> int:
    try:
        return os.open(name, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no file {name}") from error
    except OSError as error:
        raise StoreError(f"{name} cannot be opened: {error.strerror}") from error
