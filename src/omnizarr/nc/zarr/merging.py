"""One document from two: what one program changed of it, and what is in the store, where another changed it meanwhile.

A change is what differs between the document as a program found it and as it wants it. What only one of the two changed
is as that one wants it. Lists of names get what either added; lengths are the larger ones, since nothing in netCDF gets
shorter; of an attribute that both changed, the later one stays. Whatever else both changed is a conflict.
"""

from __future__ import annotations

from typing import Any, Final

from omnizarr.errors import ConflictError
from omnizarr.nc.zarr.style import ATTR_KEY, DIMENSIONS_KEY, GROUP_KEY, MANAGED

_NAMES: Final = frozenset(("arrays", "groups", "user_arrays", "array_order", "vars"))
_LENGTHS: Final = frozenset(("dimensions", "dims"))
_LATER: Final = frozenset((ATTR_KEY, "_NCZARR_ATTR"))
_ABSENT: Final = object()
_CURE: Final = "Open the dataset anew, and make the change again."


def merged(before: Any, ours: Any, theirs: Any, path: str, *, attributes: bool = False) -> Any:  # noqa: ANN401 - JSON
    """Return a document with the changes of both.

    Args:
        before: As we found it, `{}` if we make it.
        ours: As we want it.
        theirs: As it is in the store.
        path: The node, for messages.
        attributes: Whether the members are attributes: a document of them alone.

    Raises:
        ConflictError: If both define something differently.
    """
    return _Merge(path).members(before, ours, theirs, (), "attributes" if attributes else "")


def same_layout(ours: dict[str, Any], theirs: dict[str, Any], path: str) -> None:
    """Raise if an array in the store is not laid out as it was: its shape and what is told of it aside.

    Raises:
        ConflictError: If so.
    """
    aside = ("shape", "attributes", "dimension_names")
    for name in sorted(ours.keys() | theirs.keys()):
        if name not in aside and not name.startswith("_") and ours.get(name) != theirs.get(name):
            message = f"somebody else made it anew, or changed {name}, since it was opened here"
            raise ConflictError(message, path=path, hint=_CURE)
    if len(ours["shape"]) != len(theirs["shape"]):
        raise ConflictError("somebody else made it anew, with other dimensions", path=path, hint=_CURE)


def removed(path: str) -> ConflictError:
    """Return the error of a node that is in the store no longer."""
    return ConflictError("somebody else removed or renamed it since it was opened here", path=path, hint=_CURE)


class _Merge:
    def __init__(self, path: str) -> None:
        self._path = path

    def members(self, before: Any, ours: Any, theirs: Any, where: tuple[str, ...], kind: str) -> dict[str, Any]:  # noqa: ANN401 - JSON
        made: dict[str, Any] = {}
        for name in dict.fromkeys((*theirs, *ours)):
            value = self._one(
                before.get(name, _ABSENT), ours.get(name, _ABSENT), theirs.get(name, _ABSENT), (*where, name), kind
            )
            if value is not _ABSENT:
                made[name] = value
        return made

    def _one(self, before: Any, ours: Any, theirs: Any, where: tuple[str, ...], kind: str) -> Any:  # noqa: ANN401 - JSON
        if before == ours or ours == theirs:  # noqa: PLR1714 - what is not there is no element of a set
            return theirs
        if before == theirs:
            return ours
        name = where[-1]
        if not kind and name == "attributes":
            kind = "attributes"
        elif kind == "attributes" and name not in MANAGED:
            return ours
        elif name in _LATER:
            kind = "later"
        elif name in {GROUP_KEY, "_NCZARR_GROUP"}:
            kind = "group"
        elif kind == "group" and name in _LENGTHS:
            kind = "lengths"
        if isinstance(ours, dict) and isinstance(theirs, dict):
            return self.members(before if isinstance(before, dict) else {}, ours, theirs, where, kind)
        if kind == "later" or (kind == "lengths" and ours is _ABSENT and len(where) > 1 and where[-2] in _LENGTHS):
            return ours  # a dimension that is renamed here, whose length is that of its arrays
        return self._listed(before, ours, theirs, where, kind)

    def _listed(self, before: Any, ours: Any, theirs: Any, where: tuple[str, ...], kind: str) -> Any:  # noqa: ANN401 - JSON
        name = where[-1]
        if kind == "lengths" and type(ours) is int and type(theirs) is int and (name == "size" or "dims" in where):
            return max(ours, theirs)
        if kind == "group" and (name in _NAMES or name == "user_types"):
            given: list[Any] = [[] if one is _ABSENT else one for one in (before, ours, theirs)]
            return self._types(*given) if name == "user_types" else _names(*given)
        if name == "shape" and isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
            return [max(pair) for pair in zip(ours, theirs, strict=True)]
        what = {"lengths": "the dimension ", "group": "the list of "}.get(kind, "")
        label = where[-2] if name in {"size", "unlimited"} and len(where) > 1 else name
        label = "the names of dimensions" if name == DIMENSIONS_KEY else f"{what}{label!r}"
        message = f"{label} was changed here, and otherwise by somebody else since the dataset was opened"
        raise ConflictError(message, path=self._path, hint=_CURE)

    def _types(self, before: list[Any], ours: list[Any], theirs: list[Any]) -> list[Any]:
        tables = [{one["name"]: one for one in some} for some in (before, ours, theirs)]
        made: dict[str, Any] = {}
        for name in dict.fromkeys((*tables[2], *tables[1])):
            one, other = tables[1].get(name), tables[2].get(name)
            if one is not None and other is not None and one != other and tables[0].get(name) not in (one, other):
                message = f"the type {name!r} was defined here, and otherwise by somebody else"
                raise ConflictError(message, path=self._path, hint=_CURE)
            was = tables[0].get(name)
            chosen = other if was == one else one
            if chosen is not None:
                made[name] = chosen
        return list(made.values())


def _names(before: list[str], ours: list[str], theirs: list[str]) -> list[str]:
    gone = set(before) - set(ours)
    known = set(theirs)
    added = [name for name in ours if name not in known and name not in before]
    return [name for name in theirs if name not in gone] + added
