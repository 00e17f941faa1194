"""Attributes of netCDF-4 files: their exact types, and the ones that are bookkeeping."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from omnizarr.errors import UnsupportedError
from omnizarr.nc.files.hdf5_types import Types
from omnizarr.nc.files.hdf5_values import read_attribute
from omnizarr.nc.tree import Attr, Group
from omnizarr.nc.types import CHAR, STRING

HIDDEN: Final = frozenset(
    (
        *("CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "_ARRAY_DIMENSIONS", "_Codecs", "_Format"),
        *("_IsNetcdf4", "_NCProperties", "_Netcdf4Coordinates", "_Netcdf4Dimid", "_SuperblockVersion", "_nc3_strict"),
        *("_nczarr_attr", "_nczarr_group", "_nczarr_array", "_nczarr_superblock"),
    )
)
"""What netcdf-c keeps to itself, in any kind of file."""


def names_of(h5py: Any, owner: Any) -> list[bytes]:  # noqa: ANN401 - a package without types
    """Return the names of all attributes, in the order of their creation where the file knows it."""
    for index in (h5py.h5.INDEX_CRT_ORDER, h5py.h5.INDEX_NAME):
        names: list[bytes] = []
        try:
            h5py.h5a.iterate(owner, names.append, index_type=index)
        except (OSError, RuntimeError, ValueError, KeyError):
            if index == h5py.h5.INDEX_NAME:
                raise
            continue
        return names
    return []


def read_attributes(h5py: Any, owner: Any, types: Types, group: Group) -> tuple[dict[str, Attr], list[str]]:  # noqa: ANN401 - as above
    """Return the attributes of a group or dataset, and the names of those that netCDF has no type for."""
    attrs: dict[str, Attr] = {}
    left_out: list[str] = []
    for raw in names_of(h5py, owner):
        name = raw.decode("utf-8", "surrogateescape")
        if name in HIDDEN:
            continue
        try:
            attr = h5py.h5a.open(owner, raw)
            found = _read(h5py, attr, name, types, group)
            attrs[name] = found._replace(shape=attr.shape) if len(attr.shape or ()) > 1 else found
        except UnsupportedError:
            left_out.append(name)
    return attrs, left_out


def _read(h5py: Any, attr: Any, name: str, types: Types, group: Group) -> Attr:  # noqa: ANN401 - as above
    h5t = h5py.h5t
    tid, space = attr.get_type(), attr.get_space()
    scalar = space.get_simple_extent_type() == h5py.h5s.SCALAR
    nothing = space.get_simple_extent_type() == h5py.h5s.NULL
    count = 0 if nothing else space.get_simple_extent_npoints()
    if tid.get_class() == h5t.STRING and not tid.is_variable_str():
        if nothing:
            return Attr(name, CHAR, b"")
        size = tid.get_size()
        texts = np.zeros(attr.shape, f"S{size}")
        if count:
            attr.read(texts, tid.copy())
        if scalar:
            return Attr(name, CHAR, texts.tobytes())
        whole = texts.tobytes()
        each = [whole[at : at + size].split(b"\0", 1)[0] for at in range(0, len(whole), size)]
        return Attr.of_values(name, STRING, [text.decode("utf-8", "surrogateescape") for text in each])
    found = types.find(tid, group)
    return Attr(name, found, read_attribute(h5py, attr, tid, found, count))
