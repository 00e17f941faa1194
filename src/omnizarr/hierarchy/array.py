"""Array: an n-dimensional array in a store, read and written by NumPy's indexing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from math import prod
from operator import ge, index
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from omnizarr.array.index import Mask, Points, Selection, basic
from omnizarr.array.io import Access
from omnizarr.errors import NodeTypeError, NotFoundError, SelectionError, ShapeError
from omnizarr.hierarchy import save
from omnizarr.hierarchy.attrs import Attributes
from omnizarr.hierarchy.changing import alone, array_lock, changed_array, folder_of
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.doors import Doors
from omnizarr.hierarchy.handle import Handle
from omnizarr.hierarchy.indexers import Blocks, OIndex, VIndex, read_fields, write_fields
from omnizarr.hierarchy.listing import documented, only_copy, reload
from omnizarr.hierarchy.present import check_same, check_within, there
from omnizarr.hierarchy.real_keys import may_be_elsewhere, with_real_keys
from omnizarr.hierarchy.resize import append, finish_own_cut, longer, resize, to_append
from omnizarr.hierarchy.tree import array_table, describe, grid_text
from omnizarr.model.array import ArrayMeta, with_order
from omnizarr.model.codec import Codec, inner_codecs, sharding_of
from omnizarr.model.grid import Lengths, place
from omnizarr.model.jsonvalue import JSON
from omnizarr.store.protocol import place_name
from omnizarr.store.wrap import listing_view

if TYPE_CHECKING:
    import numpy.typing as npt

    from omnizarr.hierarchy.lease import Lease
    from omnizarr.store.folder_lock import Held


_MOST_TRIES: Final = 8


class Array(Handle, Doors):
    """An array in a store; made by `omnizarr.open_array`, `omnizarr.create_array` and groups, not by hand.

    A handle is cheap, may be shared between threads, and pickles as the place where the array is. It shows the array as
    it was when opened; `refresh` looks again.

    >>> import omnizarr as oz
    >>> a = oz.create_array({}, shape=(4, 6), dtype="i4", chunks=(2, 3))
    >>> a[1:3, ::2] = [[1, 2, 3], [4, 5, 6]]
    >>> a[2]
    array([4, 0, 5, 0, 6, 0], dtype=int32)
    """

    __slots__ = ("__weakref__", "_access", "_context", "_meta", "_path", "_seen", "_stored_order", "_unchecked")

    def __init__(
        self,
        context: Context,
        path: str,
        meta: ArrayMeta,
        *,
        unchecked: bool = False,
        stored_order: Literal["C", "F"] | None = None,
        seen: int = 0,
    ) -> None:
        self._context = context if context.read_only else context.for_format(meta.format)
        self._path = path
        # The order that the user knows to be right, whatever the document says each time it is read.
        self._stored_order: Literal["C", "F"] | None = stored_order
        self._meta = with_order(meta, stored_order)
        self._access: Access | None = None
        # Whether the metadata came from a copy, so that the array's own document must be read before its data.
        self._unchecked = unchecked
        # The state in which the document was last known to be this array's, 0 if in none.
        self._seen = seen

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension."""
        return self._meta.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy type of the elements."""
        return self._meta.dtype.numpy

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._meta.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self._meta.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one element in memory."""
        return self._meta.dtype.numpy.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements in memory; without what strings of variable length hold."""
        return self.size * self.itemsize

    @property
    def chunks(self) -> tuple[Lengths, ...]:
        """Shape of what is decoded at once: of a chunk, or of the inner chunks where the array is sharded.

        A dimension along which chunks differ has a tuple: the length of each of them.
        """
        return self._meta.chunks

    @property
    def shards(self) -> tuple[Lengths, ...] | None:
        """Shape of what is stored under one key where the array is sharded, else `None`; as for `chunks`."""
        return self._meta.shards

    @property
    def codecs(self) -> tuple[Codec, ...]:
        """What turns a chunk into bytes, in the order of writing; where sharded, what encodes the inner chunks."""
        sharding = sharding_of(self._meta.codecs)
        return self._meta.codecs if sharding is None else inner_codecs(sharding)

    @property
    def order(self) -> str:
        """Whether elements of a chunk are stored with the last ("C") or the first ("F") dimension varying fastest."""
        return self._meta.order

    @property
    def fill_value(self) -> Any:  # noqa: ANN401 - a scalar of the array's type
        """Value of elements that were never written; `None` where that is undefined (they read as zero)."""
        return self._meta.fill.value(self._meta.dtype)

    @property
    def dims(self) -> tuple[str | None, ...] | None:
        """Names of the dimensions, or `None` if they have none."""
        return self._meta.dims

    @property
    def attrs(self) -> Attributes:
        """The attributes, as a mapping that writes through to the store."""
        return Attributes(self)

    @property
    def format(self) -> str:
        """Dialect that the array is stored in: "zarr3", "zarr2", … as for `format=`."""
        return self._meta.format

    @property
    def metadata(self) -> ArrayMeta:
        """All that the documents say, in the neutral model."""
        return self._meta

    @property
    def nchunks(self) -> int:
        """Number of chunks (inner ones where sharded) that the shape makes, stored or not."""
        return prod(self._meta.cells.counts(self._meta.shape))

    @property
    def nshards(self) -> int:
        """Number of keys that the shape makes, stored or not: shards where sharded, else chunks."""
        return prod(self._meta.grid.counts(self._meta.shape))

    @property
    def nchunks_stored(self) -> int:
        """Number of keys that are stored: shards where the array is sharded, else chunks."""
        return self._listed().kernel.stored()[0]

    @property
    def nbytes_stored(self) -> int:
        """Bytes of all stored chunks, documents not counted."""
        return self._listed().kernel.stored()[1]

    def __getitem__(self, selection: Any) -> Any:  # noqa: ANN401 - whatever NumPy takes and gives
        # First the metadata, then what reads: whoever changes the shape sets them the other way round.
        shape, access = self._meta.shape, self._access
        if access is None:
            access, shape = self._opened(), self._meta.shape
        try:
            found = basic(selection, shape)
        except SelectionError as error:
            return read_fields(self, self, selection, error)
        result = access.read(found)
        if not found.shape and _keeps_array(selection):
            return access.boxed(result)
        return result

    def __setitem__(self, selection: Any, value: Any) -> None:  # noqa: ANN401 - whatever NumPy takes
        try:
            self._write(basic(selection, self._meta.shape), value)
        except SelectionError as error:
            write_fields(self, self, selection, value, error)

    def read(self, selection: Any = ..., *, out: npt.NDArray[Any] | None = None) -> Any:  # noqa: ANN401 - as above
        """Read a selection, into an array of the caller's if given.

        Args:
            selection: As between the brackets of `a[…]`; everything if not given.
            out: Array of the selection's shape and of the array's type that takes the values; it may be any view.

        Returns:
            `out`, or a new array or scalar.

        Raises:
            SelectionError: If the selection is out of bounds or not an index.
            ShapeError: If `out` does not fit.
            CorruptError: If stored bytes do not decode.

        >>> import omnizarr as oz
        >>> a = oz.create_array({}, shape=(3,), dtype="i4", fill_value=7)
        >>> buffer = np.empty(2, "i4")
        >>> a.read(slice(0, 2), out=buffer)
        array([7, 7], dtype=int32)
        """
        if out is None:
            return self[selection]
        access = self._opened()
        access.read_into(basic(selection, self._meta.shape), out)
        return out

    @property
    def oindex(self) -> OIndex:
        """Orthogonal indexing: each array selects from its own dimension, as in `a.oindex[[1, 5], :]`."""
        return OIndex(self)

    @property
    def vindex(self) -> VIndex:
        """Indexing of points: `a.vindex[i, j]` gives one element for each pair of coordinates."""
        return VIndex(self)

    @property
    def blocks(self) -> Blocks:
        """Indexing by chunks: `a.blocks[0, 1]` gives all of one chunk, slices several."""
        return Blocks(self)

    def resize(self, shape: int | Iterable[int]) -> None:
        """Change the shape; what lies outside the new one is erased, what is new reads as the fill value.

        Raises:
            ShapeError: If the number of dimensions differs, or a length is negative.
            ReadOnlyError: If the array was opened for reading.
        """
        path = self._path
        self._context.check_writable(path)

        def change(held: Held | Lease, context: Context) -> None:
            self._refresh(context)
            held.check()
            finish_own_cut(context, path)
            new = resize(context, path, self._opened(), self._meta, shape, held=folder_of(held))
            self._access, self._meta = None, new

        changed_array(self._context, path, lambda: alone(self._context, path, self._meta.format), change)

    def append(self, values: Any, axis: int = 0) -> tuple[int, ...]:  # noqa: ANN401 - whatever NumPy takes
        """Add values at the end of a dimension, and return the new shape.

        The values are written before the new shape is, so that readers see all of them or none.

        Raises:
            ShapeError: If the shape of the values does not fit.
            ReadOnlyError: If the array was opened for reading.

        >>> import omnizarr as oz
        >>> a = oz.create_array({}, shape=(0, 2), dtype="i4")
        >>> a.append([[1, 2], [3, 4]])
        (2, 2)
        """
        path = self._path
        self._context.check_writable(path)
        try:
            axis = index(axis)
        except TypeError:
            raise ShapeError(f"the axis to append along is a whole number, not {axis!r}", path=path) from None

        wanted: tuple[int, ...] | None = None
        dtype, array = self._meta.dtype, to_append(self._meta, values, path)

        def change(held: Held | Lease, context: Context) -> tuple[int, ...]:
            nonlocal wanted
            self._refresh(context)
            meta = self._meta
            if meta.shape == wanted:
                # The last try came through, though nobody said so, and another program has changed something since.
                return meta.shape
            fitting = array if meta.dtype == dtype else to_append(meta, array, path)
            wanted = longer(meta, fitting, axis)
            new, access = append(
                *(context, path, self._opened(), meta),
                values=fitting,
                axis=axis,
                check=held.check,
                held=folder_of(held),
            )
            self._access, self._meta = access, new
            return new.shape

        return changed_array(self._context, path, lambda: alone(self._context, path, self._meta.format), change)

    def refresh(self) -> None:
        """Look at the documents again, in case another program changed them.

        Raises:
            NotFoundError: If the array is gone.
            NodeTypeError: If a group took its place.
        """
        self._refresh(self._context)

    def _refresh(self, context: Context) -> None:
        with context.lock:
            meta = reload(context, self._path, self._meta.format)
            if meta is None:
                raise NotFoundError("the array is gone", path=place_name(self._context.store, self._path))
            if not isinstance(meta, ArrayMeta):
                raise NodeTypeError("a group has taken the array's place", path=self._path)
            meta = with_order(meta, self._stored_order)
            if meta is not self._meta and meta != self._meta:
                self._access = None
            self._meta = meta  # also if it is equal: for Python attributes that are 1 and true are
            self._unchecked = False

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("the array is in a store, so an array in memory is always a copy of it")
        values = np.asarray(self[...])
        return values if dtype is None else values.astype(dtype, copy=False)

    def __len__(self) -> int:
        if not self._meta.shape:
            raise TypeError("an array without dimensions has no length")
        return self._meta.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self._meta.shape:
            raise TypeError("an array without dimensions cannot be iterated over")
        return self._rows()

    def _rows(self) -> Iterator[Any]:
        # As many rows at a time as one key holds, so that no chunk is decoded twice.
        start, edges = 0, self._meta.grid.edges[0]
        while start < self._meta.shape[0]:
            _, first, length = place(edges, start)
            yield from self[start : first + length]
            start = first + length

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("the truth of an array of more or less than one element is not defined")
        return bool(np.asarray(self[...]).reshape(()))

    def __repr__(self) -> str:
        meta = self._meta
        parts = [f"<omnizarr.Array {self.name!r} {describe(meta)}", f"chunks={grid_text(meta.cells)}"]
        if meta.is_sharded:
            parts.append(f"shards={grid_text(meta.grid)}")
        parts.append(f"codecs={'+'.join(codec.name for codec in self.codecs)} {meta.format}>")
        return " ".join(parts)

    def _repr_html_(self) -> str:
        return array_table(self.name, self._meta, self._context.store.uri)

    def __reduce__(self) -> tuple[object, ...]:
        context = self._context
        return _reopened, (context, self._path, self._meta.format, self._stored_order)

    def _opened(self) -> Access:
        """Return what reads and writes, made on first use."""
        with self._context.lock:
            if self._access is None:
                if self._unchecked:
                    self._check()
                context, path = self._context, self._path
                if may_be_elsewhere(self._meta):
                    self._meta = with_real_keys(context.store, path, self._meta, near=context.is_near)
                missed = partial(there, context, path, self._meta.format)
                self._access = context.access(path, self._meta, missed=missed)
            return self._access

    def _listed(self) -> Access:
        """Return what looks which chunks are stored."""
        access, view = self._opened(), listing_view(self._context.store)
        return access if view is self._context.store else self._context.over(view).access(self._path, self._meta)

    def _check(self) -> None:
        """Let the array's own document win over the copy that the handle was made from."""
        context, path = self._context, self._path
        meta = documented(context, path) or only_copy(context, path)
        if meta is None:
            hint = "the consolidated metadata still have it: consolidate again"
            raise NotFoundError("the array is gone", path=place_name(context.store, path), hint=hint)
        if not isinstance(meta, ArrayMeta):
            raise NodeTypeError("a group has taken the array's place", path=path)
        self._meta, self._unchecked = with_order(meta, self._stored_order), False

    def _write(self, found: Selection | Points | Mask, value: object) -> None:
        if self._context.read_only:
            self._context.check_writable(self._path)
        access, seen = self._opened(), self._seen
        if seen & 1:  # another state had this number, too, if it came right after
            seen = 0
        for _ in range(_MOST_TRIES):
            state = access.write(found, value, seen)
            if state is None:
                return
            # Another array may have taken this one's place, now or while values were written, or it was cut.
            now = check_same(self._context, self._path, self._meta, self._stored_order)
            check_within(found, self._meta.shape, now, place_name(self._context.store, self._path))
            seen = state
            if all(map(ge, now, self._meta.shape)):  # else every selection has to be looked at
                self._seen = state
        # Who changes attributes all the time does not keep others from writing.
        access.write(found, value)
        check_same(self._context, self._path, self._meta, self._stored_order)

    def _unmake(self) -> None:
        """Erase an array that was just made; not one that has taken its place."""
        kernel = self._opened().kernel
        save.unmake(
            self._context,
            self._path,
            self._meta,
            lambda: (state := kernel.state()) is None or state | 1 == self._seen | 1,
        )

    def _attributes(self) -> Mapping[str, JSON]:
        return self._meta.attributes

    def _change_attributes(self, values: Mapping[str, JSON], removed: Iterable[str], *, replace: bool) -> None:
        path = self._path
        self._context.check_writable(path)

        def change(held: Held, context: Context) -> None:
            self._refresh(context)
            self._meta = save.change_attributes(context, path, self._meta, values, removed, replaced=replace, held=held)

        changed_array(self._context, path, lambda: array_lock(self._context, path, self._meta.format), change)


def _keeps_array(selection: object) -> bool:
    """Whether NumPy gives an array without dimensions rather than a scalar: if there is an ellipsis."""
    return selection is Ellipsis or (isinstance(selection, tuple) and Ellipsis in selection)


def _reopened(context: Context, path: str, dialect: str, stored_order: Literal["C", "F"] | None) -> Array:
    meta = reload(context, path, dialect)
    if not isinstance(meta, ArrayMeta):
        raise NotFoundError("the array is gone", path=place_name(context.store, path))
    return Array(context, path, meta, stored_order=stored_order)
