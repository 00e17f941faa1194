"""Whether a copy goes through the netCDF model, and what goes with one that does."""

from __future__ import annotations

import os
from collections.abc import Mapping

from omnizarr.errors import UnsupportedError
from omnizarr.nc.kinds import ZARR_KINDS, kind_by_name
from omnizarr.store.sniff import sniff_file
from omnizarr.tools.copy.changes import Changes


def needs_the_model(source: object, target: object, changes: Changes) -> bool:
    """Whether keys cannot just be copied: one side is a file of another format, or a change is asked for.

    Raises:
        TypeError: If there is no such change.
    """
    unknown = changes.keys() - Changes.__annotations__.keys()
    if unknown:
        raise TypeError(f"unexpected keyword arguments {', '.join(sorted(unknown))}")
    given = (value for value in changes.values() if value is not False)
    # Level 0 is a change; an array of NumPy, which is neither true nor false, is for others to refuse.
    asked = any(hasattr(value, "shape") or value or value == 0 for value in given)
    return asked or _is_file_of_netcdf(source) or kind_by_name(target) not in ZARR_KINDS


def _is_file_of_netcdf(source: object) -> bool:
    if not isinstance(source, (str, os.PathLike)):
        return False
    found = sniff_file(os.fspath(source))
    return found is not None and found.what in ("HDF5 file", "netCDF classic file")


def check_no_others(asked: Mapping[str, object]) -> None:
    """Refuse options that only a copy of keys has.

    Raises:
        UnsupportedError: If any is given.
    """
    given = [name for name, value in asked.items() if value]
    if given:
        raise UnsupportedError(
            f"{', '.join(given)} cannot be used where a dataset is written anew",
            hint="They go with copies from Zarr to Zarr, of all keys as they are.",
        )
