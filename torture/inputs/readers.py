"""The readers: how each of them does what a case asks for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Final

from torture.inputs.case import Case

Read = Callable[[Case, Path], Any]
NAMES: Final = ("omnizarr", "zarr-python", "zarrs", "zarrista", "tensorstore")


class NotRunError(Exception):
    """The reader has nothing for what the case does."""


def reader(name: str) -> Read:
    """Import a reader."""
    module = import_module("torture.inputs.reading_" + name.replace("-", "_"))
    found: Read = module.read
    return found


def version(name: str) -> str:
    """Return a reader's name with its version, as installed here."""
    distribution = {"zarr-python": "zarr"}.get(name, name)
    return f"{name} {metadata.version(distribution)}"
