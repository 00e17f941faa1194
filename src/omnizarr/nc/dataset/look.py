"""How values of a variable look to users: the kind of its type, and complex numbers."""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from omnizarr.nc.dataset.usertypes import CompoundType, UserType, seen, user_type
from omnizarr.nc.tree import Var
from omnizarr.nc.types import DOUBLE, FLOAT, STRING, Atomic, Compound, Enum, Field, Opaque, Type

Kind: TypeAlias = Literal["primitive", "string", "vlen", "enum", "compound", "opaque"]

_PARTS: Final = (("r", "i"), ("real", "imag"), ("re", "im"), ("Re", "Im"), ("real", "imaginary"))
COMPLEX_DIM: Final = "_pfnc_complex"
_DIMS: Final = ("complex", "ri", COMPLEX_DIM)
COMPLEX_NAMES: Final = {"c8": "_PFNC_FLOAT_COMPLEX_TYPE", "c16": "_PFNC_DOUBLE_COMPLEX_TYPE"}


class Look(NamedTuple):
    """How values look.

    Attributes:
        kind: What sort of type it is.
        dtype: The NumPy type of values; `str` for strings.
        datatype: The object that stands for the type, or `dtype` for numbers and characters.
        pairs: Whether the last dimension is the two parts of complex numbers.
    """

    kind: Kind
    dtype: Any
    datatype: np.dtype[Any] | UserType
    pairs: bool = False


def look_of(var: Var, *, auto_complex: bool) -> Look:
    """Return how values of a variable look."""
    kind = var.type
    if auto_complex:
        found = _complex(var)
        if found is not None:
            return found
    if kind == STRING:
        user = user_type(kind)
        return Look("string", str, user)
    if isinstance(kind, Atomic):
        dtype = seen(kind, var.storage.endian)
        return Look("primitive", dtype, dtype)
    shown = user_type(kind)
    if isinstance(kind, Enum):
        return Look("enum", seen(kind, var.storage.endian), shown)
    name: Kind = "compound" if isinstance(kind, Compound) else "opaque" if isinstance(kind, Opaque) else "vlen"
    return Look(name, shown.dtype, shown)


def complex_type(dtype: np.dtype[Any]) -> Compound:
    """Return the compound type in which complex numbers are stored."""
    base = FLOAT if dtype.itemsize == 8 else DOUBLE
    return Compound(COMPLEX_NAMES[dtype.str[1:]], (Field("r", base), Field("i", base)))


def _complex(var: Var) -> Look | None:
    kind = var.type
    if isinstance(kind, Compound) and _is_pair(kind):
        dtype = np.dtype("c8" if kind.fields[0].type == FLOAT else "c16")
        return Look("primitive", dtype, CompoundType(kind))
    if kind in (FLOAT, DOUBLE) and var.dims and var.dims[-1].name in _DIMS and var.dims[-1].size == 2:
        dtype = np.dtype("c8" if kind == FLOAT else "c16")
        return Look("primitive", dtype, dtype, pairs=True)
    return None


def _is_pair(kind: Compound) -> bool:
    types: set[Type] = {field.type for field in kind.fields}
    names = tuple(field.name for field in kind.fields)
    return names in _PARTS and types in ({FLOAT}, {DOUBLE}) and not any(field.shape for field in kind.fields)
