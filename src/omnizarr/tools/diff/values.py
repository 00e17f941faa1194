"""The values of two arrays, compared region by region."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from omnizarr.errors import OmnizarrError
from omnizarr.hierarchy.array import Array
from omnizarr.tools.diff.kinds import Kind, kinds_of, same_type
from omnizarr.tools.diff.places import Places
from omnizarr.tools.diff.regions import Region, count_regions, region_shape, regions
from omnizarr.tools.diff.result import Extreme, FieldDifference, Pair, Side, ValueDifference
from omnizarr.tools.diff.structure import dims_of, same_fill
from omnizarr.tools.diff.typed import Rules
from omnizarr.tools.nodes import context_of

if TYPE_CHECKING:
    import numpy.typing as npt

_BLOCK: Final = 1 << 18
"""Elements that are compared at a time: what is made in between stays in the processor's cache."""

_MANY: Final = 16
"""From this number of chunks on, it is looked up whether any is stored."""

_FIRST: Final = 5
"""How many of the first differences are told."""


class UnreadableError(Exception):
    """The values of one side cannot be read."""

    def __init__(self, side: Side, cause: OmnizarrError) -> None:
        super().__init__(str(cause))
        self.side: Side = side
        self.cause = cause


def common_shape(a: Array, b: Array) -> tuple[int, ...] | None:
    """Return the shape of what two arrays have in common; `None` if they differ in the number of dimensions."""
    return tuple(map(min, a.shape, b.shape)) if a.ndim == b.ndim else None


def compare_values(
    a: Array, b: Array, rules: Rules, *, brief: bool, step: Callable[[int, int], None]
) -> ValueDifference | None:
    """Compare the values of two arrays, or of the part that they have in common.

    Args:
        a: One array.
        b: The other, to which tolerances and relative differences refer.
        rules: When values are equal.
        brief: Whether to stop at the first difference.
        step: Called now and then with the bytes and the number of regions that were compared.

    Returns:
        How they differ, or `None` if they do not. Where their shapes differ, there always is a result.

    Raises:
        UnreadableError: If one of them cannot be read.
    """
    shape = common_shape(a, b)
    kinds = kinds_of(a.metadata.dtype, b.metadata.dtype, rules)
    if shape is None or isinstance(kinds, str):
        reason = f"{a.ndim} and {b.ndim} dimensions" if isinstance(kinds, list) else kinds
        return ValueDifference((), 0, 0, not_compared=reason)
    edges = region_shape(a.metadata, b.metadata, shape)
    if a.shape == b.shape and _are_all_fill(a, b, rules):
        step(a.nbytes, count_regions(shape, edges))
        return None
    work = Comparison(a, b, shape, kinds, rules)
    for region in regions(shape, edges):
        work.compare(region)
        step(prod(region.shape) * a.itemsize, 1)
        if brief and work.count:
            break
    found = work.result()
    return ValueDifference(shape, 0, work.total) if found is None and a.shape != b.shape else found


