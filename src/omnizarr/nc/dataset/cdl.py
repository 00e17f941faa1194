"""Datasets to and from CDL."""

from __future__ import annotations

from pathlib import Path

from omnizarr.nc.source import Source


def cdl_of(source: Source, *, coordinates: bool, data: bool) -> str:
    """Return a dataset as CDL, with special attributes.

    Args:
        source: The dataset.
        coordinates: Include values of coordinate variables.
        data: Include all values.
    """
    raise NotImplementedError


def create_from_cdl(text: Path, target: Path, format: str) -> None:  # noqa: A002 - the name users know
    """Create the dataset that a text in CDL describes.

    Args:
        text: The file with the text.
        target: What to create.
        format: What to write, as `Dataset` takes it.
    """
    raise NotImplementedError
