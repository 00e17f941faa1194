"""Values of datasets and attributes of HDF5, in the form that netCDF's types have in memory."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from omnizarr.nc.files.hdf5_pointers import given, taken
from omnizarr.nc.files.hdf5_types import Id, memory_type, raw_dtype
from omnizarr.nc.source import Values
from omnizarr.nc.types import STRING, Compound, Type, Vlen, is_fixed, zeros

Ints: TypeAlias = tuple[int, ...]

_MISSING: Final = 4096
"""How many empty strings are asked about at a time."""


class Stored(NamedTuple):
    """A dataset of HDF5: what the tree keeps for a variable."""

    h5py: Any
    id: Any
    tid: Id


def read_block(stored: Stored, one: Type, start: Ints, count: Ints, step: Ints) -> Values:
    """Return the values of a region, every so-many-th along each dimension."""
    h5s = stored.h5py.h5s
    if 0 in count:
        return zeros(count, one)
    space = stored.id.get_space()
    if count:
        space.select_hyperslab(start, count, step)
        memory = h5s.create_simple(count)
    else:
        memory = space = h5s.ALL
    if one == STRING:
        return _strings(stored, memory, space, count)
    values = np.zeros(count, raw_dtype(one)) if not _is_plain_vlen(one) else _objects(stored, count)
    mtype = None if values.dtype == object else _mtype(stored, one)
    stored.id.read(memory, space, values, mtype)
    if is_fixed(one) or values.dtype == object:
        return values
    return taken(values, one)


def write_block(stored: Stored, one: Type, start: Ints, values: Values, step: Ints) -> None:
    """Store the values of a region."""
    h5s = stored.h5py.h5s
    if values.size == 0:
        return
    keep: list[object] = []
    raw = given(values, one, keep)
    space = stored.id.get_space()
    if values.ndim:
        space.select_hyperslab(start, values.shape, step)
        memory = h5s.create_simple(values.shape)
    else:
        memory = space = h5s.ALL
    stored.id.write(memory, space, np.ascontiguousarray(raw), _mtype(stored, one))


def read_attribute(h5py: Any, attr: Any, tid: Id, one: Type, count: int) -> Values:  # noqa: ANN401 - without types
    """Return the values of an attribute that is not text of a fixed length."""
    values = np.zeros(count, raw_dtype(one))
    if count:
        # An attribute that has one value may lie as a scalar; HDF5 only counts elements.
        shaped = values if attr.get_space().get_simple_extent_ndims() else values.reshape(())
        attr.read(shaped.reshape(attr.shape), memory_type(h5py.h5t, tid, one, raw=values.dtype))
    return values if is_fixed(one) else taken(values, one)


def _mtype(stored: Stored, one: Type) -> Id:
    return memory_type(stored.h5py.h5t, stored.tid, one, raw=raw_dtype(one))


def _is_plain_vlen(one: Type) -> bool:
    """Whether a type is one of sequences that h5py itself reads, without losing memory."""
    return isinstance(one, Vlen) and is_fixed(one.base) and not isinstance(one.base, Compound)


def _objects(stored: Stored, count: tuple[int, ...]) -> Values:
    return np.zeros(count, stored.tid.dtype)


def _strings(stored: Stored, memory: Any, space: Any, count: tuple[int, ...]) -> Values:  # noqa: ANN401 - without types
    found: Values = np.zeros(count, stored.tid.dtype)
    stored.id.read(memory, space, found)
    if found.dtype.kind == "S":
        texts = np.empty(count, object)
        flat = [
            bytes(text).split(b"\0", 1)[0].decode("utf-8", "surrogateescape") for text in found.reshape(-1).tolist()
        ]
        texts.reshape(-1)[:] = flat
        return texts
    flat = [str(text, "utf-8", "surrogateescape") for text in found.reshape(-1).tolist()]
    texts = np.empty(len(flat), object)
    texts[:] = flat
    empty = np.flatnonzero(texts == "")
    if empty.size:
        _forget_missing(stored, space, texts, empty)
    return texts.reshape(count)


def _forget_missing(stored: Stored, space: Any, texts: Values, empty: Values) -> None:  # noqa: ANN401 - without types
    """Put `None` where a string is not empty but missing; `empty` are places within what was read."""
    h5s, extent = stored.h5py.h5s, stored.id.shape
    if not extent:
        one = np.zeros((), np.uintp)
        stored.id.read(h5s.ALL, h5s.ALL, one, stored.tid.copy())
        texts[:] = taken(one, STRING)
        return
    start, step, count, _ = space.get_regular_hyperslab()
    places = np.stack(np.unravel_index(empty, count), axis=-1)
    points = places * np.array(step) + np.array(start)
    for first in range(0, len(points), _MISSING):
        some = points[first : first + _MISSING]
        raw = np.zeros(len(some), np.uintp)
        chosen = stored.id.get_space()
        chosen.select_elements(some.astype(np.uint64))
        stored.id.read(h5s.create_simple((len(some),)), chosen, raw, stored.tid.copy())
        texts[empty[first : first + _MISSING]] = taken(raw, STRING)
