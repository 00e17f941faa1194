"""HDF5's types and netCDF's: which is which, and how values of them lie in memory."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

from omnizarr.errors import UnsupportedError
from omnizarr.nc.files.hdf5_library import place_of
from omnizarr.nc.tree import Group
from omnizarr.nc.types import CHAR, STRING, Atomic, Compound, Enum, Field, Opaque, Type, User, Vlen, of_numpy

Id: TypeAlias = Any
"""A type of HDF5, as h5py's lower layer has it."""

_DEEPEST: Final = 32


class Types:
    """The types of one file: those that it names, and those that only its datasets have."""

    def __init__(self, h5py: Any) -> None:  # noqa: ANN401 - a package without types
        self.h5t = h5py.h5t
        self._h5py = h5py
        self._known: list[tuple[Id, User]] = []
        self._by_place: dict[tuple[int, int], User] = {}
        self._unnamed = 0
        self._may_invent = True

    def add_all_named(self, group: Group, named: list[tuple[str, Id]]) -> list[str]:
        """Take up the types that a group names, and return the names of those that netCDF has not.

        Where a file does not know the order in which they were made, one may come before those that it is made of.
        """
        lost: list[str] = []
        while named:
            later = [(name, tid) for name, tid in named if not self._add_named(group, name, tid)]
            if len(later) == len(named):  # what is missing has no name
                name, tid = later.pop(0)
                try:
                    self._enter(group, tid, self._user(tid, name, group, 0))
                except UnsupportedError:
                    lost.append(name)
            named = later
        return lost

    def _add_named(self, group: Group, name: str, tid: Id) -> bool:
        self._may_invent = False
        try:
            self._enter(group, tid, self._user(tid, name, group, 0))
        except UnsupportedError:
            return False
        finally:
            self._may_invent = True
        return True

    def _enter(self, group: Group, tid: Id, found: User | None) -> None:
        if found is not None:  # else just another name of a number
            found = group.add_type(found)
            self._known.append((tid, found))
            self._by_place[self._place(tid)] = found

    def find(self, tid: Id, group: Group, *, depth: int = 0) -> Type:
        """Return the type of netCDF that one of HDF5 is; a user type without a name gets one, in the group given.

        Raises:
            UnsupportedError: If there is none.
        """
        atomic = self._atomic(tid)
        if atomic is not None:
            return atomic
        if tid.committed() and (named := self._by_place.get(self._place(tid))):
            return named
        equal = [found for known, found in self._known if known.equal(tid)]
        if equal:  # netcdf-c does not note which of them was meant, and takes the first; of that name, we the nearest
            same = [found for found in equal if found.name == equal[0].name]
            return next((found for one in group.above() for found in same if found.home == one.path), equal[0])
        made = self._user(tid, "", group, depth) if self._may_invent else None
        if made is None:
            raise UnsupportedError(f"HDF5's type of class {tid.get_class()} is none of netCDF")
        self._unnamed += 1
        made = group.add_type(made._replace(name=f"_Anonymous{type(made).__name__}{self._unnamed}"))
        self._known.append((tid, made))
        return made

    def _place(self, tid: Id) -> tuple[int, int]:
        return place_of(self._h5py, tid)

    def _atomic(self, tid: Id) -> Atomic | None:
        h5t, kind = self.h5t, tid.get_class()
        if kind == h5t.STRING:
            return STRING if tid.is_variable_str() or tid.get_size() > 1 else CHAR
        if kind not in (h5t.INTEGER, h5t.FLOAT):
            return None
        # The smallest type of the machine that holds it, as HDF5's "native type" is.
        size = next((n for n in ((1, 2, 4, 8) if kind == h5t.INTEGER else (4, 8)) if n >= tid.get_size()), 0)
        letter = "f" if kind == h5t.FLOAT else "i" if tid.get_sign() == h5t.SGN_2 else "u"
        return of_numpy(np.dtype(f"{letter}{size}")) if size else None

    def _user(self, tid: Id, name: str, group: Group, depth: int) -> User | None:
        h5t, kind, home = self.h5t, tid.get_class(), group.path
        if depth > _DEEPEST:
            raise UnsupportedError(f"a type is nested more than {_DEEPEST} deep")
        if kind == h5t.ENUM:
            base = self._atomic(tid.get_super())
            members = [(_text(tid.get_member_name(i)), int(tid.get_member_value(i))) for i in range(tid.get_nmembers())]
            return Enum(name, base, tuple(members), home) if base is not None else None
        if kind == h5t.OPAQUE:
            return Opaque(name, tid.get_size(), home)
        if kind == h5t.VLEN:
            return Vlen(name, self.find(tid.get_super(), group, depth=depth + 1), home)
        if kind == h5t.COMPOUND:
            fields = [self._field(tid, i, group, depth + 1) for i in range(tid.get_nmembers())]
            return Compound(name, tuple(fields), home)
        return None

    def _field(self, tid: Id, index: int, group: Group, depth: int) -> Field:
        name, member = _text(tid.get_member_name(index)), tid.get_member_type(index)
        shape: tuple[int, ...] = ()
        while member.get_class() == self.h5t.ARRAY:
            shape, member = shape + tuple(member.get_array_dims()), member.get_super()
        found = self.find(member, group, depth=depth)
        if found == STRING and not member.is_variable_str():
            raise UnsupportedError(f"member {name} is text of a fixed length, which netCDF has not")
        return Field(name, found, shape)


