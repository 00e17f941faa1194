"""Datasets to and from CDL."""

from __future__ import annotations

from pathlib import Path

from omnizarr.nc.cdl.parser import load
from omnizarr.nc.dataset.buffered import copy_values
from omnizarr.nc.dataset.places import kind_of
from omnizarr.nc.dump.run import to_cdl
from omnizarr.nc.opening import create_source
from omnizarr.nc.source import Source


def cdl_of(source: Source, *, coordinates: bool, data: bool) -> str:
    """Return a dataset as CDL, with special attributes.

    Args:
        source: The dataset.
        coordinates: Include values of coordinate variables.
        data: Include all values.
    """
    return to_cdl(source, special=True, data="coordinates" if coordinates else "all" if data else "none")


def create_from_cdl(text: Path, target: Path, format: str) -> None:  # noqa: A002 - the name users know
    """Create the dataset that a text in CDL describes.

    Args:
        text: The file with the text.
        target: What to create.
        format: What to write, as `Dataset` takes it.
    """
    parsed = load(text)
    made = create_source(target, parsed.root, kind_of(target, format)[0])
    try:
        copy_values(parsed, made)
    finally:
        made.close()
