"""Masks and scaling of values that were read, in few passes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from omnizarr.errors import warn
from omnizarr.nc.dataset.plan import Plan

Values = np.ndarray[Any, Any]

_BLOCK: Final = 1 << 16
"""Elements looked at together: what is compared stays in the processor's cache."""


def shown(data: Any, plan: Plan, *, mask: bool, always_mask: bool) -> Any:  # noqa: ANN401 - arrays or scalars
    """Return values as users see them: masked where they are missing, and scaled."""
    for note in plan.warnings:
        warn(note)
    if plan.unsigned is not None:
        data = data.view(plan.unsigned)
    if mask:
        data = masked(data, plan, always_mask=always_mask)
    if plan.as_type is not None:
        return data.astype(plan.as_type)
    if plan.scale is None and plan.offset is None:
        return data
    return _scaled(data, plan)


def masked(data: Any, plan: Plan, *, always_mask: bool) -> Any:  # noqa: ANN401 - arrays or scalars
    """Return a masked array; if nothing is missing, without a mask, or a plain array if asked for."""
    array = np.asarray(data)
    found, by_missing = _find(array, plan)
    if found is None:
        return np.ma.masked_array(array) if always_mask else array
    if not array.shape:
        return np.ma.masked
    fill_value = plan.missing[0] if by_missing else plan.fill_value
    return np.ma.masked_array(array, mask=found, fill_value=fill_value)


def _find(array: Values, plan: Plan) -> tuple[Values | None, bool]:
    """Return where values are missing, `None` if nowhere; and whether any equals `missing_value`."""
    wanted = [one for one in plan.missing if one == one]  # noqa: PLR0124 - all but NaN
    fill = plan.fill
    fill_is_nan = fill is not None and fill != fill  # noqa: PLR0124 - NaN alone differs from itself
    nan = fill_is_nan or len(wanted) != len(plan.missing)
    flat = array.reshape(-1)
    mask: Values | None = None
    by_missing = False
    for start in range(0, flat.size, _BLOCK):
        block = flat[start : start + _BLOCK]
        found: Any = None
        for one in wanted:
            found = _joined(found, block == one)
        if nan:
            found = _joined(found, np.isnan(block))
        if plan.missing and not by_missing and found is not None:
            by_missing = bool(found.any()) and (not fill_is_nan or _among(block, plan.missing))
        if fill is not None and not fill_is_nan:
            found = _joined(found, block == fill)
        if plan.low is not None:
            found = _joined(found, block < plan.low)
        if plan.high is not None:
            found = _joined(found, block > plan.high)
        if found is not None and found.any():
            if mask is None:
                mask = np.zeros(flat.size, np.bool_)
            mask[start : start + _BLOCK] = found
    return (mask.reshape(array.shape) if mask is not None else None), by_missing


def _joined(one: Any, other: Any) -> Any:  # noqa: ANN401 - arrays of booleans
    return other if one is None else np.logical_or(one, other, out=one)


def _among(block: Values, missing: tuple[Any, ...]) -> bool:
    return any(bool((np.isnan(block) if one != one else block == one).any()) for one in missing)  # noqa: PLR0124 - NaN


def _scaled(data: Any, plan: Plan) -> Any:  # noqa: ANN401 - arrays or scalars
    if np.size(data) <= _BLOCK or data.dtype.kind == "O":
        if plan.scale is not None:
            data = data * plan.scale
        return data + plan.offset if plan.offset is not None else data
    raw = np.ma.getdata(data)
    mid = np.result_type(raw, plan.scale) if plan.scale is not None else raw.dtype
    dtype = np.result_type(mid, plan.offset) if plan.offset is not None else mid
    out = np.empty(raw.shape, dtype)
    source, target = raw.reshape(-1), out.reshape(-1)
    for start in range(0, source.size, _BLOCK):
        part: Any = source[start : start + _BLOCK]
        goal = target[start : start + _BLOCK]
        if plan.scale is not None:
            part = np.multiply(part, plan.scale, out=goal if mid == dtype else None)
        if plan.offset is not None:
            np.add(part, plan.offset, out=goal)
    if not np.ma.isMaskedArray(data):
        return out
    if data.mask is np.ma.nomask:
        return np.ma.masked_array(out)
    np.copyto(out, raw, where=data.mask, casting="unsafe")  # what is masked stays as it was stored
    return np.ma.masked_array(out, mask=data.mask, fill_value=data.fill_value)
