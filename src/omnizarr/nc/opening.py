"""From a place to the source of a dataset, whatever it is stored as."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module  # each kind of place is loaded when the first dataset of it is opened
from typing import Any, Final, Literal, TypeAlias

from omnizarr.nc import url
from omnizarr.nc.kinds import NETCDF3_KINDS, NETCDF4_KINDS, as_kind, kind_by_name
from omnizarr.nc.source import Source
from omnizarr.nc.tree import Group
from omnizarr.store.cloud.at import At, located
from omnizarr.store.remote import url_of
from omnizarr.store.sniff import sniff_file

Mode: TypeAlias = Literal["r", "a"]

_FILES: Final = {"netCDF classic file": "omnizarr.nc.files.classic", "HDF5 file": "omnizarr.nc.files.hdf5"}


def open_source(where: object, mode: Mode = "r", **options: Any) -> Source:  # noqa: ANN401 - each kind has its own
    """Open a dataset: Zarr of any dialect, netCDF-4, HDF5 or netCDF-3.

    Args:
        where: A path, a URL, with options (`At`) or without, a mapping, a store, or a source, which is returned as it
            is.
        mode: "r", or "a" to change what is there (Zarr only).
        options: What a kind of place takes, beyond that.

    Raises:
        NotFoundError: If nothing is there.
        UnsupportedError: If what is there cannot be opened, or not for writing.
    """
    if hasattr(where, "root") and hasattr(where, "changed"):
        return where  # type: ignore[return-value]
    if isinstance(where, (str, At)):
        given = where.options if isinstance(where, At) else None
        text = where.where if isinstance(where, At) else where
        if (remote := url_of(text)) is not None:
            place = located(remote, given)
            found: Source = import_module("omnizarr.refs.datasets").open_source(place, mode, **options)
            return found
        plain, asked = url.opened(text)
        where, options = where if given else plain, {**asked, **options}
    home = "omnizarr.nc.zarr.source"
    if isinstance(where, (str, os.PathLike)):
        sniffed = sniff_file(os.fspath(where))
        home = _FILES.get(sniffed.what if sniffed is not None else "", home)
    source: Source = import_module(home).open_source(where, mode, **options)
    return source


def create_source(where: object, root: Group, kind: str | None = None, **options: Any) -> Source:  # noqa: ANN401 - as above
    """Create a dataset with all definitions of a tree, whose values are then written to the source returned.

    What is at the place already is replaced. The tree is copied: the source has one of its own, with the same names.

    Args:
        where: Where to.
        root: The definitions. Current lengths of unlimited dimensions are kept.
        kind: A name that `omnizarr.nc.kinds` knows; by default what the ending of the place says, else NCZarr.
        options: What a kind of place takes, beyond that.

    Raises:
        UnsupportedError: If the kind cannot hold what the tree defines; nothing is written then.
    """
    kind = as_kind(kind) if kind is not None else None
    if isinstance(where, str):
        where, kind, asked = url.created(where, kind)
        options = {**asked, **options}
    kind = kind or kind_by_name(where)
    if kind in NETCDF3_KINDS:
        home = "omnizarr.nc.files.classic_writing"
    elif kind in NETCDF4_KINDS:
        home = "omnizarr.nc.files.hdf5_writing"
    else:
        home = "omnizarr.nc.zarr.source"
    source: Source = import_module(home).create_source(where, root, kind, **options)
    return source


@contextmanager
def finishing(target: Source) -> Generator[Source]:
    """Close a dataset that was created, once all its values are written.

    If that fails, a file that only gets its name by closing is discarded, and what had the name before stays.
    """
    try:
        yield target
    except BaseException:
        discard = getattr(target, "discard", None)
        if discard is not None:
            discard()
        raise
    target.close()
