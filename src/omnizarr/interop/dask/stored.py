"""What the tasks of Dask hold: an array by its place and metadata, opened once in each process."""

from __future__ import annotations

import os
import pickle
from _thread import allocate_lock
from collections import OrderedDict
from hashlib import sha256
from typing import Any, Literal

import numpy as np

from omnizarr.errors import StoreError
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.token import token_of
from omnizarr.interop.dask.library import dask_module
from omnizarr.model.array import ArrayMeta
from omnizarr.store.protocol import place_name
from omnizarr.store.reach import Reach, reach_of

_KEPT = 64
"""How many arrays a process keeps open between tasks."""

_opened: OrderedDict[tuple[object, ...], Array] = OrderedDict()
_lock = allocate_lock()


class Stored:
    """An array as tasks see it: sliced by reading, and assigned to by writing.

    It is pickled with its metadata, so that a worker asks for no document, and a worker that has it open already does
    not open it again.

    Args:
        array: The array.
        token: What stands for this state of it; made if not given.
        unaligned: Whether tasks write to parts of what is stored under one key.
    """

    __slots__ = ("array", "token", "unaligned")

    def __init__(self, array: Array, token: str | None = None, *, unaligned: bool | None = None) -> None:
        self.array = array
        self.token = token or token_text(array)
        self.unaligned = unaligned

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension."""
        return self.array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy type of the elements."""
        return self.array.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.array.ndim

    def __getitem__(self, selection: Any) -> Any:  # noqa: ANN401 - whatever NumPy takes and gives
        return self.array[selection]

    def __setitem__(self, selection: Any, value: Any) -> None:  # noqa: ANN401 - whatever NumPy takes
        self.array[selection] = value

    def __dask_tokenize__(self) -> str:
        return self.token

    def __repr__(self) -> str:
        return f"<{place_name(self.array.store, self.array.path)}>"

    def __reduce__(self) -> tuple[object, ...]:
        array = self.array
        if self.unaligned is not None:
            self._check_reach()
        context, meta = array._context, array.metadata  # noqa: SLF001 - the classes belong together
        # Attributes may be long, and no task needs them.
        bare = meta._replace(attributes={}, extra={})
        # In bytes, for a worker that has this very context open need not make another, and Dask's way to pickle, for it
        # takes along classes that only this program has.
        packed: bytes = dask_module("cloudpickle").dumps(context)
        return _restored, (self.token, packed, array.path, bare, array._stored_order, self.unaligned)  # noqa: SLF001

    def _check_reach(self) -> None:
        """Raise if another process could not write to the same store, or not safely.

        Raises:
            StoreError: If so.
        """
        store, place = self.array.store, place_name(self.array.store, self.array.path)
        reach = reach_of(store)
        if reach is Reach.PROCESS:
            raise StoreError(
                "other processes cannot write to this store, which lives in this one",
                path=place,
                hint='Compute with scheduler="threads", or use a folder or an object store.',
            )
        if reach is Reach.WHOLE_KEYS and self.unaligned:
            raise StoreError(
                "blocks do not line up with what is stored, and this store cannot keep processes from losing values",
                path=place,
                hint='Rechunk to multiples of the stored chunks or shards, or compute with scheduler="threads".',
            )


def token_text(array: Array) -> str:
    """Return a short text that stands for the present state of an array."""
    found: str = dask_module("dask.base").tokenize(*token_of(array.store, array.path, array.metadata))
    return found


def _restored(  # noqa: PLR0917 - as `__reduce__` gives them
    token: str,
    packed: bytes,
    path: str,
    meta: ArrayMeta,
    stored_order: Literal["C", "F"] | None,
    unaligned: bool | None,
) -> Stored:
    # Also by the context: one with other credentials or limits is another.
    key = os.getpid(), token, unaligned, sha256(packed).digest()
    with _lock:
        array = _opened.get(key)
        if array is None:
            context: Context = pickle.loads(packed)  # noqa: S301 - made above, and brought by Dask, which pickles all
            array = _opened[key] = Array(context, path, meta, stored_order=stored_order)
            if len(_opened) > _KEPT:
                _opened.popitem(last=False)
        else:
            _opened.move_to_end(key)
    return Stored(array, token, unaligned=unaligned)
