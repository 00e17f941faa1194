"""Variables that should be the same in several sets: whether they are."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from omnizarr.refs.combining.conflicts import Conflicts
from omnizarr.refs.combining.options import Options
from omnizarr.refs.combining.reading import Wanted, read_stacked
from omnizarr.refset.model import INLINE, MISSING

_AT_ONCE = 64 << 20
"""Bytes of values that are read at a time."""


def compare(wanted: Sequence[Wanted], options: Options, conflicts: Conflicts) -> None:
    """Take note if arrays of one name are not all the same.

    What refers to the same bytes is the same without being read; all else is read.
    """
    first = wanted[0]
    known = {signature(first)}
    different: list[Wanted] = []
    for one in wanted[1:]:
        key = signature(one)
        if key not in known:
            known.add(key)
            different.append(one)
    if not different:
        return
    names = [one.input.name for one in wanted]
    path = first.path
    if not conflicts.compare(path, "shape", [list(one.meta.shape) for one in wanted], names):
        return
    size = prod(first.meta.shape) * first.meta.dtype.itemsize
    step = max(1, _AT_ONCE // max(1, size))
    expected = read_stacked([first], options)[0]
    others: list[str] = []
    for start in range(0, len(different), step):
        some = different[start : start + step]
        for one, values in zip(some, read_stacked(some, options), strict=True):
            if not equal(expected, values):
                others.append(one.input.name)
    if others:
        told = ["as in the first"] + ["other values"] * len(others)
        conflicts.compare(path, "values, though not concatenated", told, [first.input.name, *others])


def equal(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """Whether values are the same, NaN and NaN included."""
    if a.dtype.kind in "fc":
        return np.array_equal(a, b, equal_nan=True)
    return np.array_equal(a, b)


def signature(one: Wanted) -> tuple[object, ...]:
    """Return what arrays have in common whose values are the same without a doubt."""
    chunks, meta = one.chunks, one.meta
    kind = (meta.shape, meta.dtype.numpy, meta.grid, repr(meta.codecs), meta.fill)
    numbers = None if chunks.numbers is None else chunks.numbers.tobytes()
    lengths = chunks.lengths.tobytes()
    if bool((chunks.urls >= INLINE).all()):
        if len(chunks) == 1 and int(chunks.urls[0]) == INLINE:
            start = int(chunks.offsets[0])
            return (*kind, numbers, lengths, chunks.inline[start : start + int(chunks.lengths[0])])
        gone = (chunks.urls == MISSING).tobytes()
        return (*kind, numbers, lengths, chunks.offsets.tobytes(), gone, chunks.inline)
    urls = one.input.references.urls
    used = tuple(urls[number] for number in np.unique(chunks.urls).tolist() if number < INLINE)
    return (*kind, numbers, lengths, chunks.offsets.tobytes(), chunks.urls.tobytes(), used, chunks.inline)
