"""The attributes of a node: a mapping that writes through to the store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Protocol

import numpy as np

from omnizarr.errors import MetadataError, NotFoundError
from omnizarr.model.jsonvalue import JSON
from omnizarr.store.protocol import Store, place_name

_MOST_NAMES = 20

_SHORT = 2000
"""Bits of integers that Python always reads and writes: no limit can be set to less than 640 digits."""


class Attributed(Protocol):
    """A node with attributes, as far as `Attributes` needs to know it."""

    @property
    def store(self) -> Store:
        """The store that the node is in."""
        ...

    @property
    def path(self) -> str:
        """Path of the node."""
        ...

    def _attributes(self) -> Mapping[str, JSON]: ...

    def _change_attributes(self, values: Mapping[str, JSON], removed: Iterable[str], *, replace: bool) -> None: ...


class Attributes(MutableMapping[str, JSON]):
    """The attributes of an array or group.

    Values are what JSON can say; NumPy scalars and arrays, tuples and mappings are turned into it. Each change is
    written at once, `update` and `put` in one write. Changes are made to what the store holds at that moment, so two
    handles do not undo each other's. Lists and dictionaries that come out are copies: assign them to store a change.

    >>> import omnizarr as oz
    >>> g = oz.create_group({})
    >>> g.attrs.update(title="trial", levels=[1, 2])
    >>> g.attrs["levels"]
    [1, 2]
    """

    __slots__ = ("_node",)

    def __init__(self, node: Attributed) -> None:
        self._node = node

    def __getitem__(self, name: str) -> JSON:
        there = self._node._attributes()  # noqa: SLF001 - the two classes are one
        if name not in there:
            raise self._missing(name)
        return _copied(there[name])

    def __setitem__(self, name: str, value: object) -> None:
        self._change({name: value})

    def __delitem__(self, name: str) -> None:
        if name not in self._node._attributes():  # noqa: SLF001
            raise self._missing(name)
        self._change({}, (name,))

    def __iter__(self) -> Iterator[str]:
        return iter(self._node._attributes())  # noqa: SLF001

    def __len__(self) -> int:
        return len(self._node._attributes())  # noqa: SLF001

    def __contains__(self, name: object) -> bool:
        return name in self._node._attributes()  # noqa: SLF001

    def __repr__(self) -> str:
        return f"Attributes({dict(self._node._attributes())!r})"  # noqa: SLF001

    def asdict(self) -> dict[str, JSON]:
        """Return a copy as a plain dictionary."""
        return dict(self.items())

    def update(self, other: object = (), /, **values: object) -> None:
        """Set several attributes in one write.

        Raises:
            MetadataError: If there is neither a mapping nor pairs, or what `to_json_object` refuses.
        """
        changed: dict[str, object] = {}
        try:
            changed.update(other, **values)  # type: ignore[call-overload]  # a mapping or pairs, as dict takes
        except (TypeError, ValueError) as error:
            kind = type(other).__name__
            raise MetadataError(
                f"attributes are a mapping of names to values, or pairs of both, not {other!r} of type {kind}",
                hint='Pass a mapping, as in attrs.update({"units": "m"}).',
            ) from error
        if changed:
            self._change(changed)

    def put(self, values: Mapping[str, object]) -> None:
        """Replace all attributes in one write."""
        self._change(values, replace=True)

    def clear(self) -> None:
        """Remove all attributes in one write."""
        self._change({}, replace=True)

    def _missing(self, name: object) -> NotFoundError:
        shown = [repr(one) for one in list(self)[:_MOST_NAMES]]
        more = len(self) - len(shown)
        known = ", ".join(shown) + (f" and {more} more" if more else "")
        return NotFoundError(
            f"there is no attribute {name!r}",
            path=place_name(self._node.store, self._node.path),
            hint=f"There are {known}." if shown else "There are no attributes.",
        )

    def _change(self, changed: Mapping[str, object], removed: Iterable[str] = (), *, replace: bool = False) -> None:
        self._node._change_attributes(to_json_object(changed), removed, replace=replace)  # noqa: SLF001


def to_json_object(values: Mapping[str, object]) -> dict[str, JSON]:
    """Turn attributes into what JSON can say.

    Raises:
        MetadataError: If it is no mapping, a name is not a string, or a value has no form in JSON that could be read.
    """
    if not isinstance(values, Mapping):
        raise MetadataError(f"attributes are a mapping of names to values, not a {type(values).__name__}")
    converted: dict[str, JSON] = {}
    for name, value in values.items():
        if not isinstance(name, str):
            raise MetadataError(f"the name of an attribute must be a string, not {name!r}")
        try:
            converted[name] = _to_json(value, name)
        except RecursionError:
            raise MetadataError(f"attribute {name!r} holds itself, or is nested too deep for JSON") from None
    return converted


def _to_json(value: object, name: str) -> JSON:
    if isinstance(value, (np.bool_, np.integer, np.floating, np.str_)):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        if isinstance(value, int) and value.bit_length() > _SHORT:
            _check_digits(value, name)
        return value
    if isinstance(value, Mapping):
        return to_json_object(value)
    if isinstance(value, (list, tuple)):
        return [_to_json(item, name) for item in value]
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufUTO":
        return _to_json(value.tolist(), name)
    return _refuse(value, name)


def _check_digits(value: int, name: str) -> None:
    try:
        int.__repr__(value)
    except ValueError:
        message = f"attribute {name!r} holds an integer of more digits than Python reads"
        raise MetadataError(message, hint="store it as text") from None


def _refuse(value: object, name: str) -> JSON:
    kind = value.dtype if isinstance(value, np.ndarray) else type(value).__name__
    hints = {"bytes": "decode it to text", "datetime": "use its isoformat()", "datetime64": "use str() of it"}
    raise MetadataError(
        f"attribute {name!r} holds a value of type {kind}, which JSON cannot say",
        hint=hints.get(str(kind), "use numbers, text, lists and mappings"),
    )


def _copied(value: JSON) -> JSON:
    """Copy what could be changed in place: parsed documents are shared between handles."""
    if not isinstance(value, (dict, list)):
        return value
    whole = value.copy()
    left: list[dict[str, JSON] | list[JSON]] = [whole]
    # Not by recursion: documents may be as deep as the limits say.
    while left:
        part = left.pop()
        for at, item in part.items() if isinstance(part, dict) else enumerate(part):
            if isinstance(item, (dict, list)):
                inner = part[at] = item.copy()  # type: ignore[index]  # at is of the kind that part takes
                left.append(inner)
    return whole
