"""Reading and writing: selections and values in NumPy's terms on one side, the kernel on the other."""

from __future__ import annotations

import os
from _thread import allocate_lock
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from itertools import count
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from omnizarr.array.index import Mask, Points, Selection
from omnizarr.array.masked import is_masked, without_mask
from omnizarr.array.values import as_values, broadcast, without_padding
from omnizarr.codec.compile import compile_chain
from omnizarr.errors import LimitError, OmnizarrError, ShapeError, UnsupportedError
from omnizarr.late import LateModule
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.dtype import DType
from omnizarr.model.fill import item_of
from omnizarr.model.grid import PADDED_IS_READ, Grid
from omnizarr.model.structs import has_padding
from omnizarr.native import Block, FileStore, Kernel, MemoryStore, ZipStore
from omnizarr.store.protocol import Store, kernel_target, place_name

if TYPE_CHECKING:
    import numpy.typing as npt

    from omnizarr.array import legal, objects
    from omnizarr.codec import steps_values
else:
    legal = LateModule("omnizarr.array.legal")
    objects = LateModule("omnizarr.array.objects")
    steps_values = LateModule("omnizarr.codec.steps_values")

_OBJECT = np.dtype(object)

_VALUES = ("scale_offset", "cast_value")
"""Codecs that may change the fill value."""

NEAR = (FileStore, MemoryStore, ZipStore)
"""Stores in which a look costs no request."""

_LARGE = 4 << 20
"""From here on, memory of earlier results is used again: fresh pages cost as much as decoding into them."""


_changes: dict[str, tuple[bytes, int]] = {}
"""What stands for the last change that this process knows of, by the places of arrays and of groups above them."""

_numbers = count()

_expected: dict[str, int] = {}
"""How many writes to places are under way where this process does not see them end."""

_lock = allocate_lock()


def _begin() -> None:
    """Let the numbers of changes be told from those of every other process.

    A forked child does not have the thread that may hold the lock. What was expected stays so: its parent goes on.
    """
    global _process, _lock  # noqa: PLW0603 - there is one for each process
    _process = os.urandom(12)
    _lock = allocate_lock()


_process = b""
_begin()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin)


def changes_of(place: str) -> tuple[object, ...]:
    """Return what is another after each change of the array at a place that this process knows of."""
    found: list[object] = []
    here = place.rstrip("/")
    while here:
        if here in _expected:
            return (os.urandom(12),)  # nobody knows which state this is
        if here in _changes:
            found.append(_changes[here])
        here = here.rpartition("/")[0]
    return tuple(found)


def note_change(place: str) -> None:
    """Take note that the values of the array at a place, or of all below it, are others now."""
    _changes[place.rstrip("/")] = _process, next(_numbers)


def expect_change(place: str) -> None:
    """Take note that others will change an array, or all below a group, at a time that this process does not learn."""
    with _lock:
        here = place.rstrip("/")
        _expected[here] = _expected.get(here, 0) + 1


@contextmanager
def changing(*places: str) -> Generator[None, None, None]:
    """Take note that arrays, or all below groups, are others every time one looks, and others again afterwards."""
    for place in places:
        expect_change(place)
    try:
        yield
    finally:
        for here in (place.rstrip("/") for place in places):
            note_change(here)
            with _lock:
                _expected[here] -= 1
                if not _expected[here]:
                    del _expected[here]


