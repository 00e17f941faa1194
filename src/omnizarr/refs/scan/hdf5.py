"""HDF5 and netCDF-4 files: from their definitions and chunk indexes to references."""

from __future__ import annotations

from typing import Any, Final

from omnizarr.errors import NotFoundError, OmnizarrError, UnsupportedError, warn
from omnizarr.nc.files.hdf5_library import troubles
from omnizarr.nc.tree import Group, Var
from omnizarr.refs.scan.hdf5_arrays import add_array
from omnizarr.refs.scan.hdf5_attributes import attributes_json
from omnizarr.refs.scan.hdf5_site import Site, opened
from omnizarr.refs.scan.hdf5_tree import ScanTree
from omnizarr.refs.scan.source import Options, SourceFile
from omnizarr.refset.model import References

_MOST_NAMED: Final = 12


def scan(source: SourceFile, options: Options) -> References:
    """Make the references of an HDF5 or netCDF-4 file; of its data only what is small is read.

    Args:
        source: The file.
        options: What is wanted of it.

    Raises:
        NotFoundError: If it, or the group that is asked for, is not there.
        CorruptError: If it is no HDF5 file, or a damaged one.
        UnsupportedError: If references cannot describe some of its variables; all of them are named.
        MissingDependencyError: If h5py is not installed.
    """
    with opened(source) as site:
        with troubles(source.url):
            tree = ScanTree(site.h5py, local=site.local is not None)
            root = tree.read(site.file.id)
        top = _group(root, options.group, source.url)
        if tree.left_out:
            warn(f"{source.url}: {len(tree.left_out)} things are left out: {_listed(tree.left_out)}")
        refused: dict[str, OmnizarrError] = {}
        for group in top.walk():
            path = group.path.removeprefix(top.path).strip("/")
            site.builder.group(path, attributes_json(group.attrs))
            for var in group.vars.values():
                _add(site, var, f"{path}/{var.name}".lstrip("/"), options, refused)
        if refused:
            _refuse(source, refused, options)
        return site.builder.references


def _add(site: Site, var: Var, path: str, options: Options, refused: dict[str, OmnizarrError]) -> None:
    names = (var.name, path)
    if (options.only and not any(name in options.only for name in names)) or any(n in options.skip for n in names):
        return
    try:
        with troubles(site.source.url, path):
            add_array(site, var, path, options)
    except OmnizarrError as error:
        refused[path] = error


def _group(root: Group, path: str, name: str) -> Group:
    found = root
    for part in path.strip("/").split("/") if path.strip("/") else ():
        below = found.groups.get(part)
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
    more: Any = "" if len(items) <= _MOST_NAMED else f"{separator}…"
    return separator.join(items[:_MOST_NAMED]) + more
