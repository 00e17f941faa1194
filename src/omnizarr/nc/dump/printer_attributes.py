"""Attributes in CDL: what a dataset says, and with -s how it is stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from omnizarr.nc.dump.constants import attribute_number, writer
from omnizarr.nc.dump.names import escaped, owner
from omnizarr.nc.dump.options import Options
from omnizarr.nc.dump.output import Output
from omnizarr.nc.dump.printer_types import type_name
from omnizarr.nc.dump.specials import dataset_specials, variable_specials
from omnizarr.nc.dump.texts import quoted_attribute, quoted_string
from omnizarr.nc.dump.times import Bounds, print_times, time_axis
from omnizarr.nc.kinds import NETCDF3_KINDS, NETCDF4_CLASSIC
from omnizarr.nc.source import Source
from omnizarr.nc.tree import Attr, Group, Var
from omnizarr.nc.types import CHAR, STRING, Atomic, Compound, Vlen

_HIDDEN: Final = ("_NCProperties", "_SuperblockVersion", "_IsNetcdf4")
"""Attributes of the root that are there only for who asks for special ones."""


class AttributePrinter:
    """Prints attributes of variables and groups."""

    def __init__(self, source: Source, out: Output, options: Options, bounds: Bounds) -> None:
        self._source = source
        self._out = out
        self._options = options
        self._bounds = bounds
        self._in_lines = source.kind in NETCDF3_KINDS or source.kind == NETCDF4_CLASSIC

    def of_group(self, group: Group) -> None:
        """Print the attributes of a group, under a title."""
        is_root = group.parent is None
        shown = [attr for attr in group.attrs.values() if not (is_root and attr.name in _HIDDEN)]
        if shown or self._options.special:
            self._out.text("\n")
            self._out.margin("// global attributes:\n" if is_root else "// group attributes:\n")
        for attr in shown:
            self._print("", attr, group)
        if is_root and self._options.special:
            hidden: Mapping[str, Attr] = getattr(self._source, "hidden", {})
            self._specials("", dataset_specials(self._source.kind, {**group.attrs, **hidden}))

    def of_variable(self, var: Var) -> None:
        """Print the attributes of a variable."""
        group = var.group or Group()
        for attr in var.attrs.values():
            self._print(var.name, attr, group, var)
        if var.storage.quantize is not None and var.storage.quantize[0] not in var.attrs:
            self._specials(var.name, [(var.storage.quantize[0], str(var.storage.quantize[1]))])
        if self._options.special:
            self._specials(var.name, variable_specials(var, self._source.kind, filters=self._options.filters))

    def _specials(self, name: str, attributes: Iterable[tuple[str, str]]) -> None:
        for attribute, value in attributes:
            self._out.margin(f"\t\t{escaped(name)}:{escaped(attribute)} = {value} ;\n")

    def _print(self, name: str, attr: Attr, group: Group, var: Var | None = None) -> None:
        out = self._out
        typed = not isinstance(attr.type, Atomic) or attr.type == STRING
        prefix = f"{type_name(attr.type, group)} " if typed else ""
        out.margin(f"\t\t{prefix}{owner(name)}:{escaped(attr.name)} = ")
        self._value(attr)
        out.text(" ;")
        if self._options.times and var is not None:
            self._times(attr, var)
        out.text("\n")

    def _value(self, attr: Attr) -> None:
        kind, value, out = attr.type, attr.value, self._out
        if not len(value):
            out.text('""')
        elif kind == CHAR:
            out.write(quoted_attribute(value, in_lines=self._in_lines))
        elif kind == STRING:
            out.write(b", ".join([self._string(one) for one in value]))
        elif isinstance(kind, Atomic):
            out.text(", ".join([attribute_number(kind, one, self._options.digits) for one in value]))
        elif isinstance(kind, (Compound, Vlen)):
            write = writer(kind, self._options.digits)
            for one in value[:-1]:
                out.put(write(one) + b", ")
            out.put(write(value[-1]))
        else:
            out.write(b", ".join(map(writer(kind, self._options.digits), value)))

    def _string(self, text: Any) -> bytes:  # noqa: ANN401 - a string or None
        if text is None or not self._in_lines:
            return quoted_string(text)
        return quoted_attribute(text.encode("utf-8", "surrogateescape"), in_lines=True)

    def _times(self, attr: Attr, var: Var) -> None:
        if isinstance(attr.type, Atomic) and attr.type not in (CHAR, STRING) and len(attr.value):
            axis = time_axis(var)
            if axis is not None:
                print_times(axis, attr.value, self._options, self._out)
        if attr.name == "bounds" and attr.type == CHAR:
            self._bounds.add(attr.value, var)
