"""How elements of each type are compared: which differ, and by how much.

Everything here works on flat arrays of equal length, a block of a region at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from omnizarr.model.dtype import DType, field_type
from omnizarr.model.small import SMALL_INTEGERS
from omnizarr.model.structs import fields_of
from omnizarr.tools.diff.typed import Rules, same

if TYPE_CHECKING:
    import numpy.typing as npt

Values: TypeAlias = "npt.NDArray[Any]"
Mask: TypeAlias = "npt.NDArray[np.bool_]"


_LONG: Final = (np.longdouble, np.clongdouble)
_NUMBERS: Final = frozenset(("bool", "int", "uint", "float", "complex", "small", "pair"))


class Kind(NamedTuple):
    """How the elements of one type, or of one field of a structure, are compared."""

    name: str
    """The field's name, with dots for fields in fields; empty where elements are plain."""

    width: int
    """How many values the field has in one element."""

    pick: Callable[[Values], Values]
    """Takes the field's values out of elements of A, as a flat array."""

    pick_b: Callable[[Values], Values]
    unequal: Callable[[Values, Values], Mask]
    """Which values might differ; NaN may count as different from NaN."""

    missing: Callable[[Values], Mask] | None = None
    """Which values are not a number or not a time."""

    distance: Callable[[Values, Values], Values] | None = None
    """How far values are apart."""

    magnitude: Callable[[Values], Values] | None = None
    """How large values are, in the unit of distances; where tolerances and relative differences make sense."""


def kinds_of(a: DType, b: DType, rules: Rules) -> list[Kind] | str:
    """Find out how elements of two types are compared; a text says why they cannot be."""
    if rules.bits and not same_type(a, b):
        return f"{a.label} and {b.label} have no bits in common"
    if a.family == b.family == "struct":
        return _struct_kinds(a.numpy, b.numpy, rules)
    made = _kind(a, b, rules)
    return f"{a.label} and {b.label} cannot be compared" if made is None else [made]


def same_type(a: DType, b: DType) -> bool:
    """Whether two types hold the same values; byte order, padding and the codec of objects do not count."""
    if a.vlen or b.vlen:
        inner = (a.inner is None) == (b.inner is None)
        if a.inner is not None and b.inner is not None:
            inner = same_type(a.inner, b.inner)
        return inner and (a.vlen, a.item == "array", a.item == "optional") == (
            b.vlen,
            b.item == "array",
            b.item == "optional",
        )
    if "pair" in (a.family, b.family):
        return a.name == b.name
    if a.family == b.family == "struct":
        ours, theirs = fields_of(a.numpy), fields_of(b.numpy)
        return len(ours) == len(theirs) and all(
            (one.name, one.shape) == (other.name, other.shape)
            and same_type(field_type(one.numpy), field_type(other.numpy))
            for one, other in zip(ours, theirs, strict=True)
        )
    return a.family == b.family and _native(a.numpy) == _native(b.numpy)


def _native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype.newbyteorder("=") if dtype.names is None else dtype


def _struct_kinds(a: np.dtype[Any], b: np.dtype[Any], rules: Rules) -> list[Kind] | str:
    ours, theirs = fields_of(a), {field.name: field for field in fields_of(b)}
    if {field.name for field in ours} != set(theirs):
        return f"the fields differ: {', '.join(a.names or ())} and {', '.join(b.names or ())}"
    made: list[Kind] = []
    for field in ours:
        other = theirs[field.name]
        if field.shape != other.shape:
            return f"the field {field.name!r} has shape {field.shape} and {other.shape}"
        inner = kinds_of(field_type(field.numpy), field_type(other.numpy), rules)
        if isinstance(inner, str):
            return f"the field {field.name!r} differs: {inner}"
        made += [_within(kind, field.name, field.length) for kind in inner]
    return made


def _within(kind: Kind, name: str, length: int) -> Kind:
    def through(pick: Callable[[Values], Values]) -> Callable[[Values], Values]:
        return lambda values: pick(values[name].reshape(-1))

    full = f"{name}.{kind.name}" if kind.name else name
    return kind._replace(name=full, width=kind.width * length, pick=through(kind.pick), pick_b=through(kind.pick_b))


def _kind(a: DType, b: DType, rules: Rules) -> Kind | None:
    if rules.bits and not a.vlen:
        return Kind("", 1, _plain, _plain, _unequal_bits, *_numbers_of(a))
    families = {a.family, b.family}
    if families <= _NUMBERS:
        return _number_kind(a, b)
    if families == {"time"} and a.numpy.kind == b.numpy.kind:
        return _time_kind(a.numpy, b.numpy)
    unequal: Callable[[Values, Values], Mask] | None = None
    if families <= {"text", "string"}:
        unequal = _unequal_text
    elif families <= {"fixed", "bytes"}:
        unequal = _unequal
    elif families == {"raw"} and a.itemsize == b.itemsize:
        unequal = _unequal_bits
    elif families == {"object"}:
        unequal = partial(_unequal_objects, rules=rules)
    return None if unequal is None else Kind("", 1, _plain, _plain, unequal)


