"""The documents of groups and arrays: what of the netCDF model stands in them, and how."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from omnizarr.format.fill_attribute import as_v3
from omnizarr.format.names import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP
from omnizarr.model.jsonvalue import JSON
from omnizarr.nc.tree import Attr, Dim, Group, Var
from omnizarr.nc.types import CHAR, INT, STRING, Atomic, Compound, Enum, Opaque, User, type_path
from omnizarr.nc.zarr.attributes import FILL, to_json
from omnizarr.nc.zarr.style import (
    ARRAY_KEY,
    ATTR_KEY,
    DIMENSIONS_KEY,
    GROUP_KEY,
    HIDDEN,
    MANAGED,
    SCALAR_DIMENSION,
    SUPERBLOCK_KEY,
    Style,
)

_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def dump(value: object) -> bytes:
    r"""Write a document: raw UTF-8, since netcdf-c takes `\u00e9` for five letters.

    >>> dump({"a": "é", "b": 1.5})
    b'{"a": "\xc3\xa9", "b": 1.5}\n'
    """
    text = json.dumps(value, ensure_ascii=False)
    return _SURROGATES.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode() + b"\n"


def in_arrays(var: Var) -> bool:
    """Whether netcdf-c knows the type that a variable's elements are stored in."""
    return isinstance(var.type, (Atomic, Enum))


class Kept(NamedTuple):
    """What the documents of a node held when it was opened, so that what nobody changed stays as it is spelled."""

    raw: Mapping[str, JSON] = {}
    """Its attributes in JSON."""
    loaded: Mapping[str, Attr] = {}
    """What they were read as."""
    members: Mapping[str, JSON] = {}
    """Members of its main document that are none of ours."""
    own_dims: bool = False
    """Whether the names of dimensions stay as they are: where there were none, they were made up."""


NOTHING: Final = Kept()


def group_texts(group: Group, style: Style, kept: Kept = NOTHING) -> dict[str, bytes]:
    """Return the documents of a group by name, in the order in which to write them."""
    values, types, user_types = _attributes(group.attrs.values(), kept)
    if not style.is_pure:
        values[GROUP_KEY] = _group_key(group)
        if group.parent is None:
            values[SUPERBLOCK_KEY] = {"version": "3.0.0" if style.is_v3 else "2.0.0"}
        values.update(_attr_key(types, user_types))
    if style.is_v3:
        return {ZARR_JSON: dump({"zarr_format": 3, "node_type": "group", "attributes": values, **kept.members})}
    main: dict[str, Any] = {"zarr_format": 2, **kept.members}
    if style.also:
        if group.parent is None:
            main["_NCZARR_SUPERBLOCK"] = {"version": "2.0.0"}
        main["_NCZARR_GROUP"] = _old_group_key(group)
        values.update(_old_attr_key(group.attrs.values()))
    return {ZATTRS: dump(values), ZGROUP: dump(main)}


def array_texts(var: Var, document: Mapping[str, Any], style: Style, kept: Kept = NOTHING) -> dict[str, bytes]:
    """Return the documents of an array by name, in the order in which to write them."""
    values, types, user_types = _attributes(_with_quantize(var), kept)
    others = {name: value for name, value in kept.members.items() if name not in document}
    if kept.own_dims:
        if DIMENSIONS_KEY in kept.raw:
            values[DIMENSIONS_KEY] = kept.raw[DIMENSIONS_KEY]
    elif not style.is_v3 and style.xarray:
        names: list[JSON] = [dim.name for dim in var.dims]
        # The array of a variable without dimensions has one in NCZarr, and xarray wants a name for each.
        values[DIMENSIONS_KEY] = names if var.dims or style.is_pure else [SCALAR_DIMENSION]
    if not style.is_pure:
        values[ARRAY_KEY] = _array_key(var, style)
        values.update(_attr_key(types, user_types))
    if style.is_v3:
        if isinstance(var.type, Atomic) and var.type.numpy.kind == "f":
            values = as_v3(values, var.type.numpy)  # as xarray's own engine reads it
        return {ZARR_JSON: dump({**document, **others, "attributes": values})}
    main = {**document, **others}
    if style.also:
        references = [dim.path for dim in var.dims] or [f"/{SCALAR_DIMENSION}"]
        main["_NCZARR_ARRAY"] = {"dimrefs": references, "storage": "chunked"}
        values.update(_old_attr_key(var.attrs.values()))
    return {ZATTRS: dump(values), ZARRAY: dump(main)}


