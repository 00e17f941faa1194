"""Types that a dataset defines: compound, vlen, enum and opaque."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from omnizarr.nc.dataset.errors import BadTypeError, DefinitionError
from omnizarr.nc.dataset.given import as_dtype, as_int, as_text
from omnizarr.nc.dataset.words import class_text
from omnizarr.nc.tree import Group
from omnizarr.nc.types import CHAR, STRING, Atomic, Compound, Enum, Field, Opaque, Type, Vlen, of_numpy

DType = np.dtype[Any]
Values = np.ndarray[Any, Any]


class CompoundType:
    """Named members: a structured type of NumPy.

    Attributes:
        dtype: As C lays it out; text is an array of characters.
        dtype_view: The same bytes, text as strings.
        name: Its name.
        type: The record in the tree.
    """

    __slots__ = ("dtype", "dtype_view", "name", "type")

    def __init__(self, kind: Compound) -> None:
        self.type = kind
        self.name = kind.name
        self.dtype = aligned(kind)
        self.dtype_view = viewed(self.dtype)

    def __repr__(self) -> str:
        return f"{class_text(self)}: name = {self.name!r}, numpy dtype = {self.dtype}"

    def __reduce__(self) -> NoReturn:
        raise NotImplementedError("CompoundType is not picklable")


class VLType:
    """Sequences of a type, of any length. `dtype` is `str` and `name` is `None` for strings."""

    __slots__ = ("dtype", "name", "type")

    def __init__(self, kind: Vlen | Atomic) -> None:
        self.type = kind
        self.dtype: Any = str if isinstance(kind, Atomic) else seen(kind.base)
        self.name = None if isinstance(kind, Atomic) else kind.name

    def __repr__(self) -> str:
        if self.name is None:
            return f"{class_text(self)!r}: string type"
        return f"{class_text(self)!r}: name = {self.name!r}, numpy dtype = {self.dtype}"

    def __reduce__(self) -> NoReturn:
        raise NotImplementedError("VLType is not picklable")


class EnumType:
    """Integers with names; `enum_dict` gives the number of each."""

    __slots__ = ("dtype", "enum_dict", "name", "type")

    def __init__(self, kind: Enum) -> None:
        self.type = kind
        self.name = kind.name
        self.dtype = kind.numpy
        self.enum_dict = {name: int(value) for name, value in kind.members}

    def __repr__(self) -> str:
        return (
            f"{class_text(self)!r}: name = {self.name!r}, numpy dtype = {self.dtype}, fields/values ={self.enum_dict}"
        )

    def __reduce__(self) -> NoReturn:
        raise NotImplementedError("EnumType is not picklable")


class OpaqueType:
    """Bytes of a fixed number, without a meaning."""

    __slots__ = ("dtype", "name", "type")

    def __init__(self, kind: Opaque) -> None:
        self.type = kind
        self.name = kind.name
        self.dtype = kind.numpy

    def __repr__(self) -> str:
        return f"{class_text(self)!r}: name = {self.name!r}, size = {self.type.size}"

    def __reduce__(self) -> NoReturn:
        raise NotImplementedError("OpaqueType is not picklable")


UserType = CompoundType | VLType | EnumType | OpaqueType


def user_type(kind: Type) -> UserType:
    """Return the object that stands for a type that is not a number or a character."""
    if isinstance(kind, Compound):
        return CompoundType(kind)
    if isinstance(kind, Enum):
        return EnumType(kind)
    return OpaqueType(kind) if isinstance(kind, Opaque) else VLType(kind)


def seen(kind: Type, endian: str = "native") -> DType:
    """Return the NumPy type of values as users see them: compounds laid out as C does."""
    if isinstance(kind, Compound):
        return aligned(kind)
    return kind.numpy.newbyteorder(">" if endian == "big" else "<") if endian != "native" else kind.numpy


def aligned(kind: Compound) -> DType:
    """Return the NumPy type of a compound, with the gaps that C leaves."""
    formats = [(seen(field.type), field.shape) if field.shape else seen(field.type) for field in kind.fields]
    return np.dtype({"names": [field.name for field in kind.fields], "formats": formats}, align=True)


def viewed(dtype: DType) -> DType:
    """Return a NumPy type with strings where there are one-dimensional arrays of characters."""
    formats: list[Any] = []
    for name in dtype.names or ():
        part: DType = dtype[name]
        if part.names is not None:
            part = viewed(part)
        elif part.subdtype is not None and part.subdtype[0] == np.dtype("S1") and len(part.shape) == 1:
            part = np.dtype(f"S{part.shape[0]}")
        formats.append(part)
    return np.dtype({"names": list(dtype.names or ()), "formats": formats}, align=True)


def unpacked(kind: Compound, values: Values, *, as_text: bool) -> Values:
    """Return values of a compound as users see them."""
    dtype = aligned(kind)
    wide = np.zeros(values.shape, dtype)  # the gaps, too
    wide[...] = values
    view = viewed(dtype)
    return wide.view(view) if as_text and view != dtype and not dtype.hasobject else wide


def packed_members(kind: Compound, values: Values) -> Values:
    """Return values of a compound as they are stored: no gaps, text as characters."""
    dtype = aligned(kind)
    if values.dtype.names is not None and not dtype.hasobject:
        view = viewed(dtype)
        if view != dtype and viewed(values.dtype) == view and values.dtype != dtype:
            values = values.astype(view).view(dtype)
    return values.astype(kind.numpy)


def define_compound(group: Group, dtype: object, name: str) -> Compound:
    """Return the compound type that a NumPy type makes; those in it must be defined already.

    Raises:
        BadTypeError: If it has a member that netCDF has no type for.
        DefinitionError: If it has no members.
    """
    given = as_dtype(dtype, f"the compound type {name}", group.path)
    if given.names is None:
        raise BadTypeError(f"a compound type needs members, which {given} does not have")
    if not given.names:
        hint = "Give a structured type with at least one field."
        raise DefinitionError(f"the compound type {name} has no members", path=group.path, hint=hint)
    return Compound(name, tuple(_field(group, member, given[member]) for member in given.names))


def _field(group: Group, name: str, dtype: DType) -> Field:
    base, shape = dtype.subdtype or (dtype, ())
    if base.names is not None:
        if shape:
            raise BadTypeError(f"member {name}: nested structured dtype arrays not supported")
        return Field(name, find_compound(group, base))
    if base.kind == "S" and base.itemsize != 1:
        return Field(name, CHAR, (*shape, base.itemsize))
    kind = of_numpy(base)
    if kind is None or kind == STRING:
        raise BadTypeError(f"member {name}: Unsupported compound type element {base}")
    return Field(name, kind, tuple(int(n) for n in shape))


def find_compound(group: Group, dtype: DType) -> Compound:
    """Return the compound type of a group, or of one above, that has the members of a NumPy type.

    Raises:
        BadTypeError: If there is none.
    """
    for here in group.above():
        for kind in here.types.values():
            if isinstance(kind, Compound) and _same(aligned(kind), dtype):
                return kind
    raise BadTypeError(
        f"cannot find compound type in this group or parent groups: {dtype}",
        hint="Define it with createCompoundType first; types within it before it.",
    )


def _same(one: DType, other: DType) -> bool:
    """Whether two structured types have the same members, gaps and ways to see text aside."""
    if one.names is None or other.names is None:
        return _chars(one) == _chars(other)
    return one.names == other.names and all(_same(one[name], other[name]) for name in one.names)


def _chars(dtype: DType) -> DType:
    return np.dtype(("S1", (dtype.itemsize,))) if dtype.kind == "S" and dtype.itemsize > 1 else dtype


def define_vlen(group: Group, dtype: object, name: str) -> Vlen:
    """Return the type of sequences of a NumPy type, or of a user type.

    Raises:
        BadTypeError: If netCDF has no such type.
    """
    if isinstance(dtype, (CompoundType, VLType, EnumType, OpaqueType)):
        return Vlen(name, dtype.type)
    kind = of_numpy(as_dtype(dtype, f"the type {name}", group.path))
    if kind is None or kind == STRING:
        raise BadTypeError(f"unsupported datatype specified for VLEN: {dtype}")
    return Vlen(name, kind)


def define_enum(group: Group, dtype: object, name: str, members: object) -> Enum:
    """Return the type of integers with names.

    Raises:
        BadTypeError: If the NumPy type is not of integers, a name is no text, or a value does not fit.
        DefinitionError: If two names are one.
    """
    where = group.path
    kind = of_numpy(as_dtype(dtype, f"the enum type {name}", where))
    if kind is None or kind.numpy.kind not in "iu":
        raise BadTypeError(f"unsupported datatype specified for ENUM (must be integer): {dtype}")
    limits = np.iinfo(kind.numpy)
    if not isinstance(members, Mapping):
        message = f"the members of the enum type {name} are {members!r}"
        raise BadTypeError(message, path=where, hint="Give a dict of names and integers.")
    made: dict[str, int] = {}
    for one, number in members.items():
        member = as_text(one, f"a member of the enum type {name}", where)
        value = as_int(number, f"the value of {member} of the enum type {name}", where)
        if not limits.min <= value <= limits.max:
            raise BadTypeError(f"{value} of {member} does not fit {kind.name}")
        if member in made:
            raise DefinitionError(f"the enum type {name} has two members {member!r}", path=where, hint="Drop one.")
        made[member] = value
    return Enum(name, kind, tuple(made.items()))
