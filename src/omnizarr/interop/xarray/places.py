"""Names of places that mean the same wherever a program goes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from omnizarr.nc.source import Source
from omnizarr.nc.url import opened
from omnizarr.nc.zarr.reader import ZarrReader
from omnizarr.store.cloud.at import At
from omnizarr.store.protocol import Store, place_name
from omnizarr.store.remote import url_of
from omnizarr.store.uri import scheme, uri_to_path


def lasting(where: object, options: Mapping[str, Any]) -> tuple[object, dict[str, Any]]:
    """Return a place, and the options that open it, as they mean the same in another working directory.

    Args:
        where: Whatever can be opened as a netCDF dataset.
        options: What opening it takes.
    """
    if isinstance(where, At):
        return At(whole(where.where), where.options), dict(options)
    if isinstance(where, os.PathLike):
        return whole(os.fspath(where)), dict(options)
    if not isinstance(where, str) or url_of(where) is not None:
        return where, dict(options)
    plain, asked = opened(where)
    return whole(plain), {**asked, **options}


def whole(name: str) -> str:
    """Return the absolute path where a name is one of something that is there, else the name itself."""
    return os.path.abspath(name) if scheme(name) is None and os.path.lexists(name) else name  # noqa: PTH100 - no links


def source_name(store: Store, path: str) -> str:
    """Return where a node is, as xarray's engines say it: a path if it is a local one, else a URI."""
    uri = store.uri
    if scheme(uri) != "file" or "?" in uri or "#" in uri:
        return place_name(store, path)
    return os.path.join(uri_to_path(uri), *path.split("/")) if path else uri_to_path(uri)  # noqa: PTH118 - of text


def dataset_name(source: Source) -> str:
    """Return where a netCDF dataset is, as xarray's engines say it."""
    if isinstance(source, ZarrReader):
        return source_name(source.context.store, inner_path(source))
    return whole(source.name)


def inner_path(source: ZarrReader) -> str:
    """Return the path of the dataset within its store."""
    return source.name.removeprefix(place_name(source.context.store, "")).strip("/")
