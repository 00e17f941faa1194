"""Any dataset, written down as CDL by a few plain lines, is read as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from omnizarr.nc.cdl.parser import parse
from omnizarr.nc.source import MemorySource
from omnizarr.nc.tree import Attr, Group
from omnizarr.nc.types import (
    ATOMIC,
    CHAR,
    DOUBLE,
    INT,
    SHORT,
    STRING,
    UINT64,
    Atomic,
    Compound,
    Enum,
    Field,
    Opaque,
    Type,
    Vlen,
    type_path,
)
from tests.nc.cdl.trees import differences

_SPECIAL = " !\"#$%&'()*,:;<=>?[\\]^`{|}~"
_SUFFIX = {
    "byte": "b",
    "short": "s",
    "int": "",
    "int64": "LL",
    "ubyte": "ub",
    "ushort": "us",
    "uint": "u",
    "uint64": "ull",
}

_names = st.builds(
    str.__add__, st.sampled_from("abXYZ_é水7"), st.text(st.sampled_from("ab7_.@+-é " + _SPECIAL), max_size=6)
).filter(lambda name: not name.startswith("_") and name.isprintable() and name.strip() == name)
_texts = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=8)
_types = st.sampled_from(
    [
        *ATOMIC,
        Enum("sky day", INT, (("clear", -1), ("a:b", 3))),
        Opaque("blob", 3),
        Vlen("ints", UINT64),
        Vlen("words", STRING),
        Compound("point", (Field("x", DOUBLE), Field("id", SHORT, (2,)), Field("s", STRING), Field("c", CHAR, (3,)))),
    ]
)


def name_text(name: str) -> str:
    escaped = "".join(f"\\{one}" if one in _SPECIAL else one for one in name)
    return f"\\{escaped}" if name[:1].isdigit() else escaped


def quoted(data: bytes) -> str:
    shown = "".join(chr(one) if 32 <= one < 127 and one not in b'"\\' else f"\\{one:03o}" for one in data)
    return f'"{shown}"'


def value_text(kind: Type, value: Any) -> str:  # noqa: PLR0911 - one for each sort of type
    if isinstance(kind, Atomic):
        if kind == STRING:
            return "NIL" if value is None else quoted(value.encode())
        if kind == CHAR:
            return f"'\\{(value[0] if value else 0):03o}'"
        if kind.numpy.kind == "f":
            text = "NaN" if np.isnan(value) else "Infinity" if np.isinf(value) else repr(float(value))
            text = f"-{text}" if np.isinf(value) and value < 0 else text
            return text + ("f" if kind.name == "float" else "")
        return f"{value}{_SUFFIX[kind.name]}"
    if isinstance(kind, Enum):
        return name_text(next(name for name, number in kind.members if number == value))
    if isinstance(kind, Opaque):
        return f"0x{bytes(value).hex()}"
    if isinstance(kind, Vlen):
        return "{" + ", ".join(value_text(kind.base, one) for one in value) + "}"
    assert isinstance(kind, Compound)
    return "{" + ", ".join(_member_text(field, value[field.name]) for field in kind.fields) + "}"


def _member_text(field: Field, value: Any) -> str:
    if not field.shape:
        return value_text(field.type, value)
    return "{" + ", ".join(value_text(field.type, one) for one in np.asarray(value).reshape(-1)) + "}"


def _attr_text(owner: str, attr: Attr) -> str:
    if attr.type == CHAR:
        return f"{owner}:{name_text(attr.name)} = {quoted(attr.value)} ;"
    kind = (
        attr.type.name if isinstance(attr.type, Atomic) else "/".join(map(name_text, type_path(attr.type).split("/")))
    )
    shown = ", ".join(value_text(attr.type, one) for one in attr.value)
    return f"{kind} {owner}:{name_text(attr.name)} = {shown} ;"


def _type_text(kind: Type) -> str:
    name = name_text(kind.name)
    if isinstance(kind, Enum):
        return f"{kind.base.name} enum {name} {{" + ", ".join(f"{name_text(n)} = {v}" for n, v in kind.members) + "} ;"
    if isinstance(kind, Opaque):
        return f"opaque({kind.size}) {name} ;"
    if isinstance(kind, Vlen):
        return f"{kind.base.name}(*) {name} ;"
    assert isinstance(kind, Compound)
    fields = (
        f"{f.type.name} {name_text(f.name)}" + (f"({','.join(map(str, f.shape))})" if f.shape else "")
        for f in kind.fields
    )
    return f"compound {name} {{ " + " ; ".join(fields) + " ; } ;"


def group_text(group: Group) -> str:
    lines = ["types:", *map(_type_text, group.types.values())] if group.types else []
    lines += ["dimensions:"] if group.dims else []
    lines += [f"{name_text(d.name)} = {'unlimited' if d.unlimited else d.size} ;" for d in group.dims.values()]
    lines += ["variables:"] if group.vars else []
    for var in group.vars.values():
        kind = var.type.name if isinstance(var.type, Atomic) else name_text(var.type.name)
        dims = f"({', '.join(name_text(d.name) for d in var.dims)})" if var.dims else ""
        lines.append(f"{kind} {name_text(var.name)}{dims} ;")
        lines += [_attr_text(name_text(var.name), attr) for attr in var.attrs.values()]
    lines += [_attr_text("", attr) for attr in group.attrs.values()]
    lines += ["data:"] if group.vars else []
    for var in group.vars.values():
        if var.type == CHAR:
            shown = quoted(var.handle.tobytes())
        else:
            shown = ", ".join(value_text(var.type, one) for one in var.handle.reshape(-1))
        lines.append(f"{name_text(var.name)} = {shown} ;")
    for name, inner in group.groups.items():
        lines.append(f"group: {name_text(name)} {{\n{group_text(inner)}\n}}")
    return "\n".join(lines)


def _value(draw: Any, kind: Type) -> Any:  # noqa: PLR0911 - as above
    if isinstance(kind, Atomic):
        if kind == STRING:
            return draw(st.none() | _texts)
        if kind == CHAR:
            return draw(st.binary(min_size=1, max_size=1))
        if kind.numpy.kind == "f":
            return draw(st.floats(width=kind.numpy.itemsize * 8))
        info = np.iinfo(kind.numpy)
        return draw(st.integers(info.min, info.max))
    if isinstance(kind, Enum):
        return draw(st.sampled_from([number for _, number in kind.members]))
    if isinstance(kind, Opaque):
        return np.void(draw(st.binary(min_size=kind.size, max_size=kind.size)))
    assert isinstance(kind, Vlen)
    return _array(draw, kind.base, draw(st.integers(0, 3)))


def _array(draw: Any, kind: Type, size: int) -> np.ndarray:
    array = np.zeros(size, kind.numpy)
    for index in range(size):
        if isinstance(kind, Compound):
            for field in kind.fields:
                inner = _array(draw, field.type, int(np.prod(field.shape, dtype=int)))
                array[field.name][index] = inner.reshape(field.shape) if field.shape else inner[0]
        else:
            array[index] = _value(draw, kind)
    return array


def _attr(draw: Any, name: str, kind: Type) -> Attr:
    if kind == CHAR:
        return Attr(name, CHAR, draw(st.binary(max_size=6)))
    return Attr(name, kind, _array(draw, kind, draw(st.integers(1, 3))))


@st.composite
def _groups(draw: Any) -> Group:
    root = Group()
    for group in (root, root.add_group(draw(_names))):
        kinds = draw(st.lists(_types, min_size=1, max_size=4, unique_by=lambda kind: kind.name))
        users = [kind for kind in kinds if not isinstance(kind, Atomic)]
        users.sort(key=lambda kind: isinstance(kind, Vlen) and not isinstance(kind.base, Atomic))
        homed = {kind.name: group.add_type(kind) for kind in users}
        for name in draw(st.lists(_names, max_size=3, unique=True)):
            group.add_dim(name, draw(st.integers(1, 3)))
        for name in draw(st.lists(_names, max_size=4, unique=True)):
            kind = draw(st.sampled_from(kinds))
            kind = homed.get(kind.name, kind)
            dims = tuple(draw(st.lists(st.sampled_from(list(group.dims.values())), max_size=2))) if group.dims else ()
            var = group.add_var(name, kind, dims)
            var.handle = _array(draw, kind, int(np.prod(var.shape, dtype=int))).reshape(var.shape)
            for attr in draw(st.lists(_names, max_size=2, unique=True)):
                chosen = draw(st.sampled_from(kinds))
                var.attrs[attr] = _attr(draw, attr, homed.get(chosen.name, chosen))
        for name in draw(st.lists(_names, max_size=2, unique=True)):
            chosen = draw(st.sampled_from(kinds))
            group.attrs[name] = _attr(draw, name, homed.get(chosen.name, chosen))
    return root


@settings(max_examples=60)
@given(_groups())
def test_a_dataset_written_as_cdl_is_read_as_it_was(root):
    text = f"netcdf random {{\n{group_text(root)}\n}}"
    assert differences(MemorySource(root), parse(text)) == [], text
