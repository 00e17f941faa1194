"""Copying datasets from any kind of place to any other, through the netCDF model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from omnizarr.nc.kinds import (
    NETCDF3_KINDS,
    NETCDF4,
    NETCDF4_CLASSIC,
    NETCDF4_KINDS,
    ZARR_KINDS,
    as_kind,
    kind_by_name,
)
from omnizarr.nc.opening import create_source, finishing
from omnizarr.nc.picking import keep_groups, keep_variables, pick_groups, pick_variables
from omnizarr.nc.pieces import item_bytes, piece_shape, pieces
from omnizarr.nc.replacing import replace_missing_filters
from omnizarr.nc.restoring import Layout, restore
from omnizarr.nc.source import Source, Values
from omnizarr.nc.tree import Group, Var
from omnizarr.nc.tree_copying import copied
from omnizarr.nc.types import Atomic, Enum
from omnizarr.nc.url import asked_kind

BUFFER: Final = 16 << 20
Report = Callable[[int, "int | None", int], None]


@dataclass(frozen=True, slots=True)
class Choice:
    """What of a dataset is copied, and how it is stored.

    Attributes:
        kind: A name that `omnizarr.nc.kinds` knows; `None` for what the target's name says, or what the source is.
        layout: Chunks and filters.
        values_of: Variables whose values are copied; of others, only definitions.
        variables: Variables that are copied at all.
        values_of_groups: The same for groups.
        groups: The same for groups.
        fixed: Whether unlimited dimensions become fixed ones.
        buffer: About how many bytes are copied at a time.
    """

    kind: str | None = None
    layout: Layout = field(default_factory=Layout)
    values_of: Sequence[str] = ()
    variables: Sequence[str] = ()
    values_of_groups: Sequence[str] = ()
    groups: Sequence[str] = ()
    fixed: bool = False
    buffer: int = BUFFER


class Copy(NamedTuple):
    """What was copied."""

    kind: str
    variables: int
    nbytes: int


def copy_dataset(
    source: Source,
    where: object,
    choice: Choice | None = None,
    *,
    report: Report | None = None,
    dry_run: bool = False,
    **options: Any,  # noqa: ANN401 - what the kind of the target takes
) -> Copy:
    """Copy a dataset, in pieces that fit into memory.

    Args:
        source: The dataset.
        where: Where the copy goes; what is there is replaced.
        choice: What is copied, and how it is stored.
        report: Told how many pieces are done, of how many, and the bytes.
        dry_run: Whether only to look at what would be copied.
        options: What the kind of the target takes.

    Raises:
        NotFoundError: If a variable, group or dimension is named that is not there.
        UnsupportedError: If the kind cannot hold what is to be copied; nothing is written then.
    """
    choice = choice or Choice()
    kind = chosen_kind(source.kind, where, choice)
    root, pairs = _definitions(source, choice)
    restore(root, choice.layout, source.kind, kind)
    if kind not in NETCDF3_KINDS:
        replace_missing_filters(root, kind, kept=bool(choice.layout.filters))
    chosen = _with_values(source.root, pairs, choice)
    total = sum(prod(var.shape) * item_bytes(var) for var in chosen)
    if dry_run:
        return Copy(kind, len(chosen), total)
    with finishing(create_source(where, root, kind, **options)) as target:
        nbytes = _Values(source, target, choice.buffer, report).copy([(old, pairs[old].path) for old in chosen])
    return Copy(kind, len(chosen), nbytes)


def chosen_kind(old: str, where: object, choice: Choice) -> str:
    """Return the kind of a copy: what is asked for, else what the place is named for, else what the source is.

    >>> chosen_kind("classic", "copy.nc", Choice()), chosen_kind("classic", "copy.nc", Choice(layout=Layout(level=1)))
    ('classic', 'netCDF-4 classic model')
    >>> chosen_kind("nczarr", "copy.nc", Choice()), chosen_kind("zarr3", "copy.zarr", Choice())
    ('netCDF-4', 'zarr3')
    """
    if choice.kind is not None:
        return as_kind(choice.kind)
    asked = asked_kind(where, old)
    if asked is not None:
        return asked
    named = kind_by_name(where)
    if named in ZARR_KINDS:
        return old if old in ZARR_KINDS else named
    if named != NETCDF4:
        return named
    if old in NETCDF3_KINDS:
        return NETCDF4_CLASSIC if choice.layout.asks_for_anything() else old
    return old if old in NETCDF4_KINDS else named


def _definitions(source: Source, choice: Choice) -> tuple[Group, dict[Var, Var]]:
    """Return the tree of the copy, and which of its variables stands for which."""
    root = copied(source.root)
    pairs = {
        var: new.vars[name]
        for old, new in zip(source.root.walk(), root.walk(), strict=True)
        for name, var in old.vars.items()
    }
    if choice.variables:
        keep_variables(root, pick_variables(root, choice.variables))
    if choice.groups:
        keep_groups(root, pick_groups(root, choice.groups))
    if choice.fixed:
        for group in root.walk():
            for dim in group.dims.values():
                dim.unlimited = dim.unlimited and not dim.size  # one without length would stay so for ever
    kept = set(root.all_vars())
    return root, {old: new for old, new in pairs.items() if new in kept}


def _with_values(root: Group, pairs: dict[Var, Var], choice: Choice) -> list[Var]:
    chosen = list(pairs)
    if choice.values_of:
        wanted = pick_variables(root, choice.values_of)
        chosen = [var for var in chosen if var in wanted]
    if choice.values_of_groups:
        groups = pick_groups(root, choice.values_of_groups)
        chosen = [var for var in chosen if id(var.group) in groups]
    return chosen


class _Values:
    """Copies values, piece by piece."""

    def __init__(self, source: Source, target: Source, buffer: int, report: Report | None) -> None:
        self._source, self._target = source, target
        self._buffer, self._report = max(buffer, 1), report
        self._sparse = target.kind in (*ZARR_KINDS, *NETCDF4_KINDS)

    def copy(self, chosen: list[tuple[Var, str]]) -> int:
        """Copy the values of variables to those of the paths beside them."""
        there = {var.path: var for var in self._target.root.all_vars()}
        work = [(var, there[path], self._piece(var, there[path])) for var, path in chosen if 0 not in var.shape]
        total = sum(prod(-(-n // p) for n, p in zip(var.shape, piece, strict=True)) for var, _, piece in work)
        done = nbytes = 0
        for old, new, piece in work:
            for key in pieces(old.shape, piece):
                values = self._source.read(old, key)
                if not (self._sparse and _is_empty(new, values)):
                    self._target.write(new, key, values)
                done, nbytes = done + 1, nbytes + values.size * item_bytes(old)
                if self._report is not None:
                    self._report(done, total, nbytes)
        return nbytes

    def _piece(self, old: Var, new: Var) -> tuple[int, ...]:
        return piece_shape(new, new.storage.chunks, self._buffer, old.storage.chunks) if old.dims else ()


def _is_empty(var: Var, values: Values) -> bool:
    """Whether all of some values are what a variable holds that was never written."""
    if (
        var.storage.no_fill
        or not var.dims
        or not isinstance(var.type, (Atomic, Enum))
        or values.dtype.kind not in "iuf"
    ):
        return False
    fill = np.array(var.fill, values.dtype)
    bits = f"u{values.dtype.itemsize}"
    whole = np.ascontiguousarray(values).view(bits)
    return bool(whole.flat[0] == fill.view(bits)) and bool((whole == fill.view(bits)).all())
