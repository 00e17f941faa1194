"""A dataset as CDL: groups with types, dimensions, variables, attributes and data, in ncdump's words and order."""

from __future__ import annotations

from omnizarr.nc.dump.names import escaped
from omnizarr.nc.dump.options import Options
from omnizarr.nc.dump.output import Output, Write
from omnizarr.nc.dump.printer_attributes import AttributePrinter
from omnizarr.nc.dump.printer_types import print_types, type_name
from omnizarr.nc.dump.selecting import Wanted
from omnizarr.nc.dump.times import Bounds
from omnizarr.nc.dump.values import ValuePrinter
from omnizarr.nc.source import Source
from omnizarr.nc.tree import Dim, Group, Var


def print_cdl(source: Source, write: Write, options: Options, name: str) -> None:
    """Print a dataset.

    Args:
        source: The dataset.
        write: Takes the text, piece by piece.
        options: What is printed, and how.
        name: The name on the first line.

    Raises:
        NotFoundError: If there is no variable or group of a name that is asked for; nothing is printed then.
        SelectionError: If a slice does not fit.
    """
    wanted = Wanted(source.root, options)
    out = Output(write, options.width)
    out.text(f"netcdf {escaped(name)} {{\n")
    _Printer(source, out, options, wanted).group(source.root)
    out.text("}\n")


class _Printer:
    def __init__(self, source: Source, out: Output, options: Options, wanted: Wanted) -> None:
        self.out = out
        self.options = options
        self.wanted = wanted
        bounds = Bounds()
        self.attributes = AttributePrinter(source, out, options, bounds)
        self.values = ValuePrinter(source, out, options, bounds)

    def group(self, group: Group) -> None:
        print_types(group, self.out)
        self._dimensions(group)
        self._variables(group)
        self.attributes.of_group(group)
        if self.options.data != "none" and self.wanted.group(group):
            self._data(group)
        for inner in group.groups.values():
            name = escaped(inner.name)
            self.out.text("\n")
            self.out.margin(f"group: {name} {{\n")
            self.out.deeper()
            self.group(inner)
            self.out.margin(f"}} // group {name}\n")
            self.out.back()

    def _dimensions(self, group: Group) -> None:
        if group.dims:
            self.out.margin("dimensions:\n")
        for dim in group.dims.values():
            size = f"UNLIMITED ; // ({dim.size} currently)" if dim.unlimited else f"{dim.size} ;"
            self.out.margin(f"\t{escaped(dim.name)} = {size}\n")

    def _variables(self, group: Group) -> None:
        if group.vars:
            self.out.margin("variables:\n")
        for var in group.vars.values():
            dims = f"({', '.join(dimension_name(dim, group) for dim in var.dims)})" if var.dims else ""
            self.out.margin(f"\t{type_name(var.type, group)} {escaped(var.name)}{dims} ;\n")
            self.attributes.of_variable(var)

    def _data(self, group: Group) -> None:
        if group.vars:
            self.out.margin("data:\n")
        for var in group.vars.values():
            if not self.wanted.variable(var) or (self.options.data == "coordinates" and not is_coordinate(var, group)):
                continue
            self.values.print(var, self.wanted.slices(var))


def dimension_name(dim: Dim, group: Group) -> str:
    """Return how a group names a dimension: by its own name, or by full path where that means another one."""
    if group.find_dim(dim.name) is dim:
        return escaped(dim.name)
    return escaped(dim.path)


def is_coordinate(var: Var, group: Group) -> bool:
    """Whether a variable has the name of a dimension that its group sees."""
    return len(var.dims) == 1 and any(var.name in above.dims for above in group.above())
