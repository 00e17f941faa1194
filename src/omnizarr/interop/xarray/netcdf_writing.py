"""Writing datasets of xarray in the netCDF model: NCZarr, and netCDF files."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Final

import numpy as np
from xarray import Dataset, Variable, conventions
from xarray.coding import strings

from omnizarr.errors import UnsupportedError
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.group import Group as ZarrGroup
from omnizarr.hierarchy.opening import Place, open_node
from omnizarr.interop.xarray.encoding import chunks_of, without_objects
from omnizarr.interop.xarray.writing import Wishes, Work, add_values, check_names, give_encoding
from omnizarr.nc.dataset.values import to_attr, typed_attr
from omnizarr.nc.kinds import NCZARR, NCZARR3, NETCDF3_KINDS, NETCDF4_KINDS, as_kind, is_named_as_file, kind_by_name
from omnizarr.nc.opening import create_source, finishing
from omnizarr.nc.source import Source, everything
from omnizarr.nc.tree import Group, Storage, Var
from omnizarr.nc.types import STRING, Type, of_numpy
from omnizarr.store.file import local_path
from omnizarr.store.uri import scheme
from omnizarr.store.url.grammar import parse_place

_FILL: Final = "_FillValue"
_ZARR: Final = ("zarr3", "zarr2", "zarr1", "zarr0", "zarr3-draft", "n5")


def netcdf_kind(format: str | None, where: object = None) -> str | None:  # noqa: A002 - the word of the documents
    """Return the kind of netCDF dataset that a format names, or else a place; `None` if it is one of Zarr's own.

    Raises:
        UnsupportedError: If there is no such format.
    """
    if format is None:
        return _kind_of_place(where)
    return None if format in _ZARR else as_kind(format)


def _kind_of_place(where: object) -> str | None:
    """Return the kind of file that the name of a place asks for; `None` for Zarr, as where a folder has that name."""
    if not isinstance(where, (str, os.PathLike)) or not is_named_as_file(where):
        return None
    name = os.fspath(where)
    if isinstance(name, str) and (parse_place(name) is not None or scheme(name) not in (None, "file")):
        return None  # modes say what is asked for, and far away no file can be written
    return None if os.path.isdir(local_path(where)) else kind_by_name(where)  # noqa: PTH112 - of a path or a URI


def is_file(kind: str | None) -> bool:
    """Whether a kind is written as one file."""
    return kind in (*NETCDF3_KINDS, *NETCDF4_KINDS)


def write_netcdf(
    where: object,
    kind: str,
    nodes: Iterable[tuple[str, Dataset]],
    encoding: Mapping[str, Mapping[str, Any]],
    work: Work,
    *,
    wishes: Wishes,
) -> None:
    """Create a dataset of the netCDF model, write what is in memory, and note what is lazy.

    Args:
        where: The place; what is there is replaced.
        kind: One of `omnizarr.nc.kinds`.
        nodes: Datasets by the paths of their groups.
        encoding: How variables are stored, by the paths of their groups and their names.
        work: Takes what Dask is to write.
        wishes: How it is to be written.

    Raises:
        UnsupportedError: If the kind cannot hold a variable; nothing is written then.
    """
    root, found = Group(), dict[str, Variable]()
    for path, dataset in nodes:
        _define(_group_at(root, path), dataset, encoding.get(path, {}), found)
    lazy = {path for path, var in found.items() if _goes_by_dask(var, kind)}
    with finishing(create_source(where, root, kind)) as source:
        for path, var in found.items():
            if path not in lazy:
                _write(source, path, var)
    if lazy:
        group = open_node(Place(where, "r+"), "r+", None, None)
        for path in lazy:
            array = group[path.strip("/")] if isinstance(group, ZarrGroup) else None
            if not isinstance(array, Array):
                raise UnsupportedError(f"there is no array for the variable {path}")
            add_values(found[path], array, tuple(slice(None) for _ in array.shape), wishes, work)


def _group_at(root: Group, path: str) -> Group:
    here = root
    for name in filter(None, path.split("/")):
        here = here.groups.get(name) or here.add_group(name)
    return here


def _goes_by_dask(var: Variable, kind: str) -> bool:
    """Whether tasks may write to the array itself, all at once: its elements are the values, as they are."""
    return var.chunks is not None and kind in (NCZARR, NCZARR3) and var.ndim > 0 and var.dtype.kind in "iuf"


def _define(group: Group, dataset: Dataset, encoding: Mapping[str, Any], found: dict[str, Variable]) -> None:
    check_names(dataset)
    variables, attrs = conventions.encode_dataset_coordinates(dataset)
    give_encoding(variables, encoding)
    growing = set(dataset.encoding.get("unlimited_dims", ()))
    for name, var in variables.items():
        encoded = _encoded(var, str(name))
        dims = tuple(_dim(group, dim, size, growing) for dim, size in encoded.sizes.items())
        kind = _type(encoded, str(name))
        made = group.add_var(str(name), kind, dims, _storage(encoded, str(name)))
        for key, value in encoded.attrs.items():
            made.attrs[key] = typed_attr(key, value, kind) if key == _FILL else to_attr(key, value, group)
        found[made.path] = encoded
    for dim, size in dataset.sizes.items():
        _dim(group, dim, size, growing)
    for key, value in attrs.items():
        group.attrs[str(key)] = to_attr(str(key), value, group)


def _dim(group: Group, name: Hashable, size: int, growing: set[Any]) -> Any:  # noqa: ANN401 - a Dim
    known = group.find_dim(str(name))
    if known is not None and known.size == size:
        return known
    return group.add_dim(str(name), size, unlimited=name in growing)


def _encoded(var: Variable, name: str) -> Variable:
    """Return a variable with the values that netCDF stores: numbers, characters, or strings."""
    var = conventions.encode_cf_variable(var, name=name)
    var = without_objects()(var, name=name)
    var = strings.EncodedStringCoder(allows_unicode=True).encode(var, name=name)
    var = strings.ensure_fixed_length_bytes(var)
    return strings.CharacterArrayCoder().encode(var) if var.dtype.kind == "S" else var


def _type(var: Variable, name: str) -> Type:
    if var.dtype.kind in "UO":
        return STRING
    kind = of_numpy(var.dtype.newbyteorder("="))
    if kind is None:
        raise UnsupportedError(f"netCDF has no type for the variable {name!r} of {var.dtype}")
    return kind


def _storage(var: Variable, name: str) -> Storage:
    words = var.encoding
    storage = Storage(
        shuffle=bool(words.get("shuffle")),
        deflate=int(words.get("complevel") or 4) if words.get("zlib") else 0,
        fletcher32=bool(words.get("fletcher32")),
    )
    chunks = chunks_of(var, {"chunks": words.get("chunksizes") or words.get("chunks")}, name)
    if not isinstance(chunks, str) and all(isinstance(one, int) for one in chunks):
        storage.chunks = tuple(max(1, one) for one in chunks)
    elif words.get("contiguous"):
        storage.kind = "contiguous"
    codecs = [_words(one) for one in (*(words.get("filters") or ()), *(words.get("compressors") or ()))]
    if codecs and all(isinstance(one, Mapping) and "id" in one for one in codecs) and not storage.deflate:
        storage.codecs = json.dumps([one for one in codecs if not str(one["id"]).startswith("vlen-")])
    return storage


def _words(codec: object) -> Any:  # noqa: ANN401 - a mapping, or whatever a user gave
    """Return an object of numcodecs as the mapping that stands for it, and all else as it is."""
    describe = getattr(codec, "get_config", None)
    return describe() if callable(describe) else codec


def _write(source: Source, path: str, var: Variable) -> None:
    home, _, name = path.rpartition("/")
    group = source.root.find_group(home or "/")
    target: Var | None = group.vars.get(name) if group is not None else None
    if target is None:
        raise UnsupportedError(f"there is no variable {path}")
    values = np.asarray(var.values)
    if target.type == STRING:
        values = np.asarray(values, object)
    elif values.dtype != target.type.numpy:
        values = values.astype(target.type.numpy)
    source.write(target, everything(target) if values.ndim == len(target.dims) else (), values)
