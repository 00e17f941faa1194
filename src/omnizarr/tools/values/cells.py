"""Elements as single values: those of a table, and those of JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

Cell: TypeAlias = bool | int | float | str


def columns(dtype: np.dtype[Any], name: str = "value") -> list[str]:
    """Return the titles of the columns that elements fill: one, or one for each field, of fields of fields too.

    >>> columns(np.dtype([("a", "i4"), ("b", [("x", "f4"), ("y", "f4")])]))
    ['a', 'b.x', 'b.y']
    """
    if dtype.fields is None:
        return [name]
    titles: list[str] = []
    for field, (inner, *_) in dtype.fields.items():
        found = columns(inner, field)
        titles += found if inner.fields is None else [f"{field}.{one}" for one in found]
    return titles


def rows(values: npt.NDArray[Any]) -> Sequence[Sequence[Cell]]:
    """Return a row for each of the elements of an array of one dimension, with a cell for each of `columns`."""
    return list(zip(*_filled(values), strict=True))


def _filled(values: npt.NDArray[Any]) -> list[list[Cell]]:
    if values.dtype.fields is None:
        return [cells(values)]
    return [column for field in values.dtype.fields for column in _filled(values[field])]


def cells(values: npt.NDArray[Any]) -> list[Cell]:
    """Return the elements of an array of one dimension: numbers as numbers, all else as text, nothing rounded.

    >>> cells(np.array([0.1, np.nan], "f4")), cells(np.array(["2000-01-01", "NaT"], "M8[D]"))
    (['0.1', 'nan'], ['2000-01-01', 'NaT'])
    """
    dtype = values.dtype
    if values.ndim > 1:  # a field that holds an array itself
        return [json.dumps(as_json(one)) for one in values]
    if dtype.kind in "biuUT" or dtype == np.float64:
        return list(values.tolist())
    if dtype.kind in "fMm" and not _is_bare_time(dtype) and dtype.kind != "m":
        return list(values.astype(str).tolist())
    if dtype.kind == "c":
        return [str(one).strip("()") for one in values]
    if _is_bare_time(dtype):
        return list(values.view("i8").tolist())
    return [_text(one) for one in values]


def _is_bare_time(dtype: np.dtype[Any]) -> bool:
    """Whether elements are times without a unit, for which NumPy has no text."""
    return dtype.kind in "Mm" and np.datetime_data(dtype)[0] == "generic"


def _text(value: object) -> str:
    if isinstance(value, np.void):
        return value.tobytes().hex()
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, (str, np.generic)):
        return str(value)
    return json.dumps(as_json(value))


def as_json(value: Any) -> Any:  # noqa: ANN401 - anything goes in, what JSON has comes out
    """Return values as JSON has them: what it has no number for as Zarr's documents write it, fields as objects.

    >>> as_json(np.array([0.1, np.inf], "f4")), as_json(np.array([1 + 2j]))
    ([0.1, 'Infinity'], [[1.0, 2.0]])
    """
    if isinstance(value, np.ndarray) and value.ndim:
        if value.dtype.kind in "biuUT":
            return value.tolist()
        return [as_json(one) for one in value]
    if isinstance(value, (np.ndarray, np.void)) and value.dtype.names:
        return {name: as_json(value[name]) for name in value.dtype.names}
    if isinstance(value, np.ndarray):
        return as_json(value[()])
    return _scalar(value)


def _scalar(value: Any) -> Any:  # noqa: ANN401 - as above
    if isinstance(value, (np.complexfloating, complex)):
        return [_number(value.real), _number(value.imag)]
    if isinstance(value, (np.floating, float)):
        return _number(value)
    if isinstance(value, (np.bool_, np.integer)):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [as_json(one) for one in value]
    if isinstance(value, dict):
        return {str(name): as_json(one) for name, one in value.items()}
    return value if value is None or isinstance(value, (bool, int)) else _word(value)


def _number(value: np.floating[Any] | float) -> float | str:
    number = float(str(value))  # of the digits that tell it from its neighbours of the same type
    return number if isfinite(number) else {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(number)]


def _word(value: object) -> int | str:
    if isinstance(value, (np.datetime64, np.timedelta64)) and _is_bare_time(value.dtype):
        return int(value.view("i8"))
    return _text(value) if isinstance(value, (np.void, bytes, str, np.generic)) else str(value)