def _numbers_of(a: DType) -> tuple[Any, ...]:
    """Give what tells how far numbers of a type are apart, where only bits are compared."""
    if a.family in ("int", "uint", "float", "complex"):
        kind = _number_kind(a, a)
        return kind.missing, kind.distance, kind.magnitude
    return ()


def _plain(values: Values) -> Values:
    return values


def _unequal(x: Values, y: Values) -> Mask:
    return np.asarray(x != y, np.bool_)


def _unequal_text(x: Values, y: Values) -> Mask:
    if x.dtype.kind != y.dtype.kind:
        x, y = x.astype(object), y.astype(object)
    return np.asarray(x != y, np.bool_)


def _unequal_objects(x: Values, y: Values, rules: Rules) -> Mask:
    return np.fromiter((not same(one, other, rules) for one, other in zip(x, y, strict=True)), np.bool_, len(x))


def _unequal_bits(x: Values, y: Values) -> Mask:
    if x.dtype != y.dtype:
        y = y.astype(x.dtype)  # which only turns bytes around
    rows = (_rows(x), _rows(y))
    return np.asarray((rows[0] != rows[1]).any(axis=1), np.bool_)


def _rows(values: Values) -> Values:
    """Give the bytes of each element; without those that Intel's long floats have no use for."""
    rows = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)
    if values.dtype.type in _LONG and np.finfo(np.longdouble).nmant == 63:
        return rows.reshape(len(values), -1, np.dtype(np.longdouble).itemsize)[:, :, :10].reshape(len(values), -1)
    return rows


def _number_kind(a: DType, b: DType) -> Kind:
    pick, one = _numbers(a)
    pick_b, other = _numbers(b)
    common = _common(one, other)
    if common != one:
        pick = _cast(pick, common)
    if common != other:
        pick_b = _cast(pick_b, common)
    if common.kind == "b":
        return Kind("", 1, pick, pick_b, _unequal)
    if common.kind in "iu":
        return Kind("", 1, pick, pick_b, _unequal, None, _apart_integers, _size_integers)
    return Kind("", 1, pick, pick_b, _unequal, np.isnan, _apart, _size)


def _numbers(dtype: DType) -> tuple[Callable[[Values], Values], np.dtype[Any]]:
    """Give what makes numbers of elements that NumPy itself has, and their type."""
    if dtype.family == "small":
        wide = np.dtype(np.int64 if dtype.name in SMALL_INTEGERS else np.float64)
        return lambda values: values.astype(wide), wide
    if dtype.family == "pair":
        return _complex_of_pairs, np.dtype(np.complex128)
    return _plain, _native(dtype.numpy)


def _complex_of_pairs(values: Values) -> Values:
    made = np.empty(values.shape, np.complex128)
    made.real, made.imag = values["real"].astype(np.float64), values["imag"].astype(np.float64)
    return made


def _cast(pick: Callable[[Values], Values], common: np.dtype[Any]) -> Callable[[Values], Values]:
    return lambda values: pick(values).astype(common)


def _common(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """Give the type in which numbers of two types are compared: one that holds both exactly, if there is any."""
    common = np.result_type(a, b)
    if a.kind != b.kind and common.kind == "f" and max(x.itemsize for x in (a, b) if x.kind in "iu") == 8:
        return np.dtype(np.longdouble)  # which holds integers of 64 bits on Intel's machines
    return common


def _apart(x: Values, y: Values) -> Values:
    wide = _wide(x.dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.abs(x.astype(wide) - y.astype(wide)))


def _size(y: Values) -> Values:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.abs(y.astype(_wide(y.dtype))))


def _wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Give the type of arithmetic: double precision at least, so that tolerances mean the same for all floats."""
    return np.result_type(_native(dtype), np.float64)


def _apart_integers(x: Values, y: Values) -> Values:
    # Exact for any two numbers: the difference of the larger and the smaller always fits, without a sign.
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    ours, theirs = x.astype(unsigned), y.astype(unsigned)
    return np.asarray(np.where(x > y, ours - theirs, theirs - ours))


def _size_integers(y: Values) -> Values:
    return np.asarray(np.abs(y.astype(np.float64)))


def _time_kind(a: np.dtype[Any], b: np.dtype[Any]) -> Kind | None:
    if _native(a) == _native(b):
        return Kind("", 1, _plain, _plain, _unequal, np.isnat, _apart_times)
    try:
        common = np.result_type(_native(a), _native(b))
    except TypeError:  # spans of months and of days
        return None
    return Kind("", 1, _plain, _plain, lambda x, y: _unequal_times(x, y, common), np.isnat)


def _unequal_times(x: Values, y: Values, common: np.dtype[Any]) -> Mask:
    """Compare times of two units; what the finer one cannot hold equals nothing in it."""
    ours, theirs = x.astype(common), y.astype(common)
    fit = (ours.astype(x.dtype) == x) & (theirs.astype(y.dtype) == y)
    return np.asarray((ours != theirs) | ~fit, np.bool_)


def _apart_times(x: Values, y: Values) -> Values:
    return _apart_integers(x.astype(_native(x.dtype)).view(np.int64), y.astype(_native(y.dtype)).view(np.int64))
