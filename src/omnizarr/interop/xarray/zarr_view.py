"""Groups of Zarr as xarray sees them: one pass over the documents, no array is opened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any

from xarray import Variable
from xarray.core import indexing

from omnizarr.errors import OmnizarrError
from omnizarr.format.fill_attribute import from_json
from omnizarr.format.names import join
from omnizarr.format.v2 import DIMENSIONS
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.group import Group
from omnizarr.hierarchy.listing import left_out
from omnizarr.interop.xarray.dropping import forgiving, group_kept
from omnizarr.interop.xarray.grouping import group_small
from omnizarr.interop.xarray.lazy import LazyArray
from omnizarr.interop.xarray.places import source_name
from omnizarr.interop.xarray.words import copied, words_of
from omnizarr.model.array import ArrayMeta
from omnizarr.model.grid import Lengths

_FILL = "_FillValue"


class ZarrView:
    """A group of Zarr.

    Args:
        group: It.
        fill_is_missing: Whether the arrays' fill values stand for missing values: `None` where that is the custom, as
            it was before v3.
        name: What the variable is called, if an array stands alone.
    """

    def __init__(self, group: Group | Array, fill_is_missing: bool | None = None, name: str = "data") -> None:
        self._group = group
        self._fill_is_missing = fill_is_missing
        self._name = name
        self._found: list[tuple[str, Any, bool]] | None = None

    @property
    def attrs(self) -> dict[str, Any]:
        """The group's attributes, without those that are NCZarr's own."""
        if isinstance(self._group, Array):
            return {}
        attributes = self._group.metadata.attributes
        return {name: copied(value) for name, value in attributes.items() if not _is_private(name)}

    @property
    def encoding(self) -> dict[str, Any]:
        """Where the group is."""
        return {"source": source_name(self._group.store, self._group.path)}

    def variables(self, dropped: Collection[str] = ()) -> dict[str, Variable]:
        """Return the variables, but for those that are dropped later and cannot be read."""
        group = self._group
        if isinstance(group, Array):
            made = {self._name: variable(group, self.encoding["source"], self._fill_is_missing)}
            group_small(made)
            return made
        made = {}
        source = self.encoding["source"]
        for name, meta, from_copy in self._children():
            if isinstance(meta, ArrayMeta):
                with forgiving(name, dropped):
                    array = Array(group._context, join(group.path, name), meta, unchecked=from_copy)  # noqa: SLF001 - as Group does
                    made[name] = variable(array, source, self._fill_is_missing)
            elif isinstance(meta, OmnizarrError) and name not in dropped:
                left_out(join(group.path, name), meta)
        group_kept(made, dropped)
        return made

    def groups(self) -> dict[str, ZarrView]:
        """Return the groups right below."""
        group = self._group
        if isinstance(group, Array):
            return {}
        return {
            name: ZarrView(Group(group._context, join(group.path, name), meta), self._fill_is_missing)  # noqa: SLF001
            for name, meta, _ in self._children()
            if not isinstance(meta, (ArrayMeta, OmnizarrError))
        }

    def find(self, path: str) -> ZarrView:
        """Return the group at a path."""
        if isinstance(self._group, Array):
            return self
        return ZarrView(self._group[path], self._fill_is_missing, path.rpartition("/")[2])

    def _children(self) -> list[tuple[str, Any, bool]]:
        if self._found is None:
            children: Callable[[], list[tuple[str, Any, bool]]] = self._group._children  # type: ignore[union-attr] # noqa: SLF001
            self._found = children()
        return self._found


def _is_private(name: str) -> bool:
    return name[:3].lower() == "_nc"


def variable(array: Array, source: str, fill_is_missing: bool | None = None) -> Variable:
    """Return an array as a variable that is read when it is needed."""
    meta = array.metadata
    new = meta.format == "zarr3"
    # Copies, for what documents mean is remembered: whoever changes a list in an attribute changes that of nobody else.
    attrs = {
        name: copied(value) for name, value in meta.attributes.items() if name != DIMENSIONS and not _is_private(name)
    }
    dims = dimensions(meta)
    encoding = _encoding(array, meta, dims, new=new)
    encoding["source"] = source
    if array.dtype.names is not None:  # xarray has nothing to put in the place of a structure that is missing
        attrs.pop(_FILL, None)
        encoding["fill_value"] = array.fill_value
    elif fill_is_missing if fill_is_missing is not None else not new:
        fill = array.fill_value
        if fill is not None:
            attrs[_FILL] = fill
    else:
        encoding["fill_value"] = array.fill_value
        if _FILL in attrs:
            attrs[_FILL] = from_json(attrs[_FILL], array.dtype)
    data = indexing.LazilyIndexedArray(LazyArray(array), _all_of(len(dims)))
    return Variable(dims, data, attrs, encoding, fastpath=True)


@lru_cache
def _all_of(ndim: int) -> indexing.BasicIndexer:
    """Return the selection of all there is, which xarray would check anew for each array."""
    return indexing.BasicIndexer((slice(None),) * ndim)


def dimensions(meta: ArrayMeta) -> tuple[str, ...]:
    """Return the names of an array's dimensions; those that have none are named after their length, as by netCDF."""
    names: Any = meta.dims
    if names is None:
        given = meta.attributes.get(DIMENSIONS)
        names = [None] * len(meta.shape)
        # Numbers are names, too, if need be; what no key of a mapping can be is none.
        if isinstance(given, list) and len(given) == len(names) and not any(isinstance(n, (list, dict)) for n in given):
            names = given
    if None not in names:
        return tuple(names)
    used: Counter[str] = Counter()
    made: list[str] = []
    for name, size in zip(names, meta.shape, strict=True):
        full = f"_Anonymous_Dim_{size}" if name is None else str(name)
        used[full] += name is None
        made.append(f"{full}_{used[full]}" if used[full] > 1 else full)
    return tuple(made)


def _encoding(array: Array, meta: ArrayMeta, dims: tuple[str, ...], *, new: bool) -> dict[str, Any]:
    chunks, shards = meta.chunks, meta.shards
    stored: tuple[Lengths, ...] = chunks if shards is None else shards
    encoding: dict[str, Any] = {
        "chunks": chunks,
        "preferred_chunks": dict(
            zip(dims, (_preferred(one, n) for one, n in zip(stored, meta.shape, strict=True)), strict=True)
        ),
        "shards": shards,
        **words_of(array.codecs, len(dims), meta.dtype, new=new),
        "original_shape": meta.shape,
    }
    if meta.dtype.numpy.kind == "T":
        encoding["dtype"] = meta.dtype.numpy
    return encoding


def _preferred(length: Lengths, size: int) -> Any:  # noqa: ANN401 - an integer or a tuple of them
    # Dask refuses chunks of no length along a dimension that has none.
    return length if size else (0,)
