"""Reading by zarr-python with the pipeline of zarrs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import zarr
import zarrs  # noqa: F401 - it puts its pipeline where zarr finds it

from torture.inputs.case import Case
from torture.inputs.readers import NotRunError
from torture.inputs.reading_zarr_python import read as _read

zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})


def read(case: Case, folder: Path) -> Any:
    """Do what a case asks for, where chunks are read."""
    if case.act not in ("array", "tree"):
        raise NotRunError
    return _read(case, folder)
