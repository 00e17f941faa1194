"""Dimensions of arrays: those that NCZarr refers to, or, where nothing does, those that names and lengths tell.

Zarr knows lengths, and perhaps names. For an array without references to dimensions:

- Names come from `dimension_names` or `_ARRAY_DIMENSIONS`. A list of the wrong length is no list of names.
- A name means the nearest dimension of that name, in the array's own group or above it, if it has the right length. If
  there is no such name, the array's own group gets the dimension: so arrays of the root, and of groups below, share
  those of the root. If the name is taken for another length, the array's own group gets a second dimension of the name;
  and if it has one already, `name_length` in its place. No conflict of lengths keeps a dataset from being opened.
- A one-dimensional array without names whose own name is that of a dimension of its length is its coordinate variable.
- All other dimensions are anonymous: `_Anonymous_Dim_<length>` in the root, one for each length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from omnizarr.errors import warn
from omnizarr.format.v2 import DIMENSIONS
from omnizarr.model.jsonvalue import JSON
from omnizarr.nc.tree import Dim, Group
from omnizarr.nc.zarr.generations import member
from omnizarr.nc.zarr.nodes import Node

SCALAR: Final = "_scalar_"
"""What netcdf-c calls the one dimension of an array that stands for a variable without dimensions."""


def define_dims(group: Group, mark: dict[str, JSON] | None) -> None:
    """Add the dimensions that the mark of a group names."""
    found = member(mark, "dimensions", "dims")
    for name, value in found.items() if isinstance(found, dict) else ():
        size = value.get("size") if isinstance(value, dict) else value
        unlimited = bool(value.get("unlimited")) if isinstance(value, dict) else False
        if isinstance(size, str) and size.isascii() and size.isdigit() and len(size) < 19:
            size = int(size)
        if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 1 << 63:
            warn(f"the dimension {name!r} of the group {group.path!r} has no length that could be read; it is left out")
            continue
        if not _is_name(name):
            warn(f"the group {group.path!r} has a dimension {name!r}, which cannot be a name; it is left out")
            continue
        group.add_dim(name, int(size), unlimited=unlimited)


def is_scalar(node: Node) -> bool:
    """Whether an array stands for a variable without dimensions."""
    if not node.shape:
        return True
    mark = node.mark("array")
    if node.shape != (1,):
        return False
    if mark is not None:
        if member(mark, "scalar") or member(mark, "storage") == "scalar":
            return True
        references = member(mark, "dimension_references", "dimrefs")
        return references in ([], [f"/{SCALAR}"])
    return node.attributes.get(DIMENSIONS) == [SCALAR]


def referred(node: Node, group: Group) -> tuple[Dim, ...] | None:
    """Return the dimensions that the mark of an array refers to; `None` if it has no such list, or one of wrong length.

    What it refers to is defined if it is missing, and another one taken if it has another length: both with a warning.
    """
    references = member(node.mark("array"), "dimension_references", "dimrefs")
    if not isinstance(references, list):
        return None
    if len(references) != len(node.shape) or not all(isinstance(one, str) for one in references):
        warn(f"{node.path!r} has {len(node.shape)} dimensions and refers to {len(references)}; names tell them")
        return None
    return tuple(_reference(str(name), size, node, group) for name, size in zip(references, node.shape, strict=True))


def _reference(name: str, size: int, node: Node, group: Group) -> Dim:
    dim = group.find_dim(name) or group.find_dim("/" + name)
    if dim is None:
        home, _, last = name.rpartition("/")
        owner = group.find_group(home or "/") if "/" in name else None
        warn(f"{node.path!r} refers to the dimension {name!r}, which is not defined; its length is taken for it")
        return dim_of(last or name, size, owner or group)
    if dim.unlimited:
        dim.size = max(dim.size, size)
        return dim
    if dim.size == size:
        return dim
    warn(f"{node.path!r} has length {size} along the dimension {name!r}, which has {dim.size}; it gets one of its own")
    return dim_of(dim.name, size, group)


def names_of(node: Node) -> list[str | None] | None:
    """Return the names of an array's dimensions, if it has some."""
    if node.dim_names is False:
        node.dim_names = _find_names(node)
    return node.dim_names


def _find_names(node: Node) -> list[str | None] | None:
    given: Sequence[JSON] | None = node.meta.dims if node.meta is not None else None
    attribute = node.attributes.get(DIMENSIONS)
    if given is None and attribute is not None:
        if isinstance(attribute, list) and len(attribute) == len(node.shape):
            given = attribute
        else:
            warn(f"{DIMENSIONS} of {node.path!r} does not name its {len(node.shape)} dimensions; it is ignored")
    if given is None or len(given) != len(node.shape):
        return None
    names = [one.rpartition("/")[2] if isinstance(one, str) else None for one in given]
    return [name if name is not None and _is_name(name) else None for name in names]


def inferred(node: Node, group: Group) -> tuple[Dim, ...]:
    """Return the dimensions that names and lengths tell."""
    names = names_of(node) or [None] * len(node.shape)
    if names == [None] and _has_coordinate(node, group):
        names = [node.name]
    return tuple(
        _anonymous(size, group) if name is None else dim_of(name, size, group)
        for name, size in zip(names, node.shape, strict=True)
    )


def _has_coordinate(node: Node, group: Group) -> bool:
    dim = group.find_dim(node.name) if _is_name(node.name) else None
    return dim is not None and dim.size == node.shape[0]


def dim_of(name: str, size: int, group: Group) -> Dim:
    """Return the dimension of a name and length that a group sees or, if it sees none, gets."""
    known = group.find_dim(name)
    if known is not None and known.size == size:
        return known
    if known is None or known.group is not group:
        return group.add_dim(name, size)
    tried, number = f"{name}_{size}", 1
    while (known := group.find_dim(tried)) is not None and known.size != size:
        number += 1
        tried = f"{name}_{size}_{number}"
    return known or group.add_dim(tried, size)


def _anonymous(size: int, group: Group) -> Dim:
    return dim_of(f"_Anonymous_Dim_{size}", size, group.root)


def _is_name(name: str) -> bool:
    return bool(name) and "/" not in name and "\0" not in name
