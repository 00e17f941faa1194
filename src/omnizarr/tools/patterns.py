"""Which nodes are meant, by the patterns of a shell for their names and paths: the same for all tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase

from omnizarr.errors import SelectionError


def matches(path: str, patterns: Sequence[str]) -> bool:
    """Whether a path, or one of those above it, is meant by one of the patterns.

    A pattern without a slash is compared with each name of the path, others with the path from its start.

    >>> [matches("model/run1/t", [one]) for one in ("t", "run*", "model/*/t", "mod", "run1/t", "model")]
    [True, True, True, False, False, True]
    """
    parts = path.split("/")
    for pattern in patterns:
        shape = pattern.strip("/")
        if "/" not in shape:
            if any(fnmatchcase(part, shape) for part in parts):
                return True
        elif any(fnmatchcase("/".join(parts[:depth]), shape) for depth in range(1, len(parts) + 1)):
            return True
    return False


def patterns_of(given: object, name: str) -> tuple[str, ...]:
    """Return the patterns that a caller gives: one, or some.

    Args:
        given: What was given.
        name: The argument, for messages.

    Raises:
        SelectionError: If these are no patterns.

    >>> patterns_of("temp*", "include"), patterns_of(["a", "b/*"], "include"), patterns_of((), "exclude")
    (('temp*',), ('a', 'b/*'), ())
    """
    if isinstance(given, str):
        return (given,)
    found: list[object] = list(given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(one, str) for one in found):  # those of bytes are numbers
        hint = f'pass {name}=["temp*", "model/*/t"]; leave it out for no patterns'
        raise SelectionError(f"{name} is {given!r}, and not patterns, which are text", hint=hint)
    return tuple(map(str, found))


def wanted(include: Sequence[str], exclude: Sequence[str]) -> Callable[[str], bool]:
    """Make the test whether a path is meant: by a pattern to include, if there are any, and by none to exclude.

    >>> keep = wanted(["model/*", "time"], ["*_bounds"])
    >>> [path for path in ("", "model", "model/t", "model/t_bounds", "grid/time", "other") if keep(path)]
    ['model/t', 'grid/time']
    """
    return lambda path: (not include or matches(path, include)) and not matches(path, exclude)
