"""What is asked of a copy that goes through the netCDF model, and whether one does."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from omnizarr.errors import UnsupportedError
from omnizarr.nc.kinds import ZARR_KINDS, kind_by_name
from omnizarr.store.sniff import sniff_file

BUFFER: Final = 16 << 20
SMALLEST_CHUNK: Final = 8192


class Asked(NamedTuple):
    """What only a copy through the netCDF model can do; each field is a letter of nccopy."""

    kind: str | None = None
    level: int | None = None
    shuffle: bool = False
    chunks: Sequence[str] | Mapping[str, int | Sequence[int]] | str = ()
    filters: Sequence[str] | str = ()
    values_of: Sequence[str] = ()
    variables: Sequence[str] = ()
    values_of_groups: Sequence[str] = ()
    groups: Sequence[str] = ()
    fixed: bool = False
    buffer: int = BUFFER
    smallest_chunk: int = SMALLEST_CHUNK
    in_memory: bool = False
    cache: int | None = None
    cache_slots: int | None = None


def needs_the_model(source: object, target: object, asked: Asked) -> bool:
    """Whether keys cannot just be copied: one side is a file of another format, or something is asked for."""
    return asked != Asked() or _is_file_of_netcdf(source) or kind_by_name(target) not in ZARR_KINDS


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
