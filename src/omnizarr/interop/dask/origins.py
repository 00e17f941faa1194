"""Where values that are yet to be read will come from, so that nobody erases or changes them before they are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, cast

from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.lock import address
from omnizarr.hierarchy.view import View
from omnizarr.store.protocol import Store
from omnizarr.store.uri import scheme, uri_to_path

_DEEPEST: Final = 100
"""Most arrays in arrays that are looked through."""


class Origin(NamedTuple):
    """What an array reads from."""

    place: str
    """An array as `real` names it, or a file."""
    whole: bool = True
    """Whether slices of the values are those of what is stored; else any value may come from anywhere in it."""
    file: bool = False
    """Whether it is a file that this package reads, and goes on to read when another has taken its name."""


def real(store: Store, path: str) -> str:
    """Return where a node is, by which way ever it was reached: links are followed.

    The name of a node below it starts with it.
    """
    return real_uri(address(store, path))


def real_uri(uri: str) -> str:
    """Return the real path of a local place with a slash behind it; any other URI as it is."""
    return real_path(uri_to_path(uri)) if scheme(uri) == "file" else uri


def real_path(path: str) -> str:
    """Return a path without links in it, with a slash behind it."""
    return os.path.join(os.path.realpath(path), "")  # noqa: PTH118 - a text that others start with


def read_from(x: Any) -> set[str]:  # noqa: ANN401 - a Dask array
    """Return the places that a Dask array is made from, as far as its graph tells."""
    return {origin.place for origin in origins(x).values()}


def origins(x: Any) -> dict[str, Origin]:  # noqa: ANN401 - a Dask array
    """Return what the layers of a Dask graph read from, by their names."""
    layers: Any = x.dask.layers
    found: dict[str, Origin] = {}
    for name, layer in layers.items():
        for one in _held(layer):
            if (origin := origin_of(one)) is not None:
                found[name] = origin
    return found


def _held(layer: Any) -> Iterator[object]:  # noqa: ANN401 - Dask has no types
    """Return what a layer of a graph holds itself: an array is in a layer of its own, or given to all tasks of one."""
    indices = getattr(layer, "indices", None)
    if indices is not None:
        yield from (one for one, index in indices if index is None)
    elif getattr(layer, "is_materialized", bool)() and len(layer) == 1:
        yield from layer.values()


def origin_of(data: Any) -> Origin | None:  # noqa: ANN401 - whatever holds values, or will
    """Return what an array reads from that may be wrapped in others; `None` where nobody knows, or in memory."""
    whole = True
    for _ in range(_DEEPEST):
        if isinstance(data, View):
            array: Any = data._array  # noqa: SLF001 - the classes belong together
            return Origin(real(array.store, array.path), whole=False)
        if isinstance(data, Array):
            return Origin(real(data.store, data.path), whole)
        home: Any = getattr(data, "home", None)
        if callable(home):
            at = cast("tuple[Store, str] | None", home())
            return Origin(real(*at), whole) if at is not None else _file(data)
        if (place := _foreign(data)) is not None:
            return Origin(place, whole)
        whole = whole and _takes_all(data)
        # Dask may wrap what it holds, too.
        data = getattr(data, "array", getattr(data, "value", None))
        if data is None:
            return None
    return None


def _file(data: Any) -> Origin | None:  # noqa: ANN401 - a variable of a netCDF file
    name: str = data.file()
    return Origin(real_path(name), file=True) if scheme(name) is None and os.path.lexists(name) else None


def _takes_all(data: object) -> bool:
    """Whether a wrapper of xarray shows all of an array, in its order."""
    parts: tuple[Any, ...] = getattr(getattr(data, "key", None), "tuple", ())
    shape: tuple[int, ...] = getattr(getattr(data, "array", None), "shape", ())
    if not parts:
        return True
    return len(parts) == len(shape) and all(
        isinstance(one, slice) and one.indices(size) == (0, size, 1) for one, size in zip(parts, shape, strict=True)
    )


def _foreign(data: Any) -> str | None:  # noqa: ANN401 - one of xarray's arrays
    """Return the local place that an array of xarray's own engines reads from."""
    # By zarr-python: a store path, whose text is no URI in that nothing is quoted.
    path = str(getattr(getattr(data, "_array", None), "store_path", ""))
    if path.startswith("file://"):
        return real_path(path.removeprefix("file://"))
    # By netCDF4, h5netcdf and SciPy: whatever opens the file anew.
    given: Any = getattr(getattr(getattr(data, "datastore", None), "_manager", None), "_args", ())
    name = next(iter(given), None)
    return real_path(name) if isinstance(name, str) and scheme(name) is None else None
