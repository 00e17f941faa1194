"""What a version of netcdf-c cannot read of what is written."""

from __future__ import annotations

import re
from typing import Final

from omnizarr.errors import UnsupportedError, warn
from omnizarr.model.array import ArrayMeta
from omnizarr.nc.tree import Var
from omnizarr.nc.types import CHAR, STRING, Enum
from omnizarr.nc.zarr.style import Style
from omnizarr.nc.zarr.texts import in_arrays

_VERSION: Final = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")
_PLUGINS: Final = frozenset(("bz2", "zstd", "blosc", "numcodecs.szip"))
_BUILT_IN: Final = frozenset(("bytes", "zlib", "shuffle", "numcodecs.fletcher32"))


def parse_version(text: str) -> tuple[int, int, int]:
    """Read the number of a version.

    Raises:
        UnsupportedError: If it is none.

    >>> parse_version("4.9.2"), parse_version("4.10")
    ((4, 9, 2), (4, 10, 0))
    """
    found = _VERSION.match(text)
    if found is None:
        raise UnsupportedError(f"{text!r} is no version of netcdf-c", hint='As in "4.9.2".')
    return int(found[1]), int(found[2]), int(found[3] or 0)


def reasons(var: Var, meta: ArrayMeta, style: Style, version: tuple[int, int, int]) -> list[str]:
    """Return what keeps a version of netcdf-c from reading a variable, or from reading it right."""
    if style.is_v3:
        return ["no version reads Zarr v3"]
    if not in_arrays(var):
        return [f"no version knows the type {var.type.name} in Zarr, and the variable is not shown"]
    found = _by_form(var, meta, style, version)
    names = {codec.name for codec in meta.codecs}
    if names - _BUILT_IN - _PLUGINS:
        found.append(f"no version has the codec {', '.join(sorted(names - _BUILT_IN - _PLUGINS))}")
    elif version < (4, 9, 1) and len(names) > 1:
        found.append("without plugins, it takes compressed bytes for values")
    elif names & _PLUGINS:
        found.append(f"it needs a plugin for {', '.join(sorted(names & _PLUGINS))}")
    if isinstance(var.type, Enum):
        found.append("the names of an enum are not shown, only its numbers")
    return found


def _by_form(var: Var, meta: ArrayMeta, style: Style, version: tuple[int, int, int]) -> list[str]:
    found: list[str] = []
    if version < (4, 9, 1) and var.type in (CHAR, STRING):
        found.append("it crashes on text" if not style.also else "it has no text, and the variable is not shown")
    elif version < (4, 9, 3) and var.type == CHAR:
        found.append("characters are read as strings")
    if version < (4, 9, 3):
        if any(dim.unlimited for dim in var.dims):
            found.append("an unlimited dimension is read as one of fixed length")
        if var.dims and any(chunk > size for chunk, size in zip(meta.grid.longest, var.shape, strict=True)):
            found.append("it refuses chunks that are longer than their dimension")
        if meta.dtype.byteorder == "big":
            found.append("it takes big-endian numbers for little-endian ones")
        if not var.dims and not style.also:
            found.append("it crashes on a variable without dimensions")
    if not var.dims and style.is_pure and version < (4, 10, 2):
        found.append("it leaves out arrays without dimensions")
    return found


def warn_of(var: Var, meta: ArrayMeta, style: Style, target: str) -> None:
    """Warn of what a version of netcdf-c cannot read of a variable, by name."""
    for reason in reasons(var, meta, style, parse_version(target)):
        warn(f"{var.path}: netcdf-c {target} cannot read it as it is: {reason}")
