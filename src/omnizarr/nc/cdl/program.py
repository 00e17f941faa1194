"""A dataset as a Python program that makes it, through `omnizarr.Dataset`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from omnizarr.errors import UnsupportedError
from omnizarr.nc.cdl.parser import CdlSource
from omnizarr.nc.source import Values, everything
from omnizarr.nc.tree import Attr, Group, Var
from omnizarr.nc.types import CHAR, STRING, Atomic, Compound, Enum, Opaque, Type, Vlen, type_path

_ROW = 16


def program(source: CdlSource, where: str) -> Iterator[str]:
    """Return the lines of a program that makes a dataset at a place.

    Raises:
        UnsupportedError: If there is an opaque type, which the interface has no word for.
    """
    yield f'"""Makes the dataset {source.name}."""'
    yield ""
    yield "import numpy as np"
    yield "from omnizarr import Dataset"
    yield ""
    yield f"with Dataset({where!r}, 'w') as root:"
    names: dict[str, str] = {}
    body = [line for group in source.root.walk() for line in _definitions(group, names)]
    body += [line for group in source.root.walk() for line in _variables(source, group, names)]
    yield from (f"    {line}" for line in body or ["pass"])


def _definitions(group: Group, names: dict[str, str]) -> Iterator[str]:
    here = names.setdefault(group.path, "root" if group.parent is None else _variable(group.path, names))
    if group.parent is not None:
        yield f"{here} = {names[group.parent.path]}.createGroup({group.name!r})"
    for dim in group.dims.values():
        yield f"{here}.createDimension({dim.name!r}, {None if dim.unlimited else dim.size})"
    for kind in group.types.values():
        name = names[f"type {type_path(kind)}"] = _variable(f"{type_path(kind)} type", names)
        yield f"{name} = {_type(here, kind, names)}"
    for attr in group.attrs.values():
        yield f"{here}.setncattr({attr.name!r}, {_attr(attr)})"


def _variable(path: str, names: dict[str, str]) -> str:
    """Return a name of Python's for something, which nothing else has."""
    base = re.sub(r"\W", "_", path.strip("/"), flags=re.ASCII).lower()
    base = base if base[:1].isalpha() else f"_{base}"
    taken, number, found = set(names.values()) | {"root", "np"}, 1, base
    while found in taken:
        number += 1
        found = f"{base}_{number}"
    return found


def _type(here: str, kind: Type, names: dict[str, str]) -> str:
    if isinstance(kind, Enum):
        return f"{here}.createEnumType(np.dtype({kind.base.text!r}), {kind.name!r}, {dict(kind.members)!r})"
    if isinstance(kind, Vlen) and isinstance(kind.base, Atomic) and kind.base not in (CHAR, STRING):
        return f"{here}.createVLType(np.dtype({kind.base.text!r}), {kind.name!r})"
    if isinstance(kind, Compound):
        return f"{here}.createCompoundType({_dtype(kind, names)}, {kind.name!r})"
    raise _no_word(kind)


def _dtype(kind: Compound, names: dict[str, str]) -> str:
    fields: list[str] = []
    for field in kind.fields:
        if isinstance(field.type, Compound):
            word = f"{names[f'type {type_path(field.type)}']}.dtype"
        elif isinstance(field.type, Atomic) and field.type != STRING:
            word = repr(field.type.text)
        else:
            raise _no_word(field.type)
        fields.append(f"({field.name!r}, {word}, {field.shape!r})")
    return f"np.dtype([{', '.join(fields)}], align=True)"


def _no_word(kind: Type) -> UnsupportedError:
    what = "opaque type" if isinstance(kind, Opaque) else f"type like {kind.name}"
    return UnsupportedError(f"a program cannot define a {what}", hint="Without -c, oz gen writes the dataset itself.")


def _attr(attr: Attr) -> str:
    if attr.type == CHAR:
        return repr(attr.value.decode("utf-8", "surrogateescape"))
    if attr.type == STRING:
        return repr([one or "" for one in attr.value])
    if not isinstance(attr.type, (Atomic, Enum)):
        raise _no_word(attr.type)
    return f"np.array({_numbers(attr.value)}, {attr.type.numpy.str[1:]!r})"


def _variables(source: CdlSource, group: Group, names: dict[str, str]) -> Iterator[str]:
    for var in group.vars.values():
        yield f"var = {names[group.path]}.createVariable({', '.join(_arguments(var, names))})"
        yield "var.set_auto_maskandscale(False)"
        for attr in var.attrs.values():
            if attr.name != "_FillValue":
                yield f"var.setncattr({attr.name!r}, {_attr(attr)})"
        if var in source.given:
            yield from _data(var, source.read(var, everything(var)))


def _arguments(var: Var, names: dict[str, str]) -> Iterator[str]:
    yield repr(var.name)
    if isinstance(var.type, Atomic):
        yield "str" if var.type == STRING else repr(var.type.text)
    else:
        yield names[f"type {type_path(var.type)}"]
    yield repr(tuple(dim.name for dim in var.dims))
    fill = var.attrs.get("_FillValue")
    if var.storage.no_fill:
        yield "fill_value=False"
    elif fill is not None and isinstance(var.type, (Atomic, Enum)) and len(fill.value):
        yield f"fill_value={_attr(fill)}" + ("" if var.type == CHAR else "[0]")
    if var.storage.deflate:
        yield f"compression='zlib', complevel={var.storage.deflate}"
    if var.storage.deflate or var.storage.shuffle:
        yield f"shuffle={var.storage.shuffle}"
    if var.storage.fletcher32:
        yield "fletcher32=True"
    if var.storage.kind == "contiguous":
        yield "contiguous=True"
    if var.storage.chunks is not None:
        yield f"chunksizes={var.storage.chunks!r}"
    if var.storage.endian != "native":
        yield f"endian={var.storage.endian!r}"


def _data(var: Var, values: Values) -> Iterator[str]:
    """Return lines that set values; long ones go in rows."""
    if isinstance(var.type, Vlen):
        for index in np.ndindex(values.shape):
            key = ", ".join(map(str, index)) or "..."
            yield f"var[{key}] = np.array({_numbers(values[index])}, {values[index].dtype.str[1:]!r})"
        return
    if var.type == STRING:
        flat = ", ".join(repr(one or "") for one in values.flat)
        yield f"var[...] = np.array([{flat}], object).reshape({values.shape!r})"
        return
    if isinstance(var.type, Compound):
        flat = ", ".join(repr(_record(one)) for one in values.reshape(-1))
        yield f"var[...] = np.array([{flat}], var.dtype).reshape({values.shape!r})"
        return
    yield "var[...] = np.array(["
    flat_values = values.reshape(-1)
    for start in range(0, len(flat_values), _ROW):
        yield f"    {_numbers(flat_values[start : start + _ROW])[1:-1]},"
    yield f"], {values.dtype.str.lstrip('<>|=')!r}).reshape({values.shape!r})"


def _record(one: Any) -> Any:  # noqa: ANN401 - a record as tuples, lists and numbers
    if isinstance(one, np.void) and one.dtype.names:
        return tuple(_record(one[name]) for name in one.dtype.names)
    return one.tolist() if isinstance(one, (np.ndarray, np.generic)) else one


def _numbers(values: Values) -> str:
    """Return numbers as Python writes them."""
    texts: list[str] = []
    for value in values.tolist():
        text = repr(value)
        texts.append(
            f"np.{text.lstrip('-')}" if text in ("nan", "inf") else f"-np.{text[1:]}" if text == "-inf" else text
        )
    return f"[{', '.join(texts)}]"
