"""What a variable says about itself: shape, dimensions, filters, chunks, byte order."""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from omnizarr.nc.chunking import default_chunks
from omnizarr.nc.dataset.attributes import Attributed, put
from omnizarr.nc.dataset.errors import BadOptionError
from omnizarr.nc.dataset.look import Look, look_of
from omnizarr.nc.dataset.plan import default_fillvals
from omnizarr.nc.dataset.usertypes import CompoundType, UserType
from omnizarr.nc.dataset.words import class_text
from omnizarr.nc.kinds import NETCDF4_KINDS
from omnizarr.nc.tree import Filter, Group, Var

if TYPE_CHECKING:
    from omnizarr.nc.dataset.dataset import Dataset
    from omnizarr.nc.dataset.dimension import Dimension

BLOSC: Final = {"blosc_lz": 0, "blosc_lz4": 1, "blosc_lz4hc": 2, "blosc_snappy": 3, "blosc_zlib": 4, "blosc_zstd": 5}
SZIP: Final = {"ec": 4, "nn": 32}
QUANTIZED: Final = {
    "BitGroom": "_QuantizeBitGroomNumberOfSignificantDigits",
    "GranularBitRound": "_QuantizeGranularBitRoundNumberOfSignificantDigits",
    "BitRound": "_QuantizeBitRoundNumberOfSignificantBits",
}
_CACHE: Final = (16777216, 1000, 0.75)