class Access:
    """One array, ready to be read and written, for one state of its metadata.

    Args:
        store: Where it is.
        path: Its path there.
        meta: What it is.
        limits: Bounds on what chunks may claim.
        write_empty: Whether chunks that hold the fill value alone are stored.
        cache_bytes: Size of a cache of decoded chunks.
        document: The name of the document that is there for as long as the array is; nobody looks if there is none, or
            if a look would be a request to a server.
        missed: Called when neither a chunk nor the document was found: raises if the array is gone.
    """

    __slots__ = (
        "_dtype",
        "_legal",
        "_make",
        "_memory",
        "_missed",
        "_objects",
        "_origin",
        "_padded",
        "_skipped",
        "_unmasked",
        "_vlen",
        "_zero_fill",
        "grid",
        "kernel",
        "place",
    )

    def __init__(
        self,
        store: Store,
        path: str,
        meta: ArrayMeta,
        *,
        limits: Limits = DEFAULT_LIMITS,
        write_empty: bool = False,
        cache_bytes: int = 0,
        document: str = "",
        missed: Callable[[], object] | None = None,
    ) -> None:
        dtype = meta.dtype
        grid = meta.grid
        fill = item_of(meta.fill, dtype) if dtype.item else meta.fill.bits
        target, prefix = kernel_target(store, path + "/" if path else "")
        self.place = place_name(store, path)
        try:
            chain = compile_chain(meta.codecs, dtype, grid.longest, limits=limits)
            if any(codec.name in _VALUES for codec in meta.codecs):
                steps_values.check_fill(chain.steps, fill)
        except OmnizarrError as error:
            error.path = self.place
            raise
        self._missed = missed
        self._skipped = chain.skipped
        self._make = partial(
            Kernel,
            target,
            prefix,
            keys=meta.keys,
            itemsize=dtype.itemsize,
            fill=fill,
            chain=chain.steps,
            name=self.place,
            vlen="bytes" if dtype.item else dtype.vlen,
            write_empty=write_empty,
            clipped=grid.clipped,
            cache_bytes=cache_bytes,
            max_chunk_bytes=limits.max_chunk_bytes,
            max_variable_bytes=limits.max_variable_bytes,
            document=prefix + document if document and isinstance(target, NEAR) else None,
        )
        self.kernel = _made(self._make, meta, self.place)
        self.grid = grid
        self._dtype = dtype.numpy
        self._vlen = dtype.vlen
        self._unmasked = partial(without_mask, dtype=dtype, fill=meta.fill)
        self._objects: DType | None = dtype if dtype.item else None
        self._memory = _OBJECT if dtype.vlen else dtype.numpy
        self._padded = self._dtype.names is not None and has_padding(self._dtype)
        # NumPy takes these bits as they are, whatever they are; plain booleans are the kernel's to look at.
        self._legal = not dtype.vlen and (
            self._dtype.kind == "U" or (self._dtype.names is not None and legal.has_illegal(self._dtype))
        )
        self._origin = (0,) * len(meta.shape)
        # An undefined fill reads as zeros; so do fresh pages, which cost nothing where chunks are missing.
        self._zero_fill = not dtype.vlen and (fill is None or not any(fill))

    def with_shape(
        self, shape: tuple[int, ...], *, grid: Grid | None = None, write_empty: bool | None = None
    ) -> Access:
        """Return the same for another shape of the same number of dimensions, and another grid if it needs one."""
        other = Access.__new__(Access)
        for name in self.__slots__:
            setattr(other, name, getattr(self, name))
        if grid is not None:
            other.grid = grid
        chunks = other.grid.kernel_edges
        if write_empty is None:
            other.kernel = self._make(shape=shape, chunks=chunks)
        else:
            other.kernel = self._make(shape=shape, chunks=chunks, write_empty=write_empty)
        return other

    def read(self, found: Selection | Points | Mask) -> Any:  # noqa: ANN401 - an array or a scalar, as NumPy gives
        """Read what was selected into a new array, or a scalar where the selection leaves no dimension."""
        if isinstance(found, Selection):
            dims, counts, shape, flips, order = found
            if not shape:
                raw = np.empty(counts, self._memory)
                if self.kernel.read(dims, raw):
                    self._look()
                if self._legal:
                    legal.legalise(raw, self.place)
                return raw[self._origin] if self._objects is None else self._unpacked(raw)[self._origin]
            raw, zeroed = self._allocate(counts)
            if self.kernel.read(dims, raw, zeroed):
                self._look()
            if self._legal:
                legal.legalise(raw, self.place)
            if flips or order is not None or shape != counts:
                raw = _arranged(found, raw)
        else:
            raw, _ = self._allocate(found.shape)
            self._read_listed(found, raw.reshape(-1))
            if self._legal:
                legal.legalise(raw, self.place)
            if not found.shape:
                return raw[()] if self._objects is None else self._unpacked(raw)[()]
        if self._objects is not None:
            return self._unpacked(raw)
        return raw.astype(self._dtype) if self._memory is not self._dtype and self._vlen else raw

    def _unpacked(self, raw: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the objects that the kernel's byte strings stand for."""
        return raw if self._objects is None else objects.unpacked(raw, self._objects, self.place)

    def boxed(self, result: Any) -> npt.NDArray[Any]:  # noqa: ANN401 - a scalar of the array's type
        """Return a scalar as an array without dimensions."""
        return np.asarray(result, self._dtype) if self._objects is None else objects.boxed(result)

    def _allocate(self, shape: tuple[int, ...]) -> tuple[npt.NDArray[Any], bool]:
        """Return a new array, and whether missing chunks may be left as they are in it.

        Raises:
            LimitError: If it is larger than memory.
        """
        size = prod(shape) * self._memory.itemsize
        try:
            if size >= _LARGE and not self._vlen:
                block = Block(size)
                # NumPy's stubs list the types with a buffer that they know of.
                return np.ndarray(shape, self._memory, cast("memoryview", block)), self._zero_fill and block.fresh
            return np.empty(shape, self._memory), False
        except (MemoryError, OverflowError, ValueError) as error:
            raise LimitError(
                f"a result of {size} bytes does not fit into memory", path=self.place, hint="Select less at a time."
            ) from error

    def read_into(self, found: Selection | Points | Mask, out: object) -> None:
        """Read what was selected into an array of the caller's.

        Raises:
            ShapeError: If `out` is not a NumPy array, has another shape or type, or cannot be written.
        """
        if not isinstance(out, np.ndarray):
            raise ShapeError(f"out must be a NumPy array, not a {type(out).__name__}", path=self.place)
        if out.shape != found.shape or out.dtype != self._dtype:
            raise ShapeError(
                f"out has shape {out.shape} and type {out.dtype}, the selection {found.shape} and {self._dtype}",
                path=self.place,
            )
        if not out.flags.writeable:
            raise ShapeError("out cannot be written to", path=self.place)
        direct = (
            self._objects is None
            and out.dtype == self._memory
            and (
                out.flags.c_contiguous
                or (isinstance(found, Selection) and found.order is None and found.shape == found.counts)
            )
        )
        if not direct:
            out[...] = self.read(found) if found.shape else self.boxed(self.read(found))
        elif isinstance(found, Selection):
            if self.kernel.read(found.dims, found.view(out)):
                self._look()
        else:
            self._read_listed(found, out.reshape(-1))
        if direct and self._legal:
            legal.legalise(out, self.place)

    def _read_listed(self, found: Points | Mask, flat: npt.NDArray[Any]) -> None:
        if isinstance(found, Mask):
            missed = self.kernel.read_mask(found.mask, flat)
        elif found.coords:
            missed = self.kernel.read_points(list(found.coords), flat)
        else:
            missed = self.kernel.read([], flat.reshape(()))
        if missed:
            self._look()

    def _look(self) -> None:
        """Raise if the array is gone."""
        if self._missed is not None:
            self._missed()

    def write(self, found: Selection | Points | Mask, value: object, seen: int | None = None) -> int | None:
        """Write values where they were selected, broadcast as NumPy does.

        Args:
            found: What was selected.
            value: The values.
            seen: The state in which the array's document was known to be this array's, 0 if in none; where it is given,
                nothing is written once the document is in another.

        Returns:
            The state in which the document was found instead; `None` if all was written, and it was in none.

        Raises:
            ShapeError: If the values do not fit in shape or type.
            LimitError: If more elements were selected than any array can have.
            UnsupportedError: If a codec that reading may leave out is not installed, or chunks are only read.
        """
        if self._skipped:
            raise UnsupportedError(
                "writing needs a codec that is not installed", path=self.place, codec=self._skipped[0]
            )
        if self.grid.stored is not None:
            raise UnsupportedError(PADDED_IS_READ, path=self.place)
        if is_masked(value):
            value = self._unmasked(value, path=self.place)
        values = as_values(value, self._dtype, self._vlen, self.place, ndim=len(found.shape))
        if self._objects is not None:
            values = objects.packed(values, self._objects, self.place)
        values = broadcast(values, found.shape, self.place)
        # Before, for who looks meanwhile, and after, since he may have seen what was old.
        note_change(self.place)
        try:
            return self._put(found, without_padding(values) if self._padded else values, seen)
        except (TypeError, UnicodeEncodeError) as error:
            if not self._vlen or _is_of_a_store(error):
                raise
            # Only the kernel looks at every element.
            raise ShapeError(f"the values cannot be stored as {self._vlen}: {error}", path=self.place) from error
        finally:
            note_change(self.place)

    def _put(self, found: Selection | Points | Mask, values: npt.NDArray[Any], seen: int | None) -> int | None:
        if isinstance(found, Selection):
            return self.kernel.write(found.dims, found.view(values), seen)
        if isinstance(found, Mask):
            return self.kernel.write_mask(found.mask, values, seen)
        if found.coords:
            return self.kernel.write_points(list(found.coords), values.reshape(-1), seen)
        return self.kernel.write([], values.reshape(()), seen)


def _is_of_a_store(error: BaseException) -> bool:
    """Whether a call of the kernel failed in Python code that the kernel called, and not in the kernel itself.

    The kernel leaves no frame of its own: behind those of `write` and `_put` there are only those of a store.
    """
    trace = error.__traceback__
    below = trace.tb_next if trace is not None else None
    return below is not None and below.tb_next is not None


def _made(make: Callable[..., Kernel], meta: ArrayMeta, name: str) -> Kernel:
    try:
        return make(shape=meta.shape, chunks=meta.grid.kernel_edges)
    except OmnizarrError:
        raise
    except ValueError as error:  # settings that only the kernel understands, and refuses
        raise UnsupportedError(f"the codecs cannot be used: {error}", path=name) from error


def _arranged(found: Selection, raw: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Give what the kernel filled the order of axes and the shape that NumPy gives."""
    if found.flips:
        turned = [slice(None)] * len(found.counts)
        for axis in found.flips:
            turned[axis] = slice(None, None, -1)
        raw = raw[tuple(turned)]
    if found.order is None:
        return raw.reshape(found.shape)
    moved = tuple(found.shape[axis] for axis in found.order)
    return raw.reshape(moved).transpose(np.argsort(found.order))
