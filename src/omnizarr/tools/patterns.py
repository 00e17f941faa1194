"""Which nodes are meant, by the patterns of a shell for their names and paths: the same for all tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase


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


def wanted(include: Sequence[str], exclude: Sequence[str]) -> Callable[[str], bool]:
    """Make the test whether a path is meant: by a pattern to include, if there are any, and by none to exclude.

    >>> keep = wanted(["model/*", "time"], ["*_bounds"])
    >>> [path for path in ("", "model", "model/t", "model/t_bounds", "grid/time", "other") if keep(path)]
    ['model/t', 'grid/time']
    """
    return lambda path: (not include or matches(path, include)) and not matches(path, exclude)
