"""NumPy's rules for indices that hold arrays: `a[[1, 5], :]`, `a[mask]`, `a[i, j]`, `a[0, :, [1, 2]]`.

Integers count as arrays as soon as there is one. All arrays are broadcast together; the axes that this gives stand
where the first array stood if the arrays are neighbours, else in front. Where each array varies along axes of its own,
the selection is orthogonal, and much cheaper for the kernel than single points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omnizarr.array.selection import Axis, Ints, Mask, Points, Selection, check_mask, span, too_many, wrapped
from omnizarr.errors import SelectionError

if TYPE_CHECKING:
    import numpy.typing as npt


class _Range(NamedTuple):
    """What a slice asks of one dimension."""

    start: int
    step: int
    number: int
    backwards: bool


class _Layout(NamedTuple):
    """Where the parts of a mixed selection lie in the result."""

    entries: list[Ints | _Range | None]
    """In order: indices or range of the next dimension, or None for a new axis."""

    joint: tuple[int, ...]
    """The shape of all index arrays, broadcast together."""

    place: int
    """The axis of the result where `joint` begins."""

    shape: tuple[int, ...]
    """The shape of the result."""


def fancy(items: Sequence[object], shape: tuple[int, ...]) -> Selection | Points | Mask:
    """Select by plain items (see `selection.plain`), at least one of which is an array."""
    if len(items) == 1:
        (only,) = items
        if isinstance(only, np.ndarray) and only.dtype.kind == "b" and only.ndim == len(shape):
            check_mask(only, shape, 0)
            return Mask(np.ascontiguousarray(only), (int(np.count_nonzero(only)),))
    layout = _lay_out(items, shape)
    blocks = _own_axes(layout)
    return _points(layout) if blocks is None else _orthogonal(layout, blocks)


def _lay_out(items: Sequence[object], shape: tuple[int, ...]) -> _Layout:
    entries, gaps = _entries(items, shape)
    advanced = [i for i, entry in enumerate(entries) if isinstance(entry, np.ndarray)]
    arrays = [entry for entry in entries if isinstance(entry, np.ndarray)]
    joint = _joint(arrays)
    first, last = advanced[0], advanced[-1]
    together = last - first + 1 == len(advanced) and not any(first < gap <= last for gap in gaps)
    place = first if together else 0
    kept = [1 if entry is None else entry.number for entry in entries if not isinstance(entry, np.ndarray)]
    return _Layout(entries, joint, place, (*kept[:place], *joint, *kept[place:]))


def _joint(arrays: list[Ints]) -> tuple[int, ...]:
    wide = [array.shape for array in arrays if array.ndim]
    if len(wide) == 1:
        return wide[0]
    try:
        return np.broadcast_shapes(*wide)
    except ValueError:
        shapes = ", ".join(str(shape) for shape in wide)
        raise SelectionError(
            f"index arrays of shapes {shapes} do not broadcast together",
            hint="Use .oindex to select along each dimension on its own.",
        ) from None


def _entries(items: Sequence[object], shape: tuple[int, ...]) -> tuple[list[Ints | _Range | None], list[int]]:
    """Resolve each item against its dimension; also say before which entries an ellipsis stood."""
    widths = [_width(item) for item in items]
    spare = len(shape) - sum(widths)
    ellipses = sum(item is Ellipsis for item in items)
    if ellipses > 1:
        raise SelectionError("an index can hold only one ellipsis (...)")
    if spare < 0:
        raise too_many(sum(widths), shape)
    entries: list[Ints | _Range | None] = []
    gaps: list[int] = []
    axis = 0
    for item, width in zip((*items, *((Ellipsis,) if not ellipses else ())), (*widths, 0), strict=False):
        if item is None:
            entries.append(None)
        elif item is Ellipsis:
            gaps.append(len(entries))
            entries.extend(_Range(0, 1, size, False) for size in shape[axis : axis + spare])
            axis += spare
        elif isinstance(item, slice):
            entries.append(_Range(*span(item, shape[axis], axis)))
        elif isinstance(item, np.ndarray) and item.dtype.kind == "b":
            check_mask(item, shape, axis)
            entries.extend(np.ascontiguousarray(c, dtype=np.int64) for c in np.nonzero(item))
        else:
            entries.append(wrapped(np.asarray(item), axis, shape[axis]))
        axis += width
    return entries, gaps


def _width(item: object) -> int:
    """Number of dimensions that an item speaks of."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, np.ndarray) and item.dtype.kind == "b" else 1


def _own_axes(layout: _Layout) -> list[tuple[int, int]] | None:
    """Per array the half-open span of joint axes along which it alone varies; None if arrays share or cross axes."""
    spans: list[tuple[int, int]] = []
    done = 0
    for entry in layout.entries:
        if isinstance(entry, np.ndarray):
            skipped = len(layout.joint) - entry.ndim
            axes = [skipped + i for i, n in enumerate(entry.shape) if n != 1]
            if axes and axes[0] < done:
                return None
            spans.append((axes[0], axes[-1] + 1) if axes else (done, done))
            done = spans[-1][1]
    return spans


def _orthogonal(layout: _Layout, spans: list[tuple[int, int]]) -> Selection:
    dims: list[Axis] = []
    flips: list[int] = []
    order: list[int] = []
    remaining = iter(spans)
    joint_axes = range(layout.place, layout.place + len(layout.joint))
    others = iter([i for i in range(len(layout.shape)) if i not in joint_axes])
    unit_axes = set(joint_axes)
    for entry in layout.entries:
        if isinstance(entry, np.ndarray):
            low, high = next(remaining)
            own = range(layout.place + low, layout.place + high)
            order.extend(own)
            unit_axes.difference_update(own)
            dims.append(entry.reshape(-1) if entry.size != 1 else (int(entry.reshape(-1)[0]), 1, 1))
            continue
        order.append(next(others))
        if entry is not None:
            if entry.backwards:
                flips.append(len(dims))
            dims.append((entry.start, entry.step, entry.number))
    order.extend(sorted(unit_axes))  # Axes of length 1 that no array fills may stand anywhere.
    counts = tuple(dim[2] if isinstance(dim, tuple) else dim.size for dim in dims)
    moved = None if all(n == i for i, n in enumerate(order)) else tuple(order)
    return Selection(dims, counts, layout.shape, tuple(flips), moved)


def _points(layout: _Layout) -> Points:
    shape, place = layout.shape, layout.place
    behind = place + len(layout.joint)
    joint_axes = range(place, behind)
    others = iter([i for i in range(len(shape)) if i not in joint_axes])
    coords: list[Ints] = []
    for entry in layout.entries:
        if isinstance(entry, np.ndarray):
            spread: npt.NDArray[Any] = entry.reshape(entry.shape + (1,) * (len(shape) - behind))
        else:
            axis = next(others)
            if entry is None:
                continue
            line = np.arange(entry.number, dtype=np.int64) * entry.step + entry.start
            line = line[::-1] if entry.backwards else line
            spread = line.reshape((-1,) + (1,) * (len(shape) - axis - 1))
        coords.append(np.ascontiguousarray(np.broadcast_to(spread, shape)).reshape(-1))
    return Points(tuple(coords), shape)
