"""Which nodes are looked at, by patterns of their paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase


def wanted(include: Sequence[str], exclude: Sequence[str]) -> Callable[[str], bool]:
    """Return whether to look at a path.

    >>> keep = wanted(["model/*", "time"], ["*_bounds"])
    >>> [path for path in ("", "model", "model/t", "model/t_bounds", "grid/time", "other") if keep(path)]
    ['model/t', 'grid/time']
    """
    included = [pattern.strip("/") for pattern in include]
    excluded = [pattern.strip("/") for pattern in exclude]

    def keep(path: str) -> bool:
        return (not included or _matches(path, included)) and not _matches(path, excluded)

    return keep


def _matches(path: str, patterns: Sequence[str]) -> bool:
    parts = path.split("/")
    above = ["/".join(parts[: n + 1]) for n in range(len(parts))] if path else [""]
    return any(
        fnmatchcase(candidate, pattern)
        for pattern in patterns
        for candidate in (above if "/" in pattern else (*above, *parts))
    )
