"""netCDF datasets (NCZarr, netCDF-4, HDF5, netCDF-3) as xarray sees them: attributes and encodings of their types."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from xarray import Variable
from xarray.coding.strings import create_vlen_dtype
from xarray.core import indexing

from omnizarr.errors import NotFoundError
from omnizarr.interop.xarray.dropping import forgiving, group_kept
from omnizarr.interop.xarray.netcdf_array import NetcdfArray
from omnizarr.interop.xarray.places import dataset_name
from omnizarr.interop.xarray.source import SharedSource
from omnizarr.interop.xarray.words import words_of
from omnizarr.model.codec import inner_codecs, sharding_of
from omnizarr.nc.dataset.values import from_attr
from omnizarr.nc.kinds import NETCDF3_KINDS
from omnizarr.nc.near import listed
from omnizarr.nc.tree import Group, Storage, Var
from omnizarr.nc.types import STRING, Enum, Vlen
from omnizarr.nc.zarr.held import Held


class NetcdfView:
    """A group of a netCDF dataset.

    Args:
        shared: The dataset.
        group: The group; the root if not given.
    """

    def __init__(self, shared: SharedSource, group: Group | None = None) -> None:
        self._shared = shared
        self._group = shared.get().root if group is None else group

    @property
    def attrs(self) -> dict[str, Any]:
        """The group's attributes."""
        return {name: from_attr(attr) for name, attr in self._group.attrs.items()}

    @property
    def encoding(self) -> dict[str, Any]:
        """Where the dataset is, and which dimensions may grow."""
        unlimited = {dim.name for group in self._group.above() for dim in group.dims.values() if dim.unlimited}
        return {"source": dataset_name(self._shared.get()), "unlimited_dims": unlimited}

    def variables(self, dropped: Collection[str] = ()) -> dict[str, Variable]:
        """Return the variables, but for those that are dropped later and cannot be read."""
        source = self._shared.get()
        place, is_old = dataset_name(source), source.kind in NETCDF3_KINDS
        made: dict[str, Variable] = {}
        for name, var in self._group.vars.items():
            with forgiving(name, dropped):
                made[name] = self._variable(var, place, is_old=is_old)
        group_kept(made, dropped)
        return made

    def _variable(self, var: Var, source: str, *, is_old: bool) -> Variable:
        dims = tuple(dim.name for dim in var.dims)
        attrs = {name: from_attr(attr) for name, attr in var.attrs.items()}
        dtype = _dtype(var)
        encoding = _storage(var, dims, is_old=is_old)
        encoding["source"], encoding["original_shape"] = source, var.shape
        if dtype.metadata or isinstance(var.type, Enum):
            encoding["dtype"] = dtype if isinstance(var.type, Enum) else str
        data = indexing.LazilyIndexedArray(NetcdfArray(self._shared, var, dtype))
        return Variable(dims, data, attrs, encoding, fastpath=True)

    def groups(self) -> dict[str, NetcdfView]:
        """Return the groups right below."""
        return {name: NetcdfView(self._shared, group) for name, group in self._group.groups.items()}

    def find(self, path: str) -> NetcdfView:
        """Return the group at a path.

        Raises:
            NotFoundError: If there is none.
        """
        group = self._group.find_group(path.strip("/"))
        if group is None:
            raise NotFoundError(
                f"there is no group {path!r}", path=self._shared.get().name, hint=listed(self._group.groups)
            )
        return NetcdfView(self._shared, group)


def _dtype(var: Var) -> np.dtype[Any]:
    if var.type == STRING:
        dtype: np.dtype[Any] = create_vlen_dtype(str)
        return dtype
    if isinstance(var.type, Enum):
        words: Any = {"enum": dict(var.type.members), "enum_name": var.type.name}
        return np.dtype(var.type.numpy, metadata=words)
    if isinstance(var.type, Vlen):
        return np.dtype(object)
    return np.dtype(var.type.numpy)


def _storage(var: Var, dims: tuple[str, ...], *, is_old: bool) -> dict[str, Any]:
    """Return how the variable is stored, in the words of xarray's netCDF engines, and of Zarr where it is Zarr."""
    storage = var.storage
    if is_old:
        return {}
    encoding: dict[str, Any] = {
        "zlib": storage.deflate > 0,
        "complevel": storage.deflate,
        "shuffle": storage.shuffle,
        "fletcher32": storage.fletcher32,
    }
    encoding.update(_compression(storage))
    chunks = storage.chunks if storage.kind == "chunked" else None
    encoding["contiguous"] = storage.kind == "contiguous"
    encoding["chunksizes"] = None if storage.kind == "contiguous" else chunks
    if chunks is not None:
        encoding["preferred_chunks"] = dict(zip(dims, chunks, strict=True))
    held = var.handle
    if isinstance(held, Held) and held.meta is not None:
        meta = held.meta
        sharding = sharding_of(meta.codecs)
        codecs = meta.codecs if sharding is None else inner_codecs(sharding)
        words = words_of(codecs, meta.ndim, meta.dtype, new=meta.format == "zarr3")
        encoding.update(words, chunks=chunks, shards=meta.shards)
    return encoding


_ZSTD, _BZIP2, _SZIP, _BLOSC = 32015, 307, 4, 32001
_COMPRESSORS = ("blosc_lz", "blosc_lz4", "blosc_lz4hc", "blosc_snappy", "blosc_zlib", "blosc_zstd")
_ENTROPY = 4
"""The bit of szip's mask that says `ec`."""


def _compression(storage: Storage) -> dict[str, Any]:
    """Return compressors in the words of netCDF4-python, which names each, whether it is there or not."""
    words: dict[str, Any] = {"szip": False, "zstd": False, "bzip2": False, "blosc": False}
    for number, given in storage.filters:
        level = given[0] if given else 0
        if number in (_ZSTD, _BZIP2):
            words["zstd" if number == _ZSTD else "bzip2"] = True
            words["complevel"] = level
        elif number == _SZIP and len(given) > 1:
            words["szip"] = {"coding": "ec" if level & _ENTROPY else "nn", "pixels_per_block": given[1]}
        elif number == _BLOSC and len(given) > 6 and given[6] < len(_COMPRESSORS):
            words["blosc"] = {"compressor": _COMPRESSORS[given[6]], "shuffle": given[5]}
            words["complevel"] = given[4]
    return words
