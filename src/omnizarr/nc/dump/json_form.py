"""A dataset as one JSON document, with types: what `oz dump --json` prints.

A group is an object with `types`, `dimensions`, `attributes`, `variables` and `groups`, each only where there are any:

- a type: `{"class": "enum", "base": "byte", "members": {"no": 0}}`, `{"class": "opaque", "size": 16}`,
  `{"class": "compound", "fields": {"x": {"type": "float", "shape": [3]}}}` or `{"class": "vlen", "base": "int"}`;
- a dimension: `{"size": 3, "unlimited": true}`;
- an attribute: `{"type": "float", "value": [0.5]}`; characters are one text;
- a variable: `{"type": "int", "dimensions": ["time", "/x"], "attributes": {…}, "data": [[…]]}`, the data nested by
  dimension; characters along the last dimension are one text.

Types and dimensions are named as CDL names them. Enums are integers, opaques hexadecimal digits, compounds objects,
sequences lists, strings text or null; NaN and infinities are the texts "NaN", "Infinity" and "-Infinity".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import isfinite, prod
from typing import Any, Final

import numpy as np

from omnizarr.nc.dump.options import Options
from omnizarr.nc.dump.output import Write
from omnizarr.nc.dump.printer import dimension_name, is_coordinate
from omnizarr.nc.dump.printer_types import type_name
from omnizarr.nc.dump.selecting import Wanted
from omnizarr.nc.source import Source, Values
from omnizarr.nc.tree import Attr, Group, Var
from omnizarr.nc.types import CHAR, STRING, Compound, Enum, Opaque, Type, User, Vlen

_AT_ONCE: Final = 100_000


def print_json(source: Source, write: Write, options: Options, name: str) -> None:
    """Print a dataset.

    Args:
        source: The dataset.
        write: Takes the text, piece by piece.
        options: Which values are printed; the others have no `data`.
        name: Of the dataset.

    Raises:
        NotFoundError: If there is no variable or group of a name that is asked for.
    """
    wanted = Wanted(source.root, options)

    def put(text: str) -> None:
        write(text.encode("utf-8", "backslashreplace"))

    put(f'{{\n  "name": {_dumped(name)},\n  "kind": {_dumped(source.kind)}')
    _Printer(source, put, options, wanted).group(source.root, "  ")
    put("\n}\n")


class _Printer:
    def __init__(self, source: Source, put: Any, options: Options, wanted: Wanted) -> None:  # noqa: ANN401 - a function
        self.source = source
        self.put = put
        self.options = options
        self.wanted = wanted

    def group(self, group: Group, margin: str, lead: str = ",\n") -> None:
        """Print the members of a group's object; `lead` stands in front of the first."""
        members: dict[str, Mapping[str, Any]] = {
            "types": {kind.name: _type(kind, group) for kind in group.types.values()},
            "dimensions": {dim.name: {"size": dim.size, "unlimited": dim.unlimited} for dim in group.dims.values()},
            "attributes": {attr.name: attribute(attr, group) for attr in group.attrs.values()},
        }
        for name, value in members.items():
            if value:
                lines = ",\n".join(f"{margin}  {_dumped(key)}: {_dumped(one)}" for key, one in value.items())
                self.put(f'{lead}{margin}"{name}": {{\n{lines}\n{margin}}}')
                lead = ",\n"
        self._members("variables", group.vars, group, margin, lead)
        self._members("groups", group.groups, group, margin, ",\n" if group.vars else lead)

    def _members(self, title: str, nodes: Mapping[str, Any], group: Group, margin: str, lead: str) -> None:
        if not nodes:
            return
        self.put(f'{lead}{margin}"{title}": {{')
        for number, (name, node) in enumerate(nodes.items()):
            self.put(("," if number else "") + f"\n{margin}  {_dumped(name)}: {{\n")
            if isinstance(node, Var):
                self._variable(node, group, f"{margin}    ")
            else:
                self.group(node, f"{margin}    ", "")
            self.put(f"\n{margin}  }}")
        self.put(f"\n{margin}}}")

    def _variable(self, var: Var, group: Group, margin: str) -> None:
        dims = [dimension_name(dim, group) for dim in var.dims]
        self.put(f'{margin}"type": {_dumped(type_name(var.type, group))},\n{margin}"dimensions": {_dumped(dims)}')
        if var.attrs:
            lines = [f"{margin}  {_dumped(one.name)}: {_dumped(attribute(one, group))}" for one in var.attrs.values()]
            self.put(f',\n{margin}"attributes": {{\n' + ",\n".join(lines) + f"\n{margin}}}")
        if not self._has_data(var, group):
            return
        part = self.wanted.slices(var)
        if part is not None:
            self.put(f',\n{margin}"slices": {_dumped([[one.start, one.stop, one.step] for one in part])}')
        self.put(f',\n{margin}"data": ')
        for text in self._data(var, part or tuple(slice(0, size, 1) for size in var.shape)):
            self.put(text)

    def _has_data(self, var: Var, group: Group) -> bool:
        data = self.options.data
        if data == "none" or not self.wanted.group(group) or not self.wanted.variable(var):
            return False
        return data == "all" or is_coordinate(var, group)

    def _data(self, var: Var, part: tuple[slice, ...], depth: int = 0) -> Iterator[str]:
        """Yield the text of values, which are read in parts where they are many."""
        shape = [len(range(one.start, one.stop, one.step)) for one in part]
        # A text is never cut in two.
        if prod(shape) <= _AT_ONCE or depth >= len(shape) - (var.type == CHAR):
            yield _dumped(as_json(self.source.read(var, part), var.type, depth))
            return
        inner = prod(shape[depth + 1 :])
        step = max(1, _AT_ONCE // max(1, inner))
        chosen = range(part[depth].start, part[depth].stop, part[depth].step)
        yield "["
        for first in range(0, len(chosen), step):
            here = chosen[first : first + step]
            cut = (*part[:depth], slice(here[0], here[-1] + 1, part[depth].step), *part[depth + 1 :])
            yield ", " if first else ""
            if step > 1 or inner <= 1:
                yield _dumped(as_json(self.source.read(var, cut), var.type, depth))[1:-1]
            else:
                yield from self._data(var, cut, depth + 1)
        yield "]"


def attribute(attr: Attr, group: Group) -> dict[str, Any]:
    """Return an attribute as an object."""
    if attr.type == CHAR:
        return {"type": "char", "value": _text(attr.value)}
    return {"type": type_name(attr.type, group), "value": as_json(np.asarray(attr.value), attr.type)}


def _type(kind: User, group: Group) -> dict[str, Any]:
    if isinstance(kind, Enum):
        return {"class": "enum", "base": kind.base.name, "members": dict(kind.members)}
    if isinstance(kind, Opaque):
        return {"class": "opaque", "size": kind.size}
    if isinstance(kind, Vlen):
        return {"class": "vlen", "base": type_name(kind.base, group)}
    fields = {
        one.name: {"type": type_name(one.type, group), **({"shape": list(one.shape)} if one.shape else {})}
        for one in kind.fields
    }
    return {"class": "compound", "fields": fields}


def as_json(values: Values, kind: Type, drop: int = 0) -> Any:  # noqa: ANN401 - what JSON has
    """Return values as JSON has them; the first `drop` dimensions, of length 1, are left out.

    >>> from omnizarr.nc.types import FLOAT
    >>> as_json(np.array([[0.1, np.nan]], "f4"), FLOAT)
    [[0.1, 'NaN']]
    """
    if kind == CHAR:
        width = values.shape[-1] if values.ndim else 1
        rows = [_text(values.tobytes()[at : at + width]) for at in range(0, values.size, width)] if width else []
        texts = np.empty(len(rows), object)
        texts[:] = rows
        values = texts.reshape(values.shape[:-1])
        shape = values.shape[drop:]
        return values.reshape(shape).tolist()
    values = values.reshape(values.shape[drop:])
    if values.dtype.kind in "iu" or (values.dtype == np.float64 and np.isfinite(values).all()):
        return values.tolist()
    flat = np.empty(values.size, object)
    for at, one in enumerate(values.ravel()):
        flat[at] = _value(one, kind)
    return flat.reshape(values.shape).tolist()


def _value(value: Any, kind: Type) -> Any:  # noqa: ANN401 - a value of the type, and what JSON has
    if isinstance(kind, Vlen):
        return as_json(np.asarray(value), kind.base)
    if isinstance(kind, Compound):
        return {one.name: as_json(np.asarray(value[one.name]), one.type) for one in kind.fields}
    if isinstance(kind, Opaque):
        return bytes(value).ljust(kind.size, b"\0").hex()
    if kind == STRING:
        return value
    if isinstance(value, (np.floating, float)):
        number = float(str(value))  # of the digits that tell it from its neighbours of the same type
        return number if isfinite(number) else {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(number)]
    return int(value)


def _text(value: bytes) -> str:
    return value.rstrip(b"\0").decode("utf-8", "backslashreplace")


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
