"""Values that HDF5 hands over as pointers: strings that may be missing, sequences, and compounds with either in them.

h5py itself cannot tell a missing string from an empty one, and cannot read sequences of compounds. Reading this way,
h5py forgets a copy of the bytes each time; so it is done for small things and rare types only.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from omnizarr.errors import UnsupportedError
from omnizarr.nc.files.hdf5_types import raw_dtype
from omnizarr.nc.types import STRING, Compound, Type, Vlen, is_fixed, zeros

Raw = np.ndarray[Any, Any]


def taken(raw: Raw, one: Type) -> Raw:
    """Return what pointers lead to, as `omnizarr.nc.types` says, and give their memory back."""
    if is_fixed(one):
        return np.array(raw, one.numpy)
    values = zeros(raw.shape, one)
    if isinstance(one, Compound):
        for field in one.fields:
            values[field.name] = taken(raw[field.name], field.type)
        return values
    for index in np.ndindex(raw.shape):
        values[index] = _string(int(raw[index])) if one == STRING else _sequence(raw[index], one)
    return values


def _string(start: int) -> str | None:
    if not start:
        return None
    text = ctypes.string_at(start).decode("utf-8", "surrogateescape")
    _free(start)
    return text


def _sequence(entry: Any, one: Type) -> Raw:  # noqa: ANN401 - an element of a structured array
    length, start = int(entry["length"]), int(entry["start"])
    base = one.base if isinstance(one, Vlen) else one
    if not start or not length:
        return zeros((0,), base)
    dtype = raw_dtype(base)
    found = np.frombuffer(ctypes.string_at(start, length * dtype.itemsize), dtype)
    values = taken(found, base)
    _free(start)
    return values


def _free(start: int) -> None:
    if sys.platform != "win32":  # there, each library may have a heap of its own; a leak is better than a crash
        free = ctypes.CDLL(None).free
        free.argtypes = [ctypes.c_void_p]
        free(start)


def given(values: Raw, one: Type, keep: list[object]) -> Raw:
    """Return values as pointers; what they lead to lives as long as the list."""
    if is_fixed(one):
        return np.ascontiguousarray(values, one.numpy)
    raw = np.zeros(values.shape, raw_dtype(one))
    if isinstance(one, Compound):
        for field in one.fields:
            raw[field.name] = given(values[field.name], field.type, keep)
        return raw
    for index in np.ndindex(values.shape):
        value: Any = values[index]
        if one == STRING:
            raw[index] = _kept_text(value, keep)
        else:
            base = one.base if isinstance(one, Vlen) else one
            inner = np.ascontiguousarray(given(np.asarray(value), base, keep))
            keep.append(inner)
            raw[index] = (len(inner), inner.ctypes.data if len(inner) else 0)
    return raw


def _kept_text(value: str | None, keep: list[object]) -> int:
    if value is None:
        return 0
    if "\0" in value:
        raise UnsupportedError(f"a string with a zero byte in it cannot be stored in HDF5: {value!r}")
    buffer = ctypes.create_string_buffer(value.encode("utf-8", "surrogateescape"))
    keep.append(buffer)
    return ctypes.addressof(buffer)
