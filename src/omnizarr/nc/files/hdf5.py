"""netCDF-4 files, and any other HDF5 file, as datasets to read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from weakref import finalize

from omnizarr.errors import NotFoundError, StoreError, UnsupportedError, warn
from omnizarr.nc.files.hdf5_handles import acquire, release
from omnizarr.nc.files.hdf5_hidden import hidden_attributes
from omnizarr.nc.files.hdf5_library import load_h5py, load_plugins, troubles
from omnizarr.nc.files.hdf5_tree import TreeReader
from omnizarr.nc.files.hdf5_values import Stored, read_block
from omnizarr.nc.files.refusing import ReadOnlyFile
from omnizarr.nc.files.regions import read_region
from omnizarr.nc.kinds import NETCDF4, NETCDF4_CLASSIC
from omnizarr.nc.source import Key, Values
from omnizarr.nc.tree import Attr, Group, Var

_MOST_NAMED = 6


def open_source(where: object, mode: str = "r", **options: Any) -> Hdf5Source:  # noqa: ANN401, ARG001 - there are none yet
    """Open a netCDF-4 or HDF5 file for reading.

    Args:
        where: A path, or an open file.
        mode: Only "r".
        options: None yet.

    Raises:
        NotFoundError: If nothing is there.
        CorruptError: If it is no HDF5 file, or a damaged one.
        UnsupportedError: If it is to be changed.
    """
    name = os.fspath(where) if isinstance(where, (str, os.PathLike)) else str(getattr(where, "name", "memory"))
    if mode != "r":
        raise UnsupportedError(
            f"{name} is a netCDF-4 file, which cannot be changed in place", hint="Copy it to Zarr: `oz copy`."
        )
    return Hdf5Source(where, name)


class Hdf5Source(ReadOnlyFile):
    """An open netCDF-4 or HDF5 file."""

    def __init__(self, where: object, name: str) -> None:
        h5py = load_h5py(name)
        self.name = name
        if isinstance(where, (str, os.PathLike)):
            _check_file(name)
        load_plugins()
        with troubles(name):
            shared = acquire(h5py, where)
        self._release = finalize(self, release, shared)
        self._release.atexit = False
        self._file: Any = shared.file
        try:
            with troubles(name):
                reader = TreeReader(h5py)
                self.root: Group = reader.read(self._file.id)
                self._stored = _taken(self.root)
                classic = h5py.h5a.exists(self._file.id, b"_nc3_strict")
        except BaseException:
            self._release()
            raise
        self.kind = NETCDF4_CLASSIC if classic else NETCDF4
        if reader.left_out:
            shown = ", ".join(reader.left_out[:_MOST_NAMED]) + (", …" if len(reader.left_out) > _MOST_NAMED else "")
            warn(f"{name}: netCDF has no words for {len(reader.left_out)} things, which are left out: {shown}")

    @property
    def hidden(self) -> dict[str, Attr]:
        """Attributes of the file that are shown only to who asks for them: `oz dump -s`."""
        with troubles(self.name):
            return hidden_attributes(load_h5py(self.name), self._file)

    def read(self, var: Var, key: Key) -> Values:
        """Return the values that a key selects."""
        with troubles(self.name, var.path):
            if not self._release.alive:
                raise ValueError("the file was closed")
            stored = self._stored[var.handle]
            return read_region(
                var,
                key,
                stored.id.shape,
                lambda start, count, step: read_block(stored, var.type, start, count, step),
            )

    def close(self) -> None:
        """Let go of the file."""
        self._stored.clear()
        with troubles(self.name):
            self._release()


def _taken(root: Group) -> list[Stored]:
    """Take the datasets of HDF5 out of a tree, and leave their numbers.

    The nodes of a tree know each other, so they stay until the garbage collector comes by. What they hold would stay
    as long, and a file is open until the last of its datasets is closed.
    """
    stored: list[Stored] = []
    for var in root.all_vars():
        stored.append(var.handle)
        var.handle = len(stored) - 1
    return stored


def _check_file(name: str) -> None:
    path = Path(name)
    try:
        if path.is_file():
            path.open("rb").close()
            return
        exists = path.exists()
    except OSError as error:
        raise StoreError(f"{name} cannot be opened: {error.strerror}") from error
    if exists:
        raise StoreError(f"{name} is not a file")
    raise NotFoundError(f"there is no file {name}")
