"""HDF5 and netCDF-4 files: from their definitions and chunk indexes to references."""

from __future__ import annotations

from typing import Final

from omnizarr.errors import NodeTypeError, NotFoundError, OmnizarrError, UnsupportedError, warn
from omnizarr.nc.files.hdf5_library import troubles
from omnizarr.nc.tree import Group, Var
from omnizarr.refs.scanners.hdf5_arrays import add_array
from omnizarr.refs.scanners.hdf5_attributes import attributes_json
from omnizarr.refs.scanners.hdf5_site import Site, opened
from omnizarr.refs.scanners.hdf5_tree import ScanTree
from omnizarr.refs.scanners.picking import Picked
from omnizarr.refs.scanners.source import Options, SourceFile
from omnizarr.refset.model import References

_MOST_NAMED: Final = 12


def scan(source: SourceFile, options: Options) -> References:
    """Make the references of an HDF5 or netCDF-4 file; of its data only what is small is read.

    Args:
        source: The file.
        options: What is wanted of it.

    Raises:
        NotFoundError: If it, or the group that is asked for, is not there.
        NodeTypeError: If a variable is where the group should be.
        CorruptError: If it is no HDF5 file, or a damaged one.
        UnsupportedError: If references cannot describe some of its variables; all of them are named.
        MissingDependencyError: If h5py is not installed.
    """
    with opened(source) as site:
        site.builder.dialect = options.format or "zarr2"
        with troubles(source.url):
            tree = ScanTree(site.h5py, local=site.local is not None)
            root = tree.read(site.file.id)
        top = _group(root, options.group, source.url)
        if tree.left_out:
            warn(f"{source.url}: {len(tree.left_out)} things are left out: {_listed(tree.left_out)}")
        picked = Picked(options, [_below(top, var.path) for var in top.all_vars()])
        refused: dict[str, OmnizarrError] = {}
        for group in top.walk():
            site.builder.group(_below(top, group.path), attributes_json(group.attrs))
            for var in group.vars.values():
                path = _below(top, var.path)
                if picked(path):
                    _add(site, var, path, options, refused)
        if refused:
            _refuse(source, refused, options)
        return site.builder.references


def _below(top: Group, path: str) -> str:
    return path.removeprefix(top.path).strip("/")


def _add(site: Site, var: Var, path: str, options: Options, refused: dict[str, OmnizarrError]) -> None:
    try:
        with troubles(site.source.url, path):
            add_array(site, var, path, options)
    except OmnizarrError as error:
        refused[path] = error


def _group(root: Group, path: str, name: str) -> Group:
    found = root
    for part in path.strip("/").split("/") if path.strip("/") else ():
        below = found.groups.get(part)
        if below is None and part in found.vars:
            raise NodeTypeError(f"{name} has a variable at {path!r}, not a group", path=path)
        if below is None:
            raise NotFoundError(f"{name} has no group {path!r}", path=path)
        found = below
    return found


def _refuse(source: SourceFile, refused: dict[str, OmnizarrError], options: Options) -> None:
    lines = _listed([f"{path}: {error.message}" for path, error in refused.items()], "; ")
    if options.on_error == "drop":
        warn(f"{source.url}: {len(refused)} variables are left out: {lines}")
        return
    one = next(iter(refused.values()))
    kind = type(one) if all(type(error) is type(one) for error in refused.values()) else UnsupportedError
    skip = ", ".join(repr(path) for path in list(refused)[:_MOST_NAMED])
    raise kind(
        f"{source.url}: references cannot describe {len(refused)} variables: {lines}",
        path=next(iter(refused)) if len(refused) == 1 else None,
        codec=one.codec if len(refused) == 1 else None,
        hint=f'Leave them out by skip=({skip},), or by on_error="drop".',
    ) from one


def _listed(items: list[str], separator: str = ", ") -> str:
    more = "" if len(items) <= _MOST_NAMED else f"{separator}…"
    return separator.join(items[:_MOST_NAMED]) + more
