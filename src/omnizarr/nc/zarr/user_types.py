"""Definitions of user types in the marks of a group; see docs/reference/nczarr.md."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from omnizarr.errors import MetadataError, warn
from omnizarr.model.jsonvalue import JSON
from omnizarr.nc.tree import Group
from omnizarr.nc.types import BY_NAME, NUMERIC, Atomic, Compound, Enum, Field, Opaque, Type, User, Vlen

_LARGEST = 1 << 31


def define_types(group: Group, definitions: JSON) -> None:
    """Add the types that a group defines; one that cannot be read is left out, with a warning."""
    for one in definitions if isinstance(definitions, list) else ():
        try:
            group.add_type(parse_user_type(one, lambda name: named_type(group, name)))
        except (MetadataError, ValueError, TypeError, KeyError) as error:
            warn(f"a type of the group {group.path!r} is left out, as it cannot be read: {error}")


def named_type(group: Group, name: JSON) -> Type | None:
    """Return the type that a name means in a group: atomic, or a user type by its full path."""
    if not isinstance(name, str):
        return None
    return BY_NAME.get(name) or group.find_type(name)


def parse_user_type(definition: JSON, find: Callable[[JSON], Type | None]) -> User:
    """Return the type that a definition describes.

    Args:
        definition: As it stands in the document.
        find: Returns the types that it may be made of.

    Raises:
        MetadataError: If it is no definition.

    >>> parse_user_type({"name": "key", "class": "opaque", "size": 16}, BY_NAME.get)
    Opaque(name='key', size=16, home='/')
    """
    if not isinstance(definition, dict) or not isinstance(definition.get("name"), str):
        raise MetadataError("it has no name")
    name = str(definition["name"])
    kind = definition.get("class")
    if kind == "opaque":
        return Opaque(name, _size(definition.get("size"), name))
    if kind == "vlen":
        return Vlen(name, _known(definition.get("base"), find, name))
    if kind == "enum":
        return _enum(name, definition, find)
    if kind == "compound":
        fields = tuple(_field(one, find, name) for one in _list(definition.get("fields"), name))
        made = Compound(name, fields)
        if not fields or len({field.name for field in fields}) < len(fields):
            raise MetadataError(f"the fields of {name!r} are none, or two have one name")
        return made
    raise MetadataError(f"the class of {name!r} is {kind!r}")


def _enum(name: str, definition: dict[str, JSON], find: Callable[[JSON], Type | None]) -> Enum:
    base = _known(definition.get("base"), find, name)
    if not isinstance(base, Atomic) or base not in NUMERIC or base.numpy.kind == "f":
        raise MetadataError(f"the enum {name!r} is not of whole numbers")
    bounds = np.iinfo(base.numpy)
    members: list[tuple[str, int]] = []
    for one in _list(definition.get("members"), name):
        pair = _list(one, name)
        if len(pair) != 2 or not isinstance(pair[0], str) or not isinstance(pair[1], int):
            raise MetadataError(f"a member of the enum {name!r} is no name and number")
        if not bounds.min <= pair[1] <= bounds.max:
            raise MetadataError(f"the member {pair[0]!r} of the enum {name!r} is {pair[1]}, which no {base.name} is")
        members.append((pair[0], int(pair[1])))
    return Enum(name, base, tuple(members))


def _field(one: JSON, find: Callable[[JSON], Type | None], name: str) -> Field:
    parts = _list(one, name)
    if len(parts) not in (2, 3) or not isinstance(parts[0], str):
        raise MetadataError(f"a field of {name!r} is no name, type and perhaps shape")
    lengths = tuple(_size(length, name) for length in _list(parts[2], name)) if len(parts) == 3 else ()
    if prod(lengths) >= _LARGEST:
        raise MetadataError(f"a field of {name!r} is too large")
    return Field(parts[0], _known(parts[1], find, name), lengths)


def _known(name: JSON, find: Callable[[JSON], Type | None], owner: str) -> Type:
    found = find(name)
    if found is None:
        raise MetadataError(f"{owner!r} is made of {name!r}, which is no type")
    return found


def _size(value: JSON, name: str) -> int:
    if type(value) is int and 0 < value < _LARGEST:
        return value
    raise MetadataError(f"{name!r} has a size that is {value!r}")


def _list(value: JSON, name: str) -> list[JSON]:
    if isinstance(value, list):
        return value
    raise MetadataError(f"a part of {name!r} is no list")