def _attributes(attrs: Iterable[Attr], kept: Kept) -> tuple[dict[str, Any], dict[str, JSON], dict[str, JSON]]:
    given = {attr.name: attr for attr in attrs if attr.name not in HIDDEN}
    # First those that were there, where they were; what the model did not show is nobody's to erase.
    values: dict[str, Any] = {
        name: value
        for name, value in kept.raw.items()
        if name in given or (name not in kept.loaded and name not in MANAGED)
    }
    types: dict[str, JSON] = {}
    user_types: dict[str, JSON] = {}
    for name, attr in given.items():
        # netcdf-c knows only the integers of an enum.
        plain = Attr(name, attr.type.base, attr.value) if name == FILL and isinstance(attr.type, Enum) else attr
        value, text = to_json(plain)
        if name not in values or kept.loaded.get(name) != attr:
            values[name] = value
        (types if isinstance(plain.type, Atomic) else user_types)[name] = text
    return values, types, user_types


def _with_quantize(var: Var) -> list[Attr]:
    attrs = list(var.attrs.values())
    if var.storage.quantize is not None and var.storage.quantize[0] not in var.attrs:
        name, number = var.storage.quantize
        attrs.append(Attr.of_values(name, INT, [number]))
    return attrs


def _attr_key(types: dict[str, JSON], user_types: dict[str, JSON]) -> dict[str, JSON]:
    held: dict[str, JSON] = {"types": types}
    if user_types:
        held["user_types"] = user_types
    return {ATTR_KEY: held}


def dimension_json(dim: Dim) -> JSON:
    """Return a dimension as groups list it."""
    return {"size": dim.size, "unlimited": 1} if dim.unlimited else dim.size


def _group_key(group: Group) -> dict[str, Any]:
    held: dict[str, Any] = {
        "dimensions": {dim.name: dimension_json(dim) for dim in group.dims.values()},
        "arrays": [var.name for var in group.vars.values() if in_arrays(var)],
        "groups": list(group.groups),
    }
    if group.types:
        held["user_types"] = [_type_json(one) for one in group.types.values()]
    others = [var.name for var in group.vars.values() if not in_arrays(var)]
    if others:
        held["user_arrays"] = others
        held["array_order"] = list(group.vars)
    return held


def _array_key(var: Var, style: Style) -> dict[str, Any]:
    held: dict[str, Any] = {"dimension_references": [dim.path for dim in var.dims], "storage": "chunked"}
    if not var.dims and not style.is_v3:
        held["scalar"] = 1
    if not isinstance(var.type, Atomic) or (style.is_v3 and var.type in (CHAR, STRING)):
        held["type"] = type_path(var.type)
    if var.storage.no_fill and (style.is_v3 or not in_arrays(var)):
        held["no_fill"] = 1
    return held


def _type_json(one: User) -> dict[str, Any]:
    if isinstance(one, Enum):
        members = [[name, number] for name, number in one.members]
        return {"name": one.name, "class": "enum", "base": one.base.name, "members": members}
    if isinstance(one, Opaque):
        return {"name": one.name, "class": "opaque", "size": one.size}
    if isinstance(one, Compound):
        fields = [[f.name, type_path(f.type), *([list(f.shape)] if f.shape else [])] for f in one.fields]
        return {"name": one.name, "class": "compound", "fields": fields}
    return {"name": one.name, "class": "vlen", "base": type_path(one.base)}


def _old_group_key(group: Group) -> dict[str, Any]:
    """Return what netcdf-c 4.9.0 knows of a group; arrays that would crash it are left out."""
    readable = [var for var in group.vars.values() if in_arrays(var) and var.type not in (CHAR, STRING)]
    dims: dict[str, int] = {dim.name: dim.size for dim in group.dims.values()}
    if group.parent is None and not all(var.dims for var in group.all_vars()):
        dims[SCALAR_DIMENSION] = 1
    return {"dims": dims, "vars": [var.name for var in readable], "groups": list(group.groups)}


def _old_attr_key(attrs: Iterable[Attr]) -> dict[str, Any]:
    types: dict[str, str] = {}
    for attr in attrs:
        if attr.type == CHAR:
            types[attr.name] = "<U1"
        elif isinstance(attr.type, Atomic) and attr.type != STRING:
            types[attr.name] = f"<{attr.type.text}"
    return {"_NCZARR_ATTR": {"types": types}}
