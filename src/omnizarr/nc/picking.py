"""Which variables and groups of a dataset a list of names means, as nccopy understands it."""

from __future__ import annotations

from collections.abc import Iterable

from omnizarr.errors import NotFoundError
from omnizarr.nc.near import near
from omnizarr.nc.tree import Group, Var


def pick_variables(root: Group, names: Iterable[str]) -> set[Var]:
    """Return the variables that names mean: one by its full path, else all whose path ends so.

    Raises:
        NotFoundError: If there is no such variable.
    """
    every = list(root.all_vars())
    found: set[Var] = set()
    for name in names:
        chosen = [var for var in every if _means(name, var.path)]
        if not chosen:
            raise _unknown("variable", name, [var.path.removeprefix("/") for var in every])
        found.update(chosen)
    return found


def pick_groups(root: Group, names: Iterable[str]) -> set[int]:
    """Return the identities of the groups that names mean, with all groups below them.

    Raises:
        NotFoundError: If there is no such group.
    """
    found: set[int] = set()
    for name in names:
        chosen = [
            group for group in root.walk() if group.path == name or (group is not root and _means(name, group.path))
        ]
        if not chosen:
            raise _unknown("group", name, [group.path for group in root.walk()])
        found.update(id(below) for group in chosen for below in group.walk() if name != "/" or below is root)
    return found


def keep_variables(root: Group, kept: set[Var]) -> None:
    """Drop all other variables from a tree."""
    for group in root.walk():
        group.vars = {name: var for name, var in group.vars.items() if var in kept}


def keep_groups(root: Group, kept: set[int]) -> None:
    """Drop all other groups from a tree; those above stay, without variables, for what is defined there."""
    for group in list(root.walk()):
        if id(group) not in kept:
            group.vars = {}
        group.groups = {
            name: below for name, below in group.groups.items() if any(id(one) in kept for one in below.walk())
        }


def _means(name: str, path: str) -> bool:
    return path == name if name.startswith("/") else path.endswith(f"/{name}")


def _unknown(what: str, name: str, known: list[str]) -> NotFoundError:
    return NotFoundError(f"there is no {what} {name!r}", hint=near(name, known))
