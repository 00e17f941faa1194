"""Copies of trees: the same definitions in new records."""

from __future__ import annotations

from dataclasses import replace

from omnizarr.nc.tree import Dim, Group, Var


def replica(root: Group) -> Group:
    """Return a copy of a tree that shares no record with it; dimensions, types and variables have the same names.

    >>> old = Group()
    >>> x = old.add_dim("x", 3)
    >>> new = replica(old)
    >>> new.dims["x"].size, new.dims["x"] is x
    (3, False)
    """
    dims: dict[Dim, Dim] = {}
    new = Group(root.name)
    _copy_dims(root, new, dims)
    _copy_vars(root, new, dims)
    return new


def _copy_dims(old: Group, new: Group, dims: dict[Dim, Dim]) -> None:
    new.types = dict(old.types)
    new.attrs = dict(old.attrs)
    for dim in old.dims.values():
        dims[dim] = new.add_dim(dim.name, dim.size, unlimited=dim.unlimited)
    for name, group in old.groups.items():
        _copy_dims(group, new.add_group(name), dims)


def _copy_vars(old: Group, new: Group, dims: dict[Dim, Dim]) -> None:
    for name, var in old.vars.items():
        new.vars[name] = Var(
            name, var.type, tuple(dims[dim] for dim in var.dims), dict(var.attrs), replace(var.storage), new
        )
    for name, group in old.groups.items():
        _copy_vars(group, new.groups[name], dims)


def same_var(var: Var, root: Group) -> Var:
    """Return the variable of another tree that stands where one does.

    Raises:
        KeyError: If there is none.
    """
    group = root.find_group(var.group.path if var.group is not None else "/")
    if group is None:
        raise KeyError(var.path)
    return group.vars[var.name]
