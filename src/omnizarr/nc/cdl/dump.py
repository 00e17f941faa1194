"""`dump` and `to_cdl`: any dataset as the text that ncdump prints."""

from __future__ import annotations

import io
from typing import Any, BinaryIO

from omnizarr.nc.cdl.options import Options
from omnizarr.nc.cdl.printer import print_cdl
from omnizarr.nc.opening import open_source
from omnizarr.nc.source import Source


def dump(source: object, out: BinaryIO, options: Options | None = None) -> None:
    """Print a dataset as CDL.

    The text is that of `ncdump` for a netCDF-4 file with the same content. Values are read and printed a few megabytes at a
    time.

    Args:
        source: Where the dataset is, or a source that is open already, which stays open.
        out: Takes the text, as bytes.
        options: What is printed, and how; all of it by default.

    Raises:
        NotFoundError: If nothing is there, or no variable or group of a name that is asked for.
    """
    options = options or Options()
    opened = open_source(source)
    try:
        print_cdl(opened, out.write, options, options.name if options.name is not None else dataset_name(opened.name))
    finally:
        if opened is not source:
            opened.close()


def to_cdl(source: object, **options: Any) -> str:  # noqa: ANN401 - those of `Options`
    """Return a dataset as CDL.

    Args:
        source: As for `dump`.
        options: What `Options` takes.

    >>> from omnizarr.nc.source import MemorySource
    >>> print(to_cdl(MemorySource(), name="empty"), end="")
    netcdf empty {
    }
    """
    text = io.BytesIO()
    dump(source, text, Options(**options))
    return text.getvalue().decode("utf-8", "surrogateescape")


def dataset_name(where: str) -> str:
    """Return the name that a place gives to the dataset in it: its last part, without ending.

    >>> dataset_name("/data/ocean.v2.nc"), dataset_name("file:///data/t.zarr#mode=nczarr,file"), dataset_name("a.zarr/")
    ('ocean.v2', 't', 'a')
    """
    path = where
    if "://" in where:
        path = where.split("#")[0].split("?")[0].partition("://")[2]
    last = path.rstrip("/").rpartition("/")[2]
    stem, dot, _ = last.rpartition(".")
    return stem if dot else last


def kind_of(source: Source) -> str:
    """Return what `ncdump -k` says of a dataset."""
    return source.kind


__all__ = ["Options", "dataset_name", "dump", "kind_of", "to_cdl"]