class Comparison:
    """What is known so far about the differences of two arrays."""

    def __init__(self, a: Array, b: Array, shape: tuple[int, ...], kinds: list[Kind], rules: Rules) -> None:
        self._a, self._b = a, b
        self._shape = shape
        self._rules = rules
        self._tallies = [Tally(kind, rules) for kind in kinds]
        # Equal bytes are equal values, but for NaN where that equals nothing.
        self._bytes_tell = rules.equal_nan and not a.metadata.dtype.is_vlen and _same_layout(a, b)
        self._places: Places | None = None
        self._first: list[Pair] = []
        self.count = 0
        self.total = 0

    def compare(self, region: Region) -> None:
        """Compare one region."""
        x, y = _read(self._a, region, "a"), _read(self._b, region, "b")
        self.total += x.size
        if self._bytes_tell and _same_bytes(x, y):
            return
        flat_x, flat_y = x.reshape(-1), y.reshape(-1)
        mask: npt.NDArray[np.bool_] | None = None
        for start in range(0, x.size, _BLOCK):
            blocks = flat_x[start : start + _BLOCK], flat_y[start : start + _BLOCK]
            for tally in self._tallies:
                found = tally.add(*blocks, start, region)
                if len(found):
                    mask = np.zeros(x.size, np.bool_) if mask is None else mask
                    mask[start + found] = True
        if mask is not None:
            self._note(region, mask, flat_x, flat_y)

    def _note(self, region: Region, mask: npt.NDArray[np.bool_], x: npt.NDArray[Any], y: npt.NDArray[Any]) -> None:
        found = np.flatnonzero(mask)
        self.count += len(found)
        for at in found[:_FIRST].tolist():
            self._first.append(Pair(_index(at, region), _scalar(x, at), _scalar(y, at)))
        self._first = sorted(self._first, key=lambda pair: pair.at)[:_FIRST]
        if self._places is None:
            self._places = Places(self._shape, self._a.metadata.cells)
        self._places.add(region, mask.reshape(region.shape))

    def result(self) -> ValueDifference | None:
        """Return all that was found; `None` if there is no difference."""
        if self._places is None:
            return None
        fields = [tally.result() for tally in self._tallies if tally.count]
        plain = fields[0] if not self._tallies[0].kind.name else None
        listed, count, total = self._places.chunks
        return ValueDifference(
            self._shape,
            self.count,
            self.total,
            sum(field.nan_only_a for field in fields),
            sum(field.nan_only_b for field in fields),
            plain.max_abs if plain else None,
            plain.max_rel if plain else None,
            tuple(self._first),
            self._places.box,
            self._places.spans,
            listed,
            count,
            total,
            () if plain else tuple(fields),
            dims_of(self._a.metadata) or dims_of(self._b.metadata),
        )


