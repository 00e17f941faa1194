"""Times that are no coordinate, counted in different units by the files: brought into one unit, and embedded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from omnizarr.errors import LimitError
from omnizarr.format.v2 import DIMENSIONS
from omnizarr.model.jsonvalue import JSON
from omnizarr.refs.combining.embedding import embedded
from omnizarr.refs.combining.inputs import Input
from omnizarr.refs.combining.lines import Values, in_one_unit
from omnizarr.refs.combining.options import Options
from omnizarr.refs.combining.reading import Wanted, read_stacked
from omnizarr.refs.combining.times import moved_to
from omnizarr.refs.combining.variables import Layout, Member, Variable

_MOST = 50_000_000
"""More values than this are not embedded."""


def recoded(
    layout: Layout,
    inputs: Sequence[Input],
    said: Sequence[Mapping[str, JSON]],
    target: Mapping[str, JSON] | None,
    options: Options,
) -> Variable:
    """Make a variable of times whose values are in the set itself.

    Args:
        layout: Where the members go.
        inputs: All sets.
        said: By the number of the set, the attributes that have the units.
        target: The units and the calendar to count in; None for those of the first set, or finer ones.
        options: What may be read.

    Raises:
        LimitError: If there are too many values to embed.
        MetadataError: If they have no unit in common.
    """
    starts = {axis: _starts([b - a for a, b in line.kept]) for axis, line in layout.lines.items()}
    first = layout.first
    sizes = (*(1 for _ in layout.new), *first.shape)
    shape = tuple(starts[axis][-1] if axis in starts else size for axis, size in enumerate(sizes))
    if prod(shape) > _MOST:
        raise LimitError(f"{prod(shape)} times in different units are too many to embed", path=layout.path)
    chosen: list[tuple[tuple[int, ...], Member]] = [(place, members[0]) for place, members in layout.groups.items()]
    wanted = [Wanted(inputs[member.source], layout.path) for _, member in chosen]
    units = [said[member.source] for _, member in chosen]
    names = [one.input.name for one in wanted]
    read = read_stacked(wanted, options)
    if target is None:
        values, changed = in_one_unit(read, units, names)
    else:
        values, changed = [moved_to(v, u, target, n) for v, u, n in zip(read, units, names, strict=True)], {}
    whole = _put(layout, shape, starts, chosen, values)
    attributes = {**first.attributes, **changed}
    attributes.pop(DIMENSIONS, None)
    return embedded(whole, layout.dims, attributes, first, first.format)


def _put(
    layout: Layout,
    shape: tuple[int, ...],
    starts: Mapping[int, list[int]],
    chosen: Sequence[tuple[tuple[int, ...], Member]],
    values: Sequence[Values],
) -> Values:
    dtype = np.result_type(*(one.dtype for one in values))
    fill = layout.first.fill
    whole = np.full(shape, 0 if fill.bits is None else fill.value(layout.first.dtype), dtype)
    for (place, _), one in zip(chosen, values, strict=True):
        box = [slice(None)] * len(shape)
        inner = [slice(None)] * len(shape)
        for (axis, line), block in zip(layout.lines.items(), place, strict=True):
            box[axis] = slice(starts[axis][block], starts[axis][block + 1])
            inner[axis] = slice(None) if line.new else slice(*line.kept[block])
        whole[tuple(box)] = one.reshape((1,) * len(layout.new) + one.shape)[tuple(inner)]
    return whole


def _starts(lengths: Sequence[int]) -> list[int]:
    return [0, *np.cumsum(np.asarray(lengths, np.int64)).tolist()]
