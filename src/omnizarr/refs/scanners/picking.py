"""Which variables of a file are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from omnizarr.errors import NotFoundError
from omnizarr.refs.scanners.source import Options, names_of


class Picked:
    """Says of each name whether it is wanted.

    Args:
        options: What the caller wants, by path or by name alone; `*` and `?` stand for any letters.
        paths: Those that there are.

    Raises:
        NotFoundError: If a name is asked for that is not there.

    >>> picked = Picked(Options(only=("t*",), skip=("time",)), ["time", "t2m", "lat"])
    >>> [name for name in ("time", "t2m", "lat") if picked(name)]
    ['t2m']
    >>> Picked(Options(skip=("t2m",)), ["forecast/t2m"])("forecast/t2m")
    False
    """

    def __init__(self, options: Options, paths: Sequence[str]) -> None:
        self._only, self._skip = names_of(options.only), names_of(options.skip)
        absent = [one for one in (*self._only, *self._skip) if not any(_is_meant(path, (one,)) for path in paths)]
        if absent:
            raise NotFoundError(
                f"there is no variable {', '.join(absent)}", hint=f"There are {', '.join(paths) or 'none'}."
            )

    def __call__(self, path: str) -> bool:
        """Whether a variable is wanted."""
        return not _is_meant(path, self._skip) and (not self._only or _is_meant(path, self._only))


def _is_meant(path: str, patterns: Sequence[str]) -> bool:
    name = path.rpartition("/")[2]
    return any(fnmatchcase(path, one) or fnmatchcase(name, one) for one in patterns)
