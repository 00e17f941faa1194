"""New netCDF-4 files, laid out as netcdf-c lays them out."""

from __future__ import annotations

from importlib import import_module  # metadata of packages takes long to import
from typing import Any, Final

import numpy as np

from omnizarr.errors import UnsupportedError
from omnizarr.nc.files.classic_model import check_classic
from omnizarr.nc.files.hdf5_attributes import HIDDEN
from omnizarr.nc.files.hdf5_datasets import TreeWriter
from omnizarr.nc.files.hdf5_library import load_h5py, load_plugins, troubles
from omnizarr.nc.files.hdf5_values import read_block, write_block
from omnizarr.nc.files.new_file import NewFile
from omnizarr.nc.files.refusing import DefinedFile
from omnizarr.nc.files.regions import read_region
from omnizarr.nc.kinds import NETCDF4_CLASSIC
from omnizarr.nc.source import Key, Values, counts, grow
from omnizarr.nc.tree import Attr, Group, Var
from omnizarr.nc.tree_copying import copied

_CACHE: Final = 16 << 20


def create_source(
    where: object,
    root: Group,
    kind: str,
    *,
    in_memory: bool = False,
    cache: int | None = None,
    cache_slots: int | None = None,
    **options: Any,  # noqa: ANN401, ARG001 - what other kinds take
) -> Hdf5Writer:
    """Create a netCDF-4 file. It is written under another name, and gets its own when it is closed.

    Args:
        where: A path.
        root: The definitions.
        kind: "netCDF-4" or "netCDF-4 classic model".
        in_memory: Whether to make it in memory, and store it when it is whole.
        cache: Bytes of chunks that HDF5 keeps for each variable.
        cache_slots: How many chunks that may be.
        options: Not looked at.

    Raises:
        UnsupportedError: If the kind cannot hold what the tree defines, or a filter is missing.
            Nothing is written then.
    """
    if kind == NETCDF4_CLASSIC:
        check_classic(root, kind, str(where))
    reserved = [f"{path}:{name}" for path, attrs in _all_attrs(root) for name in attrs if name in HIDDEN]
    if reserved:
        raise UnsupportedError(
            f"{where} cannot be written as netCDF-4, which has its own use for the attributes {', '.join(reserved)}",
            hint="Rename them: `oz attrs`.",
        )
    settings: dict[str, Any] = {"rdcc_nbytes": cache or _CACHE}
    if cache_slots:
        settings["rdcc_nslots"] = cache_slots
    if in_memory:
        settings |= {"driver": "core", "backing_store": True}
    return Hdf5Writer(where, root, kind, settings)


def _all_attrs(root: Group) -> list[tuple[str, dict[str, Attr]]]:
    return [
        pair
        for group in root.walk()
        for pair in ((group.path, group.attrs), *((v.path, v.attrs) for v in group.vars.values()))
    ]


class Hdf5Writer(DefinedFile):
    """A netCDF-4 file that is being written. All definitions are made when it is created."""

    def __init__(self, where: object, root: Group, kind: str, settings: dict[str, Any]) -> None:
        h5py = load_h5py(str(where))
        load_plugins()
        self.root, self.kind, self.name = copied(root), kind, str(where)
        self._new = NewFile(where)
        self._open = True
        self._h5py = h5py
        try:
            with troubles(self.name, writing=True):
                self._file: Any = h5py.File(self._new.path, "w", track_order=True, libver=("v108", "v110"), **settings)
                self._tree = TreeWriter(h5py)
                gid = h5py.h5g.open(self._file.id, b"/")
                self._set_provenance(gid)
                self._tree.write(self.root, gid)
        except BaseException:
            self.discard()
            raise

    def _set_provenance(self, gid: Any) -> None:  # noqa: ANN401 - a group of h5py's
        made_by = f"version=2,omnizarr={_version()},hdf5={self._h5py.version.hdf5_version}"
        self._tree.maker.set_attribute(gid, Attr.of_text("_NCProperties", made_by))
        if self.kind == NETCDF4_CLASSIC:
            self._tree.maker.set_numbers(gid, b"_nc3_strict", 1)

    def read(self, var: Var, key: Key) -> Values:
        """Return values that were written."""
        stored = var.handle
        with troubles(self.name, var.path):
            return read_region(
                var, key, stored.id.shape, lambda start, count, step: read_block(stored, var.type, start, count, step)
            )

    def write(self, var: Var, key: Key, values: Values) -> None:
        """Store values; unlimited dimensions grow."""
        grow(var, key)
        if 0 in counts(key):
            return
        values = np.broadcast_to(np.asarray(values, var.type.numpy), counts(key))
        with troubles(self.name, var.path, writing=True):
            stored = var.handle
            if var.shape != stored.id.shape:
                stored.id.set_extent(tuple(map(max, var.shape, stored.id.shape)))
            _write_listed(var, list(key), values)

    def sync(self) -> None:
        """Bring everything to the file, which has its name only when it is closed."""
        with troubles(self.name, writing=True):
            self._file.flush()

    def close(self) -> None:
        """Finish the file."""
        if not self._open:
            return
        self._open = False
        try:
            with troubles(self.name, writing=True):
                for dim, scale in self._tree.scales.items():
                    if dim.unlimited and len(scale.shape) == 1 and scale.shape[0] < dim.size:
                        scale.set_extent((dim.size,))
                self._file.close()
        except BaseException:
            self._new.discard()
            raise
        self._new.finish()

    def discard(self) -> None:
        """Leave nothing behind, and what was there before as it was."""
        self._open = False
        if hasattr(self, "_file"):
            with troubles(self.name, writing=True):
                self._file.close()
        self._new.discard()


def _write_listed(var: Var, key: list[Any], values: Values) -> None:
    """Write regions; lists of indices become one region for each index."""
    axis = next((axis for axis, part in enumerate(key) if not isinstance(part, slice)), None)
    if axis is None:
        starts, steps = tuple(part.start for part in key), tuple(part.step for part in key)
        write_block(var.handle, var.type, starts, values, steps)
        return
    for number, index in enumerate(key[axis].tolist()):
        inner = [*key[:axis], slice(index, index + 1, 1), *key[axis + 1 :]]
        part = tuple(slice(number, number + 1) if at == axis else slice(None) for at in range(len(key)))
        _write_listed(var, inner, values[part])


def _version() -> str:
    return str(import_module("importlib.metadata").version("omnizarr"))
