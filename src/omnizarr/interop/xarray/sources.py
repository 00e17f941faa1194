"""Where the values of a dataset will be read from, so that nobody erases them before they are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from xarray import Dataset

from omnizarr.errors import ConflictError
from omnizarr.format.names import join
from omnizarr.hierarchy.group import Group
from omnizarr.hierarchy.opening import Place
from omnizarr.interop.dask.origins import Origin, origin_of, origins, real, real_path
from omnizarr.store.file import local_path
from omnizarr.store.protocol import Store, place_name
from omnizarr.store.uri import scheme


def check_apart(datasets: Iterable[Dataset], where: object, path: str | None, *, at_once: bool) -> None:
    """Refuse to replace what values are still to be read from.

    Args:
        datasets: What is to be written.
        where: The place, or a group.
        path: Path within the place.
        at_once: Whether what is there is replaced when all is read, as files are.

    Raises:
        ConflictError: If some of the values are there.
    """
    found = {one.place for dataset in datasets for one in _origins(dataset) if not (at_once and one.file)}
    if not found:
        return
    if at_once and isinstance(where, (str, os.PathLike)):
        name = local_path(where)
        here = real_path(name)
    else:
        store, at = _target(where, (path or "").strip("/"))
        here, name = real(store, at), place_name(store, at)
    if any(one.startswith(here) for one in found):
        raise ConflictError(
            "the values are read from what they would replace",
            path=name,
            hint="Call ds.load() first, or write to another place.",
        )


def _target(where: object, inner: str) -> tuple[Store, str]:
    if isinstance(where, Group):
        return where.store, join(where.path, inner).strip("/")
    place = Place(where, "w-", inner or None)
    return place.context.store, place.path


def _origins(dataset: Dataset) -> Iterator[Origin]:
    for var in dataset.variables.values():
        data = var._data  # noqa: SLF001 - the property would read it
        if hasattr(data, "dask"):
            yield from origins(data).values()
        elif (origin := origin_of(data)) is not None:
            yield origin
        elif not var._in_memory:  # noqa: SLF001 - nothing else says so
            # An engine that nobody here knows.
            name = var.encoding.get("source", dataset.encoding.get("source"))
            if isinstance(name, str) and scheme(name) is None:
                yield Origin(real_path(name))
