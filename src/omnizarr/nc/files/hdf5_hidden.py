"""What `ncdump -s` says about a netCDF-4 file as a whole: who wrote it, and in which version of HDF5's format."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnizarr.nc.files.hdf5_attributes import HIDDEN, names_of
from omnizarr.nc.tree import Attr
from omnizarr.nc.types import INT

_PROPERTIES = "_NCProperties"
_ENOUGH = 2
"""From how many traces of netCDF-4 on a file is taken for one."""


def hidden_attributes(h5py: Any, file: Any) -> dict[str, Attr]:  # noqa: ANN401 - a package without types
    """Return attributes of a file that are shown only to who asks for them."""
    attrs: dict[str, Attr] = {}
    root = file.id
    if h5py.h5a.exists(root, _PROPERTIES.encode()):
        value = np.asarray(file.attrs[_PROPERTIES]).item()
        text = value.encode() if isinstance(value, str) else bytes(value)
        attrs[_PROPERTIES] = Attr.of_text(_PROPERTIES, text)
    version = file.id.get_create_plist().get_version()[0]
    attrs["_SuperblockVersion"] = Attr.of_values("_SuperblockVersion", INT, [version])
    strict = h5py.h5a.exists(root, b"_nc3_strict")
    is_netcdf4 = not strict and _traces(h5py, file) >= _ENOUGH  # netcdf-c finds none in files of the classic model
    attrs["_IsNetcdf4"] = Attr.of_values("_IsNetcdf4", INT, [int(is_netcdf4)])
    return attrs


def _traces(h5py: Any, group: Any) -> int:  # noqa: ANN401 - as above
    """Count attributes that netcdf-c keeps to itself, up to as many as are enough."""
    count = 0
    for name in group:
        found = group.get(name, getlink=True)
        if not isinstance(found, h5py.HardLink):
            continue
        node = group[name]
        if isinstance(node, h5py.Group):
            count += _traces(h5py, node)
        elif isinstance(node, h5py.Dataset):
            count += sum(raw.decode("utf-8", "replace") in HIDDEN for raw in names_of(h5py, node.id))
        if count >= _ENOUGH:
            break
    return count
