"""What the attributes of a variable say about missing values and packing, worked out once."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from omnizarr.nc.dataset.values import from_attr
from omnizarr.nc.tree import Var
from omnizarr.nc.types import CHAR, STRING, Atomic, Enum, Vlen

DType = np.dtype[Any]

default_fillvals: Final[dict[str, Any]] = {
    "S1": "\0", "i1": -127, "u1": 255, "i2": -32767, "u2": 65535, "i4": -2147483647, "u4": 4294967295,
    "i8": -9223372036854775806, "u8": 18446744073709551614, "f4": 9.969209968386869e36, "f8": 9.969209968386869e36,
    "c8": 9.969209968386869e36, "c16": 9.969209968386869e36,
}  # fmt: skip
"""What elements hold that were never written, by NumPy's name of the type without byte order."""


class Plan(NamedTuple):
    """How values as stored become those that users see.

    Attributes:
        unsigned: The type to take integers as, or `None`; only if values are scaled.
        missing: Values of `missing_value`.
        fill: The fill value, explicit or by default; `None` if nothing is to be compared with one.
        fill_value: What a masked array is given as its own, unless values of `missing` are found.
        low: No value below is valid.
        high: No value above is valid.
        scale: To multiply with.
        offset: To add.
        as_type: The type that values get, where scale and offset change nothing else.
        warnings: About attributes that cannot be used.
    """

    unsigned: DType | None
    missing: tuple[Any, ...]
    fill: Any
    fill_value: Any
    low: Any
    high: Any
    scale: Any
    offset: Any
    as_type: DType | None
    warnings: tuple[str, ...]


def plan_of(var: Var, dtype: DType, *, mask: bool, scale: bool) -> Plan:
    """Return the plan of a variable of numbers, characters or enumerated values."""
    notes: list[str] = []
    unsigned = _unsigned(var, dtype) if scale else None
    missing: tuple[Any, ...] = ()
    fill = fill_value = low = high = None
    if mask and (isinstance(var.type, (Atomic, Enum)) and dtype.kind in "iufS"):
        given = _fitting(var, "missing_value", dtype, notes)
        if given is not None:
            missing = tuple(_as(one, unsigned) for one in np.atleast_1d(given))
        fill = _fill(var, dtype, notes)
        low, high = _valid(var, dtype, notes) if dtype.kind != "S" else (None, None)
        fill, low, high = (_as(one, unsigned) if one is not None else None for one in (fill, low, high))
        fill_value = fill if fill is not None else np.array(default_fillvals[dtype.str[1:]]).astype(dtype)[()]
    by, plus, as_type = (None, None, None)
    kind = var.type.base if isinstance(var.type, Vlen) else var.type
    if scale and isinstance(kind, Atomic) and kind not in (CHAR, STRING):
        by, plus, as_type = _packing(var, notes)
    return Plan(unsigned, missing, fill, fill_value, low, high, by, plus, as_type, tuple(notes))


def _unsigned(var: Var, dtype: DType) -> DType | None:
    attr = var.attrs.get("_Unsigned")
    if attr is None or dtype.kind != "i" or from_attr(attr) not in ("true", "True"):
        return None
    return np.dtype(f"{dtype.byteorder}u{dtype.itemsize}")


def _as(value: Any, unsigned: DType | None) -> Any:  # noqa: ANN401 - scalars
    return np.asarray(value).view(unsigned)[()] if unsigned is not None else value


def _fitting(var: Var, name: str, dtype: DType, notes: list[str]) -> Any:  # noqa: ANN401 - scalars and arrays
    """Return the value of an attribute in the type of the variable, or `None` if it is not there or does not fit."""
    attr = var.attrs.get(name)
    if attr is None:
        return None
    given = np.array(from_attr(attr))
    try:
        with np.errstate(invalid="ignore", over="ignore"):
            cast = given.astype(dtype)
    except ValueError:
        cast = None
    if cast is None or not safe(given, cast):
        notes.append(f"WARNING: {name} not used since it\ncannot be safely cast to variable data type")
        return None
    return cast[()]


def safe(given: np.ndarray[Any, Any], cast: np.ndarray[Any, Any]) -> bool:
    """Whether values are the same after a cast; NaN equals itself."""
    try:
        same = (given == cast) | (np.isnan(given) & np.isnan(cast))
    except TypeError:  # text has no NaN, and is not to be compared with numbers
        same = np.asarray(given == cast) if given.dtype.kind in "SU" and cast.dtype.kind in "SU" else np.array(False)
        if given.dtype.kind != cast.dtype.kind and given.dtype.kind in "SU" and cast.dtype.kind in "SU":
            same = given.astype("U") == cast.astype("U")
    return bool(np.all(same))


def _fill(var: Var, dtype: DType, notes: list[str]) -> Any:  # noqa: ANN401 - a scalar
    """Return what stands for values that were never written, or `None` where nothing does."""
    explicit = _fitting(var, "_FillValue", dtype, notes)
    if explicit is not None:
        return np.atleast_1d(explicit)[0]
    if var.storage.no_fill and dtype.str[1:] in ("i1", "u1"):
        return None
    return np.array(default_fillvals[dtype.str[1:]]).astype(dtype)[()]


def _valid(var: Var, dtype: DType, notes: list[str]) -> tuple[Any, Any]:
    both = _fitting(var, "valid_range", dtype, notes)
    low = _fitting(var, "valid_min", dtype, notes)
    high = _fitting(var, "valid_max", dtype, notes)
    if both is not None and np.size(both) == 2:
        return both[0], both[1]
    return low, high


def _packing(var: Var, notes: list[str]) -> tuple[Any, Any, DType | None]:
    values: dict[str, Any] = {}
    for name in ("scale_factor", "add_offset"):
        if name in var.attrs:
            values[name] = from_attr(var.attrs[name])
            try:
                float(values[name])
            except (TypeError, ValueError):
                notes.append("invalid scale_factor or add_offset attribute, no unpacking done...")
                return None, None, None
    scale, offset = values.get("scale_factor"), values.get("add_offset")
    if scale is not None and offset is not None:
        if offset != 0.0 or scale != 1.0:
            return scale, offset, None
        return None, None, np.asarray(scale).dtype
    return (
        (scale if scale is not None and scale != 1.0 else None),
        (offset if offset is not None and offset != 0.0 else None),
        None,
    )
