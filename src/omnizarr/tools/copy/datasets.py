"""Copies that go through the netCDF model: from, to and between files, and with changes on the way."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from omnizarr.errors import ExistsError, UnsupportedError
from omnizarr.hierarchy.nodes import format_of
from omnizarr.nc.copying import BUFFER, Choice, Copy, chosen_kind, copy_dataset
from omnizarr.nc.kinds import NETCDF4_KINDS, ZARR_KINDS
from omnizarr.nc.opening import open_source
from omnizarr.nc.restoring import SMALLEST_CHUNK, Layout
from omnizarr.nc.specs import parse_chunks, parse_filters
from omnizarr.store.protocol import place_name
from omnizarr.store.resolve import resolve
from omnizarr.tools.copy.changes import Changes
from omnizarr.tools.progress import Progress


def choice_of(changes: Changes) -> Choice:
    """Return what is asked for, understood."""
    layout = Layout(
        changes.get("level"),
        changes.get("shuffle", False),
        parse_chunks(changes.get("chunks", ())),
        tuple(parse_filters(changes.get("filters", ()))),
        changes.get("smallest_chunk", SMALLEST_CHUNK),
    )
    return Choice(
        changes.get("kind"),
        layout,
        values_of=changes.get("values_of", ()),
        variables=changes.get("variables", ()),
        values_of_groups=changes.get("values_of_groups", ()),
        groups=changes.get("groups", ()),
        fixed=changes.get("fixed", False),
        buffer=changes.get("buffer", BUFFER),
    )


def copy_through_model(
    source: object, target: object, changes: Changes, *, overwrite: bool, dry_run: bool, progress: Progress | None
) -> tuple[str, str, Copy]:
    """Copy a dataset; return the names of both places, and what was done.

    Raises:
        ExistsError: If something is in the target.
        NotFoundError: If nothing is in the source, or something is named that is not there.
        UnsupportedError: If the kind cannot hold what is to be copied.
    """
    choice = choice_of(changes)
    opened = open_source(source)
    try:
        kind = chosen_kind(opened.kind, target, choice)
        _check_free(target, kind, opened.name, overwrite=overwrite)
        options: dict[str, Any] = {}
        if kind in NETCDF4_KINDS:
            options = {name: changes.get(name) for name in ("in_memory", "cache", "cache_slots")}
        done = copy_dataset(opened, target, choice, report=progress, dry_run=dry_run, **options)
        return opened.name, _name(target), done
    finally:
        opened.close()


def _name(target: object) -> str:
    return os.fspath(target) if isinstance(target, (str, os.PathLike)) else str(target)


def _check_free(target: object, kind: str, source: str, *, overwrite: bool) -> None:
    if kind not in ZARR_KINDS:
        path = Path(_name(target))
        if path.suffix.lower() in (".zarr", ".zip"):
            raise UnsupportedError(
                f"{target} is named as Zarr is, and {kind} is a kind of netCDF file",
                hint="Let it end in .nc. The kinds zarr3 and nczarr3 are Zarr v3, zarr and nczarr are v2.",
            )
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
