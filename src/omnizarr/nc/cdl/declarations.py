"""Declarations of types, dimensions and variables in CDL."""

from __future__ import annotations

from typing import Final

from omnizarr.nc.cdl.constants import constant, fits, wrapped
from omnizarr.nc.cdl.lexer import Lexer, Token
from omnizarr.nc.near import near
from omnizarr.nc.tree import Dim, Group, Var
from omnizarr.nc.types import BY_NAME, Atomic, Compound, Enum, Field, Opaque, Type, User, Vlen

_SYNONYMS: Final = {"real": "float", "long": "int", "integer": "int", "ulong": "uint", "uinteger": "uint"}
_COMPOUND: Final = (b"compound", b"struct", b"structure")
_UNLIMITED: Final = (b"unlimited", b"UNLIMITED", b"NC_UNLIMITED")
_INTEGERS: Final = ("byte", "ubyte", "short", "ushort", "int", "uint", "int64", "uint64")
_MOST_DIMS: Final = 64
_LARGEST: Final = 1 << 26
"""Bytes of a value of fixed size, at most."""


def find_type(lexer: Lexer, group: Group, token: Token) -> Type | None:
    """Return the type that a word or path names, if it does."""
    if token.kind == "path":
        return group.find_type("/" + "/".join(lexer.names(token)))
    if token.kind != "word":
        return None
    text = token.text.decode("utf-8", "replace")
    found = BY_NAME.get(_SYNONYMS.get(text, text))
    return found or group.find_type(lexer.name(token))


def take_type(lexer: Lexer, group: Group) -> Type:
    """Read the name of a type.

    Raises:
        CdlError: If there is no such type.
    """
    token = lexer.peek()
    found = find_type(lexer, group, token)
    if found is None:
        if token.kind in ("word", "path"):
            name = token.text.decode("utf-8", "replace")
            types = [*BY_NAME, *(known for above in group.above() for known in above.types)]
            raise lexer.text.error(token.at, f"there is no type {name} before this", near(name, types))
        raise lexer.unexpected("a type")
    lexer.take()
    return found


def starts_type(lexer: Lexer, group: Group) -> bool:
    """Whether a declaration of a type comes next, rather than an attribute."""
    token = lexer.take()
    follows = lexer.peek()
    lexer.seek(token.at)
    if token.text in _COMPOUND:
        return follows.kind == "word"
    if token.text == b"opaque":
        return follows.kind == "("
    return follows.kind == "(" or (follows.text == b"enum" and find_type(lexer, group, token) is not None)


def declare_type(lexer: Lexer, group: Group) -> None:
    """Read the declaration of a type."""
    first = lexer.peek()
    if first.text in _COMPOUND:
        lexer.take()
        kind: User = _compound(lexer, group)
    elif first.text == b"opaque":
        lexer.take()
        lexer.expect("(")
        size = _positive(lexer)
        lexer.expect(")")
        kind = Opaque(_new_name(lexer, group.types, "type"), size)
    else:
        base = take_type(lexer, group)
        kind = _enum(lexer, group, base, first) if lexer.peek().text == b"enum" else _vlen(lexer, group, base)
    group.add_type(kind)
    lexer.accept(";")


def _new_name(lexer: Lexer, known: object, what: str) -> str:
    token = lexer.expect("word", f"the name of a {what}")
    name = lexer.name(token)
    if name in known:  # type: ignore[operator]
        raise lexer.text.error(token.at, f"there is a {what} {name} already")
    return name


def _positive(lexer: Lexer) -> int:
    token = lexer.expect("integer", "a number from 1 on")
    lexer.seek(token.at)
    found: int = constant(lexer).value
    if not 1 <= found <= _LARGEST:
        raise lexer.text.error(token.at, f"expected a number from 1 to {_LARGEST}")
    return found


def _vlen(lexer: Lexer, group: Group, base: Type) -> Vlen:
    for mark in "(*)":
        lexer.expect(mark)
    return Vlen(_new_name(lexer, group.types, "type"), base)


