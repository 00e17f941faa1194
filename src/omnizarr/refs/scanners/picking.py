"""Which variables of a file are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from omnizarr.errors import NotFoundError
from omnizarr.refs.scanners.source import Options


class Picked:
    """Says of each name whether it is wanted.

    Args:
        options: What the caller wants; names may hold `*` and `?`.
        names: Those that there are.

    Raises:
        NotFoundError: If a name is asked for that is not there.

    >>> picked = Picked(Options(only=("t*",), skip=("time",)), ["time", "t2m", "lat"])
    >>> [name for name in ("time", "t2m", "lat") if picked(name)]
    ['t2m']
    """

    def __init__(self, options: Options, names: Sequence[str]) -> None:
        self._only, self._skip = options.only, options.skip
        absent = [one for one in (*options.only, *options.skip) if not any(fnmatchcase(name, one) for name in names)]
        if absent:
            raise NotFoundError(
                f"there is no variable {', '.join(absent)}", hint=f"There are {', '.join(names) or 'none'}."
            )

    def __call__(self, name: str) -> bool:
        """Whether a variable is wanted."""
        if any(fnmatchcase(name, one) for one in self._skip):
            return False
        return not self._only or any(fnmatchcase(name, one) for one in self._only)
