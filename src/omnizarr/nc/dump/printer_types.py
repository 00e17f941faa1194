"""User types in CDL: their definitions, and the names by which they are referred to."""

from __future__ import annotations

from omnizarr.nc.dump.names import escaped
from omnizarr.nc.dump.output import Output
from omnizarr.nc.tree import Group
from omnizarr.nc.types import Atomic, Compound, Enum, Opaque, Type, User, type_path


def type_name(kind: Type, group: Group) -> str:
    """Return how a group names a type: by its own name, or by full path where that means another one or none."""
    if isinstance(kind, Atomic):
        return kind.name
    nearest = next((above.types[kind.name] for above in group.above() if kind.name in above.types), None)
    if nearest is not None and type_path(nearest) == type_path(kind):
        return escaped(kind.name)
    return escaped(type_path(kind))


def print_types(group: Group, out: Output) -> None:
    """Print the types that a group defines."""
    if not group.types:
        return
    out.margin("types:\n")
    out.deeper()
    for kind in group.types.values():
        _print_type(kind, group, out)
    out.back()


def _print_type(kind: User, group: Group, out: Output) -> None:
    name = type_name(kind, group)
    if isinstance(kind, Enum):
        _print_enum(kind, out)
    elif isinstance(kind, Opaque):
        out.margin(f"opaque({kind.size}) {name} ;\n")
    elif isinstance(kind, Compound):
        out.margin(f"compound {name} {{\n")
        for field in kind.fields:
            shape = f"({', '.join(map(str, field.shape))})" if field.shape else ""
            out.margin(f"  {type_name(field.type, group)} {escaped(field.name)}{shape} ;\n")
        out.margin(f"}}; // {name}\n")
    else:
        out.margin(f"{type_name(kind.base, group)}(*) {name} ;\n")


def _print_enum(kind: Enum, out: Output) -> None:
    """Print an enum; members that make a line too long begin a new one."""
    out.margin()
    out.put(f"{kind.base.name} enum {escaped(kind.name)} {{".encode("utf-8", "surrogateescape"))
    for number, (name, value) in enumerate(kind.members, 1):
        end = "} ;\n" if number == len(kind.members) else ", "
        out.put(f"{escaped(name)} = {value}{end}".encode("utf-8", "surrogateescape"))
