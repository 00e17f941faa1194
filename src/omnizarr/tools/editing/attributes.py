"""Attributes: reading them, and changing several in one write."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any, Final

from omnizarr.errors import MetadataError
from omnizarr.model.jsonvalue import JSON
from omnizarr.tools.editing.rooted import rooted
from omnizarr.tools.nodes import open_at


def attributes_of(where: object) -> dict[str, JSON]:
    """Return the attributes of a node.

    >>> import omnizarr as oz
    >>> attributes_of(oz.create_group({}, attrs={"title": "trial"}))
    {'title': 'trial'}
    """
    return open_at(where).attrs.asdict()


def change_attributes(where: object, values: Mapping[str, JSON], removed: Iterable[str] = ()) -> list[str]:
    """Set and remove attributes of a node in one write, and return the names that were to be removed and are not there.

    The consolidated metadata of all groups above the node are kept in step, also where it is named by its own path.
    Nothing is changed if one of the names to remove is not there.

    Raises:
        NotFoundError: If no node is there.
        ReadOnlyError: If it cannot be written.
    """
    with rooted(where).node as node:
        names = list(removed)
        missing = [name for name in names if name not in node.attrs]
        if not missing:
            kept = {name: value for name, value in node.attrs.items() if name not in names}
            node.attrs.put({**kept, **values})
        return missing


def parse_value(text: str, kind: str = "auto") -> JSON:
    """Return the value that a text stands for.

    Args:
        text: The text.
        kind: "str", "int", "float", "bool" or "json"; or "auto": JSON if it is that, else the text itself. Of a list in
            JSON each member is taken for the kind.

    Raises:
        MetadataError: If the text is not of the kind.

    >>> parse_value("1.0"), parse_value("K"), parse_value("1", "str"), parse_value("[0, 10]", "float")
    (1.0, 'K', '1', [0.0, 10.0])
    """
    if kind == "str":
        return text
    try:
        value: JSON = json.loads(text, parse_constant=_refused, parse_float=_finite)
    except MetadataError:
        raise
    except ValueError:
        if kind == "auto":
            return text
        value = text
        if kind == "json":
            raise MetadataError(
                f"{text!r} is not JSON", hint="quote text twice: '\"text\"', or use --type str"
            ) from None
    if kind in ("auto", "json"):
        return value
    return [_kinds[kind](one) for one in value] if isinstance(value, list) else _kinds[kind](value)


def _refused(name: str) -> Any:  # noqa: ANN401 - it never returns
    raise ValueError(name)


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise MetadataError(f"{text} is no number that JSON could hold", hint="--type str takes it as text")
    return value


def _as_int(value: JSON) -> int:
    try:
        if isinstance(value, (int, str)) and not isinstance(value, bool):
            return int(value)
    except ValueError:
        pass
    raise MetadataError(f"{value!r} is not a whole number", hint="--type float or --type str takes it")


def _as_float(value: JSON) -> float:
    try:
        if isinstance(value, (int, float, str)) and not isinstance(value, bool):
            return float(value)
    except ValueError:
        pass
    raise MetadataError(f"{value!r} is not a number", hint="--type str takes it as text")


def _as_bool(value: JSON) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    found = words.get(str(value).lower())
    if found is None:
        raise MetadataError(f"{value!r} is neither true nor false", hint="write true or false")
    return found


_kinds: Final[dict[str, Callable[[JSON], JSON]]] = {"int": _as_int, "float": _as_float, "bool": _as_bool}

KINDS: Final = ("auto", "str", *_kinds, "json")
"""What `parse_value` takes for a kind."""