def _text(name: bytes | str) -> str:
    return name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name


def memory_type(h5t: Any, tid: Id, one: Type, *, raw: np.dtype[Any]) -> Id:  # noqa: ANN401 - a module without types
    """Return the type of HDF5 for values in memory that lie as a NumPy type says.

    Args:
        h5t: The module of h5py.
        tid: The type in the file, of which what must be equal is taken: character sets, tags, members of enums.
        one: The same type, as netCDF has it.
        raw: What `raw_dtype` gives for it.
    """
    kind = tid.get_class()
    if kind == h5t.ARRAY:
        base = raw.subdtype[0] if raw.subdtype is not None else raw
        return h5t.array_create(memory_type(h5t, tid.get_super(), one, raw=base), tid.get_array_dims())
    if isinstance(one, Compound):
        made = h5t.create(h5t.COMPOUND, max(raw.itemsize, 1))
        for index, field in enumerate(one.fields):
            dtype, offset = raw.fields[field.name][:2]  # type: ignore[index]  # a structured type has fields
            inner = memory_type(h5t, tid.get_member_type(index), field.type, raw=dtype)
            made.insert(tid.get_member_name(index), offset, inner)
        return made
    if isinstance(one, Vlen):
        return h5t.vlen_create(memory_type(h5t, tid.get_super(), one.base, raw=raw_dtype(one.base)))
    if isinstance(one, Enum) or one in (CHAR, STRING) or isinstance(one, Opaque):
        return tid.copy() if not isinstance(one, Enum) or _is_native(tid) else h5t.py_create(one.numpy)
    return h5t.py_create(one.numpy)


def _is_native(tid: Id) -> bool:
    # What is not a member would become -1 in a conversion; of equal types there is none.
    return bool(tid.get_size() == 1 or tid.get_super().get_order() == (0 if np.little_endian else 1))


def raw_dtype(one: Type) -> np.dtype[Any]:
    """Return how values lie in memory while they are between NumPy and HDF5: text and sequences are pointers.

    >>> from omnizarr.nc.types import INT, STRING, Vlen
    >>> raw_dtype(STRING), raw_dtype(Vlen("v", INT)).itemsize
    (dtype('uint64'), 16)
    """
    if one == STRING:
        return np.dtype(np.uintp)
    if isinstance(one, Vlen):
        return np.dtype([("length", np.uintp), ("start", np.uintp)])
    if isinstance(one, Compound):
        return np.dtype([(field.name, raw_dtype(field.type), field.shape) for field in one.fields])
    return one.numpy
