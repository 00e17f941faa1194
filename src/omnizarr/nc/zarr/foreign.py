"""Element types of Zarr that netCDF has not, or not under that name, and what they become.

=======================  ===================================================================================
bool                     ubyte
float16, bfloat16, …     float
int2, int4, uint4, …     byte, ubyte
datetime64, timedelta64  int64; `units` says what is counted, unless there are units already
complex                  a compound of `r` and `i`, named as netCDF4-python names it
text of any kind         string; text of one byte char
raw bytes                opaque
bytes of any number      vlen of ubyte; arrays of any length a vlen of theirs
structure                a compound; text in it an array of char
=======================  ===================================================================================

Nothing else is lost or changed. What has no counterpart raises an error when it is read, and not before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from omnizarr.errors import CorruptError, UnsupportedError
from omnizarr.model.dtype import DType, field_type
from omnizarr.model.small import SMALL_INTEGERS
from omnizarr.model.structs import fields_of
from omnizarr.nc.source import Values
from omnizarr.nc.tree import Group
from omnizarr.nc.types import (
    BYTE,
    CHAR,
    DOUBLE,
    FLOAT,
    INT64,
    STRING,
    UBYTE,
    Compound,
    Field,
    Opaque,
    Type,
    User,
    Vlen,
    of_numpy,
)
from omnizarr.nc.zarr.elements import to_values

Decode: TypeAlias = Callable[[Values], Values]

_COMPLEX = {8: ("_PFNC_FLOAT_COMPLEX_TYPE", FLOAT), 16: ("_PFNC_DOUBLE_COMPLEX_TYPE", DOUBLE)}
_UNITS = {
    "D": "days",
    "h": "hours",
    "m": "minutes",
    "s": "seconds",
    "ms": "milliseconds",
    "us": "microseconds",
    "ns": "nanoseconds",
}


class Meaning(NamedTuple):
    """What elements are in netCDF, and how their values come from what is stored; `None` if they are the same."""

    type: Type
    decode: Decode | None = None


def meaning_of(  # noqa: PLR0911 - a line of a table each
    dtype: DType, group: Group, name: str, *, text: bool
) -> Meaning:
    """Return what elements of a type are in netCDF.

    Args:
        dtype: The type.
        group: Group of the variable; types that it needs are defined in the root, or in this group.
        name: The variable's name, from which a type gets its own.
        text: Whether elements of one byte are text (char), not strings.

    Raises:
        UnsupportedError: If there is no counterpart.
    """
    family = dtype.family
    if family in ("int", "uint") or (family == "float" and dtype.itemsize in (4, 8)):
        known = of_numpy(dtype.numpy)
        if known is not None:
            return Meaning(known)
    if family in ("fixed", "text", "string"):
        if family == "fixed" and dtype.itemsize == 1 and text:
            return Meaning(CHAR)
        return Meaning(STRING, _strings)
    simple = _SIMPLE.get(family)
    if simple is not None:
        return simple
    if family == "float" and dtype.itemsize == 2:
        return Meaning(FLOAT, lambda values: values.astype(np.float32))
    if family == "small":
        return _small(dtype)
    if family == "complex" and dtype.itemsize in _COMPLEX:
        kind = _complex(dtype, group)
        return Meaning(kind, lambda values: _complex_values(values, kind))
    if family == "raw":
        opaque = _defined(group.root, Opaque(f"opaque_{dtype.itemsize}", dtype.itemsize))
        return Meaning(opaque)
    if family == "struct":
        compound = _compound(dtype.numpy, group, f"{name}_t")
        return Meaning(compound, lambda values: _struct_values(values, compound))
    if family == "bytes" or dtype.item == "array":
        return _sequences(dtype, group)
    raise UnsupportedError(f"netCDF has no counterpart to elements of the type {dtype.label}")


def time_units(dtype: DType) -> str | None:
    """Return what `units` of a count of time are in netCDF's conventions, or `None` if there are none."""
    if dtype.family != "time":
        return None
    unit, count = np.datetime_data(dtype.numpy)
    if count != 1 or unit not in _UNITS:
        return None
    return f"{_UNITS[unit]} since 1970-01-01" if dtype.numpy.kind == "M" else _UNITS[unit]


