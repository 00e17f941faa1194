"""Which variables and groups are asked for, and which part of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from omnizarr.errors import NotFoundError, SelectionError
from omnizarr.nc.dump.options import Options
from omnizarr.nc.near import near
from omnizarr.nc.tree import Group, Var

_SLICED: Final = re.compile(r"(?P<name>.+)\[(?P<slices>[^\[\]]*)\]", re.DOTALL)
_PARTS: Final = 3


class Wanted:
    """What options ask for, looked up in a tree.

    Raises:
        NotFoundError: If there is no variable or group of a name.
        SelectionError: If a slice does not fit.
    """

    def __init__(self, root: Group, options: Options) -> None:
        self._all = not options.variables
        self._slices: dict[int, tuple[slice, ...] | None] = {}
        self._groups = {id(group) for name in options.groups for group in _groups(root, name)}
        self._any_group = not options.groups
        for text in options.variables:
            self._add(root, text)

    def _add(self, root: Group, text: str) -> None:
        found = list(_variables(root, text))
        sliced = _SLICED.fullmatch(text)
        if not found and sliced:
            for var in _variables(root, sliced["name"]):
                found.append(var)
                self._slices[id(var)] = slices_of(sliced["slices"], var)
        if not found:
            names = [var.path.lstrip("/") for group in root.walk() for var in group.vars.values()]
            raise NotFoundError(f"there is no variable {text!r}", hint=near(text, names))
        for var in found:
            self._slices.setdefault(id(var), None)

    def group(self, group: Group) -> bool:
        """Whether the values of a group are asked for."""
        return self._any_group or id(group) in self._groups

    def variable(self, var: Var) -> bool:
        """Whether the values of a variable are asked for."""
        return self._all or id(var) in self._slices

    def slices(self, var: Var) -> tuple[slice, ...] | None:
        """Return what part of a variable is asked for; `None` if all."""
        return self._slices.get(id(var))


def _variables(root: Group, name: str) -> Iterable[Var]:
    """Find variables: by a full path just one, by a name or the end of a path those of all groups that have it."""
    home, _, last = name.rpartition("/")
    for group in root.walk():
        if last in group.vars and _ends(group, home, absolute=name.startswith("/")):
            yield group.vars[last]


def _ends(group: Group, home: str, *, absolute: bool) -> bool:
    wanted = [part for part in home.split("/") if part]
    path = [part for part in group.path.split("/") if part]
    if absolute:
        return path == wanted
    return not wanted or path[-len(wanted) :] == wanted


def _groups(root: Group, name: str) -> list[Group]:
    if name in ("", "/"):
        return [root]
    if name.startswith("/"):
        one = root.find_group(name)
        found = [one] if one is not None else []
    else:
        found = [group.groups[name] for group in root.walk() if name in group.groups]
        found = found or [one for group in root.walk() if (one := group.find_group(name)) is not None]
    if not found:
        names = [group.path.lstrip("/") for group in root.walk() if group.parent is not None]
        raise NotFoundError(f"there is no group {name!r}", hint=near(name, names))
    return found


def split_names(text: str) -> list[str]:
    """Split a list of names at commas, those inside brackets aside.

    >>> split_names("time,temp[0:2,:],g/u")
    ['time', 'temp[0:2,:]', 'g/u']
    """
    names, depth = [""], 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == "," and depth <= 0:
            names.append("")
        else:
            names[-1] += character
    return [name for name in names if name]


def slices_of(text: str, var: Var) -> tuple[slice, ...]:
    """Return slices as NumPy reads them, for the dimensions of a variable; those left out are whole.

    Raises:
        SelectionError: If they do not fit.
    """
    words = [word.strip() for word in text.split(",")] if text.strip() else []
    if words.count("...") == 1:
        at = words.index("...")
        words[at : at + 1] = [":"] * (len(var.dims) - len(words) + 1)
    if len(words) > len(var.dims):
        raise SelectionError(f"{len(words)} slices for {len(var.dims)} dimensions", path=var.path)
    words += [":"] * (len(var.dims) - len(words))
    return tuple(_slice(word, size, var) for word, size in zip(words, var.shape, strict=True))


def _slice(word: str, size: int, var: Var) -> slice:
    parts = [part.strip() for part in word.split(":")]
    try:
        numbers = [int(part) if part else None for part in parts]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= _PARTS or (len(numbers) == 1 and numbers[0] is None):
        raise SelectionError(f"{word!r} is no slice", path=var.path, hint="As 3, 0:10, ::2 or -5: for one dimension.")
    return _within(numbers, word, size, var)


def _within(numbers: Sequence[int | None], word: str, size: int, var: Var) -> slice:
    if len(numbers) == 1:
        index = numbers[0] or 0
        if not -size <= index < size:
            raise SelectionError(f"index {index} is out of bounds for a dimension of size {size}", path=var.path)
        return slice(index % size, index % size + 1, 1)
    chosen = slice(*numbers)
    if chosen.step is not None and chosen.step < 1:
        raise SelectionError(f"{word!r} goes backwards", path=var.path, hint="Steps are 1 or more.")
    start, stop, step = chosen.indices(size)
    return slice(start, max(start, stop), step)
