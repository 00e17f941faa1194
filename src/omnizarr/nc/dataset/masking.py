"""Masks and scaling of values that were read, in few passes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from omnizarr.errors import warn
from omnizarr.nc.dataset.plan import Plan
from omnizarr.nc.dataset.spreading import BLOCK, spread

Values = np.ndarray[Any, Any]

Test: TypeAlias = tuple[Callable[[Any, Any], Any] | None, Any, bool]


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
    flat = array.reshape(-1)
    tests = _tests(plan)
    if not tests:
        return None, False
    results = spread(lambda start, stop: _find_in(flat, start, stop, tests), flat.size)
    found = [piece for pieces, _ in results for piece in pieces]
    if not found:
        return None, False
    mask = np.zeros(flat.size, np.bool_)
    for start, piece in found:
        mask[start : start + piece.size] = piece
    return mask.reshape(array.shape), any(by_missing for _, by_missing in results)


def _find_in(flat: Values, start: int, stop: int, tests: list[Test]) -> tuple[list[tuple[int, Values]], bool]:
    """Look at values from one index to another, a block at a time."""
    pieces: list[tuple[int, Values]] = []
    by_missing = False
    for at in range(start, stop, BLOCK):
        block = flat[at : min(at + BLOCK, stop)]
        found: Values | None = None
        for compare, value, is_missing in tests:
            hits: Any = np.isnan(block) if compare is None else compare(block, value)
            by_missing = by_missing or (is_missing and bool(hits.any()))
            found = hits if found is None else np.logical_or(found, hits, out=found)
        if found is not None and found.any():
            pieces.append((at, found))
    return pieces, by_missing


def _tests(plan: Plan) -> list[Test]:
    """Return what values are compared with: how, with what, and whether that is a `missing_value`."""
    tests = [_equal(one, is_missing=True) for one in plan.missing]
    if plan.fill is not None:
        tests.append(_equal(plan.fill, is_missing=False))
    if plan.low is not None:
        tests.append((np.less, plan.low, False))
    if plan.high is not None:
        tests.append((np.greater, plan.high, False))
    return tests


def _equal(value: Any, *, is_missing: bool) -> Test:  # noqa: ANN401 - a scalar
    is_nan = value != value  # noqa: PLR0124 - NaN alone differs from itself
    return (None if is_nan else operator.eq), value, is_missing


def _scaled(data: Any, plan: Plan) -> Any:  # noqa: ANN401 - arrays or scalars
    if np.size(data) <= BLOCK or data.dtype.kind == "O":
        if plan.scale is not None:
            data = data * plan.scale
        return data + plan.offset if plan.offset is not None else data
    raw = np.ma.getdata(data)
    mid = np.result_type(raw, plan.scale) if plan.scale is not None else raw.dtype
    dtype = np.result_type(mid, plan.offset) if plan.offset is not None else mid
    out = np.empty(raw.shape, dtype)
    source, target = raw.reshape(-1), out.reshape(-1)

    def scale(start: int, stop: int) -> None:
        for at in range(start, stop, BLOCK):
            here = slice(at, min(at + BLOCK, stop))
            part: Any = source[here]
            if plan.scale is not None:
                part = np.multiply(part, plan.scale, out=target[here] if mid == dtype else None)
            if plan.offset is not None:
                np.add(part, plan.offset, out=target[here])

    spread(scale, source.size)
    if not np.ma.isMaskedArray(data):
        return out
    if data.mask is np.ma.nomask:
        return np.ma.masked_array(out)
    np.copyto(out, raw, where=data.mask, casting="unsafe")  # what is masked stays as it was stored
    return np.ma.masked_array(out, mask=data.mask, fill_value=data.fill_value)
