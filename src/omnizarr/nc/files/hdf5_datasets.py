"""Groups, dimensions and variables of a netCDF-4 file that is being made."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, Final

from omnizarr.errors import UnsupportedError
from omnizarr.nc.chunking import default_chunks
from omnizarr.nc.files.hdf5_making import Maker, fill_array
from omnizarr.nc.files.hdf5_types import Id
from omnizarr.nc.files.hdf5_values import Stored
from omnizarr.nc.filters import DEFLATE, FLETCHER32, SHUFFLE, SZIP
from omnizarr.nc.tree import Dim, Group, Var
from omnizarr.nc.types import is_fixed

_TRACKED: Final = 3  # in the order of creation, and with an index by it
_OPTIONAL: Final = 1  # H5Z_FLAG_OPTIONAL
_NO_VARIABLE: Final = b"This is a netCDF dimension but not a netCDF variable."


class TreeWriter:
    """Stores a tree: `handle` of each variable is what its values are written to."""

    def __init__(self, h5py: Any) -> None:  # noqa: ANN401 - a package without types
        self.h5py = h5py
        self.maker = Maker(h5py)
        self.scales: dict[Dim, Any] = {}
        self._ids: dict[Dim, int] = {}

    def write(self, root: Group, gid: Any) -> None:  # noqa: ANN401 - as above
        """Store everything that a tree defines."""
        for group in root.walk():
            _check_names(group)
            for dim in group.dims.values():
                self._ids[dim] = len(self._ids)
        self._write_group(root, gid)
        for var in root.all_vars():
            self._attach(var)

    def _write_group(self, group: Group, gid: Any) -> None:  # noqa: ANN401 - as above
        self.maker.commit(group, gid)
        for dim in group.dims.values():
            if not is_coordinate(group.vars.get(dim.name), dim):
                self._add_dim(dim, gid)
        for var in group.vars.values():
            self._add_var(var, gid)
        for attr in group.attrs.values():
            self.maker.set_attribute(gid, attr)
        for name, below in group.groups.items():
            self._write_group(below, self.h5py.h5g.create(gid, _bytes(name), gcpl=self._group_plist()))

    def _group_plist(self) -> Any:  # noqa: ANN401 - as above
        plist = self.h5py.h5p.create(self.h5py.h5p.GROUP_CREATE)
        plist.set_link_creation_order(_TRACKED)
        plist.set_attr_creation_order(_TRACKED)
        return plist

    def _dataset_plist(self) -> Any:  # noqa: ANN401 - as above
        plist = self.h5py.h5p.create(self.h5py.h5p.DATASET_CREATE)
        plist.set_obj_track_times(False)
        plist.set_attr_creation_order(_TRACKED)
        return plist

    def _add_dim(self, dim: Dim, gid: Any) -> None:  # noqa: ANN401 - as above
        h5py, plist = self.h5py, self._dataset_plist()
        if dim.unlimited:
            plist.set_chunk((1024,))
        space = h5py.h5s.create_simple((dim.size,), (h5py.h5s.UNLIMITED if dim.unlimited else dim.size,))
        made = h5py.h5d.create(gid, _bytes(dim.name), h5py.h5t.IEEE_F32BE, space, plist)
        h5py.h5ds.set_scale(made, _NO_VARIABLE + b"%10d" % dim.size)
        self.maker.set_numbers(made, b"_Netcdf4Dimid", self._ids[dim])
        self.scales[dim] = made

    def _add_var(self, var: Var, gid: Any) -> None:  # noqa: ANN401 - as above
        h5py, group, tid = self.h5py, var.group, self.maker.type_of(var.type, var.storage.endian)
        dim = group.dims.get(var.name) if group is not None else None
        coordinate = dim is not None and is_coordinate(var, dim)
        name = _bytes(var.name if dim is None or coordinate else f"_nc4_non_coord_{var.name}")
        space = h5py.h5s.create(h5py.h5s.SCALAR)
        if var.dims:
            most = tuple(h5py.h5s.UNLIMITED if one.unlimited else one.size for one in var.dims)
            space = h5py.h5s.create_simple(var.shape, most)
        made = h5py.h5d.create(gid, name, tid, space, self._plist_of(var, tid))
        var.handle = Stored(h5py, made, tid)
        if dim is not None and coordinate:
            h5py.h5ds.set_scale(made, _bytes(var.name))
            self.maker.set_numbers(made, b"_Netcdf4Dimid", self._ids[dim])
            self.scales[dim] = made
        if var.dims:
            self.maker.set_numbers(made, b"_Netcdf4Coordinates", tuple(self._ids[one] for one in var.dims))
        for attr in var.attrs.values():
            self.maker.set_attribute(made, attr)

    def _plist_of(self, var: Var, tid: Id) -> Any:  # noqa: ANN401 - as above
        h5d, plist, storage = self.h5py.h5d, self._dataset_plist(), var.storage
        fill = None if storage.no_fill else fill_array(self.h5py, var.type, var.fill)
        if storage.no_fill and is_fixed(var.type):  # HDF5 wants others filled, or it could not tell what is a pointer
            plist.set_fill_time(h5d.FILL_TIME_NEVER)
        elif fill is not None:
            plist.set_fill_value(fill)
        if not chunks_of(var, tid.get_size()):
            if storage.kind == "compact":
                plist.set_layout(h5d.COMPACT)
            return plist
        plist.set_chunk(chunks_of(var, tid.get_size()))
        for number, parameters in _filters(var):
            try:
                if not self.h5py.h5z.filter_avail(number):
                    raise ValueError("it is not installed")  # noqa: TRY301 - as HDF5 would, at the next step
                _set_filter(plist, number, parameters)
            except (ValueError, OSError, RuntimeError, TypeError) as error:
                raise UnsupportedError(
                    f"filter {number} of {var.path} cannot be used here: {error}",
                    path=var.path,
                    hint="pip install hdf5plugin, or copy with -F none.",
                ) from error
        return plist

    def _attach(self, var: Var) -> None:
        group, made = var.group, var.handle.id
        if group is not None and is_coordinate(var, group.dims.get(var.name)):
            return
        for axis, dim in enumerate(var.dims):
            self.h5py.h5ds.attach_scale(made, self.scales[dim], axis)


def _check_names(group: Group) -> None:
    """Refuse a name that two things share: HDF5 has one room for all names of a group."""
    kinds: dict[str, Mapping[str, object]] = {
        "a variable": group.vars,
        "a group": group.groups,
        "a type": group.types,
    }
    for (one, some), (other, more) in combinations(kinds.items(), 2):
        both = some.keys() & more.keys()
        if both:
            raise UnsupportedError(
                f"{min(both)!r} is the name of {one} and of {other}", path=group.path, hint="Rename one of them."
            )


def is_coordinate(var: Var | None, dim: Dim | None) -> bool:
    """Whether a variable holds the coordinates of a dimension: the same name, the same group, and it comes first."""
    return var is not None and dim is not None and bool(var.dims) and var.dims[0] is dim and var.name == dim.name


def chunks_of(var: Var, itemsize: int) -> tuple[int, ...]:
    """Return the chunks that a variable gets; empty if it is stored in one piece."""
    storage, grows = var.storage, tuple(dim.unlimited for dim in var.dims)
    if not var.dims or any(not dim.unlimited and not dim.size for dim in var.dims):
        return ()
    filtered = bool(storage.deflate or storage.shuffle or storage.fletcher32 or storage.filters)
    if not any(grows) and not filtered and (storage.kind != "chunked" or storage.chunks is None):
        return ()
    chunks = storage.chunks or default_chunks([None if dim.unlimited else dim.size for dim in var.dims], itemsize)
    # HDF5 wants no chunk to be longer than a dimension that cannot grow.
    return tuple(n if d.unlimited else min(n, d.size) for n, d in zip(chunks, var.dims, strict=True))


def _filters(var: Var) -> list[tuple[int, tuple[int, ...]]]:
    storage = var.storage
    found: list[tuple[int, tuple[int, ...]]] = [(SHUFFLE, ())] if storage.shuffle else []
    found += [(one.id, one.parameters) for one in storage.filters]
    found += [(DEFLATE, (storage.deflate,))] if storage.deflate else []
    return found + ([(FLETCHER32, ())] if storage.fletcher32 else [])


def _set_filter(plist: Any, number: int, parameters: tuple[int, ...]) -> None:  # noqa: ANN401 - a list of h5py's
    if number == SHUFFLE:
        plist.set_shuffle()
    elif number == FLETCHER32:
        plist.set_fletcher32()
    elif number == DEFLATE:
        plist.set_deflate(parameters[0] if parameters else 1)
    elif number == SZIP:
        plist.set_szip(*parameters[:2])
    else:
        # A chunk that a filter cannot make smaller is stored as it is. Blosc gives up on such a chunk; where a filter
        # must not be left out, HDF5 fails at the write, and again when it closes the file, which ends the process.
        plist.set_filter(number, _OPTIONAL, parameters)


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
