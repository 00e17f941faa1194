"""The tree of a netCDF-4 or HDF5 file: the conventions by which dimensions, variables and types lie in it.

https://docs.unidata.ucar.edu/netcdf-c/current/file_format_specifications.html#netcdf_4_spec
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from omnizarr.errors import LimitError, UnsupportedError
from omnizarr.nc.files.hdf5_attributes import read_attributes
from omnizarr.nc.files.hdf5_library import place_of
from omnizarr.nc.files.hdf5_storage import read_storage
from omnizarr.nc.files.hdf5_types import Id, Types
from omnizarr.nc.files.hdf5_values import Stored
from omnizarr.nc.tree import Dim, Group, Var
from omnizarr.nc.types import Type

_NO_VARIABLE: Final = b"This is a netCDF dimension but not a netCDF variable."
_OTHER_NAME: Final = "_nc4_non_coord_"
_DEEPEST: Final = 200
_MOST: Final = 1_000_000


class _Dataset(NamedTuple):
    """A dataset that is a variable, or will be once its dimensions are known."""

    var: Var
    id: Any
    scale: Dim | None
    dim_ids: tuple[int, ...] | None


class TreeReader:
    """Reads the definitions of one file; `left_out` lists what netCDF has no words for."""

    def __init__(self, h5py: Any) -> None:  # noqa: ANN401 - a package without types
        self.h5py = h5py
        self.types = Types(h5py)
        self.left_out: list[str] = []
        self._next_id = 0
        self._ids: dict[Dim, int] = {}
        self._scales: dict[tuple[int, int], Dim] = {}
        self._datasets: dict[int, list[_Dataset]] = {}
        self._above: list[tuple[int, int]] = []
        self._count = 0

    def read(self, file: Any) -> Group:  # noqa: ANN401 - as above
        """Return the root."""
        root = Group()
        self._read_group(root, self.h5py.h5g.open(file, b"/"))
        self._match(root)
        for group in root.walk():
            group.dims = {dim.name: dim for dim in sorted(group.dims.values(), key=self._ids.__getitem__)}
        _measure(root)
        return root

    def _place(self, thing: Any) -> tuple[int, int]:  # noqa: ANN401 - as above
        return place_of(self.h5py, thing)

    def _read_group(self, group: Group, gid: Any) -> None:  # noqa: ANN401 - as above
        h5py, place = self.h5py, self._place(gid)
        if place in self._above or len(self._above) > _DEEPEST:
            self.left_out.append(f"{group.path} (a group within itself)")
            return
        self._above.append(place)
        self._datasets[id(group)] = []
        below: list[tuple[str, Any]] = []
        named: list[tuple[str, Any]] = []
        datasets: list[tuple[str, Any]] = []
        for raw in self._names(gid):
            name = raw.decode("utf-8", "surrogateescape")
            thing = self._open(gid, raw, f"{group.path.rstrip('/')}/{name}")
            if isinstance(thing, h5py.h5g.GroupID):
                below.append((name, thing))
            elif isinstance(thing, h5py.h5t.TypeID):
                named.append((name, thing))
            elif thing is not None:
                datasets.append((name, thing))
        self.left_out += [f"{group.path.rstrip('/')}/{name}" for name in self.types.add_all_named(group, named)]
        for name, thing in datasets:
            self._add_dataset(group, name, thing)
        group.attrs = self._attributes(gid, group, group.path)
        for name, thing in below:
            self._read_group(group.add_group(name), thing)
        self._above.pop()

    def _names(self, gid: Any) -> list[bytes]:  # noqa: ANN401 - as above
        h5 = self.h5py.h5
        tracked = gid.get_create_plist().get_link_creation_order() & self.h5py.h5p.CRT_ORDER_TRACKED
        names: list[bytes] = []
        gid.links.iterate(names.append, idx_type=h5.INDEX_CRT_ORDER if tracked else h5.INDEX_NAME)
        self._count += len(names)
        if self._count > _MOST:
            raise LimitError(f"the file has more than {_MOST} objects")
        return names

    def _open(self, gid: Any, name: bytes, path: str) -> Any:  # noqa: ANN401 - as above
        h5py, info = self.h5py, gid.links.get_info(name)
        if info.type == h5py.h5l.TYPE_EXTERNAL:
            self.left_out.append(f"{path} (a link to another file)")
            return None
        try:
            return h5py.h5o.open(gid, name)
        except (KeyError, OSError, RuntimeError):
            if info.type == h5py.h5l.TYPE_HARD:
                raise
            self.left_out.append(f"{path} (a link to nowhere)")
            return None

    def _attributes(self, owner: Any, group: Group, path: str) -> Any:  # noqa: ANN401 - as above
        attrs, lost = read_attributes(self.h5py, owner, self.types, group)
        self.left_out += [f"{path}:{name}" for name in lost]
        return attrs

    def _add_dataset(self, group: Group, name: str, dataset: Any) -> None:  # noqa: ANN401 - as above
        h5ds = self.h5py.h5ds
        scale = None
        if dataset.shape is None:
            self._add_nothing(group, name, dataset)
            return
        if dataset.shape and h5ds.is_scale(dataset):
            scale = self._add_dim(group, name, dataset)
            if h5ds.get_scale_name(dataset)[: len(_NO_VARIABLE)] == _NO_VARIABLE:
                if scale.unlimited:
                    scale.size = 0  # as long as the variables that use it
                return
        tid = dataset.get_type()
        kind = self._type_of(tid, group, name)
        if kind is None:
            return
        shown = name.removeprefix(_OTHER_NAME) if name != _OTHER_NAME else name
        var = group.add_var(shown, kind)
        var.handle = Stored(self.h5py, dataset, tid)
        var.attrs = self._attributes(dataset, group, var.path)
        var.storage = read_storage(self.h5py, dataset, tid, kind, var.attrs)
        ids = self._hidden_ids(dataset, b"_Netcdf4Coordinates")
        if ids is not None and len(ids) != len(dataset.shape):
            ids = None
        self._datasets[id(group)].append(_Dataset(var, dataset, scale, ids))

    def _add_nothing(self, group: Group, name: str, dataset: Any) -> None:  # noqa: ANN401 - as above
        """Take up a dataset that has no elements, not even one."""
        del dataset
        self.left_out.append(f"{group.path.rstrip('/')}/{name} (it has no values)")

    def _type_of(self, tid: Id, group: Group, name: str) -> Type | None:
        """Return the type of a dataset; `None` if it is left out because netCDF has no such type."""
        try:
            return self.types.find(tid, group)
        except UnsupportedError:
            self.left_out.append(f"{group.path.rstrip('/')}/{name}")
            return None

    def _add_dim(self, group: Group, name: str, dataset: Any) -> Dim:  # noqa: ANN401 - as above
        given = self._hidden_ids(dataset, b"_Netcdf4Dimid")
        number = given[0] if given else self._next_id
        self._next_id = max(self._next_id, number + 1)
        unlimited = dataset.get_space().get_simple_extent_dims(maxdims=True)[0] == self.h5py.h5s.UNLIMITED
        dim = group.add_dim(name, dataset.shape[0], unlimited=unlimited)
        self._ids[dim] = number
        self._scales.setdefault(self._place(dataset), dim)  # of several names netCDF takes the first
        return dim

    def _hidden_ids(self, dataset: Any, name: bytes) -> tuple[int, ...] | None:  # noqa: ANN401 - as above
        h5a = self.h5py.h5a
        if not h5a.exists(dataset, name):
            return None
        attr = h5a.open(dataset, name)
        values = np.zeros(attr.shape, np.int32)
        attr.read(values)
        return tuple(values.reshape(-1).tolist())

    def _match(self, group: Group) -> None:
        """Give variables their dimensions: groups below first, which is how made-up dimensions get their numbers."""
        for below in group.groups.values():
            self._match(below)
        by_id = {self._ids[dim]: dim for one in reversed(list(group.above())) for dim in one.dims.values()}
        for each in self._datasets.get(id(group), ()):
            shape = each.id.shape
            found: list[Dim | None] = [None] * len(shape)
            if each.dim_ids is not None:
                found = [by_id.get(number) for number in each.dim_ids]
            elif each.scale is not None:
                found[0] = each.scale
            for axis in range(len(shape)):
                if found[axis] is None and each.scale is None:
                    found[axis] = self._scale_of(each.id, axis)
            each.var.dims = self._completed(group, each.id, found)

    def _scale_of(self, dataset: Any, axis: int) -> Dim | None:  # noqa: ANN401 - as above
        h5ds = self.h5py.h5ds
        try:
            if not h5ds.get_num_scales(dataset, axis):
                return None
            places: list[tuple[int, int]] = []
            h5ds.iterate(dataset, axis, lambda scale: places.append(self._place(scale)), 0)
        except (OSError, RuntimeError, ValueError):
            return None
        # Of several scales netCDF takes the last.
        return next((self._scales[place] for place in reversed(places) if place in self._scales), None)

    def _completed(self, group: Group, dataset: Any, found: list[Dim | None]) -> tuple[Dim, ...]:  # noqa: ANN401 - as above
        """Make up dimensions where there are none, one for each length, two if a variable has that length twice."""
        longest = dataset.get_space().get_simple_extent_dims(maxdims=True)
        for axis, size in enumerate(dataset.shape):
            if found[axis] is not None:
                continue
            unlimited = longest[axis] == self.h5py.h5s.UNLIMITED
            fits = (
                dim
                for dim in group.dims.values()
                if dim.size == size and dim.unlimited == unlimited and dim not in found[:axis]
            )
            dim = next(fits, None)
            if dim is None:
                dim = group.add_dim(f"phony_dim_{self._next_id}", size, unlimited=unlimited)
                self._ids[dim] = self._next_id
                self._next_id += 1
            found[axis] = dim
        return tuple(dim for dim in found if dim is not None)


def _measure(root: Group) -> None:
    """Let unlimited dimensions be as long as the longest of the variables that use them."""
    for var in root.all_vars():
        for dim, size in zip(var.dims, var.handle.id.shape or (), strict=True):
            if dim.unlimited:
                dim.size = max(dim.size, size)
