"""A tree of its own: the same definitions in other records."""

from __future__ import annotations

from dataclasses import replace

from omnizarr.nc.tree import Dim, Group, Var


def copied(root: Group) -> Group:
    """Return a copy of a tree; no record of it is shared, and no handle is kept."""
    dims: dict[Dim, Dim] = {}
    made = _groups(root, None, dims)
    for old, new in zip(root.walk(), made.walk(), strict=True):
        for var in old.vars.values():
            new.vars[var.name] = Var(
                var.name,
                var.type,
                tuple(dims[dim] for dim in var.dims),
                dict(var.attrs),
                replace(var.storage),
                new,
            )
    return made


def _groups(group: Group, parent: Group | None, dims: dict[Dim, Dim]) -> Group:
    """Copy groups and dimensions first: a variable may use those of any group."""
    made = Group(group.name, parent, types=dict(group.types), attrs=dict(group.attrs))
    for dim in group.dims.values():
        dims[dim] = made.dims[dim.name] = Dim(dim.name, dim.size, dim.unlimited, made)
    for inner in group.groups.values():
        made.groups[inner.name] = _groups(inner, made, dims)
    return made
