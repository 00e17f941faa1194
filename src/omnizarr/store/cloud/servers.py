"""What options say for plain servers: headers for those that the caller has named, and for no other.

A reference set is text that others wrote. Headers that are given for it go to the server that it lies on; for one that
lies elsewhere, to the servers that the caller allows by name. To a server that the set alone names, nothing goes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from omnizarr.errors import UnsafeError
from omnizarr.store.cloud.headers import SETTINGS, checked_headers, has_headers, server_part
from omnizarr.store.cloud.options import VARIABLE, understand_server
from omnizarr.store.url.settings import Surroundings

Given: TypeAlias = tuple[list[tuple[str, str]], list[str]]
"""As the kernel takes it: headers, and URLs of the servers that they are for."""


class ForServer(NamedTuple):
    """How a server is asked. Headers do not show."""

    headers: Given | None = None
    settings: Mapping[str, Any] = {}

    def __repr__(self) -> str:
        names = [name for name, _ in self.headers[0]] if self.headers else []
        return f"ForServer({', '.join(names)}; {dict(self.settings)})"


_NOTHING: Final = ForServer()


def for_server(url: str, options: Mapping[str, Any] | None = None) -> ForServer:
    """Return how a server is asked that the caller names by a URL.

    Args:
        url: It. Headers go to its scheme, host and port.
        options: As for a server; none but those that one understands.

    Raises:
        UnsafeError: If a header cannot be sent.
        UnsupportedError: If an option means nothing to a server.
    """
    if not options and not os.environ.get(VARIABLE):
        return _NOTHING
    wishes = understand_server(options, Surroundings.here())
    headers = checked_headers(wishes.wishes.get("headers") or {})
    settings = {name: value for name, value in wishes.settings.items() if name in SETTINGS}
    return ForServer((list(headers.items()), [url]) if headers else None, settings)


def for_set(servers: Sequence[str], options: Mapping[str, Any] | None = None) -> Given | None:
    """Return the headers for what references lead to.

    Args:
        servers: URLs of the servers that the caller has named; see `named_servers`.
        options: Those of the set; what is for object stores counts elsewhere.

    Raises:
        UnsafeError: If a header cannot be sent, or there is no server that it could be for.
    """
    if not servers:
        if has_headers(options):
            raise UnsafeError(
                "there are headers, but no server that they are for: a set may lead anywhere",
                hint='Name the server: allow=["https://example.org/"] in Python, --allow on the command line.',
            )
        return None
    found = for_server(servers[0], server_part(options)).headers
    return found and (found[0], list(servers))


def named_servers(place: object, allow: Iterable[str] = ()) -> list[str]:
    """Return the servers that the caller of a set has named: the one that it lies on, else those in what it may reach.

    >>> named_servers("https://a.org/set.json", ["https://b.org/"]), named_servers("set.json", ["*", "https://b.org/x"])
    (['https://a.org/set.json'], ['https://b.org/x'])
    """
    if isinstance(place, str) and _names_server(place):
        return [place]
    return [one for one in allow if _names_server(one)]


def _names_server(text: str) -> bool:
    if text[:7].lower() != "http://" and text[:8].lower() != "https://":
        return False
    try:
        return bool(urlsplit(text).hostname)
    except ValueError:
        return False
