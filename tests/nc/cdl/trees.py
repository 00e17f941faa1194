"""Datasets compared: what differs between two of them, as sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from omnizarr.nc.source import MemorySource, everything
from omnizarr.nc.tree import Attr, Group, Var, same_values


def differences(one: MemorySource, other: MemorySource, *, storage: bool = False) -> list[str]:
    """Return what differs: names and order, lengths, types, attributes and values; and how variables are stored."""
    return list(_groups(one, other, one.root, other.root, storage=storage))


def _groups(one: MemorySource, other: MemorySource, left: Group, right: Group, *, storage: bool) -> Iterator[str]:
    here = left.path
    for what in ("dims", "types", "vars", "groups", "attrs"):
        a, b = list(getattr(left, what)), list(getattr(right, what))
        if a != b:
            yield f"{here} {what}: {a} != {b}"
            return
    for name, dim in left.dims.items():
        twin = right.dims[name]
        if (dim.size, dim.unlimited) != (twin.size, twin.unlimited):
            yield f"{dim.path}: {dim.size} {dim.unlimited} != {twin.size} {twin.unlimited}"
    for name, kind in left.types.items():
        if kind != right.types[name]:
            yield f"{here} type {name}: {kind} != {right.types[name]}"
    yield from _attrs(here, left.attrs, right.attrs)
    for name, var in left.vars.items():
        yield from _variables(one, other, var, right.vars[name], storage=storage)
    for name, group in left.groups.items():
        yield from _groups(one, other, group, right.groups[name], storage=storage)


def _variables(one: MemorySource, other: MemorySource, var: Var, twin: Var, *, storage: bool) -> Iterator[str]:
    if var.type != twin.type or [d.path for d in var.dims] != [d.path for d in twin.dims]:
        yield f"{var.path}: {var.type} {var.dims} != {twin.type} {twin.dims}"
        return
    yield from _attrs(var.path, var.attrs, twin.attrs)
    if storage and var.storage != twin.storage:
        yield f"{var.path}: {var.storage} != {twin.storage}"
    if var.shape == twin.shape:
        a, b = one.read(var, everything(var)), other.read(twin, everything(twin))
        if not same_values(a, b):
            yield f"{var.path}: {np.array2string(a, threshold=20)} != {np.array2string(b, threshold=20)}"


def _attrs(where: str, left: dict[str, Attr], right: dict[str, Attr]) -> Iterator[str]:
    if list(left) != list(right):
        yield f"{where}: {list(left)} != {list(right)}"
        return
    for name, attr in left.items():
        if not (attr == right[name]):  # noqa: SIM201 - only equality is defined
            yield f"{where}:{name}: {attr} != {right[name]}"
