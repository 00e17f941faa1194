"""From a CDL text to a dataset at a place."""

from __future__ import annotations

import os
from typing import NamedTuple

from omnizarr.nc.cdl.parser import CdlSource
from omnizarr.nc.kinds import NCZARR, ZARR_KINDS, as_kind, is_named_as_file, kind_by_name
from omnizarr.nc.opening import create_source, finishing
from omnizarr.nc.source import everything
from omnizarr.nc.url import asked_kind


class Generated(NamedTuple):
    """What was written."""

    target: str
    kind: str
    groups: int
    dimensions: int
    variables: int


def generate(
    source: CdlSource, where: object, kind: str | None = None, *, fill: bool = True, data: bool = True
) -> Generated:
    """Write what a CDL text says to a place; what is there already is replaced.

    Args:
        source: What the text says.
        where: A path, a URL, a mapping or a store.
        kind: A name of `omnizarr.nc.kinds`; unless given, what `_Format` says if the place has the name of a netCDF
            file, else what the ending of the place says.
        fill: Whether elements without a value have one at all.
        data: Whether to write values, or only what is defined.

    Raises:
        UnsupportedError: If the kind cannot hold what the text says.
    """
    kind = chosen_kind(source, where, kind)
    if not fill:
        for var in source.root.all_vars():
            var.storage.no_fill = True
    if not data:
        _forget(source)
    with finishing(create_source(where, source.root, kind)) as target:
        for group, twin in zip(source.root.walk(), target.root.walk(), strict=True):
            for name, var in group.vars.items():
                if var in source.given:
                    target.write(twin.vars[name], everything(var), source.read(var, everything(var)))
    return counted(source, os.fspath(where) if isinstance(where, (str, os.PathLike)) else repr(where), kind)


def counted(source: CdlSource, target: str, kind: str) -> Generated:
    """Return how many groups, dimensions and variables there are."""
    groups = list(source.root.walk())
    dims, variables = (sum(map(len, found)) for found in zip(*((g.dims, g.vars) for g in groups), strict=True))
    return Generated(target, kind, len(groups), dims, variables)


def chosen_kind(source: CdlSource, where: object, kind: str | None) -> str:
    """Return the kind of dataset to write."""
    if kind is not None:
        return as_kind(kind)
    asked = asked_kind(where)
    if asked is not None:
        return asked
    return source.format if source.format and is_named_as_file(where) else kind_by_name(where)


def default_place(source: CdlSource, text: str, kind: str | None, ending: str | None = None) -> str:
    """Return where a dataset goes if nobody says: the name of the text's file, or of the dataset, and an ending.

    >>> from omnizarr.nc.cdl.parser import parse
    >>> default_place(parse("netcdf a {}"), "new/small.cdl", None), default_place(parse("netcdf a {}"), "-", "nc4")
    ('small.zarr', 'a.nc')
    """
    found = as_kind(kind) if kind is not None else source.format or NCZARR
    base = source.name if text == "-" else os.path.splitext(os.path.basename(text))[0]  # noqa: PTH119, PTH122 - no files
    return base.replace("/", "_") + (ending or (".zarr" if found in ZARR_KINDS else ".nc"))


def _forget(source: CdlSource) -> None:
    """Leave out all values; unlimited dimensions have no length then."""
    source.given.clear()
    for group in source.root.walk():
        for dim in group.dims.values():
            dim.size = 0 if dim.unlimited else dim.size
        for var in group.vars.values():
            var.handle = None
