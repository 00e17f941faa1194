"""Reference sets: archives of netCDF, HDF5, GRIB, TIFF, FITS and Zarr as one dataset, without a copy of their data.

A set says for each chunk of an array in which file it lies, where, and how many bytes it has. `omnizarr.open` reads
one like any other hierarchy; the functions here make them, and work on whole sets:

>>> import omnizarr as oz
>>> oz.refs.write(oz.refs.combine(["day1.nc", "day2.nc"], concat="time"), "days.parq")  # doctest: +SKIP
>>> oz.open("days.parq")["t2m"][:, 10, 20]  # doctest: +SKIP
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omnizarr.refs.combine.appending import append as append
    from omnizarr.refs.combine.combining import combine as combine
    from omnizarr.refs.combine.nesting import nest as nest
    from omnizarr.refs.combine.streaming import combine_to as combine_to
    from omnizarr.refs.exporting import export as export
    from omnizarr.refs.files import read as read
    from omnizarr.refs.files import write as write
    from omnizarr.refs.inlining import inline as inline
    from omnizarr.refs.rewriting import absolute as absolute
    from omnizarr.refs.rewriting import relative as relative
    from omnizarr.refs.rewriting import rewrite as rewrite
    from omnizarr.refs.scan.many import ScanError as ScanError
    from omnizarr.refs.scan.many import Scanned as Scanned
    from omnizarr.refs.scan.many import checked as checked
    from omnizarr.refs.scan.many import scan as scan
    from omnizarr.refs.scan.many import scan_all as scan_all
    from omnizarr.refs.scan.source import Options as Options
    from omnizarr.refs.subchunking import subchunk as subchunk
    from omnizarr.refs.summary import Summary as Summary
    from omnizarr.refs.summary import summary as summary
    from omnizarr.refs.validating import Finding as Finding
    from omnizarr.refs.validating import validate as validate
    from omnizarr.refset.model import Chunks as Chunks
    from omnizarr.refset.model import References as References
    from omnizarr.refset.model import Stamp as Stamp

_HOMES = {
    "Chunks": "omnizarr.refset.model",
    "Finding": "omnizarr.refs.validating",
    "Options": "omnizarr.refs.scan.source",
    "References": "omnizarr.refset.model",
    "ScanError": "omnizarr.refs.scan.many",
    "Scanned": "omnizarr.refs.scan.many",
    "Stamp": "omnizarr.refset.model",
    "Summary": "omnizarr.refs.summary",
    "absolute": "omnizarr.refs.rewriting",
    "append": "omnizarr.refs.combine.appending",
    "checked": "omnizarr.refs.scan.many",
    "combine": "omnizarr.refs.combine.combining",
    "combine_to": "omnizarr.refs.combine.streaming",
    "export": "omnizarr.refs.exporting",
    "inline": "omnizarr.refs.inlining",
    "nest": "omnizarr.refs.combine.nesting",
    "read": "omnizarr.refs.files",
    "relative": "omnizarr.refs.rewriting",
    "rewrite": "omnizarr.refs.rewriting",
    "scan": "omnizarr.refs.scan.many",
    "scan_all": "omnizarr.refs.scan.many",
    "subchunk": "omnizarr.refs.subchunking",
    "summary": "omnizarr.refs.summary",
    "validate": "omnizarr.refs.validating",
    "write": "omnizarr.refs.files",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - one list is enough


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever it is
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


class _Namespace(ModuleType):
    """This module: `scan` and `combine` are functions in it, also after the folders of these names were imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _HOMES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Namespace
