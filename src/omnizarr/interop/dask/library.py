"""Dask itself, where it is installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from omnizarr.errors import MissingDependencyError


def dask_module(name: str) -> Any:  # noqa: ANN401 - Dask has no types
    """Import a module of Dask.

    Raises:
        MissingDependencyError: It is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(f"this needs Dask: {error}", hint="pip install 'omnizarr[dask]'") from None
