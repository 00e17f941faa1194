"""From a place to the scanner of its format: a folder is Zarr or a reference set, a file tells by its first bytes."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Final

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.refs.scanners.choosing import chosen
from omnizarr.refs.scanners.source import DEFAULTS, Options, SourceFile
from omnizarr.refset.model import References
from omnizarr.store.resolve import is_parquet_set
from omnizarr.store.sniff import sniff, with_article

_HEAD: Final = 1 << 14

SCANNERS: Final = {
    "HDF5 file": "hdf5",
    "netCDF classic file": "classic",
    "TIFF file": "tiff",
    "FITS file": "fits",
    "GRIB file": "grib",
    "reference set": "sets",
    "gzip file": "sets",
    "zstd file": "sets",
}
"""The module of `omnizarr.refs.scanners` for what `omnizarr.store.sniff` calls a file."""

_CHOOSING: Final = ("hdf5", "zarr")
"""Scanners that look only at the group that is wanted; the others know of no groups."""


def scan_place(where: str, options: Options = DEFAULTS) -> References:
    """Scan whatever is at a path or URL.

    Raises:
        NotFoundError: If nothing is there.
        UnsupportedError: If no scanner knows it.
        CorruptError: If it is damaged.
    """
    if options.format not in (None, "zarr3"):
        raise MetadataError(
            f"a set is asked for in the format {options.format!r}, which is not 'zarr3'",
            hint="Without a format, documents are of v2 where that has words for all.",
        )
    source = SourceFile(where)
    if os.path.isdir(source.url):  # noqa: PTH112 - the path is text already
        module = "sets" if is_parquet_set(source.url) else "zarr"
    elif what_is(source) == "zip file":
        module = "zarr"
    else:
        return scan_file(source, options)
    return _scan(module, source.url if module == "zarr" else source, options)


def scan_file(source: SourceFile, options: Options = DEFAULTS) -> References:
    """Scan a file of any known format.

    Raises:
        UnsupportedError: If no scanner knows it.
        CorruptError: If it is damaged.
    """
    found = what_is(source)
    module = SCANNERS.get(found)
    if module is None:
        raise UnsupportedError(
            f"{source.url} is {with_article(found)}, of which no references can be made",
            hint="Scanned are netCDF, HDF5, GRIB, TIFF, FITS, Zarr, and other reference sets.",
        )
    return _scan(module, source, options)


def what_is(source: SourceFile) -> str:
    """Say what a file is, in the words of `omnizarr.store.sniff`."""
    with source.open() as file:
        head = file.read(_HEAD)
        return sniff(head, whole=len(head) < _HEAD).what


def _scan(module: str, source: SourceFile | str, options: Options) -> References:
    scanner = import_module(f"omnizarr.refs.scanners.{module}")
    if module not in _CHOOSING and (options.group or module == "sets"):
        found: References = scanner.scan(source, options._replace(group="", only=(), skip=()))
        return finished(found, options, source.url if isinstance(source, SourceFile) else source)
    return _in_format(scanner.scan(source, options), options)


def finished(references: References, options: Options, where: str) -> References:
    """Return of a set that was made without a choice what is wanted, in the format that is wanted."""
    return _in_format(chosen(references, options, where), options)


def _in_format(references: References, options: Options) -> References:
    if options.format is None:
        return references
    translated: References = import_module("omnizarr.refs.translating").set_as_v3(references)
    return translated
