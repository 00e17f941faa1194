"""The one place that imports h5py, and what its errors become."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from typing import Any

from omnizarr.errors import CorruptError, MissingDependencyError, OmnizarrError, StoreError, UnsupportedError


def load_h5py(name: str) -> Any:  # noqa: ANN401 - a package without types
    """Return h5py.

    Raises:
        MissingDependencyError: If it is not installed.
    """
    try:
        return import_module("h5py")
    except ImportError as error:
        raise MissingDependencyError(
            f"{name} is a netCDF-4 or HDF5 file, which needs h5py ({error})", hint="pip install 'omnizarr[hdf5]'"
        ) from error


@cache
def load_plugins() -> None:
    """Register the filters of hdf5plugin, if it is installed: Blosc, Zstandard, bzip2, LZ4 and others."""
    with suppress(ImportError):
        import_module("hdf5plugin")


def place_of(h5py: Any, thing: Any) -> tuple[int, int]:  # noqa: ANN401 - as above
    """Return the number of the file that an object is in, and the address of its header there.

    Not by `h5o.get_info`, which also adds up how large the object's indexes are, and reads them whole for that.
    """
    info = h5py.h5g.get_objinfo(thing)
    file, address = ((low | high << 32) for low, high in (info.fileno, info.objno))  # two words where a long has one
    return file, address


@contextmanager
def troubles(name: str, path: str | None = None, *, writing: bool = False) -> Generator[None]:
    """Turn whatever h5py raises into an error that names the file.

    Args:
        name: The file.
        path: The variable.
        writing: Whether it is being written, not read.

    Raises:
        UnsupportedError: If a filter is missing.
        StoreError: If the file cannot be written.
        CorruptError: In every other case.
    """
    try:
        yield
    except OmnizarrError:
        raise
    except (OSError, RuntimeError, LookupError, ValueError, TypeError, OverflowError, MemoryError) as error:
        text = " ".join(str(error).split()) or type(error).__name__
        if "required filter" in text or "not registered" in text or "plugin" in text:
            hint = "pip install hdf5plugin, which has the filters that are often used."
            raise UnsupportedError(f"{name} needs a filter that is not installed", path=path, hint=hint) from error
        if writing:
            raise StoreError(f"{name} cannot be written as HDF5: {text}", path=path) from error
        raise CorruptError(f"{name} cannot be read as HDF5: {text}", path=path) from error
