"""Copies that go through the netCDF model: from, to and between files, and with changes on the way."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from omnizarr.errors import ExistsError, UnsupportedError
from omnizarr.hierarchy.nodes import format_of
from omnizarr.nc.copying import BUFFER, Choice, Copy, chosen_kind, copy_dataset
from omnizarr.nc.kinds import NETCDF4_KINDS, ZARR_KINDS, kind_by_name
from omnizarr.nc.opening import open_source
from omnizarr.nc.restoring import SMALLEST_CHUNK, Layout
from omnizarr.nc.specs import parse_chunks, parse_filters
from omnizarr.store.protocol import place_name
from omnizarr.store.resolve import resolve
from omnizarr.store.sniff import sniff_file
from omnizarr.tools.progress import Progress


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

    @property
    def choice(self) -> Choice:
        """The same, understood."""
        layout = Layout(
            self.level, self.shuffle, parse_chunks(self.chunks), tuple(parse_filters(self.filters)), self.smallest_chunk
        )
        return Choice(
            self.kind,
            layout,
            self.values_of,
            self.variables,
            self.values_of_groups,
            self.groups,
            self.fixed,
            self.buffer,
        )


def needs_the_model(source: object, target: object, asked: Asked) -> bool:
    """Whether keys cannot just be copied: one side is a file of another format, or something is asked for."""
    return asked != Asked() or _is_file_of_netcdf(source) or kind_by_name(target) not in ZARR_KINDS


def copy_through_model(
    source: object, target: object, asked: Asked, *, overwrite: bool, dry_run: bool, progress: Progress | None
) -> tuple[str, str, Copy]:
    """Copy a dataset; return the names of both places, and what was done.

    Raises:
        ExistsError: If something is in the target.
        NotFoundError: If nothing is in the source, or something is named that is not there.
        UnsupportedError: If the kind cannot hold what is to be copied.
    """
    choice = asked.choice
    opened = open_source(source)
    try:
        kind = chosen_kind(opened.kind, target, choice)
        _check_free(target, kind, opened.name, overwrite=overwrite)
        options: dict[str, Any] = {}
        if kind in NETCDF4_KINDS:
            options = {"in_memory": asked.in_memory, "cache": asked.cache, "cache_slots": asked.cache_slots}
        done = copy_dataset(opened, target, choice, report=progress, dry_run=dry_run, **options)
        return opened.name, _name(target), done
    finally:
        opened.close()


def _is_file_of_netcdf(source: object) -> bool:
    if not isinstance(source, (str, os.PathLike)):
        return False
    found = sniff_file(os.fspath(source))
    return found is not None and found.what in ("HDF5 file", "netCDF classic file")


def _name(target: object) -> str:
    return os.fspath(target) if isinstance(target, (str, os.PathLike)) else str(target)


def _check_free(target: object, kind: str, source: str, *, overwrite: bool) -> None:
    if kind not in ZARR_KINDS:
        path = Path(_name(target))
        if path.is_dir():
            raise ExistsError(f"{target} is a folder", hint="Choose a new name for the copy.")
        if path.exists() and not overwrite:
            raise ExistsError(f"{target} is there already", hint="pass overwrite=True to replace it")
        return
    store, path_in = resolve(target, read_only=False)
    name = place_name(store, path_in)
    if name.rstrip("/") == source.rstrip("/"):
        raise ExistsError("a dataset cannot be copied to where it is", path=name)
    there = format_of(store, path_in) is not None
    if there and not overwrite:
        raise ExistsError("there is a node already", path=name, hint="pass overwrite=True to replace it")
    if not there and any(store.list_dir(f"{path_in}/" if path_in else "")):
        # Whatever this is, it was not made by us, and no one has asked to lose it.
        raise ExistsError("something is there that is no array or group", path=name, hint="Choose a new name.")


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
