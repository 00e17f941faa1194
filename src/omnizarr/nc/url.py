"""What a URL of netcdf-c asks of the netCDF model: the place, the kind of dataset, and how to read and write it."""

from __future__ import annotations

import os
from typing import Any, Final, TypeAlias

from omnizarr.errors import UnsupportedError
from omnizarr.nc.kinds import CLASSIC, NCZARR, NCZARR3, NETCDF3_KINDS, NETCDF4, NETCDF4_KINDS, ZARR, ZARR3, ZARR_KINDS
from omnizarr.store.cloud.opening import is_cloud
from omnizarr.store.file import local_path
from omnizarr.store.uri import scheme
from omnizarr.store.url.explain import Understood, explain
from omnizarr.store.url.grammar import parse_place

Options: TypeAlias = dict[str, Any]

_KINDS: Final = {"nczarr": NCZARR, "zarr": ZARR, "netcdf-3": CLASSIC, "netcdf-4": NETCDF4}
_ALSO: Final = {
    "nczarr": (NCZARR, NCZARR3),
    "zarr": (ZARR, ZARR3),
    "netcdf-3": NETCDF3_KINDS,
    "netcdf-4": NETCDF4_KINDS,
}
"""Kinds that a URL leaves open, so that whoever names one of them does not contradict it."""


def opened(where: str) -> tuple[str, Options]:
    """Return the place that a text names, and the options for opening it.

    Raises:
        UnsafeError: If it is a URL that is not well formed, or contradicts itself.
        UnsupportedError: If it is a URL that cannot be opened.

    >>> opened("file:///x.zarr#mode=zarr,file"), opened("x.zarr")
    (('/x.zarr', {'pure': True}), ('x.zarr', {}))
    """
    found = _understood(where)
    if found is None:
        return _plain(where), {}
    return _place(found, where), {"pure": True} if found.pure else {}


def created(where: str, kind: str | None) -> tuple[str, str | None, Options]:
    """Return the place that a text names, the kind to create there if anything is said of it, and the options for that.

    Args:
        where: A path or a URL.
        kind: One that the caller insists on.

    Raises:
        UnsafeError: As for `opened`.
        UnsupportedError: As for `opened`, and if the URL asks for another kind than the caller.

    >>> created("file:///x.zarr#mode=nczarr,noxarray,file", None)
    ('/x.zarr', 'nczarr', {'xarray': False})
    """
    found = _understood(where)
    if found is None:
        return _plain(where), kind, {}
    asked = _KINDS.get(found.model)
    if kind is not None and asked is not None and kind not in _ALSO[found.model]:
        raise UnsupportedError(
            f"{found.url!r} asks for {asked}, and something else asks for {kind}", hint="Leave one of the two out."
        )
    kind = kind or asked
    options: Options = {}
    if kind is None or kind in ZARR_KINDS:
        options |= {} if found.xarray else {"xarray": False}
        options |= {"consolidated": True} if found.consolidated else {}
        options |= {"separator": found.separator} if found.separator else {}
    return _place(found, where), kind, options


def asked_kind(where: object, old: str = "") -> str | None:
    """Return the kind of dataset that a URL asks for; `None` if it leaves that open, or is none.

    Args:
        where: A place of any form.
        old: A kind that is taken if it will do, too.

    >>> asked_kind("file:///x#mode=zarr,file"), asked_kind("file:///x#mode=zarr,file", "zarr3"), asked_kind("x.nc")
    ('zarr', 'zarr3', None)
    """
    found = _understood(where) if isinstance(where, str) else None
    asked = _KINDS.get(found.model) if found is not None else None
    return old if found is not None and asked is not None and old in _ALSO[found.model] else asked


def _understood(where: str) -> Understood | None:
    """Return how a URL with modes is understood; `None` for everything else."""
    return explain(where) if parse_place(where) is not None else None


def _plain(where: str) -> str:
    if ":" not in where or scheme(where) is None or is_cloud(where):
        return where
    return local_path(where)


def _place(found: Understood, where: str) -> str:
    """Return a path wherever one says as much as the URL."""
    if found.bucket is not None or found.kind == "http":
        return where
    path = local_path(where)  # raises for what cannot be opened
    named_zip = path.lower().endswith(".zip")
    says_more = found.kind == ("file" if named_zip else "zip") and not os.path.lexists(path)
    return where if says_more else path