class Tally:
    """What is known so far about the differences of one kind of values."""

    def __init__(self, kind: Kind, rules: Rules) -> None:
        self.kind = kind
        self._rules = rules
        self.count = self._nan_a = self._nan_b = 0
        self._max_abs: Extreme | None = None
        self._max_rel: Extreme | None = None

    def add(self, a: npt.NDArray[Any], b: npt.NDArray[Any], start: int, region: Region) -> npt.NDArray[np.int64]:
        """Compare a block of a region, and return which of its elements differ."""
        kind = self.kind
        x, y = kind.pick(a), kind.pick_b(b)
        at: npt.NDArray[np.int64] = np.flatnonzero(kind.unequal(x, y))
        if not len(at):
            return at
        x, y = x[at], y[at]
        if kind.missing is not None:
            no_x, no_y = kind.missing(x), kind.missing(y)
            kept = ~(no_x & no_y) if self._rules.equal_nan and not self._rules.bits else np.ones(len(at), np.bool_)
        else:
            no_x = no_y = np.zeros(len(at), np.bool_)
            kept = ~no_x
        far = self._far(x, y, no_x | no_y)
        if far is not None and not self._rules.exact and kind.magnitude is not None:
            kept &= ~_close(x, y, far, kind.magnitude(y), self._rules)
        self.count += int(kept.sum())
        self._nan_a += int((kept & no_x & ~no_y).sum())
        self._nan_b += int((kept & no_y & ~no_x).sum())
        if far is not None:
            places = (start + at // kind.width, x, y)
            self._extremes(far, kept & ~no_x & ~no_y, places, region)
        return at[kept] // kind.width

    def _far(self, x: npt.NDArray[Any], y: npt.NDArray[Any], missing: npt.NDArray[np.bool_]) -> npt.NDArray[Any] | None:
        if self.kind.distance is None:
            return None
        far = self.kind.distance(x, y)
        if far.dtype.kind == "f":
            far[missing] = np.nan
        return far

    def _extremes(
        self,
        far: npt.NDArray[Any],
        counted: npt.NDArray[np.bool_],
        places: tuple[npt.NDArray[np.int64], npt.NDArray[Any], npt.NDArray[Any]],
        region: Region,
    ) -> None:
        which = np.flatnonzero(counted)
        if not len(which):
            return
        best = which[int(np.argmax(far[which]))]
        self._max_abs = _larger(self._max_abs, _extreme(far[best], int(best), places, region))
        if self.kind.magnitude is None:
            return
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            size = self.kind.magnitude(places[2][which]).astype(np.float64)
            relative = np.where((size > 0) & np.isfinite(size), far[which].astype(np.float64) / size, -1.0)
        relative[~np.isfinite(relative)] = -1.0
        best = int(np.argmax(relative))
        if relative[best] > 0:
            self._max_rel = _larger(self._max_rel, _extreme(relative[best], int(which[best]), places, region))

    def result(self) -> FieldDifference:
        """Return what was found."""
        unit = self._max_abs
        if unit is not None and isinstance(unit.a, (np.datetime64, np.timedelta64)):
            unit = unit._replace(difference=_span(int(unit.difference), unit.a))
        return FieldDifference(self.kind.name, self.count, self._nan_a, self._nan_b, unit, self._max_rel)


def _close(
    x: npt.NDArray[Any], y: npt.NDArray[Any], far: npt.NDArray[Any], size: npt.NDArray[Any], rules: Rules
) -> npt.NDArray[np.bool_]:
    """Which values are within the tolerances: as `numpy.isclose`, in double precision."""
    with np.errstate(invalid="ignore", over="ignore"):
        allowed = rules.atol + rules.rtol * size
        return np.asarray((far <= allowed) & np.isfinite(y) | (x == y), np.bool_)


def _larger(known: Extreme | None, new: Extreme) -> Extreme:
    """Return the larger of two; of equal ones that which comes first, in whatever order they were found."""
    if known is None or new.difference > known.difference:
        return new
    return new if new.difference == known.difference and new.at < known.at else known


def _extreme(
    difference: Any,  # noqa: ANN401 - a number of the kind's
    at: int,
    places: tuple[npt.NDArray[np.int64], npt.NDArray[Any], npt.NDArray[Any]],
    region: Region,
) -> Extreme:
    index, x, y = places
    return Extreme(difference.item(), _index(int(index[at]), region), _scalar(x, at), _scalar(y, at))


def _span(count: int, like: Any) -> Any:  # noqa: ANN401 - a span of time, or a number where it is too long for one
    unit = np.dtype(like.dtype.str.replace("M", "m"))
    return np.array(count, np.int64).view(unit)[()] if count < 2**63 else count


def _are_all_fill(a: Array, b: Array, rules: Rules) -> bool:
    """Whether two arrays of many chunks have one fill value and nothing else: a short look instead of many reads."""
    if not rules.equal_nan or not same_fill(a.metadata, b.metadata, rules):
        return False
    return _was_never_written(a, "a") and _was_never_written(b, "b")


def _was_never_written(array: Array, side: Side) -> bool:
    if array.nshards < _MANY or not context_of(array).is_near:
        return False
    try:
        return not array.nchunks_stored
    except OmnizarrError as error:
        raise UnreadableError(side, error) from error


def _read(array: Array, region: Region, side: Side) -> npt.NDArray[Any]:
    """Read a region as an array, also where it has no dimensions."""
    try:
        values: npt.NDArray[Any] = array[(*region.slices, ...)]
    except OmnizarrError as error:
        raise UnreadableError(side, error) from error
    return values


def _same_layout(a: Array, b: Array) -> bool:
    return same_type(a.metadata.dtype, b.metadata.dtype) and a.dtype == b.dtype


def _same_bytes(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> bool:
    if not x.flags.c_contiguous or not y.flags.c_contiguous:
        return False
    flat_x, flat_y = x.reshape(-1).view(np.uint8), y.reshape(-1).view(np.uint8)
    words = flat_x.size // 8 * 8
    for start in range(0, words, 8 * _BLOCK):
        stop = min(words, start + 8 * _BLOCK)
        if not np.array_equal(flat_x[start:stop].view(np.uint64), flat_y[start:stop].view(np.uint64)):
            return False
    return np.array_equal(flat_x[words:], flat_y[words:])


def _index(at: int, region: Region) -> tuple[int, ...]:
    inner = np.unravel_index(at, region.shape) if region.shape else ()
    return tuple(start + int(i) for start, i in zip(region.start, inner, strict=True))


def _scalar(values: npt.NDArray[Any], at: int) -> Any:  # noqa: ANN401 - an element
    value = values[at]
    return value.copy() if isinstance(value, (np.void, np.ndarray)) else value
