"""Headers that users give for requests to servers: whether they can be sent, and which options they stand among."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from omnizarr.errors import UnsafeError
from omnizarr.store.cloud.names import GROUPS, names_of

SETTINGS: Final = ("attempts", "pause", "stall", "patience")
"""How requests to a server can be made."""

_OWN: Final = frozenset({
    "accept-encoding", "connection", "content-length", "expect", "host", "if-match", "if-modified-since",
    "if-none-match", "if-range", "if-unmodified-since", "keep-alive", "proxy-authorization", "proxy-connection",
    "range", "te", "trailer", "transfer-encoding", "upgrade",
})  # fmt: skip
"""Names that say which bytes are asked for, and how they travel: answers to anything else would not be understood."""

_NAME: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_VALUE: Final = r"[\t\x20-\x7e\x80-\xff]*"
_MEANT: Final = ("headers", "anon", "max_retries", *SETTINGS)


def checked_headers(given: object) -> dict[str, str]:
    """Return headers by name, if they can be sent. Values are never shown: they may be secrets.

    Args:
        given: A mapping of names to values; or a text, as a command or the environment gives it: such a mapping in
            JSON, or one header as `Name: value`.

    Raises:
        UnsafeError: If a name or a value is none, is there twice, or is not the caller's to set.

    >>> checked_headers({"Authorization": "Bearer hush"}), checked_headers("X-Key: hush")
    ({'Authorization': 'Bearer hush'}, {'X-Key': 'hush'})
    """
    found = _parsed(given) if isinstance(given, str) else given
    if not isinstance(found, Mapping) or not all(isinstance(text, str) for text in [*found, *found.values()]):
        raise UnsafeError(
            "the option headers is to be a mapping of texts to texts",
            hint='They look like {"Authorization": "Bearer …"}; a text is such a mapping in JSON, or one header.',
        )
    seen: set[str] = set()
    for name, value in found.items():
        # What is no name may be a secret that stands in the wrong place.
        if not re.fullmatch(_NAME, name):
            raise UnsafeError(
                "the option headers has a name that no header can have", hint="Names are letters, digits and -."
            )
        if name.lower() in _OWN:
            raise UnsafeError(f"the header {name} cannot be given: requests set it themselves, or must not have it")
        if name.lower() in seen:
            raise UnsafeError(f"the header {name} is given twice")
        if not re.fullmatch(_VALUE, value):
            raise UnsafeError(
                f"the value of the header {name} cannot be sent",
                hint="Values are one line of Latin-1. A token from a file may have a line break at its end.",
            )
        seen.add(name.lower())
    return dict(found)


def joined_headers(given: Iterable[object]) -> dict[str, str]:
    """Return the headers of several options, each as for `checked_headers`, as those of one; later ones come first.

    >>> joined_headers(["A: 1", '{"B": "2"}', "a: 3"])
    {'B': '2', 'a': '3'}
    """
    found: dict[str, str] = {}
    for one in map(checked_headers, given):
        again = {name.lower() for name in one}
        found = {**{name: value for name, value in found.items() if name.lower() not in again}, **one}
    return found


def _parsed(text: str) -> object:
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except ValueError:
            return None
    name, mark, value = text.partition(":")
    return {name.strip(): value.strip()} if mark else None


def server_part(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return those of some options that mean something to a server, where others are for object stores.

    >>> server_part({"key": "me", "stall": 3, "client_kwargs": {"headers": {"A": "b"}, "region_name": "x"}})
    {'stall': 3, 'client_kwargs': {'headers': {'A': 'b'}}}
    """
    names = names_of("http")
    return _chosen(options or {}, lambda name: names.get(name) in _MEANT)


def bucket_part(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return those of some options that may mean something to an object store.

    >>> bucket_part({"key": "me", "headers": {"A": "b"}})
    {'key': 'me'}
    """
    return _chosen(options or {}, lambda name: name != "headers")


def has_headers(options: Mapping[str, Any] | None) -> bool:
    """Whether there are headers among options.

    >>> has_headers({"client_kwargs": {"headers": {"A": "b"}}}), has_headers({"headers": None})
    (True, False)
    """
    groups = [value for name, value in (options or {}).items() if name in GROUPS and isinstance(value, Mapping)]
    return bool((options or {}).get("headers")) or any(map(has_headers, groups))


def _chosen(options: Mapping[str, Any], wanted: Callable[[str], bool]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in options.items():
        if name in GROUPS and isinstance(value, Mapping):
            if inside := _chosen(value, wanted):
                found[name] = inside
        elif wanted(str(name).lower()):
            found[name] = value
    return found
