"""From a place to the source of a netCDF dataset in Zarr."""

from __future__ import annotations

from importlib import import_module  # whoever only reads does not load what writes
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omnizarr.nc.source import Source
    from omnizarr.nc.tree import Group


def open_source(where: object, mode: str = "r", **options: Any) -> Source:  # noqa: ANN401 - see the functions called
    """Open a dataset for reading, or with mode "a" for changing it.

    Raises:
        NotFoundError: If nothing is there.
        UnsupportedError: If what is there cannot be opened, or not for writing.
    """
    if mode == "r":
        source: Source = import_module("omnizarr.nc.zarr.reader").open_reader(where, **options)
    else:
        source = import_module("omnizarr.nc.zarr.appending").open_for_append(where, **options)
    return source


def create_source(where: object, root: Group, kind: str, **options: Any) -> Source:  # noqa: ANN401 - as above
    """Create a dataset with all definitions of a tree; see `omnizarr.nc.zarr.writer.create`.

    Raises:
        UnsupportedError: If the kind cannot hold what the tree defines; nothing is written then.
    """
    source: Source = import_module("omnizarr.nc.zarr.writer").create(where, root, kind, **options)
    return source
