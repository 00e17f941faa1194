"""Changing the shape of an array, in an order that leaves every state in between readable.

Growing writes data first and metadata last; shrinking writes metadata first and erases afterwards. After shrinking, the
part of an edge chunk that has fallen outside is set to the fill value, so that it does not come back by growing again.
A note says that this is under way (`unfinished`), since a crash may come between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from omnizarr.array.index import Selection
from omnizarr.array.io import Access
from omnizarr.array.masked import is_masked, without_mask
from omnizarr.array.values import as_values
from omnizarr.errors import LimitError, MetadataError, OmnizarrError, ShapeError, UnsafeError, UnsupportedError
from omnizarr.format.names import join, normal_path
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.create import as_shape
from omnizarr.hierarchy.nodes import load
from omnizarr.hierarchy.save import replace
from omnizarr.hierarchy.unfinished import CUT, GROWTH, find_note, is_shape, leave_note
from omnizarr.late import LateModule
from omnizarr.model.array import ArrayMeta
from omnizarr.model.grid import Grid, place
from omnizarr.model.jsonvalue import JSON

if TYPE_CHECKING:
    from omnizarr.array import objects
else:
    objects = LateModule("omnizarr.array.objects")


def resize(context: Context, path: str, access: Access, meta: ArrayMeta, shape: int | Iterable[int]) -> ArrayMeta:
    """Change the shape in the store, and return the new metadata.

    Raises:
        ShapeError: If the number of dimensions differs, or a length is negative or no whole number.
        UnsupportedError: If stored chunks would have to change their length.
    """
    wanted = _checked(shape, meta, path)
    if wanted == meta.shape:
        return meta
    grid = fitted_grid(meta, wanted, path)
    if all(after >= before for after, before in zip(wanted, meta.shape, strict=True)):
        return replace(context, path, meta, meta._replace(shape=wanted, grid=grid))
    context.check_writable(path)
    note = leave_note(context.store, path, CUT, {"shape": list(meta.shape)})
    try:
        try:
            new = replace(context, path, meta, meta._replace(shape=wanted, grid=grid))
        except OmnizarrError:
            with suppress(OmnizarrError):  # one that stays says what is not so, and no more
                found = load(context.store, path, context.limits)
                if isinstance(found, ArrayMeta) and found.shape == meta.shape:  # else only the answer was lost
                    note.erase()
            raise
        _clear(access.with_shape(wanted, grid=new.grid), meta, wanted)
        note.erase()
    finally:
        note.let_go()
    return new


def finish_cut(context: Context, path: str, *, wait: bool = True) -> bool:
    """Finish what a crash has left of cutting an array; say whether there was anything.

    Args:
        context: The store, opened for writing.
        path: The array's path.
        wait: Whether to wait for another process that cuts it; otherwise nothing is done then.
    """
    note = find_note(context.store, path, CUT, wait=wait)
    if note is None:
        return False
    try:
        # As it is now that nobody else can change it.
        meta = load(context.store, path, context.limits)
        if isinstance(meta, ArrayMeta):
            before = note.content(context.limits).get("shape")
            reach = tuple(map(max, before, meta.shape)) if is_shape(before, meta.ndim) else meta.shape
            _clear(context.access(path, meta), meta._replace(shape=reach), meta.shape)
        note.erase()
    finally:
        note.let_go()
    return True


def finish_growth(context: Context, path: str, *, wait: bool = True) -> bool:
    """Finish what a crash has left of making several arrays longer; say whether there was anything.

    Their values are there already. An array that has neither its old nor its new shape by now stays as it is, and so
    does what the note would make smaller, names outside the group, or cannot be understood.

    Args:
        context: The store, opened for writing.
        path: Path of the group that holds the note.
        wait: Whether to wait for another process that does it; otherwise nothing is done then.
    """
    note = find_note(context.store, path, GROWTH, wait=wait)
    if note is None:
        return False
    try:
        for inner, shapes in note.content(context.limits).items():
            with suppress(MetadataError, LimitError, UnsafeError):
                _grow(context, path, inner, shapes)
        note.erase()
    finally:
        note.let_go()
    return True


def _grow(context: Context, path: str, inner: str, shapes: JSON) -> None:
    """Give an array below a path its new shape, if it has the old one of the two."""
    if not isinstance(shapes, list) or len(shapes) != 2 or not inner or normal_path(inner) != inner:
        return
    one = join(path, inner)
    meta = load(context.store, one, context.limits)
    if not isinstance(meta, ArrayMeta) or not all(is_shape(shape, meta.ndim) for shape in shapes):
        return
    old, new = (tuple(cast("list[int]", shape)) for shape in shapes)
    if old == meta.shape and all(after >= before for before, after in zip(old, new, strict=True)):
        replace(context, one, meta, meta._replace(shape=new, grid=fitted_grid(meta, new, one)))


def _clear(access: Access, meta: ArrayMeta, shape: tuple[int, ...]) -> None:
    """Erase what lies outside a shape, up to where the array has reached."""
    access.kernel.trim()
    _refill(access, meta, shape)


def longer(meta: ArrayMeta, values: Any, axis: int) -> tuple[int, ...] | None:  # noqa: ANN401 - whatever NumPy takes
    """Return the shape of an array after values are appended; `None` if they do not fit, which appending tells."""
    try:
        shape = np.shape(values)
    except ValueError:  # of lists of different lengths
        return None
    if len(shape) != len(meta.shape) or not -len(shape) <= axis < len(shape) or not shape[axis]:
        return None
    return tuple(n + (shape[i] if i == axis % len(shape) else 0) for i, n in enumerate(meta.shape))


def append(
    context: Context,
    path: str,
    access: Access,
    meta: ArrayMeta,
    *,
    values: object,
    axis: int,
    check: Callable[[], None] = lambda: None,
) -> tuple[ArrayMeta, Access]:
    """Add values at the end of a dimension; return the new metadata and what reads and writes it.

    Before values are written, and before the new shape is, `check` may refuse. Of values that cannot be written,
    nothing is left.

    Raises:
        ShapeError: If the shape of the values does not fit.
        UnsupportedError: If stored chunks would have to change their length.
    """
    ndim = len(meta.shape)
    if is_masked(values):
        values = without_mask(values, meta.dtype, meta.fill, path)
    array = as_values(values, meta.dtype.numpy, meta.dtype.vlen, path, ndim=ndim)
    if not -ndim <= axis < ndim:
        raise ShapeError(f"axis {axis} of an array of {ndim} dimensions", path=path)
    axis %= ndim
    expected = (*meta.shape[:axis], array.shape[axis] if array.ndim == ndim else None, *meta.shape[axis + 1 :])
    if array.shape != expected:
        shown = ", ".join("any" if i == axis else str(n) for i, n in enumerate(meta.shape))
        raise ShapeError(f"values of shape {array.shape} cannot be appended, only ({shown}) can", path=path)
    if not array.shape[axis]:
        return meta, access
    start = meta.shape[axis]
    shape = (*meta.shape[:axis], start + array.shape[axis], *meta.shape[axis + 1 :])
    grid = fitted_grid(meta, shape, path)
    grown = access.with_shape(shape, grid=grid)
    check()
    try:
        grown.write(_box([start if i == axis else 0 for i in range(ndim)], array.shape), array)
    except Exception:
        check()  # what has taken the array's place is somebody else's, and why this has failed
        if context.is_near:  # elsewhere it would likely fail for the same reason, and take its time
            with suppress(OmnizarrError):
                _clear(access, meta._replace(shape=shape), meta.shape)
        raise
    check()
    return replace(context, path, meta, meta._replace(shape=shape, grid=grid)), grown


def _checked(shape: int | Iterable[int], meta: ArrayMeta, path: str) -> tuple[int, ...]:
    lengths = as_shape(shape)
    if len(lengths) != len(meta.shape):
        raise ShapeError(f"an array of shape {meta.shape} cannot be given the shape {lengths}", path=path)
    return lengths


def fitted_grid(meta: ArrayMeta, shape: tuple[int, ...], path: str) -> Grid:
    """Return the grid for another shape.

    Raises:
        UnsupportedError: If stored chunks would have to change their length.
    """
    grid = meta.grid
    units = meta.cells.longest if meta.is_sharded else (1,) * len(shape)
    if grid.clipped:
        changes = zip(meta.shape, shape, grid.longest, units, strict=True)
        for before, after, length, unit in changes:
            if before != after and length and (min(before, after) % length or after % unit):
                raise UnsupportedError(
                    f"the last chunks end with the array, so that its shape {meta.shape} cannot become {shape}",
                    path=path,
                    hint="Create an array of the new shape, and write the data of this one to it.",
                )
    return grid.fitted(shape, units)


def _refill(access: Access, meta: ArrayMeta, shape: tuple[int, ...]) -> None:
    if meta.fill.bits is None or 0 in shape:
        return
    fill = meta.fill.value(meta.dtype)
    if meta.dtype.item:
        fill = objects.boxed(fill)  # one element, also where it is a list
    # As far as the chunks reach that are left, but no farther than there was data.
    last = [place(edges, new - 1) for edges, new in zip(access.grid.edges, shape, strict=True)]
    reach = tuple(min(old, start + length) for old, (_, start, length) in zip(meta.shape, last, strict=True))
    wide = access.with_shape(reach, write_empty=False)
    for axis, (end, new) in enumerate(zip(reach, shape, strict=True)):
        if end > new:
            starts = [new if i == axis else 0 for i in range(len(shape))]
            wide.write(_box(starts, (*reach[:axis], end - new, *reach[axis + 1 :])), fill)


def _box(starts: Iterable[int], counts: tuple[int, ...]) -> Selection:
    return Selection([(start, 1, count) for start, count in zip(starts, counts, strict=True)], counts, counts)