def _enum(lexer: Lexer, group: Group, base: Type, first: Token) -> Enum:
    if not isinstance(base, Atomic) or base.name not in _INTEGERS:
        raise lexer.text.error(first.at, f"the base of an enum is a type of integers, not {base.name}")
    lexer.take()
    name = _new_name(lexer, group.types, "type")
    members: dict[str, int] = {}
    lexer.expect("{")
    while True:
        member = _new_name(lexer, members, "member")
        lexer.expect("=")
        token = lexer.expect("integer", "an integer")
        lexer.seek(token.at)
        value: int = constant(lexer).value
        if not fits(value, base.name):
            lexer.text.warn(token.at, f"{value} is out of range for {base.name}")
        members[member] = wrapped(value, base.name)
        if not lexer.accept(","):
            break
    lexer.expect("}", "',' or '}'")
    return Enum(name, base, tuple(members.items()))


def _compound(lexer: Lexer, group: Group) -> Compound:
    at = lexer.peek().at
    name = _new_name(lexer, group.types, "type")
    fields: dict[str, Field] = {}
    lexer.expect("{")
    while True:
        base = take_type(lexer, group)
        while True:
            member = _new_name(lexer, fields, "member")
            fields[member] = Field(member, base, _shape(lexer))
            if not lexer.accept(","):
                break
        lexer.expect(";")
        if lexer.accept("}"):
            break
    if sum(_nbytes(field) for field in fields.values()) > _LARGEST:
        raise lexer.text.error(at, f"a value of type {name} has more than {_LARGEST} bytes")
    return Compound(name, tuple(fields.values()))


def _shape(lexer: Lexer) -> tuple[int, ...]:
    sizes: list[int] = []
    at = lexer.peek().at
    if lexer.accept("("):
        while True:
            sizes.append(_positive(lexer))
            if not lexer.accept(","):
                break
        lexer.expect(")", "',' or ')'")
    if len(sizes) > _MOST_DIMS // 2:
        raise lexer.text.error(at, f"more than {_MOST_DIMS // 2} dimensions")
    return tuple(sizes)


def _nbytes(field: Field) -> int:
    size = field.type.numpy.itemsize
    for length in field.shape:
        size *= length
    return size


def declare_dims(lexer: Lexer, group: Group) -> None:
    """Read declarations of dimensions up to a semicolon."""
    while True:
        name = _new_name(lexer, group.dims, "dimension")
        lexer.expect("=")
        if lexer.peek().text in _UNLIMITED:
            lexer.take()
            group.add_dim(name, 0, unlimited=True)
        else:
            token = lexer.expect("integer", "a length or 'unlimited'")
            lexer.seek(token.at)
            size: int = constant(lexer).value
            if not 0 <= size < 1 << 63:
                raise lexer.text.error(token.at, "a dimension has a length from 0 on")
            group.add_dim(name, size)
        if not lexer.accept(","):
            return


def declare_vars(lexer: Lexer, group: Group, kind: Type) -> None:
    """Read names and dimensions of variables of a type up to a semicolon."""
    while True:
        name = _new_name(lexer, group.vars, "variable")
        group.vars[name] = Var(name, kind, _dims(lexer, group), group=group)
        if not lexer.accept(","):
            return


def _dims(lexer: Lexer, group: Group) -> tuple[Dim, ...]:
    dims: list[Dim] = []
    if not lexer.accept("("):
        return ()
    while True:
        token = lexer.peek()
        if token.kind not in ("word", "path"):
            raise lexer.unexpected("the name of a dimension")
        path = token.kind == "path"
        found = group.find_dim("/" + "/".join(lexer.names(token)) if path else lexer.name(token))
        if found is None:
            name = token.text.decode("utf-8", "replace")
            known = [dim for above in group.above() for dim in above.dims]
            raise lexer.text.error(token.at, f"there is no dimension {name}", near(name, known))
        lexer.take()
        dims.append(found)
        if len(dims) > _MOST_DIMS:
            raise lexer.text.error(token.at, f"more than {_MOST_DIMS} dimensions")
        if not lexer.accept(","):
            break
    lexer.expect(")", "',' or ')'")
    return tuple(dims)


def in_order(types: dict[str, User]) -> dict[str, User]:
    """Return types in the order in which ncgen defines them: those first that use no other.

    >>> list(in_order({"b": Vlen("b", Opaque("o", 1)), "o": Opaque("o", 1)}))
    ['o', 'b']
    """
    simple = {name: kind for name, kind in types.items() if _is_simple(kind)}
    return {**simple, **types}


def _is_simple(kind: User) -> bool:
    if isinstance(kind, Vlen):
        return isinstance(kind.base, Atomic)
    return not isinstance(kind, Compound) or all(isinstance(field.type, Atomic) for field in kind.fields)
