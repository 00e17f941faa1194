"""Checks and choices on the way to a new definition."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

import numpy as np

from omnizarr.errors import OmnizarrError, warn
from omnizarr.nc.dataset.dimension import Dimension
from omnizarr.nc.dataset.errors import (
    BadOptionError,
    BadTypeError,
    DefinitionError,
    NoAttributeError,
    NotDefinedError,
)
from omnizarr.nc.dataset.given import as_dtype, placed
from omnizarr.nc.dataset.handle import Handle
from omnizarr.nc.dataset.look import complex_type
from omnizarr.nc.dataset.plan import default_fillvals
from omnizarr.nc.dataset.usertypes import CompoundType, EnumType, OpaqueType, VLType
from omnizarr.nc.dataset.values import typed_attr
from omnizarr.nc.near import near
from omnizarr.nc.source import Source
from omnizarr.nc.tree import Attr, Dim, Group, Var
from omnizarr.nc.types import (
    BYTE,
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    SHORT,
    STRING,
    Atomic,
    Compound,
    Enum,
    Type,
    Vlen,
    of_numpy,
)

_CLASSIC: Final = (BYTE, CHAR, SHORT, INT, FLOAT, DOUBLE)
_LONGEST: Final = 256


def check_name(name: str, what: str, group: Group, taken: Collection[str], source: Source | None = None) -> None:
    """Raise if a name is in use or cannot be one, in netCDF or in the place that will have a node of that name.

    Raises:
        DefinitionError: If so.
        UnsupportedError: If it is the place that cannot have it.
    """
    if name in taken:
        raise DefinitionError(f"there is a {what} or another thing called {name!r} in {group.path} already")
    plain = name.strip() if name else ""
    if (
        not plain
        or name != name.rstrip()
        or "/" in name
        or len(name.encode("utf-8", "replace")) > _LONGEST
        or any(ord(one) < 32 or ord(one) == 127 for one in name)
        or not (name[0].isalnum() or name[0] == "_" or not name[0].isascii())
    ):
        raise DefinitionError(f"{name!r} is not a name that netCDF allows for a {what}")
    check = getattr(source, "check_name", None)
    if check is not None:
        check(name, group)


def find_dims(group: Group, given: Any, variable: str) -> tuple[Dim, ...]:  # noqa: ANN401 - names, dimensions, or several of them
    """Return the dimensions that names mean in a group.

    Args:
        group: The group.
        given: The names, or dimensions.
        variable: The name of the variable that gets them.

    Raises:
        NotDefinedError: If there is none of a name.
        BadTypeError: If it is no list.
    """
    if isinstance(given, (str, bytes, Dimension)):
        given = (given,)
    elif not isinstance(given, Iterable):
        hint = 'Give a tuple of their names, such as ("time", "x"), or () for none.'
        raise BadTypeError(f"variable {variable}: {given!r} is no list of dimensions", path=group.path, hint=hint)
    dims: list[Dim] = []
    for one in given:
        if isinstance(one, Dimension):
            dims.append(one.node)
            continue
        name = one.decode() if isinstance(one, bytes) else str(one)
        dim = group.find_dim(name)
        if dim is None:
            hint = near(name, (known for above in group.above() for known in above.dims))
            raise NotDefinedError(
                f"cannot find dimension {name} in this group or parent groups", path=group.path, hint=hint
            )
        dims.append(dim)
    return tuple(dims)


def chosen_type(
    group: Group, datatype: object, handle: Handle, where: str
) -> tuple[Type, np.dtype[Any] | None, Compound | None]:
    """Return the type that was asked for, its NumPy type if it is of numbers, and a type to define for it first.

    Raises:
        BadTypeError: If netCDF has no such type.
        DefinitionError: If the data model does not have it.
    """
    if isinstance(datatype, (CompoundType, VLType, EnumType, OpaqueType)):
        kind = datatype.type
        if not isinstance(kind, Atomic) and group.find_type(f"{kind.home.rstrip('/')}/{kind.name}") != kind:
            raise DefinitionError(f"type {kind.name} is not defined in this dataset", path=where)
        _check_model(kind, handle, where)
        return kind, None, None
    if datatype is str:
        _check_model(STRING, handle, where)
        return STRING, None, None
    dtype = as_dtype(datatype, "the variable", where)
    if dtype.kind == "c":
        return _complex(group, dtype, handle, where)
    atomic = of_numpy(dtype) if dtype.kind != "O" and dtype.itemsize else None
    if atomic is None:
        raise BadTypeError(f"Illegal primitive data type, netCDF has none for {dtype}", path=where)
    _check_model(atomic, handle, where)
    return atomic, dtype if atomic != STRING else None, None


def _complex(group: Group, dtype: np.dtype[Any], handle: Handle, where: str) -> tuple[Type, None, Compound | None]:
    if not handle.auto_complex:
        raise BadTypeError(f"complex datatypes ({dtype}) are only supported with `auto_complex=True`", path=where)
    wanted = complex_type(dtype)
    found = group.find_type(wanted.name)
    if isinstance(found, Compound) and found.fields == wanted.fields:
        return found, None, None
    return wanted, None, wanted


def _check_model(kind: Type, handle: Handle, where: str) -> None:
    if not handle.classic or kind in _CLASSIC:
        return
    if kind == STRING:
        raise BadOptionError(
            "Variable length strings are only supported for the NETCDF4 format.",
            path=where,
            hint="Convert them to characters with stringtochar, along one more dimension.",
        )
    if handle.model != "NETCDF3_64BIT_DATA" or not isinstance(kind, Atomic):
        raise DefinitionError(f"{handle.model} has no type {kind.name}", path=where)


def set_fill(var: Var, fill_value: Any) -> None:  # noqa: ANN401 - a scalar
    """Set the fill value that a variable was created with.

    Raises:
        NoAttributeError: If variables of its type have none.
    """
    if fill_value is None:
        return
    simple = isinstance(var.type, Atomic) and var.type != STRING
    if fill_value is False:
        var.storage.no_fill = var.storage.no_fill or simple
        return
    if isinstance(fill_value, str) and fill_value == "default" and var.type != STRING:
        if not simple:
            warn("WARNING: there is no default fill value for this data type, so fill_value='default' does nothing.")
            return
        fill_value = default_fillvals[var.type.numpy.str[1:]]
    if not isinstance(var.type, (Atomic, Enum)):
        raise NoAttributeError("cannot set _FillValue attribute for VLEN or compound variable", path=var.path)
    try:
        attr = typed_attr("_FillValue", fill_value, var.type)
    except OmnizarrError as error:
        placed(error, var.path)
        raise
    except (TypeError, ValueError, OverflowError) as error:
        hint = "Give a number that its type can hold, or None."
        raise BadTypeError(f"fill_value={fill_value!r} is no {var.type.name}", path=var.path, hint=hint) from error
    if len(attr.value) != 1:
        raise NoAttributeError(f"fill_value={fill_value!r} is more than one value", path=var.path, hint="Give one.")
    var.attrs["_FillValue"] = attr


def rehomed(group: Group, before: str, after: str) -> None:
    """Let all types that a renamed group defines say where they are now, wherever they are used."""

    def moved(kind: Type) -> Type:
        if isinstance(kind, Atomic):
            return kind
        if isinstance(kind, Vlen):
            kind = kind._replace(base=moved(kind.base))
        elif isinstance(kind, Compound):
            kind = kind._replace(fields=tuple(field._replace(type=moved(field.type)) for field in kind.fields))
        if kind.home == before or kind.home.startswith(f"{before}/"):
            return kind._replace(home=after + kind.home[len(before) :])
        return kind

    def moved_attrs(attrs: dict[str, Attr]) -> None:
        for name, attr in attrs.items():
            attrs[name] = attr._replace(type=moved(attr.type))

    for here in group.root.walk():
        here.types.update({name: moved(kind) for name, kind in here.types.items()})  # type: ignore[misc]
        moved_attrs(here.attrs)
        for var in here.vars.values():
            var.type = moved(var.type)
            moved_attrs(var.attrs)
