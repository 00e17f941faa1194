"""Reference sets: archives of netCDF, HDF5, GRIB, TIFF, FITS and Zarr as one dataset, without a copy of their data.

A set says for each chunk of an array in which file it lies, where, and how many bytes it has. `omnizarr.open` reads
one like any other hierarchy; the functions here make them, and work on whole sets:

>>> import omnizarr as oz
>>> oz.refs.write(oz.refs.combine(["day1.nc", "day2.nc"], concat="time"), "days.parq")  # doctest: +SKIP
>>> oz.open("days.parq")["t2m"][:, 10, 20]  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omnizarr.refs.combining.appending import append as append
    from omnizarr.refs.combining.assembling import combine as combine
    from omnizarr.refs.combining.nesting import nest as nest
    from omnizarr.refs.combining.streaming import combine_to as combine_to
    from omnizarr.refs.exporting import export as export
    from omnizarr.refs.figures import Summary as Summary
    from omnizarr.refs.figures import summary as summary
    from omnizarr.refs.files import expand as expand
    from omnizarr.refs.files import read as read
    from omnizarr.refs.files import write as write
    from omnizarr.refs.inlining import inline as inline
    from omnizarr.refs.rewriting import absolute as absolute
    from omnizarr.refs.rewriting import relative as relative
    from omnizarr.refs.rewriting import rewrite as rewrite
    from omnizarr.refs.scanners.many import ScanError as ScanError
    from omnizarr.refs.scanners.many import Scanned as Scanned
    from omnizarr.refs.scanners.many import checked as checked
    from omnizarr.refs.scanners.many import scan as scan
    from omnizarr.refs.scanners.many import scan_all as scan_all
    from omnizarr.refs.scanners.source import Options as Options
    from omnizarr.refs.subchunking import subchunk as subchunk
    from omnizarr.refs.validating import Finding as Finding
    from omnizarr.refs.validating import validate as validate
    from omnizarr.refset.model import Chunks as Chunks
    from omnizarr.refset.model import References as References
    from omnizarr.refset.model import Stamp as Stamp

_HOMES = {
    "Chunks": "omnizarr.refset.model",
    "Finding": "omnizarr.refs.validating",
    "Options": "omnizarr.refs.scanners.source",
    "References": "omnizarr.refset.model",
    "ScanError": "omnizarr.refs.scanners.many",
    "Scanned": "omnizarr.refs.scanners.many",
    "Stamp": "omnizarr.refset.model",
    "Summary": "omnizarr.refs.figures",
    "absolute": "omnizarr.refs.rewriting",
    "append": "omnizarr.refs.combining.appending",
    "checked": "omnizarr.refs.scanners.many",
    "combine": "omnizarr.refs.combining.assembling",
    "combine_to": "omnizarr.refs.combining.streaming",
    "expand": "omnizarr.refs.files",
    "export": "omnizarr.refs.exporting",
    "inline": "omnizarr.refs.inlining",
    "nest": "omnizarr.refs.combining.nesting",
    "read": "omnizarr.refs.files",
    "relative": "omnizarr.refs.rewriting",
    "rewrite": "omnizarr.refs.rewriting",
    "scan": "omnizarr.refs.scanners.many",
    "scan_all": "omnizarr.refs.scanners.many",
    "subchunk": "omnizarr.refs.subchunking",
    "summary": "omnizarr.refs.figures",
    "validate": "omnizarr.refs.validating",
    "write": "omnizarr.refs.files",
}

__all__ = [
    "Chunks",
    "Finding",
    "Options",
    "References",
    "ScanError",
    "Scanned",
    "Stamp",
    "Summary",
    "absolute",
    "append",
    "checked",
    "combine",
    "combine_to",
    "expand",
    "export",
    "inline",
    "nest",
    "read",
    "relative",
    "rewrite",
    "scan",
    "scan_all",
    "subchunk",
    "summary",
    "validate",
    "write",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever it is
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
