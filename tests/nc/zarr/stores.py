"""Small stores made by hand, opened as netCDF datasets."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from omnizarr.nc.source import everything
from omnizarr.nc.zarr.reader import ZarrReader

GROUP = b'{"zarr_format": 2}'


def zarray(shape: list[int], dtype: Any = "<i4", **more: Any) -> dict[str, Any]:
    """Return a plain `.zarray`."""
    made = {
        "zarr_format": 2,
        "shape": shape,
        "dtype": dtype,
        "chunks": [max(1, length) for length in shape],
        "fill_value": 0,
        "order": "C",
        "compressor": None,
        "filters": None,
    }
    return {**made, **more}


def text(value: Any) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()


def plain(**arrays: Any) -> dict[str, bytes]:
    """Return a plain store of arrays: of each the document, the attributes and, if there are some, the one chunk."""
    made = {".zgroup": GROUP}
    for name, (document, attributes, *chunk) in arrays.items():
        made.update(array(name, document, attributes, *chunk))
    return made


def array(path: str, document: Any, attributes: Any = None, chunk: bytes | None = None) -> dict[str, bytes]:
    """Return the keys of an array."""
    made = {f"{path}/.zarray": text(document)}
    if attributes is not None:
        made[f"{path}/.zattrs"] = text(attributes)
    if chunk is not None:
        rank = len(document["shape"]) if isinstance(document, dict) else 1
        made[f"{path}/{'.'.join('0' * max(1, rank))}"] = chunk
    return made


def nczarr(dims: Any, arrays: Any, groups: Any = (), attributes: Any = None, **more: Any) -> dict[str, bytes]:
    """Return the documents of the root of a dataset of the newest generation."""
    own = {
        **(attributes or {}),
        "_nczarr_group": {"dimensions": dims, "arrays": list(arrays), "groups": list(groups), **more},
        "_nczarr_superblock": {"version": "2.0.0"},
    }
    return {".zgroup": GROUP, ".zattrs": text(own)}


def refers(*names: str, **more: Any) -> dict[str, Any]:
    """Return the attribute that refers to dimensions."""
    return {"_nczarr_array": {"dimension_references": list(names), "storage": "chunked", **more}}


FOUR = np.arange(4, dtype="<i4").tobytes()


def values(source: ZarrReader, name: str = "v") -> Any:
    """Return all values of a variable."""
    group, _, last = name.rpartition("/")
    found = source.root.find_group(group)
    assert found is not None
    var = found.vars[last]
    return source.read(var, everything(var))


def names(source: ZarrReader, name: str = "v") -> list[str]:
    """Return the full names of a variable's dimensions."""
    return [dim.path for dim in source.root.vars[name].dims]


def old_group(**more: Any) -> dict[str, Any]:
    """Return a `.zgroup` with marks of older generations in it."""
    return {"zarr_format": 2, **more}