def _strings(values: Values) -> Values:
    made = to_values(values, STRING)
    if values.dtype.kind == "O" and not all(one is None or isinstance(one, str) for one in made.flat):
        raise CorruptError("elements are objects of other kinds than text")
    return made


_SIMPLE = {
    "bool": Meaning(UBYTE, lambda values: values.view(np.uint8)),
    "time": Meaning(INT64, lambda values: values.view(values.dtype.str[0] + "i8").astype("i8", copy=False)),
    "object": Meaning(STRING, _strings),
}


def _small(dtype: DType) -> Meaning:
    if dtype.name in SMALL_INTEGERS:
        kind = UBYTE if dtype.name.startswith("u") else BYTE
        return Meaning(kind, lambda values: values.astype(kind.numpy))
    return Meaning(FLOAT, lambda values: values.astype(np.float32))


def _complex(dtype: DType, group: Group) -> User:
    name, part = _COMPLEX[dtype.itemsize]
    return _defined(group.root, Compound(name, (Field("r", part), Field("i", part))))


def _complex_values(values: Values, kind: Type) -> Values:
    native = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    return native.reshape(values.shape).view(kind.numpy)


def _sequences(dtype: DType, group: Group) -> Meaning:
    inner = dtype.inner.numpy if dtype.inner is not None else np.dtype(np.uint8)
    base = of_numpy(inner)
    if base is None or base in (CHAR, STRING):
        raise UnsupportedError(f"netCDF has no counterpart to arrays of {inner} as elements")
    kind = _defined(group.root, Vlen(f"{base.name}_sequence", base))

    def decode(values: Values) -> Values:
        made = np.empty(values.shape, object)
        flat = made.reshape(-1)
        for at, one in enumerate(values.reshape(-1)):
            array = np.frombuffer(one, inner) if isinstance(one, bytes) else np.asarray(one)
            flat[at] = array.reshape(-1).astype(base.numpy)
        return made

    return Meaning(kind, decode)


def _defined(group: Group, kind: User) -> User:
    """Return a type of a group: the one that it has under that name if they are alike, else a new one."""
    name, number = kind.name, 1
    while True:
        known = group.types.get(name)
        if known is None:
            return group.add_type(kind._replace(name=name))
        if known == kind._replace(name=name, home=known.home):
            return known
        number += 1
        name = f"{kind.name}_{number}"


def _compound(dtype: np.dtype[Any], group: Group, name: str) -> User:
    fields: list[Field] = []
    for one in fields_of(dtype):
        inner = field_type(one.numpy)
        if inner.family == "fixed":
            shape = one.shape if inner.itemsize == 1 else (*one.shape, inner.itemsize)
            fields.append(Field(one.name, CHAR, shape))
        elif inner.family == "struct":
            fields.append(Field(one.name, _compound(inner.numpy, group, f"{name}_{one.name}"), one.shape))
        elif inner.family in ("text", "string"):
            raise UnsupportedError(f"netCDF has no counterpart to the field {one.name!r} of type {inner.label}")
        else:
            fields.append(Field(one.name, meaning_of(inner, group, one.name, text=True).type, one.shape))
    return _defined(group, Compound(name, tuple(fields)))


def _struct_values(values: Values, kind: Type) -> Values:
    made = np.empty(values.shape, kind.numpy)
    _copy_fields(values, made, kind)
    return made


def _copy_fields(source: Values, target: Values, kind: Type) -> None:
    for field in kind.fields if isinstance(kind, Compound) else ():
        values = source[field.name]
        if isinstance(field.type, Compound) and values.dtype.names is not None:
            _copy_fields(values, target[field.name], field.type)
        elif isinstance(field.type, Compound):
            target[field.name]["r"], target[field.name]["i"] = np.real(values), np.imag(values)
        elif values.dtype.kind == "S" and values.dtype.itemsize > 1:
            size = values.dtype.itemsize
            target[field.name] = np.ascontiguousarray(values).view("S1").reshape(*values.shape, size)
        elif values.dtype.kind in "mM":
            target[field.name] = values.astype("i8")
        else:
            target[field.name] = values
