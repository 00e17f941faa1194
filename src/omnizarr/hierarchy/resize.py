"""Changing the shape of an array, in an order that leaves every state in between readable.

Growing writes data first and metadata last; shrinking writes metadata first and erases afterwards. After shrinking, the
part of an edge chunk that has fallen outside is set to the fill value, so that it does not come back by growing again.
A note says that this is under way (`unfinished`), since a crash may come between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from omnizarr.array.index import Selection
from omnizarr.array.io import Access
from omnizarr.array.masked import is_masked, without_mask
from omnizarr.array.values import as_values
from omnizarr.errors import OmnizarrError, ShapeError, UnsupportedError
from omnizarr.format.dialects import ZARR3
from omnizarr.hierarchy.changing import alone, array_lock
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.create import as_shape
from omnizarr.hierarchy.nodes import format_of, load
from omnizarr.hierarchy.save import replace
from omnizarr.hierarchy.unfinished import CUT, find_note, is_shape, leave_note
from omnizarr.late import LateModule
from omnizarr.model.array import ArrayMeta
from omnizarr.model.grid import Grid, place
from omnizarr.store.folder_lock import Held

if TYPE_CHECKING:
    import numpy.typing as npt

    from omnizarr.array import objects
else:
    objects = LateModule("omnizarr.array.objects")


def resize(
    context: Context,
    path: str,
    access: Access,
    meta: ArrayMeta,
    shape: int | Iterable[int],
    *,
    held: Held | None = None,
) -> ArrayMeta:
    """Change the shape in the store, and return the new metadata; `held` is as for `replace`.

    Raises:
        ConflictError: If the folder that is held is gone.
        ShapeError: If the number of dimensions differs, or a length is negative or no whole number.
        UnsupportedError: If stored chunks would have to change their length.
    """
    wanted = _checked(shape, meta, path)
    if wanted == meta.shape:
        return meta
    grid = fitted_grid(meta, wanted, path)
    if all(after >= before for after, before in zip(wanted, meta.shape, strict=True)):
        return replace(context, path, meta, meta._replace(shape=wanted, grid=grid), held)
    context.check_writable(path)
    note = leave_note(context.store, path, CUT, {"shape": list(meta.shape)}, held)
    try:
        try:
            new = replace(context, path, meta, meta._replace(shape=wanted, grid=grid), held)
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
        wait: Whether to wait for others who change the array; otherwise nothing is done if somebody does.

    Raises:
        ConflictError: If somebody does, and this must not wait.
    """
    form = format_of(context.store, path) or ZARR3.name
    lock = alone(context, path, form) if wait else array_lock(context, path, form, wait=False)
    with lock, context.lock:
        return finish_own_cut(context, path)


def finish_own_cut(context: Context, path: str) -> bool:
    """Finish what a crash has left of cutting an array, with others kept away from it and the lock held."""
    note = find_note(context.store, path, CUT)
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


def to_append(meta: ArrayMeta, values: object, path: str) -> npt.NDArray[Any]:
    """Return values to append in the type of an array.

    They may be lazy, and may be computed from this very array: so that comes before any lock.

    Raises:
        ShapeError: If they cannot be stored in it.
    """
    if is_masked(values):
        values = without_mask(values, meta.dtype, meta.fill, path)
    return as_values(values, meta.dtype.numpy, meta.dtype.vlen, path, ndim=len(meta.shape))


def append(
    context: Context,
    path: str,
    access: Access,
    meta: ArrayMeta,
    *,
    values: npt.NDArray[Any],
    axis: int,
    check: Callable[[], None] = lambda: None,
    held: Held | None = None,
) -> tuple[ArrayMeta, Access]:
    """Add values, as `to_append` gives them, at the end of a dimension; return the metadata and what reads and writes.

    Before values are written, and before the new shape is, `check` may refuse. Of values that cannot be written,
    nothing is left. `held` is as for `replace`.

    Raises:
        ShapeError: If the shape of the values does not fit.
        UnsupportedError: If stored chunks would have to change their length.
        ConflictError: If the folder that is held is gone.
    """
    ndim = len(meta.shape)
    if not -ndim <= axis < ndim:
        raise ShapeError(f"axis {axis} of an array of {ndim} dimensions", path=path)
    axis %= ndim
    expected = (*meta.shape[:axis], values.shape[axis] if values.ndim == ndim else None, *meta.shape[axis + 1 :])
    if values.shape != expected:
        shown = ", ".join("any" if i == axis else str(n) for i, n in enumerate(meta.shape))
        raise ShapeError(f"values of shape {values.shape} cannot be appended, only ({shown}) can", path=path)
    if not values.shape[axis]:
        return meta, access
    start = meta.shape[axis]
    shape = (*meta.shape[:axis], start + values.shape[axis], *meta.shape[axis + 1 :])
    grid = fitted_grid(meta, shape, path)
    grown = access.with_shape(shape, grid=grid)
    check()
    try:
        grown.write(_box([start if i == axis else 0 for i in range(ndim)], values.shape), values)
    except BaseException:  # Ctrl-C as well
        check()  # what has taken the array's place is somebody else's, and why this has failed
        if context.is_near:  # elsewhere it would likely fail for the same reason, and take its time
            with suppress(OmnizarrError):
                _clear(access, meta._replace(shape=shape), meta.shape)
        raise
    check()
    return replace(context, path, meta, meta._replace(shape=shape, grid=grid), held), grown


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
