"""The dimensions along which sets follow each other: where their coordinates are from, and what order these give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from omnizarr.errors import MetadataError
from omnizarr.model.jsonvalue import JSON
from omnizarr.refs.combining.conflicts import listed
from omnizarr.refs.combining.inputs import Input
from omnizarr.refs.combining.options import Options
from omnizarr.refs.combining.order import Line, by_values, in_given_order
from omnizarr.refs.combining.reading import Wanted, read_joined, read_stacked
from omnizarr.refs.combining.selectors import Selector, from_outside
from omnizarr.refs.combining.times import unified

Values: TypeAlias = npt.NDArray[Any]


def line_of(dim: str, selector: Selector, inputs: Sequence[Input], options: Options) -> Line:
    """Find the order of sets along a dimension.

    Raises:
        MetadataError: If the coordinates do not tell, or contradict each other.
    """
    lengths = [_length(one, dim) for one in inputs]
    names = [one.name for one in inputs]
    new = all(length is None for length in lengths)
    outside = from_outside(selector, dim, inputs)
    if outside is not None:
        longer = [name for name, length in zip(names, lengths, strict=True) if length not in (None, 1)]
        if longer:
            raise MetadataError(f"one value of {dim!r} is given for {listed(longer)}, which have more along it")
        values: list[Values | None] = [outside.values[i : i + 1] for i in range(len(inputs))]
        attributes: dict[str, JSON] | None = dict(outside.attributes)
        if not new:
            values = [None if n is None else one for one, n in zip(values, lengths, strict=True)]
    else:
        path = selector[5:] if isinstance(selector, str) else None
        read = _from_data(dim, path, inputs, lengths, options)
        if read is None:
            if new:
                dims = [meta.dims or () for one in inputs for meta in one.arrays.values()]
                known = list(dict.fromkeys(name for some in dims for name in some if name))
                raise MetadataError(
                    f"no set has the dimension {dim!r} (there are {listed(known) or 'none'}), and nothing says "
                    "what the values of a new one are",
                    hint=f'concat={{"{dim}": …}} takes values, a pattern of names, "attr:NAME" or "INDEX".',
                )
            return in_given_order(dim, lengths)
        values, attributes = read
    line = by_values(dim, values, names, options)
    line.new, line.attributes = new, attributes
    return line


def _length(one: Input, dim: str) -> int | None:
    found: int | None = None
    for path, meta in one.arrays.items():
        if meta.dims is not None and dim in meta.dims:
            size = meta.shape[meta.dims.index(dim)]
            if found is not None and size != found:
                raise MetadataError(f"{one.name}: the dimension {dim!r} has the lengths {found} and {size}", path=path)
            found = size
    return found


def coordinate_path(dim: str, inputs: Sequence[Input]) -> str | None:
    """Find the coordinate variable of a dimension: that of the outermost group that has one."""
    for one in inputs:
        paths = [
            path
            for path, meta in one.arrays.items()
            if path.rpartition("/")[2] == dim and meta.dims in ((dim,), (), None)
        ]
        if paths:
            return min(paths, key=lambda path: (path.count("/"), path))
    return None


def _from_data(
    dim: str, path: str | None, inputs: Sequence[Input], lengths: Sequence[int | None], options: Options
) -> tuple[list[Values | None], dict[str, JSON]] | None:
    """Read the coordinates; None where the sets have no coordinate variable."""
    new = all(length is None for length in lengths)
    where = path or coordinate_path(dim, inputs)
    if where is None:
        return None
    having = [n for n, one in enumerate(inputs) if where in one.arrays and (new or lengths[n] is not None)]
    lacking = [one.name for n, one in enumerate(inputs) if where not in one.arrays and (new or lengths[n] is not None)]
    if lacking:
        raise MetadataError(f"the variable {where!r} of {dim!r} is not in {listed(lacking)}")
    wanted = [Wanted(inputs[n], where) for n in having]
    scalar = [one for one in wanted if not one.meta.ndim]
    if any(one.meta.ndim > 1 for one in wanted) or 0 < len(scalar) < len(wanted):
        raise MetadataError(f"the variable {where!r} of {dim!r} has not one dimension in all sets")
    read = [one.reshape(1) for one in read_stacked(wanted, options)] if scalar else read_joined(wanted, options)
    for one, n in zip(read, having, strict=True):
        if len(one) != (lengths[n] or 1):
            message = f"{inputs[n].name}: {where!r} has {len(one)} values for a dimension of length {lengths[n] or 1}"
            raise MetadataError(message)
    values, attributes = in_one_unit(read, [one.meta.attributes for one in wanted], [one.input.name for one in wanted])
    found: list[Values | None] = [None] * len(inputs)
    for n, one in zip(having, values, strict=True):
        found[n] = one
    return found, attributes


def in_one_unit(
    values: Sequence[Values], attributes: Sequence[Mapping[str, JSON]], names: Sequence[str]
) -> tuple[list[Values], dict[str, JSON]]:
    """Bring values of several files into one unit, if they are times, and into one type."""
    times = unified(values, attributes, names)
    found = list(values) if times is None else times.values
    kinds = {one.dtype for one in found}
    if len(kinds) > 1:
        wide = np.result_type(*kinds)
        if not all(np.can_cast(kind, wide, "safe") for kind in kinds):
            raise MetadataError(f"the coordinates are of the types {', '.join(sorted(map(str, kinds)))}")
        found = [one.astype(wide) for one in found]
    native = found[0].dtype.newbyteorder("=") if found else None
    if native is not None and found[0].dtype != native:
        found = [one.astype(native) for one in found]
    return found, {} if times is None else times.attributes
