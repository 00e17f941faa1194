"""Values of an array as text, CSV, JSON or a file of NumPy's, written a block at a time."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TextIO

import numpy as np

from omnizarr.errors import NodeTypeError, UnsupportedError
from omnizarr.hierarchy.array import Array
from omnizarr.tools.nodes import Node
from omnizarr.tools.progress import Progress, silent
from omnizarr.tools.values.blocks import MOST_BYTES, blocks, edges
from omnizarr.tools.values.cells import as_json, cells, columns, rows
from omnizarr.tools.values.selecting import Picked

if TYPE_CHECKING:
    import numpy.typing as npt

_SUMMARISED: Final = 1000
"""From how many elements on NumPy shows only the first and last ones."""

_ENDS: Final = 3
_AT_ONCE: Final = 100_000
"""How many elements are brought into columns of one width."""


def array_of(node: Node) -> Array:
    """Return a node that must be an array.

    Raises:
        NodeTypeError: If it is a group; the hint says what it holds.
    """
    if isinstance(node, Array):
        return node
    names = node.keys()
    held = f"it holds {', '.join(names[:6])}{', …' if len(names) > 6 else ''}" if names else "it is empty"
    raise NodeTypeError("this is a group, not an array", path=node.store.uri + node.name.rstrip("/"), hint=held)


def write_text(
    array: Array, picked: Picked, to: TextIO, *, full: bool = False, width: int = 80, progress: Progress = silent
) -> None:
    """Write values as NumPy prints them: summarised if they are many, unless all are asked for."""
    size = prod(picked.shape)
    if size > _SUMMARISED and not full:
        to.write(_printed(edges(array, picked, _ENDS), width, summarised=True) + "\n")
    elif size <= _AT_ONCE:
        whole = edges(array, picked, max(1, *picked.shape, 1))
        to.write((str(whole[()]) if not picked.shape else _printed(whole, width)) + "\n")
    else:
        _nested(array, picked, to, lambda values, depth: _printed(values, width, depth=depth), progress=progress)
        to.write("\n")


def write_json(array: Array, picked: Picked, to: TextIO, *, progress: Progress = silent) -> None:
    """Write an object: shape, type and names of dimensions of the selection, and its values as nested lists."""
    dims = [array.dims[axis] for axis in picked.kept] if array.dims is not None else None
    facts = {"shape": picked.shape, "dims": dims, "dtype": array.metadata.dtype.label}
    lines = [f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)},\n" for name, value in facts.items()]
    to.write("{\n" + "".join(lines))
    to.write('  "values": ')
    if prod(picked.shape) <= _AT_ONCE:
        to.write(_dumped(edges(array, picked, max(1, *picked.shape, 1))))
    else:
        _nested(array, picked, to, lambda values, _: _dumped(values), progress=progress, comma=",")
    to.write("\n}\n")


def _dumped(values: npt.NDArray[Any]) -> str:
    return json.dumps(as_json(values), ensure_ascii=False)


def write_csv(array: Array, picked: Picked, to: TextIO, *, progress: Progress = silent) -> None:
    """Write a table.

    One dimension gives a row for each element, two give rows and columns as they are. More dimensions, and two of
    elements with fields, give a row for each element with its indices in front and titles above.
    """
    table = csv.writer(to, lineterminator="\n")
    shape, dtype = picked.shape, array.dtype
    titles = columns(dtype)
    plain = len(shape) <= (2 if len(titles) == 1 and dtype.fields is None else 1)
    if plain and dtype.fields is not None:
        table.writerow(titles)
    elif not plain:
        named = array.dims or (None,) * array.ndim
        table.writerow([*(named[axis] or f"dim_{axis}" for axis in picked.kept), *titles])
    for block in blocks(array, picked, most_bytes=MOST_BYTES // 16, progress=progress):
        if not plain:
            indices = np.unravel_index(np.arange(block.values.size) + _offset(block.at, shape), shape)
            own = [np.asarray(picked.ranges[axis])[index] for axis, index in zip(picked.kept, indices, strict=True)]
            places = np.stack(own, axis=1).tolist()
            found = rows(block.values.reshape(-1))
            table.writerows([*place, *row] for place, row in zip(places, found, strict=True))
        elif block.values.ndim == 2:
            flat, length = cells(block.values.reshape(-1)), block.values.shape[1]
            table.writerows(flat[at : at + length] for at in range(0, len(flat), length))
        elif len(shape) == 2:
            _part_of_row(to, block.values, first=block.at[-1] == 0, last=block.at[-1] + len(block.values) == shape[1])
        else:
            table.writerows(rows(block.values.reshape(-1)))


def _part_of_row(to: TextIO, values: npt.NDArray[Any], *, first: bool, last: bool) -> None:
    """Write a part of a row that is too long to be held."""
    if not first:
        to.write(",")
    csv.writer(to, lineterminator="\n" if last else "").writerow(cells(values))


def _offset(at: tuple[int, ...], shape: tuple[int, ...]) -> int:
    """Return the position of a block's first element among all of the selection."""
    return sum(place * prod(shape[axis + 1 :]) for axis, place in enumerate(at))


def write_npy(array: Array, picked: Picked, to: BinaryIO, *, progress: Progress = silent) -> None:
    """Write a file of NumPy's format.

    Raises:
        UnsupportedError: If the format has no such type: texts of any length, and numbers that NumPy does not know.
    """
    dtype = array.dtype
    if (
        dtype.hasobject
        or dtype.kind == "T"
        or (dtype.kind == "V" and dtype.names is None and dtype.type is not np.void)
    ):
        label = array.metadata.dtype.label
        raise UnsupportedError(f"NumPy's format has no type {label}", path=array.name, hint="--format csv or json has")
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": picked.shape}
    np.lib.format.write_array_header_1_0(to, header)
    to.writelines(np.ascontiguousarray(block.values).tobytes() for block in blocks(array, picked, progress=progress))


def _printed(values: npt.NDArray[Any], width: int, *, summarised: bool = False, depth: int = 0) -> str:
    threshold = 0 if summarised else sys.maxsize
    return np.array2string(values, max_line_width=width, threshold=threshold, edgeitems=_ENDS, prefix=" " * depth)


def _nested(
    array: Array,
    picked: Picked,
    to: TextIO,
    said: Callable[[npt.NDArray[Any], int], str],
    *,
    progress: Progress,
    comma: str = "",
) -> None:
    """Write nested lists; what stands in a list is said block by block, and so may differ in width from block to block.

    Args:
        array: The array.
        picked: What is selected from it.
        to: Where to write.
        said: Gives the text of the lists of a block, how deep they are nested in others given.
        progress: Is told how far it is.
        comma: What stands between two members besides white space.
    """
    last: tuple[int, ...] | None = None
    depth = 0
    for block in blocks(
        array, picked, most_bytes=min(MOST_BYTES, _AT_ONCE * max(1, array.itemsize)), progress=progress
    ):
        depth = len(block.at)
        if last is None:
            to.write("[" * depth)
        else:
            level = next(i for i in range(depth) if block.at[i] != last[i])
            closed = depth - 1 - level
            to.write("]" * closed + comma + "\n" * max(1, min(closed + 1, 2)) + " " * (level + 1) + "[" * closed)
        text = said(block.values, depth - 1)
        to.write(text[1:-1])
        last = block.at
    to.write("]" * depth if last is not None else "[]")
