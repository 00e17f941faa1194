"""The parts of a URL as netcdf-c writes them: `[key=value]scheme://host:port/path?query#key=value&key`.

Nothing here looks at the world, but to ask whether a path exists that only looks like a URL.
"""

from __future__ import annotations

import os
from typing import Final, NamedTuple

from omnizarr.errors import UnsafeError, UnsupportedError
from omnizarr.store.uri import scheme as scheme_of

SCHEMES: Final = ("file", "http", "https", "s3", "gs3", "dods", "dap4")
"""Those that netcdf-c knows."""

CLOUDS: Final = {
    "s3a": "s3", "gs": "gs", "gcs": "gs", "az": "az", "azure": "az",
    "abfs": "abfs", "abfss": "abfss", "wasb": "wasb", "wasbs": "wasbs",
}  # fmt: skip
"""Those of other tools for object stores, and which of them are the same."""

SHORTHANDS: Final = {
    "zarr": ("nczarr", "zarr"),
    "nczarr": ("nczarr",),
    "xarray": ("xarray",),
    "noxarray": ("nczarr", "noxarray"),
    "s3": ("nczarr", "s3"),
    "gs3": ("nczarr", "gs3"),
    "bytes": ("bytes",),
    "dap2": ("dap2",),
    "dap4": ("dap4",),
}
"""Keys that stand without a value for some modes."""

KEYS: Final = frozenset({"mode", "log", "show", "aws.profile", "aws.region", *SHORTHANDS})
"""Keys by which a fragment is known for one of netcdf-c's."""

_SECRET: Final = ("password", "secret", "token", "credential")


class Pair(NamedTuple):
    """A key of a fragment, in lower case, and its value; `None` where there is no `=`."""

    key: str
    value: str | None


class Url(NamedTuple):
    """The parts of a URL, none of them interpreted."""

    scheme: str
    """In lower case; empty for a plain path with a fragment."""
    host: str
    port: str
    path: str
    """For `file:`, and where there is no scheme, what names the file, as it was written; else begins with "/"."""
    query: str
    pairs: tuple[Pair, ...]
    """Those in brackets first, then those of the fragment."""
    user: str = ""
    """Given before the host; a password beside it is forgotten."""

    def values(self, key: str) -> list[str]:
        """Return all values that a key has, in order."""
        return [pair.value for pair in self.pairs if pair.key == key and pair.value is not None]

    def first(self, key: str) -> str | None:
        """Return the first value that a key has."""
        return next((value for value in self.values(key) if value), None)

    @property
    def shown(self) -> str:
        """The URL for messages: parameters in the fragment, no password."""
        at = f"{self.user}@" if self.user else ""
        port = f":{self.port}" if self.port else ""
        start = f"{self.scheme}://{at}{self.host}{port}" if self.scheme not in ("", "file") else ""
        start = "file:" if self.scheme == "file" else start
        query = f"?{self.query}" if self.query else ""
        return start + self.path + query + fragment(self.pairs)


def fragment(pairs: tuple[Pair, ...]) -> str:
    """Return keys and values as a fragment, with a "#" before it, or nothing; values that look secret are left out.

    >>> fragment((Pair("mode", "nczarr,file"), Pair("log", None)))
    '#mode=nczarr,file&log'
    """
    words = [one.key if one.value is None else f"{one.key}={shown_value(one.key, one.value)}" for one in pairs]
    return "#" + "&".join(words) if words else ""


def shown_value(key: str, value: str) -> str:
    """Return the value of a key, unless it must not be shown."""
    return "…" if any(word in key for word in _SECRET) else value


def parse_place(text: str) -> Url | None:
    """Return the parts of a URL in netcdf-c's manner, or `None` if the text is something else: a path, a plain URI.

    A path that exists is a path, whatever it looks like; so is one that does not unless it has a `mode=`.

    Raises:
        UnsafeError: If it is such a URL, but not well formed.
        UnsupportedError: If its scheme is none of netCDF's.

    >>> parse_place("file:///x#mode=nczarr,file").pairs
    (Pair(key='mode', value='nczarr,file'),)
    >>> parse_place("run#1.zarr"), parse_place("file:///x")
    (None, None)
    """
    if "#" not in text and not text.lstrip(" ").startswith("["):
        return None
    body, before = _without_brackets(text.strip(" "))
    core, _, behind = body.partition("#")
    pairs = (*before, *_pairs(behind))
    scheme = scheme_of(core)
    if scheme is None:
        if not any(pair.key == "mode" and pair.value for pair in pairs) or _exists(text):
            return None
        return Url("", "", "", core, "", pairs)
    if not any(pair.key in KEYS for pair in pairs):
        # A "#" that belongs to a name, or the fragment of another kind of URL.
        return None
    return _parsed(core, scheme, pairs)


def parse(text: str) -> Url | None:
    """Return the parts of any URL, `None` if the text is a path.

    Raises:
        UnsafeError: If the URL is not well formed.
        UnsupportedError: If its scheme is none of netCDF's.
    """
    found = parse_place(text)
    if found is not None:
        return found
    core, _, behind = text.partition("#")
    scheme = scheme_of(core)
    return None if scheme is None or _exists(text) else _parsed(core, scheme, _pairs(behind))


def _without_brackets(text: str) -> tuple[str, tuple[Pair, ...]]:
    """Split the parameters in leading brackets off.

    Raises:
        UnsafeError: If a bracket is never closed, and a URL follows all the same.
    """
    pairs: list[Pair] = []
    rest = text
    while rest.startswith("["):
        inner, bracket, behind = rest[1:].partition("]")
        if not bracket:
            if "://" in rest and not _exists(text):
                raise UnsafeError(f"{text!r} has a bracket that is not closed", hint="Write [key=value]scheme://…")
            return text, ()
        pairs += _pairs(inner)
        rest = behind
    return rest, tuple(pairs)


def _pairs(text: str) -> tuple[Pair, ...]:
    found: list[Pair] = []
    for word in text.split("&"):
        key, equals, value = word.partition("=")
        if key.strip():
            found.append(Pair(key.strip().lower(), value.strip() if equals else None))
    return tuple(found)


def _exists(text: str) -> bool:
    return "\0" not in text and os.path.lexists(text)


def _parsed(core: str, scheme: str, pairs: tuple[Pair, ...]) -> Url:
    given, scheme = scheme, CLOUDS.get(scheme, scheme)
    if scheme not in SCHEMES and scheme not in CLOUDS:
        raise UnsupportedError(
            f"{scheme}: is not a scheme of netCDF's URLs",
            hint=f"Those are {', '.join((*SCHEMES, *CLOUDS))}; or give a path.",
        )
    rest, _, query = core[len(given) + 1 :].partition("?")
    if scheme == "file":
        return Url(scheme, "", "", rest, query, pairs)
    if not rest.startswith("//"):  # but a second colon
        raise UnsafeError(f"{core!r} has no // behind its scheme", hint=f"Write {scheme}://host/path.")
    netloc, slash, path = rest[2:].partition("/")
    user, at, server = netloc.rpartition("@")
    host, colon, port = server.partition(":")
    if server.startswith("["):  # an address of IPv6
        host, _, port = server.partition("]")
        host, colon, port = host + "]", port[:1], port.removeprefix(":")
    if (at and not user) or (colon and (not host or not port.isascii() or not port.isdigit())):
        raise UnsafeError(
            f"{scheme}://{'…@' if at else ''}{server} is not a host",
            hint="A host looks like name, name:port or user:password@name.",
        )
    return Url(scheme, host, port, slash + path, query, pairs, user.partition(":")[0])
