"""Structured NumPy types: what lies where in one element."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np

from omnizarr.errors import UnsupportedError
from omnizarr.model.small import is_small

if TYPE_CHECKING:
    import numpy.typing as npt


class Field(NamedTuple):
    """One field."""

    name: str
    numpy: np.dtype[Any]
    """Type of one value; of one element, where the field is an array."""

    shape: tuple[int, ...]
    """Shape of the array that the field is; empty for a plain value."""

    offset: int

    @property
    def length(self) -> int:
        """How many values it holds."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the whole field."""
        return self.numpy.itemsize * self.length


def fields_of(dtype: np.dtype[Any]) -> list[Field]:
    """List the fields as they are declared."""
    entries = _entries(dtype)
    return [Field(name, entries[name][0].base, entries[name][0].shape, entries[name][1]) for name in dtype.names or ()]


def _entries(dtype: np.dtype[Any]) -> Mapping[str, tuple[Any, ...]]:
    entries: Any = dtype.fields or {}
    return cast("Mapping[str, tuple[Any, ...]]", entries)


def check_struct(dtype: np.dtype[Any], within: str = "") -> None:
    """Refuse structures that no document can describe.

    Raises:
        UnsupportedError: A field has a title, no bytes, or values of any length, or lies over or before another.
    """
    end = 0
    for field in fields_of(dtype):
        place = f"{within}{field.name}"
        inner = field.numpy
        if len(_entries(dtype)[field.name]) > 2:
            raise UnsupportedError(f"the field {place!r} has a title, for which there is no place in documents")
        if inner.kind in "OT":
            raise UnsupportedError(
                f"the field {place!r} holds {inner}, whose values vary in length",
                hint='Give text a length, as in "U10", and bytes one as in "S10".',
            )
        if not field.nbytes:
            raise UnsupportedError(f"the field {place!r} has no bytes")
        if field.offset < end:
            hint = "Repack it: numpy.lib.recfunctions.repack_fields."
            raise UnsupportedError(f"the field {place!r} lies over or before another one", hint=hint)
        end = field.offset + field.nbytes
        if inner.names is not None:
            check_struct(inner, f"{place}.")
    if not end:
        raise UnsupportedError("a structured type needs at least one field")


def packed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the structure without padding.

    >>> packed(np.dtype([("a", "u1"), ("b", "<i4")], align=True)).itemsize
    5
    """
    if dtype.names is None or not has_padding(dtype):
        return dtype
    fields = fields_of(dtype)
    formats = [(packed(field.numpy), field.shape) if field.shape else packed(field.numpy) for field in fields]
    return np.dtype({"names": [field.name for field in fields], "formats": formats})


def has_padding(dtype: np.dtype[Any]) -> bool:
    """Whether some bytes of an element belong to no field."""
    fields = fields_of(dtype)
    if not fields:
        return False
    return sum(field.nbytes for field in fields) != dtype.itemsize or any(has_padding(field.numpy) for field in fields)


def padding(dtype: np.dtype[Any]) -> npt.NDArray[np.bool_]:
    """Say of each byte of an element whether it belongs to no field."""
    if dtype.names is None:
        return np.zeros(dtype.itemsize, np.bool_)
    free = np.ones(dtype.itemsize, np.bool_)
    for field in fields_of(dtype):
        free[field.offset : field.offset + field.nbytes] = np.tile(padding(field.numpy), field.length)
    return free


def leaves(dtype: np.dtype[Any]) -> Iterator[np.dtype[Any]]:
    """Give the type of every field that is not itself a structure, at any depth."""
    if dtype.names is None:
        yield dtype
    for field in fields_of(dtype):
        yield from leaves(field.numpy)


def has_order(dtype: np.dtype[Any]) -> bool:
    """Whether byte order means something to a type that is no structure."""
    return dtype.itemsize > 1 and (dtype.kind not in "SVbO" or is_small(dtype))


def struct_order(dtype: np.dtype[Any]) -> Literal["", "little", "big", "mixed"]:
    """Find the byte order of all fields: the empty string where it means nothing to any, "mixed" if they differ."""
    found: Literal["", "little", "big", "mixed"] = ""
    for leaf in leaves(dtype):
        if has_order(leaf):
            order: Literal["little", "big"] = "little" if leaf == leaf.newbyteorder("<") else "big"
            if found not in ("", order):
                return "mixed"
            found = order
    return found


def in_order(dtype: np.dtype[Any], order: Literal["little", "big"]) -> np.dtype[Any]:
    """Return the structure with all fields in one byte order.

    Raises:
        UnsupportedError: It has a field of ml_dtypes, which knows that of the machine alone.
    """
    if dtype.names is None:
        if not is_small(dtype):
            return dtype.newbyteorder(order)
        # NumPy would give them a mark that no code of theirs looks at.
        if dtype.itemsize > 1 and order != sys.byteorder:
            raise UnsupportedError(f"numbers of the type {dtype} cannot be had {order}-endian in memory")
        return dtype
    fields = fields_of(dtype)
    inner = [in_order(field.numpy, order) for field in fields]
    layout: Any = {
        "names": [field.name for field in fields],
        "formats": [(one, field.shape) if field.shape else one for one, field in zip(inner, fields, strict=True)],
        "offsets": [field.offset for field in fields],
        "itemsize": dtype.itemsize,
    }
    made: np.dtype[Any] = np.dtype(layout)
    return made
