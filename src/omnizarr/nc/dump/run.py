"""`dump` and `to_cdl`: any dataset as the text that ncdump prints."""

from __future__ import annotations

import io
from typing import Any, BinaryIO, Literal, TypeAlias

from omnizarr.nc.dump.json_form import print_json
from omnizarr.nc.dump.ncml import print_ncml
from omnizarr.nc.dump.options import Options
from omnizarr.nc.dump.printer import print_cdl
from omnizarr.nc.opening import open_source

Form: TypeAlias = Literal["cdl", "ncml", "json", "kind"]


def dump(source: object, out: BinaryIO, options: Options | None = None, form: Form = "cdl") -> None:
    """Print a dataset.

    As CDL, the text is that of `ncdump` for a netCDF-4 file with the same content. Values are read and printed a few
    megabytes at a time.

    Args:
        source: Where the dataset is, or a source that is open already, which stays open.
        out: Takes the text, as bytes.
        options: What is printed, and how; all of it by default.
        form: "cdl"; "ncml" for the definitions as XML; "json", as `omnizarr.nc.dump.json_form` says; or "kind" for
            just a line with the kind of dataset.

    Raises:
        NotFoundError: If nothing is there, or no variable or group of a name that is asked for.
        SelectionError: If a slice does not fit.
    """
    options = options or Options()
    opened = open_source(source)
    try:
        name = options.name if options.name is not None else dataset_name(opened.name)
        if form == "cdl":
            print_cdl(opened, out.write, options, name)
        elif form == "ncml":
            print_ncml(opened, out.write, options)
        elif form == "json":
            print_json(opened, out.write, options, name)
        else:
            out.write(f"{opened.kind}\n".encode())
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
        path = where.split("#", maxsplit=1)[0].split("?", maxsplit=1)[0].partition("://")[2]
    last = path.rstrip("/").rpartition("/")[2]
    stem, dot, _ = last.rpartition(".")
    return stem if dot else last


__all__ = ["Form", "Options", "dataset_name", "dump", "to_cdl"]
