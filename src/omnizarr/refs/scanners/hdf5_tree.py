"""The tree of an HDF5 file for a scan: as netCDF sees it, with the datasets that netCDF itself has no type for."""

from __future__ import annotations

from typing import Any

from omnizarr.errors import UnsupportedError
from omnizarr.nc.files.hdf5_tree import TreeReader
from omnizarr.nc.files.hdf5_types import Id
from omnizarr.nc.files.hdf5_values import Stored
from omnizarr.nc.tree import Group
from omnizarr.nc.types import Opaque, Type


class ScanTree(TreeReader):
    """Reads the definitions of a file; `Var.handle` holds the dataset, whose type the scanner judges itself.

    Args:
        h5py: The package.
        local: Whether the file is one of this machine, so that links to other files can be followed.
    """

    def __init__(self, h5py: Any, *, local: bool) -> None:  # noqa: ANN401 - a package without types
        super().__init__(h5py)
        self._local = local

    def _type_of(self, tid: Id, group: Group, name: str) -> Type | None:
        del name
        try:
            return self.types.find(tid, group)
        except UnsupportedError:
            return Opaque("", tid.get_size())  # only a place-holder

    def _add_nothing(self, group: Group, name: str, dataset: Any) -> None:  # noqa: ANN401 - as above
        tid = dataset.get_type()
        var = group.add_var(name, Opaque("", tid.get_size()))
        var.handle = Stored(self.h5py, dataset, tid)
        var.attrs = self._attributes(dataset, group, var.path)

    def _open(self, gid: Any, name: bytes, path: str) -> Any:  # noqa: ANN401 - as above
        if self._local and gid.links.get_info(name).type == self.h5py.h5l.TYPE_EXTERNAL:
            try:
                return self.h5py.h5o.open(gid, name)
            except (KeyError, OSError, RuntimeError):
                pass  # reported like any other that leads nowhere
        return super()._open(gid, name, path)
