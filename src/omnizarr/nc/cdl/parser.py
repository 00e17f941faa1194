"""From CDL text to a dataset in memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from omnizarr.nc.cdl.arrays import Filling
from omnizarr.nc.cdl.attributes import attribute
from omnizarr.nc.cdl.constants import Const
from omnizarr.nc.cdl.declarations import (
    declare_dims,
    declare_type,
    declare_vars,
    find_type,
    in_order,
    starts_type,
    take_type,
)
from omnizarr.nc.cdl.errors import Text
from omnizarr.nc.cdl.lexer import Lexer, Token
from omnizarr.nc.cdl.lists import read_list
from omnizarr.nc.cdl.specials import GLOBAL, HIDDEN, OF_VARIABLES, Special, kind_of
from omnizarr.nc.near import near
from omnizarr.nc.source import MemorySource
from omnizarr.nc.tree import Group, Var
from omnizarr.nc.types import Type

_SECTIONS: Final = {b"types:": 1, b"dimensions:": 2, b"variables:": 3, b"data:": 4, b"group:": 5}
_DEEPEST: Final = 100


class CdlSource(MemorySource):
    """What a CDL text means: a dataset in memory.

    Attributes:
        format: The kind of dataset that the text asks for (`_Format`), if it does.
        given: The variables that the text gives values for.
    """

    def __init__(self, name: str) -> None:
        super().__init__(Group(), name)
        self.format: str | None = None
        self.given: set[Var] = set()


def parse(text: str | bytes, name: str = "<cdl>") -> CdlSource:
    """Return the dataset that a CDL text describes.

    Args:
        text: The text; bytes are UTF-8.
        name: What messages call it.

    Raises:
        CdlError: If the text is not CDL; the message says where and shows the line.

    >>> source = parse("netcdf small { dimensions: x = 3; variables: short v(x); data: v = 1, _, 3; }")
    >>> source.name, source.root.vars["v"].handle.tolist()
    ('small', [1, -32767, 3])
    """
    return _Parser(Text(_bytes(text) if isinstance(text, str) else bytes(text), name)).run()


def load(path: str | os.PathLike[str]) -> CdlSource:
    """Return the dataset that a CDL file describes."""
    return parse(Path(path).read_bytes(), os.fspath(path))


def _bytes(text: str) -> bytes:
    """Return text as bytes; what was no UTF-8 when it was decoded becomes what it was."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


