"""A dataset's definitions as NcML, the XML that ncdump writes with -x.

ncdump refuses datasets with groups and user types. Here, groups are nested `group` elements, and a user type is told of
by its name, as NcML's schema has it.
"""

from __future__ import annotations

from typing import Any

from omnizarr.nc.dump.constants import Digits, trimmed, writer
from omnizarr.nc.dump.options import Options
from omnizarr.nc.dump.output import Output, Write
from omnizarr.nc.dump.printer import is_coordinate
from omnizarr.nc.dump.selecting import Wanted
from omnizarr.nc.source import Source
from omnizarr.nc.tree import Attr, Group, Var
from omnizarr.nc.types import CHAR, FLOAT, STRING, Atomic

_NAMESPACE = "https://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2"
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#xA;", "\r": "&#xD;", "\t": "&#x9;"}


def print_ncml(source: Source, write: Write, options: Options) -> None:
    """Print a dataset's definitions.

    Args:
        source: The dataset.
        write: Takes the text, piece by piece.
        options: As for CDL; what says which data are wanted tells which variables are written as one element.

    Raises:
        NotFoundError: If there is no variable or group of a name that is asked for.
    """
    wanted = Wanted(source.root, options)
    out = Output(write, options.width)
    out.text('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.text(f"<netcdf xmlns={_quoted(_NAMESPACE)} location={_quoted(source.name)}>\n")
    _Printer(out, options, wanted).group(source.root, "  ")
    out.text("</netcdf>\n")


class _Printer:
    def __init__(self, out: Output, options: Options, wanted: Wanted) -> None:
        self.out = out
        self.options = options
        self.wanted = wanted

    def group(self, group: Group, margin: str) -> None:
        for dim in group.dims.values():
            unlimited = ' isUnlimited="true"' if dim.unlimited else ""
            self.out.text(f'{margin}<dimension name={_quoted(dim.name)} length="{dim.size}"{unlimited} />\n')
        for attr in group.attrs.values():
            if attr.name != "_NCProperties":
                self._attribute(attr, margin)
        for var in group.vars.values():
            self._variable(var, group, margin)
        for inner in group.groups.values():
            self.out.text(f"{margin}<group name={_quoted(inner.name)}>\n")
            self.group(inner, f"{margin}  ")
            self.out.text(f"{margin}</group>\n")

    def _variable(self, var: Var, group: Group, margin: str) -> None:
        shape = f" shape={_quoted(' '.join(dim.name for dim in var.dims))}" if var.dims else ""
        head = f"{margin}<variable name={_quoted(var.name)}{shape} type={_quoted(var.type.name)}"
        # Without attributes and data there is nothing to be between two tags.
        empty = any(dim.unlimited and not dim.size for dim in var.dims)
        coordinates = self.options.data == "coordinates" and not is_coordinate(var, group)
        bare = self.options.data == "none" or not self.wanted.variable(var) or coordinates or empty
        if not var.attrs and bare:
            self.out.text(f"{head} />\n")
            return
        self.out.text(f"{head}>\n")
        for attr in var.attrs.values():
            self._attribute(attr, f"{margin}  ")
        self.out.text(f"{margin}</variable>\n")

    def _attribute(self, attr: Attr, margin: str) -> None:
        head = f"{margin}<attribute name={_quoted(attr.name)}"
        if attr.type == CHAR:
            text = attr.value.rstrip(b"\0").decode("utf-8", "surrogateescape")
            self.out.text(f"{head} value={_quoted(text)} />\n")
            return
        values = " ".join(_text(attr, one, self.options.digits) for one in attr.value)
        self.out.text(f"{head} type={_quoted(attr.type.name)} value={_quoted(values)} />\n")


def _text(attr: Attr, value: Any, digits: Digits) -> str:  # noqa: ANN401 - a value of the attribute's type
    kind = attr.type
    if kind == STRING:
        return value or ""
    text = writer(kind, digits)(value).decode("utf-8", "surrogateescape")
    if isinstance(kind, Atomic) and kind.numpy.kind == "f":
        finite = text.lstrip("-")[:1].isdigit()
        return trimmed(f"%#.{digits[0] if kind == FLOAT else digits[1]}g" % value) if finite else text.removesuffix("f")
    return text


def _quoted(text: str) -> str:
    known = "".join(_ESCAPES.get(one) or (f"&#{ord(one)};" if one < " " or one == "\x7f" else one) for one in text)
    return f'"{known}"'