class VariableInfo(Attributed[Var]):
    """The part of a variable that needs no values."""

    __slots__ = ("__weakref__", "_chunk_cache", "_grp", "_look")

    __orthogonal_indexing__ = True

    _grp: Any
    _look: Look
    _chunk_cache: tuple[int, int, float]

    def __init__(self, group: Dataset, node: Var) -> None:
        handle = group._handle  # noqa: SLF001 - groups and variables belong together
        put(self, "_handle", handle)
        put(self, "_node", node)
        put(self, "_grp", weakref.proxy(group) if handle.keepweakref else group)
        put(self, "_look", look_of(node, auto_complex=handle.auto_complex))
        put(self, "_chunk_cache", _CACHE)
        put(self, "_ncstring_attrs__", group._ncstring_attrs__)  # noqa: SLF001 - as above

    @property
    def name(self) -> str:
        """The name, without the group's."""
        return self._node.name

    @property
    def dtype(self) -> Any:  # noqa: ANN401 - a NumPy type, or `str`
        """The NumPy type of values; `str` for strings."""
        return self._look.dtype

    @property
    def datatype(self) -> np.dtype[Any] | UserType:
        """The NumPy type of values, or the user type."""
        return self._look.datatype

    @property
    def auto_complex(self) -> bool:
        """Whether complex numbers are stored as pairs and read back."""
        return self._handle.auto_complex

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._node.dims) - self._look.pairs

    @property
    def shape(self) -> tuple[int, ...]:
        """Current lengths of the dimensions."""
        shape = self._node.shape
        return shape[:-1] if self._look.pairs else shape

    @property
    def size(self) -> int:
        """The number of values."""
        return math.prod(self.shape)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Names of the dimensions."""
        return tuple(dim.name for dim in self._node.dims[: self.ndim])

    def get_dims(self) -> tuple[Dimension, ...]:
        """Return the dimensions."""
        return tuple(self._dimension(dim.path) for dim in self._node.dims[: self.ndim])

    def _dimension(self, path: str) -> Dimension:
        root = self._grp
        while root.parent is not None:
            root = root.parent
        home, _, name = path.rpartition("/")
        found: Dimension = (root[home] if home else root).dimensions[name]
        return found

    def group(self) -> Dataset:
        """Return the group that the variable is in."""
        group: Dataset = self._grp
        return group

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def get_fill_value(self) -> Any:  # noqa: ANN401 - a scalar
        """Return what elements hold that were never written; `None` if that is undefined."""
        if self._node.storage.no_fill:
            return None
        if "_FillValue" in self._node.attrs:
            return self.getncattr("_FillValue")
        if self._look.kind != "primitive":
            return None
        return np.array(default_fillvals[self.dtype.str[1:]]).astype(self.dtype)

    def filters(self) -> dict[str, Any] | None:
        """Return the filters, under the names that `createVariable` has for them; `None` for netCDF-3."""
        if not self._handle.model.startswith("NETCDF4"):
            return None
        storage = self._node.storage
        found: dict[str, Any] = {
            "zlib": storage.deflate > 0,
            "szip": False,
            "zstd": False,
            "bzip2": False,
            "blosc": False,
            "shuffle": storage.shuffle,
            "complevel": storage.deflate,
            "fletcher32": storage.fletcher32,
        }
        for one in storage.filters:
            found.update(_named(one))
        return found

    def quantization(self) -> tuple[int, str] | None:
        """Return the number of significant digits that are kept, and how; `None` if all are."""
        quantize = self._node.storage.quantize
        if quantize is None:
            return None
        mode = next((mode for mode, attribute in QUANTIZED.items() if attribute == quantize[0]), None)
        return (quantize[1], mode) if mode else None

    def endian(self) -> str:
        """Return the order of bytes in store: little, big or native."""
        return self._node.storage.endian if self._handle.model.startswith("NETCDF4") else "native"

    def chunking(self) -> str | list[int] | None:
        """Return the lengths of a chunk, or "contiguous"; `None` for netCDF-3."""
        if not self._handle.model.startswith("NETCDF4"):
            return None
        var, storage = self._node, self._node.storage
        if storage.kind != "chunked" or not var.dims:
            return "contiguous"
        if storage.chunks is not None:
            return list(storage.chunks)
        grows = any(dim.unlimited for dim in var.dims)
        filtered = storage.deflate or storage.fletcher32 or storage.filters
        if self._handle.source.kind in NETCDF4_KINDS and not grows and not filtered:
            return "contiguous"
        lengths = [None if dim.unlimited else dim.size for dim in var.dims]
        return list(default_chunks(lengths, var.type.numpy.itemsize))

    def get_var_chunk_cache(self) -> tuple[int, int, float]:
        """Return what `set_var_chunk_cache` set; Omnizarr has no use for it."""
        return self._chunk_cache

    def set_var_chunk_cache(
        self, size: int | None = None, nelems: int | None = None, preemption: float | None = None
    ) -> None:
        """Remember settings of a cache of chunks; Omnizarr has no use for them."""
        given = (size, nelems, preemption)
        if preemption is not None and not 0 <= preemption <= 1:
            raise BadOptionError(f"preemption must be between 0 and 1, not {preemption}")
        put(
            self,
            "_chunk_cache",
            tuple(old if new is None else new for old, new in zip(self._chunk_cache, given, strict=True)),
        )

    def use_nc_get_vars(self, use_nc_get_vars: object) -> None:
        """Do nothing: all ways of reading are the same."""

    def set_collective(self, value: object) -> None:
        """Do nothing: there is no other way than this."""

    def _home(self) -> Group:
        group = self._node.group
        if group is None:
            raise BadOptionError(f"variable {self.name} is in no group")
        return group

    def __repr__(self) -> str:
        try:
            path = self._grp.path
        except ReferenceError:
            return "Variable object no longer valid"
        kind = "compound" if isinstance(self._look.datatype, CompoundType) else self._look.kind
        word = "vlen" if kind == "string" else str(self.dtype) if kind == "primitive" else kind
        lines = [class_text(self), f"{word} {self.name}({', '.join(self.dimensions)})"]
        lines += [f"    {name}: {self.getncattr(name)}" for name in self.ncattrs()]
        if kind != "primitive":
            lines.append(f"{word} data type: {self.dtype}")
        if path != "/":
            lines.append(f"path = {path}")
        lines.append(f"unlimited dimensions: {', '.join(dim.name for dim in self._node.dims if dim.unlimited)}")
        lines.append(f"current shape = {self.shape!r}")
        if kind == "primitive":
            lines.append(self._filling())
        return "\n".join(lines)

    def _filling(self) -> str:
        if self._node.storage.no_fill:
            return "filling off"
        if "_FillValue" in self._node.attrs:
            return "filling on"
        word = self.dtype.str[1:]
        used = "ignored" if word in ("i1", "u1") else "used"
        return f"filling on, default _FillValue of {default_fillvals[word]} {used}"

    def __reduce__(self) -> NoReturn:
        raise NotImplementedError("Variable is not picklable")


def _named(one: Filter) -> dict[str, Any]:
    """Return what `filters` says about a filter of HDF5's registry."""
    numbers = one.parameters
    if one.id == 32015:
        return {"zstd": True, "complevel": numbers[0] if numbers else 0}
    if one.id == 307:
        return {"bzip2": True, "complevel": numbers[0] if numbers else 0}
    if one.id == 32001 and len(numbers) >= 7:
        names = {code: name for name, code in BLOSC.items()}
        return {"blosc": {"compressor": names.get(numbers[6]), "shuffle": numbers[5]}, "complevel": numbers[4]}
    if one.id == 4 and len(numbers) >= 2:
        coding = "ec" if numbers[0] & SZIP["ec"] else "nn"
        return {"szip": {"coding": coding, "pixels_per_block": numbers[1]}}
    return {}
