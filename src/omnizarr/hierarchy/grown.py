"""Finishing what a crash has left of making several arrays longer as one step."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import Final, NamedTuple, cast

from omnizarr.errors import LimitError, MetadataError, UnsafeError, UnsupportedError
from omnizarr.format.dialects import WRITABLE
from omnizarr.format.names import join, normal_path
from omnizarr.hierarchy.changing import alone, array_lock, changed
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.nodes import load
from omnizarr.hierarchy.resize import fitted_grid
from omnizarr.hierarchy.save import replace
from omnizarr.hierarchy.unfinished import GROWTH, Note, find_note, is_shape, read_note
from omnizarr.model.array import ArrayMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.store.folder_lock import Held

_LONGEST_PART: Final = 255
_LONGEST: Final = 1024
"""Bytes of a name: no file system has longer ones, and a note that names them is not ours."""

_Holds = Mapping[str, object]
"""What keeps others from changing arrays, by their paths."""


class _Growth(NamedTuple):
    """An array that is to have another shape."""

    form: str
    old: tuple[int, ...]
    new: tuple[int, ...]


def finish_growth(context: Context, path: str, *, wait: bool = True) -> bool:
    """Finish what a crash has left of making several arrays longer; say whether there was anything.

    Their values are there already. An array that has neither its old nor its new shape by now stays as it is, and so
    does what the note would make smaller, names outside the group, or cannot be understood. Whoever is still at it
    holds the arrays.

    Args:
        context: The store, opened for writing.
        path: Path of the group that holds the note.
        wait: Whether to wait for others who change the arrays; otherwise nothing is done if somebody does.

    Raises:
        ConflictError: If somebody does, and this must not wait.
    """
    while True:
        wanted = _growths(context, path, read_note(context.store, path, GROWTH, context.limits))
        with ExitStack() as stack:
            holds: dict[str, object] = {}
            for one in sorted(wanted):
                form = wanted[one].form
                lock = alone(context, one, form) if wait else array_lock(context, one, form, wait=False)
                holds[one] = stack.enter_context(lock)
            stack.enter_context(context.lock)
            note = find_note(context.store, path, GROWTH, wait=wait)
            if note is None:
                return False
            stack.callback(note.let_go)
            if _finish(context, path, note, holds):
                return True
        if not wait:
            return False


def finish_before(context: Context, path: str, holds: _Holds) -> None:
    """Finish what is left at a group, for who makes arrays in it longer: he holds those, and the lock of the context.

    Raises:
        ConflictError: If somebody changes others of the arrays that are left; they are not waited for.
    """
    note = find_note(context.store, path, GROWTH)
    if note is None:
        return
    with ExitStack() as stack:
        stack.callback(note.let_go)
        everything = dict(holds)
        for one, growth in sorted(_growths(context, path, note.content(context.limits)).items()):
            if one not in holds:
                everything[one] = stack.enter_context(array_lock(context, one, growth.form, wait=False))
        _finish(context, path, note, everything)


def _growths(context: Context, path: str, content: Mapping[str, JSON]) -> dict[str, _Growth]:
    """Return the arrays that still have the old one of their two shapes."""
    found: dict[str, _Growth] = {}
    for inner, shapes in content.items():
        with suppress(MetadataError, LimitError, UnsafeError, UnsupportedError):
            growth = _growth(context, path, inner, shapes)
            if growth is not None:
                found[join(path, inner)] = growth
    return found


def _growth(context: Context, path: str, inner: str, shapes: JSON) -> _Growth | None:
    if not isinstance(shapes, list) or len(shapes) != 2 or not _is_name(inner) or normal_path(inner) != inner:
        return None
    one = join(path, inner)
    meta = load(context.store, one, context.limits)
    if not isinstance(meta, ArrayMeta) or meta.format not in WRITABLE:
        return None
    if not all(is_shape(shape, meta.ndim) for shape in shapes):
        return None
    old, new = (tuple(cast("list[int]", shape)) for shape in shapes)
    if old != meta.shape or not all(after >= before for before, after in zip(old, new, strict=True)):
        return None
    fitted_grid(meta, new, one)
    return _Growth(meta.format, old, new)


def _is_name(inner: str) -> bool:
    """Whether something may have the name, so that looking for it is no error of the system's."""
    try:
        parts = [len(part.encode()) for part in inner.split("/")]
    except UnicodeEncodeError:
        return False
    return bool(inner) and max(parts) <= _LONGEST_PART and sum(parts) <= _LONGEST


def _finish(context: Context, path: str, note: Note, holds: _Holds) -> bool:
    """Do what a note says; do nothing, and say so, if it is about other arrays than those that are held."""
    wanted = _growths(context, path, note.content(context.limits))
    if not wanted.keys() <= holds.keys():
        return False
    for one, growth in wanted.items():
        with suppress(MetadataError, LimitError, UnsafeError, UnsupportedError):
            _grow(context, one, growth, holds[one])
    note.erase()
    return True


def _grow(context: Context, path: str, growth: _Growth, held: object) -> None:
    """Give an array its new shape, if it has the old one."""

    def change(now: Context) -> None:
        meta = load(now.store, path, now.limits)
        if isinstance(meta, ArrayMeta) and meta.shape == growth.old:
            new = meta._replace(shape=growth.new, grid=fitted_grid(meta, growth.new, path))
            replace(now, path, meta, new, held if isinstance(held, Held) else None)

    changed(context, path, change)
