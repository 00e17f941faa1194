"""Which values are printed as `_`: those that equal the fill value, as ncdump compares them."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnizarr.nc.tree import Var
from omnizarr.nc.types import BYTE, CHAR, UBYTE, Atomic, Compound, Type, Vlen, default_fill, type_path


def fill_of(var: Var) -> Any:  # noqa: ANN401 - a scalar of the variable's type
    """Return the fill value of a variable, or `None` if none of its values is taken for one.

    That is its `_FillValue` if that has the variable's type, else what the type has by default; bytes, of which every
    value may be meant, and user types have none by default.
    """
    attr = var.attrs.get("_FillValue")
    if attr is not None and type_path(attr.type) == type_path(var.type) and len(attr.value) == 1:
        return attr.value[:1] if var.type == CHAR else attr.value[0]
    if not isinstance(var.type, Atomic) or var.type in (BYTE, UBYTE):
        return None
    return default_fill(var.type)


def equals(kind: Type, fill: Any, value: Any) -> bool:  # noqa: ANN401 - scalars of the type
    """Whether a value is the fill value; floats may differ in the last bit."""
    if isinstance(kind, Compound):
        return all(_members_equal(field.type, fill[field.name], value[field.name]) for field in kind.fields)
    if isinstance(kind, Vlen):
        return len(fill) == len(value) and all(map(lambda a, b: equals(kind.base, a, b), fill, value))
    if isinstance(kind, Atomic) and kind.numpy.kind == "f":
        return _close(kind.numpy.type(fill), kind.numpy.type(value))
    if kind == CHAR:  # NumPy has no NULs at the end
        return bytes(fill).rstrip(b"\0") == bytes(value).rstrip(b"\0")
    return bool(fill == value)


def _members_equal(kind: Type, fill: Any, value: Any) -> bool:  # noqa: ANN401 - as above
    if isinstance(fill, np.ndarray) and not isinstance(kind, Vlen):
        return all(equals(kind, one, other) for one, other in zip(fill.ravel(), value.ravel(), strict=True))
    return equals(kind, fill, value)


def _close(fill: Any, value: Any) -> bool:  # noqa: ANN401 - floats of NumPy
    if (fill > 0) != (value > 0):
        return False
    if np.isfinite(fill) and np.isfinite(value):
        return bool(abs(fill - value) <= abs(np.finfo(type(value)).eps * value))
    return bool((np.isnan(fill) and np.isnan(value)) or (np.isinf(fill) and np.isinf(value)))