class _Parser:
    """Reads groups and sections, and keeps lists of values until all dimensions are known."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.lexer = Lexer(text)
        self.source = CdlSource("")
        self.data: dict[Var, tuple[list[Const], int]] = {}

    def run(self) -> CdlSource:
        lexer = self.lexer
        token = lexer.peek()
        if token.text not in (b"netcdf", b"NETCDF", b"netCDF"):
            raise lexer.unexpected("'netcdf'")
        lexer.take()
        self.source.name = lexer.header() or "unnamed"
        lexer.expect("{")
        self.group(self.source.root, 0)
        lexer.expect("end", "nothing more")
        for group in self.source.root.walk():
            group.types = in_order(group.types)
        self.fill()
        return self.source

    def fill(self) -> None:
        filling = Filling(self.text)
        for var, (items, _) in self.data.items():
            filling.measure(var, items)
        while self.data:
            var, (items, at) = next(iter(self.data.items()))
            filling.fill(var, items, at)
            self.source.given.add(var)
            del self.data[var]  # the constants take more room than the values

    def group(self, group: Group, depth: int) -> None:
        """Read a group up to the brace behind it."""
        lexer, section = self.lexer, 0
        while not lexer.accept("}"):
            token = lexer.peek()
            if token.kind == "section" and not self.is_attribute(group, token):
                found = _SECTIONS[token.text]
                if found < section or (found == section and found != _SECTIONS[b"group:"]):
                    raise lexer.text.error(
                        token.at,
                        f"{token.text.decode()} cannot come here",
                        "The order in a group is types:, dimensions:, variables:, data:, group:.",
                    )
                section = found
                lexer.take()
                if token.text == b"group:":
                    self.subgroup(group, depth)
                continue
            self.statement(group, section)

    def is_attribute(self, group: Group, token: Token) -> bool:
        """Whether the word of a section is the name of a variable before an attribute."""
        if token.text[:-1].decode() not in group.vars:
            return False
        lexer = self.lexer
        lexer.take()
        name = lexer.take()
        equal = lexer.peek().kind == "="
        lexer.seek(token.at)
        return equal and name.kind == "word" and (token.text != b"data:" or lexer.name(name) not in group.vars)

    def subgroup(self, group: Group, depth: int) -> None:
        lexer = self.lexer
        token = lexer.expect("word", "the name of a group")
        name = lexer.name(token)
        if name in group.groups:
            raise self.text.error(token.at, f"there is a group {name} already")
        if depth >= _DEEPEST:
            raise self.text.error(token.at, f"more than {_DEEPEST} groups inside each other")
        lexer.expect("{")
        self.group(group.add_group(name), depth + 1)

    def statement(self, group: Group, section: int) -> None:
        """Read one declaration, attribute or list of values."""
        lexer = self.lexer
        first = lexer.peek()
        if first.kind in (":", "section"):
            self.attribute(group, None)
        elif first.kind not in ("word", "path"):
            raise lexer.unexpected("a declaration, an attribute or '}'")
        elif section == _SECTIONS[b"types:"] and starts_type(lexer, group):
            declare_type(lexer, group)
            return
        elif section == _SECTIONS[b"data:"]:
            self.values(group)
        else:
            lexer.take()
            follows = lexer.peek().kind
            if follows == "=" and section == _SECTIONS[b"dimensions:"]:
                lexer.seek(first.at)
                declare_dims(lexer, group)
            elif follows == ":":
                self.attribute(group, first)
            else:
                lexer.seek(first.at)
                self.variable(group, section)
        lexer.expect(";")

    def variable(self, group: Group, section: int) -> None:
        """Read variables of a type, or an attribute with a type."""
        lexer = self.lexer
        kind = take_type(lexer, group)
        name = lexer.peek()
        if name.kind == "section":
            self.attribute(group, None, kind)
            return
        if name.kind not in ("word", "path"):
            raise lexer.unexpected("the name of a variable")
        lexer.take()
        if lexer.peek().kind == ":":
            self.attribute(group, name, kind)
            return
        lexer.seek(name.at)
        if section != _SECTIONS[b"variables:"]:
            raise self.text.error(name.at, "variables are declared below 'variables:'")
        declare_vars(lexer, group, kind)

    def values(self, group: Group) -> None:
        """Read the values of a variable."""
        token = self.lexer.take()
        var = self.find_var(group, token)
        if var is None:
            name = token.text.decode("utf-8", "replace")
            raise self.text.error(token.at, f"there is no variable {name} here", near(name, group.vars))
        self.lexer.expect("=")
        self.data[var] = (read_list(self.lexer, var.type), token.at)

    def find_var(self, group: Group, token: Token) -> Var | None:
        if token.kind != "path":
            return group.vars.get(self.lexer.name(token))
        *home, name = self.lexer.names(token) or [""]
        found = group.root.find_group("/" + "/".join(home))
        return found.vars.get(name) if found else None

    def attribute(self, group: Group, owner: Token | None, kind: Type | None = None) -> None:
        """Read an attribute, from the colon on; what stands before it is a variable or, if there is none, a type."""
        lexer = self.lexer
        var: Var | None = None
        token = lexer.take()
        if token.kind == "section":
            var = group.vars.get(token.text[:-1].decode())
            if var is None:
                raise self.text.error(token.at, f"there is no variable {token.text[:-1].decode()} here")
        if owner is not None:
            var = self.find_var(group, owner)
            if var is None:
                if kind is None:
                    kind = find_type(lexer, group, owner)
                    found = kind is not None
                else:
                    found = False
                if not found:
                    what = owner.text.decode("utf-8", "replace")
                    raise self.text.error(
                        owner.at, f"there is no variable or type {what} before this", near(what, group.vars)
                    )
        token = lexer.expect("word", "the name of an attribute")
        name = lexer.name(token)
        lexer.expect("=")
        items = read_list(lexer)
        if var is None:
            self.group_attribute(group, token, name, kind, items)
        else:
            self.variable_attribute(var, token, name, kind, items)

    def group_attribute(self, group: Group, token: Token, name: str, kind: Type | None, items: list[Const]) -> None:
        special = Special(self.text, name, token.at, items)
        if name == "_Format":
            self.source.format = kind_of(special)
        elif name in HIDDEN:
            self.text.warn(token.at, f"{name} belongs to netCDF-4 itself and is left out")
        elif name not in GLOBAL:
            group.attrs[name] = attribute(self.text, name, token.at, kind, items)

    def variable_attribute(self, var: Var, token: Token, name: str, kind: Type | None, items: list[Const]) -> None:
        if name in OF_VARIABLES:
            OF_VARIABLES[name](Special(self.text, name, token.at, items), var)
            return
        if name in HIDDEN:
            self.text.warn(token.at, f"{name} belongs to netCDF-4 itself and is left out")
            return
        if name == "_FillValue":
            if len(items) != 1:
                raise self.text.error(token.at, "a fill value is one value")
            kind = var.type
        var.attrs[name] = attribute(self.text, name, token.at, kind, items)
