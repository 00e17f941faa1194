"""Where the values of a dataset will be read from, so that nobody erases them before they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from xarray import Dataset

from omnizarr.errors import ConflictError
from omnizarr.format.names import join
from omnizarr.hierarchy.group import Group
from omnizarr.hierarchy.lock import address
from omnizarr.hierarchy.opening import Place
from omnizarr.interop.dask.reading import read_from
from omnizarr.interop.xarray.lazy import LazyArray
from omnizarr.interop.xarray.netcdf_array import NetcdfArray
from omnizarr.store.protocol import place_name

_DEEPEST: Final = 100
"""Most arrays in arrays that are looked through."""


def check_apart(datasets: Iterable[Dataset], where: object, path: str | None) -> None:
    """Refuse to replace what values are still to be read from.

    Args:
        datasets: What is to be written.
        where: The place, or a group.
        path: Path within the place.

    Raises:
        ConflictError: If some of the values are there.
    """
    found = {one for dataset in datasets for var in dataset.variables.values() for one in _places(var._data)}  # noqa: SLF001
    if not found:
        return
    inner = (path or "").strip("/")
    if isinstance(where, Group):
        store, at = where.store, join(where.path, inner).strip("/")
    else:
        place = Place(where, "w-", inner or None)
        store, at = place.context.store, place.path
    here = address(store, at)
    if any(one.startswith(here) for one in found):
        raise ConflictError(
            "the values are read from what they would replace",
            path=place_name(store, at),
            hint='Call ds.load() first, write to another place, or only add to what is there: mode="a".',
        )


def _places(data: Any) -> Iterator[str]:  # noqa: ANN401 - whatever a variable holds
    if hasattr(data, "dask"):
        yield from read_from(data)
        for layer in data.dask.layers.values():
            for one in _held(layer):
                yield from _place(one)
    else:
        yield from _place(data)


def _held(layer: Any) -> Iterator[object]:  # noqa: ANN401 - Dask has no types
    """Return what a layer of a graph holds itself: xarray gives an array to a layer of its own, or to all its tasks."""
    indices = getattr(layer, "indices", None)
    if indices is not None:
        yield from (one for one, index in indices if index is None)
    elif getattr(layer, "is_materialized", bool)() and len(layer) == 1:
        yield from layer.values()


def _place(data: Any) -> Iterator[str]:  # noqa: ANN401 - as above
    """Return the place of the array that others wrap, if it is one of this package's."""
    for _ in range(_DEEPEST):
        if isinstance(data, (LazyArray, NetcdfArray)):
            if (found := data.home()) is not None:
                yield address(*found)
            return
        # Dask may wrap what it holds, too.
        data = getattr(data, "array", getattr(data, "value", None))
        if data is None:
            return
