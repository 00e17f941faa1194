"""Fill values from v3 to v2: what a chunk that is missing holds in the one, and also what xarray masks in the other.

In v3 xarray masks by the attribute `_FillValue` alone, and the fill value, zero mostly, means nothing to it. In v2 the
fill value is the mask, whatever the attribute says. So v2 gets what xarray writes there itself: the value of the
attribute, or null where there is none; null reads as zero. Chunks that are missing must read as before all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from omnizarr.errors import ShapeError
from omnizarr.format.fill_attribute import FILL, from_json, is_netcdf
from omnizarr.model.dtype import DType
from omnizarr.model.fill import Fill
from omnizarr.model.jsonvalue import JSON

_MASKED: Final = frozenset(("bool", "int", "uint", "float", "complex", "fixed", "text"))
"""Families of types in which xarray masks by a value; beside them, text and bytes of variable length."""

Whole: TypeAlias = Callable[[], bool]

_WHY: Final = "which xarray would take for elements that are missing"


class Mask(NamedTuple):
    """The fill value of an array of v2."""

    fill: Fill
    note: str = ""
    written_out: bool = False
    """Whether chunks that are missing have to be written, for they would read as another value."""


def v2_mask(source: Mapping[str, JSON], made: Mapping[str, JSON], dtype: DType, fill: Fill, whole: Whole) -> Mask:
    """Return the fill value for an array of v2, which xarray shall open as it opens the one of v3.

    Args:
        source: The attributes in v3.
        made: The same in v2.
        dtype: The data type.
        fill: The fill value in v3.
        whole: Tells whether all chunks are stored; asked only where it matters, for they have to be listed.
    """
    if fill.bits is None or (dtype.family not in _MASKED and dtype.vlen not in ("string", "bytes")):
        return Mask(fill)
    wanted = _told(source.get(FILL), dtype)
    if is_netcdf(source):  # which has rules of its own: where there is a mask, the attribute and the fill value are it
        return Mask(fill) if wanted == fill else _kept(dtype, fill)
    if wanted is None:
        return _without(dtype, fill, whole)
    return Mask(fill) if _is_same(fill.value(dtype), wanted.value(dtype)) else _with(made, dtype, fill, wanted, whole)


def _without(dtype: DType, fill: Fill, whole: Whole) -> Mask:
    """Return the fill value where no attribute says that there is a mask."""
    value = fill.value(dtype)
    if value != value:  # noqa: PLR0124 - NaN stands for itself, masked or not
        return Mask(fill)
    if fill == Fill.zero(dtype):
        return Mask(Fill(None), f"the fill value {_shown(value)}, {_WHY}, becomes null, which reads as the same")
    if whole():
        return Mask(Fill(None), f"the fill value {_shown(value)}, {_WHY}, becomes null, for no chunk is missing")
    return _kept(dtype, fill)


def _with(made: Mapping[str, JSON], dtype: DType, fill: Fill, wanted: Fill, whole: Whole) -> Mask:
    """Return the fill value where the attribute says another."""
    value, goal = fill.value(dtype), wanted.value(dtype)
    note = f"the fill value {_shown(value)}, {_WHY}, becomes"
    if whole():
        return Mask(wanted, f"{note} {_shown(goal)}, as the attribute {FILL} has it")
    if fill == Fill.zero(dtype) and _is_same(made[FILL], goal):  # without a fill value, the attribute is the mask
        return Mask(Fill(None), f"{note} null, which reads as the same")
    note = f"{note} {_shown(goal)}, as the attribute {FILL} has it; chunks that are missing are written"
    return Mask(wanted, note, written_out=True)


def _kept(dtype: DType, fill: Fill) -> Mask:
    value = fill.value(dtype)
    if value != value:  # noqa: PLR0124 - as above
        return Mask(fill)
    return Mask(fill, f"xarray takes the fill value {_shown(value)} for elements that are missing, as in all of v2")


def _told(value: JSON, dtype: DType) -> Fill | None:
    """Return what the attribute of v3 says as a fill value; `None` if that is none of the type."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if value is None:
        return None
    try:
        return Fill.of(from_json(value, dtype.numpy), dtype)
    except ShapeError:
        return None


def _is_same(one: object, other: object) -> bool:
    """Whether two values are equal, or a NaN both."""
    return bool(one == other) or bool(one != one and other != other)  # noqa: PLR0124


def _shown(value: object) -> str:
    if isinstance(value, np.generic):
        value = value.item() if value.dtype.kind in "SU" else value
    return repr(value) if isinstance(value, (str, bytes)) else str(value)
