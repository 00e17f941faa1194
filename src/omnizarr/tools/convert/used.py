"""Wishes that no array fits: they are slips of the pen, and nobody would see that nothing was done."""

from __future__ import annotations

from collections.abc import Mapping

from omnizarr.errors import NotFoundError, ShapeError
from omnizarr.model.array import ArrayMeta
from omnizarr.tools.convert.values import Plan, Wish


def check_used(plan: Plan, wish: Wish, include: tuple[str, ...]) -> None:
    """Refuse patterns, dimensions and shapes that are those of no array.

    Raises:
        NotFoundError: No array has a name that is included.
        ShapeError: No array has as many dimensions, or one of that name.
    """
    arrays = [step.source for step in plan.steps if isinstance(step.source, ArrayMeta)]
    if not arrays and not plan.refused and include:
        raise NotFoundError(f"no array matches {', '.join(map(repr, include))}", hint="'oz ls -R' lists the names")
    for name, wanted in (("chunks", wish.chunks), ("shards", wish.shards)):
        if arrays and not plan.refused:
            _check_lengths(name, wanted, arrays)


def _check_lengths(name: str, wanted: object, arrays: list[ArrayMeta]) -> None:
    if isinstance(wanted, (list, tuple)) and not any(meta.ndim == len(wanted) for meta in arrays):
        have = " or ".join(str(number) for number in sorted({meta.ndim for meta in arrays}))
        raise ShapeError(f"{name} has {len(wanted)} lengths, but the arrays have {have} dimensions")
    if isinstance(wanted, Mapping):
        known = dict.fromkeys(one for meta in arrays for one in meta.dims or () if one is not None)
        unknown = [repr(one) for one in wanted if one not in known]
        if unknown:
            hint = f"the dimensions are {', '.join(known)}" if known else "the dimensions have no names: give a shape"
            raise ShapeError(f"no array has a dimension {', '.join(unknown)}", hint=hint)
