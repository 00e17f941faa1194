"""Attributes of HDF5 as JSON, in the form that readers of Zarr expect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from omnizarr.model.jsonvalue import JSON
from omnizarr.nc.tree import Attr
from omnizarr.nc.types import CHAR, STRING, Atomic, Enum
from omnizarr.nc.zarr.user_attributes import user_json


def attributes_json(attrs: Mapping[str, Attr]) -> dict[str, JSON]:
    """Return attributes as JSON: text is text, one number is a number, several are a list, or lists of lists."""
    return {_text(name): attribute_json(attr) for name, attr in attrs.items()}


def attribute_json(attr: Attr) -> JSON:
    r"""Return the value of an attribute as JSON.

    >>> attribute_json(Attr.of_text("units", "m\0")), attribute_json(Attr("n", CHAR, b""))
    ('m', '')
    """
    kind = attr.type
    if kind == CHAR:
        return _text(attr.value.rstrip(b"\0").decode("utf-8", "surrogateescape"))
    items: list[JSON]
    if kind == STRING:
        items = ["" if one is None else _text(one) for one in attr.value]
    elif isinstance(kind, Enum):
        items = _numbers(attr.value, is_bool=_is_bool(kind))
    elif isinstance(kind, Atomic):
        items = _numbers(attr.value)
    else:
        items = user_json(attr.value, kind)
    return items[0] if len(items) == 1 else _nested(items, attr.shape)


def _nested(items: list[JSON], shape: tuple[int, ...]) -> list[JSON]:
    """Return the items in lists of lists, if they have several dimensions.

    >>> _nested([1, 2, 3, 4, 5, 6], (3, 2)), _nested([], (2, 0)), _nested([1, 2], ())
    ([[1, 2], [3, 4], [5, 6]], [], [1, 2])
    """
    if len(shape) < 2 or not items:
        return items
    step = len(items) // shape[0]
    return [cast("JSON", _nested(items[i * step : (i + 1) * step], shape[1:])) for i in range(shape[0])]


def _numbers(values: np.ndarray[Any, Any], *, is_bool: bool = False) -> list[JSON]:
    # All digits of a float32 as a double: whoever computes with a scale factor gets the number that the file has.
    found: list[JSON] = values.astype(bool).tolist() if is_bool else values.tolist()
    return found


def _is_bool(kind: Enum) -> bool:
    return dict(kind.members) == {"FALSE": 0, "TRUE": 1}


def _text(text: str) -> str:
    """Return text that documents can hold; bytes that are no UTF-8 are taken for Latin-1, as they mostly are."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape").decode("latin-1")
    return text
