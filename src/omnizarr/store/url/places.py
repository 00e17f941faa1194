"""From a URL of netcdf-c to a place that can be opened here, or to an error that says how it was understood."""

from __future__ import annotations

from typing import Final

from omnizarr.errors import OmnizarrError, UnsupportedError
from omnizarr.store.uri import scheme
from omnizarr.store.url.explain import Understood, explain
from omnizarr.store.url.grammar import SCHEMES, parse_place
from omnizarr.store.url.local import local_of
from omnizarr.store.url.modes import heard_modes, understand_modes

_ELSEWHERE: Final = "`omnizarr.open` and the commands open it; here only files of this machine can be."
_COPY: Final = "Copy the data to a directory, or give a mapping such as"


def path_of(text: str) -> str | None:
    """Return the path that a text with a fragment or with brackets names; `None` if it is no URL of netcdf-c.

    Raises:
        UnsafeError: If the URL is not well formed, or contradicts itself.
        UnsupportedError: If it names no file.
    """
    url = parse_place(text)
    if url is None:
        return None
    if url.scheme not in ("", "file"):
        raise cannot_open(text)
    heard_modes(url)  # which may contradict each other
    return local_of(url).path


def storage_of(text: str) -> str:
    """Return the storage that a URL asks for: file, zip, or nothing."""
    url = parse_place(text)
    return "" if url is None else understand_modes(url).storage


def cannot_open(text: str) -> OmnizarrError:
    """Return the error for a URL where a path of this machine is needed; it says what was understood.

    >>> print(cannot_open("s3://data/t?x").hint)
    Understood: bucket data, key t, region us-east-1, endpoint https://s3.us-east-1.amazonaws.com, profile no
    `omnizarr.open` and the commands open it; here only files of this machine can be.
    """
    kind = scheme(text.partition("]")[2] if text.startswith("[") else text) or "such"
    message = f"there is no store of files for {kind}: URLs"
    if kind not in SCHEMES:
        return UnsupportedError(f"cannot open {text!r}: {message}", hint=f"{_COPY} fsspec.get_mapper(url).")
    try:
        found = explain(text)
    except OmnizarrError as error:
        return error
    return UnsupportedError(f"cannot open {found.url!r}: {message}", hint=_hint(found))


def _hint(found: Understood) -> str:
    if found.kind == "dap":
        return f"Understood: a server of {found.model or 'dap2'} at {found.endpoint}\nAdd #mode=… to mean another."
    if found.bucket is None:
        return f"Understood: {found.path} at {found.endpoint}\n{_ELSEWHERE}"
    words = {
        "bucket": found.bucket,
        "key": found.key or "(all)",
        "region": found.region,
        "endpoint": found.endpoint,
        "profile": found.profile,
    }
    said = ", ".join(f"{word} {value}" for word, value in words.items())
    return f"Understood: {said}\n{_ELSEWHERE}"
