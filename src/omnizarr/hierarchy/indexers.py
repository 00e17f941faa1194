"""The ways to index an array beside plain brackets: `oindex`, `vindex` and `blocks`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from omnizarr.array.index import Mask, Points, Selection, blocks, orthogonal, points
from omnizarr.array.io import Access
from omnizarr.errors import SelectionError
from omnizarr.hierarchy.changing import alone
from omnizarr.hierarchy.context import Context
from omnizarr.late import LateModule
from omnizarr.model.array import ArrayMeta

if TYPE_CHECKING:
    from omnizarr.array import fields
else:
    fields = LateModule("omnizarr.array.fields")


class Selectable(Protocol):
    """An array, as far as indexing needs to know it."""

    _context: Context
    _path: str

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy type of the elements."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension."""
        ...

    @property
    def metadata(self) -> ArrayMeta:
        """All that the documents say."""
        ...

    def _opened(self) -> Access: ...

    def _write(self, found: Selection | Points | Mask, value: object) -> None: ...


class Brackets(Protocol):
    """What can be read and written by `[…]`: an array, or one of its other ways to index."""

    def __getitem__(self, selection: Any, /) -> Any: ...  # noqa: ANN401 - whatever NumPy takes and gives

    def __setitem__(self, selection: Any, value: Any, /) -> None: ...  # noqa: ANN401 - whatever NumPy takes


def read_fields(array: Selectable, brackets: Brackets, selection: object, error: SelectionError) -> Any:  # noqa: ANN401
    """Read what a selection names of a structure's fields; raise the error if it names none.

    Raises:
        SelectionError: It is no such selection, or there is no such field.
    """
    wanted = fields.split_fields(selection, array.dtype)
    if wanted is None:
        error.path = error.path or array._opened().place  # noqa: SLF001 - an array of this package
        raise error
    return wanted.pick(brackets[wanted.rest])


def write_fields(
    array: Selectable, brackets: Brackets, selection: object, value: object, error: SelectionError
) -> None:
    """Write fields: read the elements, change them and write them back, one thread and one program at a time.

    Raises:
        SelectionError: It is no such selection, or there is no such field.
    """
    wanted = fields.split_fields(selection, array.dtype)
    if wanted is None:
        error.path = error.path or array._opened().place  # noqa: SLF001 - an array of this package
        raise error
    place = array._opened().place  # noqa: SLF001 - an array of this package
    context = array._context  # noqa: SLF001 - as above
    value = _computed(value)  # it may be lazy, and computed from this very array
    with alone(context, array._path, array.metadata.format), context.lock:  # noqa: SLF001 - as above
        brackets[wanted.rest] = wanted.put(brackets[wanted.rest], value, place)


def _computed(value: object) -> object:
    """Return a value with arrays of other packages, also those in lists, as arrays of NumPy."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value
    if hasattr(value, "__array__"):
        return np.asarray(value)
    if type(value) is list:  # a class of its own, such as a named tuple, is left as it is
        return [_computed(one) for one in value]
    return tuple(_computed(one) for one in value) if type(value) is tuple else value


class _Indexer:
    """Brackets of another meaning: each kind turns a selection into the kernel's terms in its own way."""

    __slots__ = ("_array",)

    def __init__(self, array: Selectable) -> None:
        self._array = array

    def _found(self, selection: object) -> Selection | Points | Mask:
        raise NotImplementedError

    def __getitem__(self, selection: Any) -> Any:  # noqa: ANN401 - whatever NumPy takes and gives
        # Opening may find that the shape has changed, so it comes before looking at that.
        access = self._array._opened()  # noqa: SLF001 - the classes belong together
        try:
            return access.read(self._found(selection))
        except SelectionError as error:
            return read_fields(self._array, self, selection, error)

    def __setitem__(self, selection: Any, value: Any) -> None:  # noqa: ANN401 - whatever NumPy takes
        try:
            self._array._write(self._found(selection), value)  # noqa: SLF001
        except SelectionError as error:
            write_fields(self._array, self, selection, value, error)


class OIndex(_Indexer):
    """Orthogonal indexing: an integer, slice, or 1-d array of integers or booleans for each dimension on its own."""

    __slots__ = ()

    def _found(self, selection: object) -> Selection:
        return orthogonal(selection, self._array.shape)


class VIndex(_Indexer):
    """Indexing of points: one integer array for each dimension, broadcast together, or one boolean mask."""

    __slots__ = ()

    def _found(self, selection: object) -> Points | Mask:
        return points(selection, self._array.shape)


class Blocks(_Indexer):
    """Indexing by chunks: the place of a chunk in the grid instead of the elements' indices."""

    __slots__ = ()

    def _found(self, selection: object) -> Selection:
        return blocks(selection, self._array.shape, self._array.metadata.cells)
