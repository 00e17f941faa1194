"""Attributes of user types ⇄ JSON: enums are integers, opaques hexadecimal digits, compounds and sequences lists."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from omnizarr.errors import MetadataError
from omnizarr.model.jsonvalue import JSON
from omnizarr.nc.types import CHAR, STRING, Compound, Enum, Opaque, Type, Vlen, zeros


def user_json(values: Any, kind: Type) -> list[JSON]:  # noqa: ANN401 - an array, or what NumPy takes for one
    """Return values of a type as a list."""
    return [_to_json(one, kind) for one in values]


def user_values(name: str, value: JSON, kind: Type) -> np.ndarray[Any, Any]:
    """Return the values that a list stands for.

    Raises:
        MetadataError: If they are not of the type.
    """
    items = value if isinstance(value, list) else [value]
    made = zeros((len(items),), kind)
    try:
        for at, item in enumerate(items):
            made[at] = _from_json(item, kind)
    except (TypeError, ValueError, OverflowError) as error:
        raise MetadataError(f"the attribute {name!r} is not of the type {kind.name}: {error}") from error
    return made


def _to_json(value: Any, kind: Type) -> JSON:  # noqa: ANN401, PLR0911 - a value of the type; one for each class
    if isinstance(kind, Vlen):
        return [_to_json(one, kind.base) for one in value]
    if isinstance(kind, Compound):
        return [_member(value[field.name], field.type, len(field.shape)) for field in kind.fields]
    if isinstance(kind, Opaque):
        return bytes(value).hex()
    if isinstance(kind, Enum):
        return int(value)
    if kind == STRING:
        return cast("JSON", value)
    if kind == CHAR:
        return bytes(value).decode("utf-8", "surrogateescape")
    number: int | float = value.item() if isinstance(value, np.generic) else value
    if isinstance(number, float) and not np.isfinite(number):
        return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"  # noqa: PLR0124  # only NaN does
    return number


def _member(value: Any, kind: Type, depth: int) -> JSON:  # noqa: ANN401 - as above
    return [_member(one, kind, depth - 1) for one in value] if depth else _to_json(value, kind)


def _from_json(value: JSON, kind: Type) -> Any:  # noqa: ANN401 - a value of the type
    if isinstance(kind, Vlen):
        made = zeros((len(_list(value)),), kind.base)
        for at, one in enumerate(_list(value)):
            made[at] = _from_json(one, kind.base)
        return made
    if isinstance(kind, Compound):
        return _compound(_list(value), kind)
    if isinstance(kind, Opaque):
        bits = bytes.fromhex(_str(value))
        if len(bits) != kind.size:
            raise ValueError(f"{len(bits)} bytes where {kind.size} are")
        return np.void(bits)
    if kind == STRING:
        return value if value is None else _str(value)
    if kind == CHAR:
        return _str(value).encode("utf-8", "surrogateescape")
    base = kind.base if isinstance(kind, Enum) else kind
    return np.asarray(float(value) if isinstance(value, str) else value).astype(base.numpy)[()]


def _compound(items: list[JSON], kind: Compound) -> Any:  # noqa: ANN401 - as above
    if len(items) != len(kind.fields):
        raise ValueError(f"{len(items)} members where {len(kind.fields)} are")
    made = zeros((1,), kind)
    for item, field in zip(items, kind.fields, strict=True):
        if not field.shape:
            made[field.name][0] = _from_json(item, field.type)
            continue
        flat = [item]
        for _ in field.shape:
            flat = [one for part in flat for one in _list(part)]
        target = made[field.name][0]
        for index, one in zip(np.ndindex(field.shape), flat, strict=True):
            target[index] = _from_json(one, field.type)
    return made[0]


def _list(value: JSON) -> list[JSON]:
    if isinstance(value, list):
        return value
    raise TypeError("a list is needed")


def _str(value: JSON) -> str:
    if isinstance(value, str):
        return value
    raise TypeError("text is needed")
