"""What datasets of the classic model cannot hold: groups, user types, strings, more than one unlimited dimension."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from omnizarr.errors import UnsupportedError
from omnizarr.nc.kinds import CDF5, NETCDF3_KINDS
from omnizarr.nc.tree import Group, Var
from omnizarr.nc.types import ATOMIC, BYTE, CHAR, DOUBLE, FLOAT, INT, SHORT, STRING, Type

_CLASSIC: Final = (BYTE, CHAR, SHORT, INT, FLOAT, DOUBLE)
_CDF5: Final = tuple(one for one in ATOMIC if one != STRING)


def check_classic(root: Group, kind: str, name: str) -> None:
    """Look whether a kind of the classic model can hold a tree.

    Raises:
        UnsupportedError: If not; it lists whatever is in the way.
    """
    found = list(_in_the_way(root, kind))
    if found:
        raise UnsupportedError(
            f"{name} cannot be written as {kind}, which has no room for {'; '.join(found)}",
            hint="netCDF-4 and Zarr hold all of these; -V copies only some variables, -G only some groups.",
        )


def _in_the_way(root: Group, kind: str) -> Iterator[str]:
    allowed: tuple[Type, ...] = _CDF5 if kind == CDF5 else _CLASSIC
    for group in root.walk():
        if group is not root:
            yield f"group {group.path}"
            continue
        for one in group.types.values():
            yield f"type {one.name}"
        yield from (f"attribute :{a.name} of type {a.type.name}" for a in group.attrs.values() if a.type not in allowed)
        for var in group.vars.values():
            if var.type not in allowed:
                yield f"variable {var.name} of type {var.type.name}"
            for attr in var.attrs.values():
                if attr.type not in allowed and var.type in allowed:
                    yield f"attribute {var.name}:{attr.name} of type {attr.type.name}"
    unlimited = [dim.name for dim in root.dims.values() if dim.unlimited]
    if len(unlimited) > 1:
        yield f"unlimited dimensions {', '.join(unlimited[1:])} beside {unlimited[0]}"
    if kind not in NETCDF3_KINDS:
        return
    yield from (
        f"dimension {dim.name} of length 0" for dim in root.dims.values() if dim.size == 0 and not dim.unlimited
    )
    for var in root.vars.values():
        yield from _misplaced(var)


def _misplaced(var: Var) -> Iterator[str]:
    for dim in var.dims[1:]:
        if dim.unlimited:
            yield f"unlimited dimension {dim.name} of variable {var.name}, which is not its first"
