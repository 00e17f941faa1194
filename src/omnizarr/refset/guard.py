"""Which places a reference set may reach: its own folder, and what is public; the kernel enforces it.

A set is text that others wrote, and what it names is opened with the rights of whoever reads it. So it may lead to the
folder that it came from and to all below it, and to public servers; a file elsewhere on this machine, or a server that
only this machine can see, needs the word of the caller.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Final

from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.store.file import local_path

PUBLIC: Final = ("http://", "https://", "s3://", "gs://", "gcs://", "az://", "abfs://", "abfss://")
"""What every set may reach, as far as it is public."""

VARIABLE: Final = "OMNIZARR_ALLOW"
"""The environment's list of places that are allowed to all sets, separated as PATH is."""


def defaults(where: str, limits: Limits = DEFAULT_LIMITS) -> tuple[str, list[str]]:
    """Return what relative URLs of a set are relative to, and the places that it may reach unasked.

    Args:
        where: The path or URL of the set: of a file, or of a folder of parquet files.
        limits: What the caller allows besides.

    >>> base, allow = defaults("https://example.org/data/set.json")
    >>> base, base in allow
    ('https://example.org/data/', True)
    """
    base = base_of(where)
    return base, allowed([base], limits)


def allowed(bases: Iterable[str], limits: Limits = DEFAULT_LIMITS) -> list[str]:
    """Return the places that sets may reach unasked.

    Args:
        bases: The folders that they lie in. Those that were reached through links count by their own names, too, by
            which whoever wrote the set may have known them.
        limits: What the caller allows besides.
    """
    own = [name for base in dict.fromkeys(bases) for name in (base, _real(base)) if name]
    return [*dict.fromkeys(own), *PUBLIC, *of_environment(), *spelled(limits.allow)]


def _real(base: str) -> str:
    if not base or "://" in base:
        return ""
    return os.path.join(os.path.realpath(base), "")  # noqa: PTH118 - pathlib takes longer to import


def of_environment() -> list[str]:
    """Return the places that the environment allows to all sets."""
    return spelled(_split(os.environ.get(VARIABLE, "")))


def spelled(allow: Sequence[str]) -> list[str]:
    """Return the places that a caller allows as the kernel wants them: paths from the root on.

    >>> spelled(["https://example.org/", "*"])
    ['https://example.org/', '*']
    """
    given = [place for place in allow if place]
    return [place if "://" in place or place == "*" else os.path.abspath(place) for place in given]  # noqa: PTH100 - text


def base_of(where: str) -> str:
    """Return the folder that a set lies in, ending in a slash; empty if it is nowhere.

    A set that is a folder itself, of parquet files, lies in the one above: its sources are beside it.

    >>> base_of("s3://bucket/a/set.json"), base_of("s3://bucket/a/set.parquet/"), base_of("memory:example")
    ('s3://bucket/a/', 's3://bucket/a/', '')
    """
    scheme, mark, rest = where.partition("://")
    if mark and scheme.lower() not in ("file", "local"):
        path = rest.partition("?")[0].partition("#")[0].rstrip("/")
        return f"{scheme}://{path.rpartition('/')[0] or path}/"
    if not mark and where.partition(":")[0] == "memory":
        return ""
    folder = os.path.dirname(local_path(where.rstrip("/")))  # noqa: PTH120 - pathlib takes longer to import
    return folder if folder.endswith(os.sep) else folder + os.sep


def folder_of(base: str) -> str:
    """Return a folder that relative URLs are relative to as the kernel wants it: from the root on, ending in a slash.

    >>> folder_of("s3://bucket/a"), folder_of("/data"), folder_of("")
    ('s3://bucket/a/', '/data/', '')
    """
    if not base or "://" in base:
        return base if not base or base.endswith("/") else base + "/"
    return os.path.join(os.path.abspath(base), "")  # noqa: PTH100, PTH118 - text


def _split(text: str) -> list[str]:
    """Cut a list of places at the separator of paths, though not within `https://`."""
    places: list[str] = []
    for part in text.split(os.pathsep):
        if part.startswith("//") and places and places[-1].isalnum():
            places[-1] += ":" + part
        else:
            places.append(part)
    return places
