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
    from omnizarr.refs.files import read as read
    from omnizarr.refs.files import write as write
    from omnizarr.refs.scan.many import Scanned as Scanned
    from omnizarr.refs.scan.many import ScanError as ScanError
    from omnizarr.refs.scan.many import checked as checked
    from omnizarr.refs.scan.many import scan as scan
    from omnizarr.refs.scan.many import scan_all as scan_all
    from omnizarr.refs.scan.source import Options as Options
    from omnizarr.refs.summary import Summary as Summary
    from omnizarr.refs.summary import summary as summary
    from omnizarr.refset.model import Chunks as Chunks
    from omnizarr.refset.model import References as References
    from omnizarr.refset.model import Stamp as Stamp

_HOMES = {
    "Chunks": "omnizarr.refset.model",
    "Options": "omnizarr.refs.scan.source",
    "References": "omnizarr.refset.model",
    "ScanError": "omnizarr.refs.scan.many",
    "Scanned": "omnizarr.refs.scan.many",
    "Stamp": "omnizarr.refset.model",
    "Summary": "omnizarr.refs.summary",
    "checked": "omnizarr.refs.scan.many",
    "read": "omnizarr.refs.files",
    "scan": "omnizarr.refs.scan.many",
    "scan_all": "omnizarr.refs.scan.many",
    "summary": "omnizarr.refs.summary",
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
