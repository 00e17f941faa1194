"""Names in CDL: what has a meaning of its own there is escaped by a backslash."""

from __future__ import annotations

import re
from typing import Final

_SPECIAL: Final = re.compile(r"""^[0-9]|[ !"#$&'()*,:;<=>?\[\]\\^`{|}~]|[\x00-\x1f\x7f]""")
_KEYWORDS: Final = frozenset(("variables", "dimensions", "data", "group", "types"))


def escaped(name: str) -> str:
    r"""Return a name as CDL writes it.

    >>> escaped("time"), escaped("2m temp"), escaped("a:b"), escaped("tab\t")
    ('time', '\\2m\\ temp', 'a\\:b', 'tab\\%09')
    """
    return _SPECIAL.sub(_escape, name)


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    return f"\\%{ord(character):02x}" if character < " " or character == "\x7f" else f"\\{character}"


def owner(name: str) -> str:
    """Return the name of a variable in front of one of its attributes: words of CDL need a blank before the colon.

    >>> owner("time"), owner("data")
    ('time', 'data ')
    """
    return escaped(name) + (" " if name in _KEYWORDS else "")
