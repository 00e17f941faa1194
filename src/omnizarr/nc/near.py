"""What a name that is not there may have been meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_MOST = 12


def near(name: str, known: Iterable[str]) -> str:
    """Return a hint: the name that is most like another one, or else all there are.

    >>> near("lattitude", ["latitude", "longitude"])
    "did you mean 'latitude'?"
    >>> near("q", ["time", "lat"]), near("q", [])
    ('there are: time, lat', 'there are none')
    """
    names = list(dict.fromkeys(known))
    close = get_close_matches(name, names, 1)
    return f"did you mean {close[0]!r}?" if close else listed(names)


def listed(known: Iterable[str]) -> str:
    """Return a hint that lists names; which is cheaper than to compare them."""
    names = list(known)
    if not names:
        return "there are none"
    return f"there are: {', '.join(names[:_MOST])}{', …' if len(names) > _MOST else ''}"
