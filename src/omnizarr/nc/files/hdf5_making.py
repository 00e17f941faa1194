"""Types and attributes of HDF5 made from those of netCDF."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnizarr.errors import UnsupportedError
from omnizarr.nc.files.hdf5_pointers import given
from omnizarr.nc.files.hdf5_types import Id, memory_type, raw_dtype
from omnizarr.nc.tree import Attr, Endian, Group, join_path
from omnizarr.nc.types import CHAR, STRING, Atomic, Compound, Enum, Opaque, Type, User, Vlen, type_path


class Maker:
    """Makes what is not data, in one file."""

    def __init__(self, h5py: Any) -> None:  # noqa: ANN401 - a package without types
        self.h5py = h5py
        self._made: dict[str, Id] = {}

    def commit(self, group: Group, gid: Any) -> None:  # noqa: ANN401 - as above
        """Store the types that a group defines."""
        for one in group.types.values():
            tid = self._user(one)
            tid.commit(gid, one.name.encode("utf-8", "surrogateescape"))
            self._made[join_path(group.path, one.name)] = tid

    def type_of(self, one: Type, endian: Endian = "native") -> Id:
        """Return the type of HDF5 for values of one of netCDF.

        Raises:
            UnsupportedError: If it is a user type that no group defines.
        """
        h5t = self.h5py.h5t
        if one == CHAR:
            return h5t.C_S1.copy()
        if one == STRING:
            tid = h5t.C_S1.copy()
            tid.set_size(h5t.VARIABLE)
            tid.set_cset(h5t.CSET_UTF8)
            return tid
        if isinstance(one, Atomic):
            order = {"native": "=", "little": "<", "big": ">"}[endian]
            return h5t.py_create(one.numpy.newbyteorder(order))  # type: ignore[arg-type]  # one of three letters
        found = self._made.get(type_path(one))
        if found is None:
            raise UnsupportedError(f"no group defines the type {type_path(one)}")
        return found

    def _user(self, one: User) -> Id:
        h5t = self.h5py.h5t
        if isinstance(one, Enum):
            tid = h5t.enum_create(self.type_of(one.base))
            for name, value in one.members:
                tid.enum_insert(name.encode("utf-8", "surrogateescape"), value)
            return tid
        if isinstance(one, Opaque):
            return h5t.create(h5t.OPAQUE, one.size)
        if isinstance(one, Vlen):
            return h5t.vlen_create(self.type_of(one.base))
        dtype = _aligned(one)
        tid = h5t.create(h5t.COMPOUND, max(dtype.itemsize, 1))
        for field in one.fields:
            inner = self.type_of(field.type)
            if field.shape:
                inner = h5t.array_create(inner, field.shape)
            offset = dtype.fields[field.name][1]  # type: ignore[index]  # a structured type has fields
            tid.insert(field.name.encode("utf-8", "surrogateescape"), offset, inner)
        return tid

    def set_attribute(self, owner: Any, attr: Attr) -> None:  # noqa: ANN401 - as above
        """Store an attribute."""
        h5s, name = self.h5py.h5s, attr.name.encode("utf-8", "surrogateescape")
        tid = self.type_of(attr.type)
        if attr.type == CHAR:
            self._set_text(owner, name, attr.value)
            return
        count = len(attr.value)
        space = h5s.create_simple((count,)) if count else h5s.create(h5s.NULL)
        made = self.h5py.h5a.create(owner, name, tid, space)
        if count:
            keep: list[object] = []
            raw = np.ascontiguousarray(given(np.asarray(attr.value), attr.type, keep))
            made.write(raw, memory_type(self.h5py.h5t, tid, attr.type, raw=raw_dtype(attr.type)))

    def _set_text(self, owner: Any, name: bytes, text: bytes) -> None:  # noqa: ANN401 - as above
        h5s, h5t = self.h5py.h5s, self.h5py.h5t
        tid = h5t.C_S1.copy()
        tid.set_size(max(len(text), 1))
        tid.set_cset(h5t.CSET_ASCII if text.isascii() else h5t.CSET_UTF8)
        made = self.h5py.h5a.create(owner, name, tid, h5s.create(h5s.SCALAR if text else h5s.NULL))
        if text:
            made.write(np.array(text, f"S{len(text)}"), tid.copy())

    def set_numbers(self, owner: Any, name: bytes, values: tuple[int, ...] | int) -> None:  # noqa: ANN401 - as above
        """Store one of the attributes that are bookkeeping."""
        h5s, array = self.h5py.h5s, np.array(values, np.int32)
        space = h5s.create_simple(array.shape) if array.ndim else h5s.create(h5s.SCALAR)
        self.h5py.h5a.create(owner, name, self.h5py.h5t.NATIVE_INT32, space).write(array)


def _aligned(one: Compound) -> np.dtype[Any]:
    """Return how a compiler of C would lay out a compound, which is what programs that use netcdf-c expect."""
    parts: list[tuple[str, Any, tuple[int, ...]]] = []
    for field in one.fields:
        inner = _aligned(field.type) if isinstance(field.type, Compound) else raw_dtype(field.type)
        parts.append((field.name, inner, field.shape))
    return np.dtype(parts, align=True)


def fill_array(h5py: Any, one: Type, fill: Any) -> np.ndarray[Any, Any] | None:  # noqa: ANN401 - a scalar of the type
    """Return a fill value in a form that h5py stores with a dataset; `None` if it cannot."""
    if one == STRING:
        return np.array(fill or "", h5py.string_dtype())
    dtype = _fillable(h5py, one)
    return None if dtype is None else np.array(fill, one.numpy).astype(dtype, casting="unsafe")


def _fillable(h5py: Any, one: Type) -> np.dtype[Any] | None:  # noqa: ANN401 - as above
    if isinstance(one, Enum):
        dtype: np.dtype[Any] = h5py.enum_dtype(dict(one.members), one.numpy)
        return dtype
    if isinstance(one, Compound):
        parts = [(field.name, _fillable(h5py, field.type), field.shape) for field in one.fields]
        return None if any(part[1] is None for part in parts) else np.dtype(parts)
    return None if one == STRING or isinstance(one, Vlen) else one.numpy
