"""What one element of a dataset of HDF5 is: the NumPy type that its bytes in the file have."""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

import numpy as np

from omnizarr.errors import UnsupportedError
from omnizarr.model.jsonvalue import JSON
from omnizarr.nc.files.hdf5_types import Id

_DEEPEST: Final = 32


class Element(NamedTuple):
    """One element.

    Attributes:
        kind: "plain" for those of one size; "text", "ragged" (arrays of one dimension) and "records" (structures with
            text in them) are in heaps of the file.
        dtype: Of a plain one, or of what the arrays hold.
        memory: The same type as h5py wants it, which knows the names of enums.
        tail: More dimensions that each element has.
        exact: Whether the bytes in the file are what NumPy takes for the values.
        packable: Whether they would be, if the n-bit filter had kept the significant bits alone.
        attrs: What the type says beyond NumPy's: the names of an enum, as CF spells flags.
    """

    kind: Literal["plain", "text", "ragged", "records"]
    dtype: np.dtype[Any]
    memory: np.dtype[Any]
    tail: tuple[int, ...] = ()
    exact: bool = True
    packable: bool = True
    attrs: dict[str, JSON] = {}  # noqa: RUF012 - never changed


def element_of(h5py: Any, tid: Id) -> Element:  # noqa: ANN401 - a package without types
    """Return what the elements of a type are.

    Raises:
        UnsupportedError: If Zarr has no such elements.
    """
    h5t, kind = h5py.h5t, tid.get_class()
    if kind == h5t.STRING and tid.is_variable_str():
        return Element("text", np.dtype(object), tid.dtype)
    if kind == h5t.VLEN:
        base = _plain(h5t, tid.get_super(), 1)
        if not _exact(h5t, tid.get_super(), 1) or base.subdtype is not None or base.names is not None:
            raise UnsupportedError("its elements are sequences of what is no number")
        return Element("ragged", base, tid.dtype)
    if kind == h5t.COMPOUND and _has_text(h5t, tid):
        return Element("records", np.dtype(object), tid.dtype)
    dtype, exact = _plain(h5t, tid, 0), _exact(h5t, tid, 0)
    memory = tid.dtype if exact or kind not in (h5t.INTEGER, h5t.ENUM) else _memory(tid, dtype)
    tail: tuple[int, ...] = ()
    if dtype.subdtype is not None:
        dtype, tail = dtype.subdtype
        memory = memory.base
    packable = exact or _exact(h5t, tid, 0, packed=True)
    return Element("plain", dtype, memory, tail, exact, packable, _flags(h5t, tid, dtype))


def _has_text(h5t: Any, tid: Id) -> bool:  # noqa: ANN401 - a module without types
    """Whether members of a structure are text of any length, and all others have one size."""
    members = [tid.get_member_type(index) for index in range(tid.get_nmembers())]
    text = [one.get_class() == h5t.STRING and one.is_variable_str() for one in members]
    for member, is_text in zip(members, text, strict=True):
        if not is_text:
            _plain(h5t, member, 1)
    return any(text)


def _memory(tid: Id, dtype: np.dtype[Any]) -> np.dtype[Any]:
    try:
        found: np.dtype[Any] = tid.dtype
    except TypeError:  # h5py knows no integers of three bytes
        return dtype
    return found


def _plain(h5t: Any, tid: Id, depth: int) -> np.dtype[Any]:  # noqa: ANN401 - a module without types
    kind = tid.get_class()
    if depth > _DEEPEST:
        raise UnsupportedError(f"its type is nested more than {_DEEPEST} deep")
    if kind == h5t.REFERENCE:
        raise UnsupportedError("its elements point to objects or regions of the file, for which Zarr has no type")
    if kind == h5t.TIME:
        raise UnsupportedError("its elements are of HDF5's time type, which not even HDF5 can convert")
    if kind == h5t.VLEN or (kind == h5t.STRING and tid.is_variable_str()):
        raise UnsupportedError("its elements have parts of variable length")
    if kind == h5t.COMPOUND:
        for index in range(tid.get_nmembers()):
            _plain(h5t, tid.get_member_type(index), depth + 1)
    if kind == h5t.ARRAY:
        _plain(h5t, tid.get_super(), depth + 1)
    if kind == h5t.INTEGER:
        return _integer(h5t, tid)
    try:
        return _bare(tid.dtype)
    except TypeError as error:
        raise UnsupportedError(f"NumPy has no such type: {error}") from error


def _integer(h5t: Any, tid: Id) -> np.dtype[Any]:  # noqa: ANN401 - as above
    size = next((n for n in (1, 2, 4, 8) if n >= tid.get_size()), 0)
    order = {h5t.ORDER_LE: "<", h5t.ORDER_BE: ">"}.get(tid.get_order())
    if not size or order is None:
        raise UnsupportedError(f"its elements are whole numbers of {tid.get_size()} bytes")
    return np.dtype(f"{order}{'i' if tid.get_sign() == h5t.SGN_2 else 'u'}{size}")


def _bare(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a type without what h5py notes in it."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return np.dtype((_bare(base), shape))
    if dtype.names is None:
        return np.dtype(dtype.str)
    parts = [(name, dtype.fields[name]) for name in dtype.names]  # type: ignore[index]  # it has fields
    layout: Any = {
        "names": [name for name, _ in parts],
        "formats": [_bare(part[0]) for _, part in parts],
        "offsets": [part[1] for _, part in parts],
        "itemsize": dtype.itemsize,
    }
    made: np.dtype[Any] = np.dtype(layout)
    return made


def _exact(h5t: Any, tid: Id, depth: int, *, packed: bool = False) -> bool:  # noqa: ANN401 - as above
    kind, size = tid.get_class(), tid.get_size()
    if kind in (h5t.BITFIELD, h5t.INTEGER):
        # Of bits h5py does not tell which are significant; those that are not are zero in all files that were seen.
        whole = packed or kind == h5t.BITFIELD or (tid.get_precision() == 8 * size and tid.get_offset() == 0)
        return whole and size in (1, 2, 4, 8)
    if kind == h5t.STRING:  # h5py takes the spaces away with which Fortran fills
        return bool(tid.get_strpad() != h5t.STR_SPACEPAD)
    if kind in (h5t.ENUM, h5t.ARRAY, h5t.COMPLEX):
        return _exact(h5t, tid.get_super(), depth + 1, packed=packed)
    if kind == h5t.COMPOUND:
        members = (tid.get_member_type(index) for index in range(tid.get_nmembers()))
        return all(_exact(h5t, member, depth + 1, packed=packed) for member in members)
    return kind != h5t.FLOAT or bool(h5t.py_create(tid.dtype).equal(tid))


def _flags(h5t: Any, tid: Id, dtype: np.dtype[Any]) -> dict[str, JSON]:  # noqa: ANN401 - as above
    if tid.get_class() != h5t.ENUM or dtype.kind == "b":
        return {}
    names = [tid.get_member_name(i).decode("utf-8", "surrogateescape") for i in range(tid.get_nmembers())]
    values: list[JSON] = [int(tid.get_member_value(i)) for i in range(tid.get_nmembers())]
    return {"flag_values": values, "flag_meanings": " ".join("_".join(name.split()) for name in names)}
