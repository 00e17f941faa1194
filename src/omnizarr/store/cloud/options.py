"""From a URL, `storage_options` and the surroundings to all that opening an object store needs.

Credentials are those of the first of these that has any:

1. `storage_options`: `key` and `secret`, `anon`, `profile`, and what other libraries call them;
2. on S3 the profile that netcdf-c's rules choose: `aws.profile` of the URL, AWS.PROFILE of a `.rc` file, AWS_PROFILE,
   `default`; the profiles `no` and `none`, asked for by name, sign nothing;
3. the environment: an access key, a web identity, the role of a container;
4. the machine, if it looks like one of the cloud's own, and has a role;
5. none: requests are not signed. So public data open at once, anywhere, and nothing waits for a metadata service that
   is not there. `storage_options={"instance_role": True}` asks the machine whatever it looks like, and
   `{"anon": False}` makes it an error if there are no credentials.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from omnizarr.errors import UnsafeError, UnsupportedError
from omnizarr.late import LateModule
from omnizarr.store.cloud.headers import SETTINGS, checked_headers, server_part
from omnizarr.store.cloud.names import IGNORED, KINDS, names_of
from omnizarr.store.cloud.secret import Config, without_secrets
from omnizarr.store.cloud.settled import Settled
from omnizarr.store.cloud.wishes import Wishes, understand_options
from omnizarr.store.url.clouds import cloud_place
from omnizarr.store.url.grammar import CLOUDS, Url, parse
from omnizarr.store.url.modes import heard_modes, understand_modes
from omnizarr.store.url.s3 import is_s3
from omnizarr.store.url.settings import Surroundings

if TYPE_CHECKING:
    from omnizarr.store.cloud import azure, gcs, s3
else:
    azure = LateModule("omnizarr.store.cloud.azure")
    gcs = LateModule("omnizarr.store.cloud.gcs")
    s3 = LateModule("omnizarr.store.cloud.s3")

__all__ = ["Settled", "kind_of", "settle", "understand_server"]

VARIABLE: Final = "OMNIZARR_STORAGE_OPTIONS"
"""The environment's options for all object stores and servers, in JSON."""

_DAP: Final = ("dap2", "dap4")


def kind_of(where: str) -> str:
    """Return which kind of store a text names: s3, gcs, azure, http; empty for a path, a file or a server of DAP.

    Raises:
        UnsafeError: If it is a URL that is not well formed, or contradicts itself.

    >>> kind_of("s3://b/k"), kind_of("https://me.blob.core.windows.net/c/k"), kind_of("data.zarr"), kind_of("ftp://x")
    ('s3', 'azure', '', '')
    """
    try:
        url = parse(where)
    except UnsupportedError:  # of a scheme that others may know
        return ""
    return "" if url is None else _kind(url)


def _kind(url: Url) -> str:
    modes = understand_modes(url)
    if url.scheme in ("", "file") or modes.model in _DAP:
        return ""
    if is_s3(url, modes.storage):
        return "s3"
    place = cloud_place(url)
    if place is not None:
        return place.kind
    return "http" if url.scheme in ("http", "https") else ""


def settle(where: str, storage_options: Mapping[str, Any] | None = None, around: Surroundings | None = None) -> Settled:
    """Decide where a place is, and with what credentials it is opened.

    Nothing is asked of the store itself. Services that give credentials are, if a profile says so: single sign-on, the
    token service, a command.

    Args:
        where: A URL of S3, Google's or Microsoft's store, in any form, or of a server.
        storage_options: As for fsspec or obstore.
        around: Environment and folders to look for settings in; those of this process if not given.

    Raises:
        UnsafeError: If the URL is not well formed, or options contradict each other or the URL.
        UnsupportedError: If the URL names no such store, or an option is not known.
        StoreError: If credentials that are named cannot be had.

    >>> nowhere = Surroundings({}, "/nowhere", "/nowhere", "/nowhere")
    >>> found = settle("s3://data/ocean", {"key": "me", "secret": "hush", "region": "eu-west-1"}, nowhere)
    >>> found.kind, found.prefix, found.uri, found.credentials
    ('s3', 'ocean', 's3://data/ocean', 'the options')
    >>> found.config["aws_endpoint"], "hush" in repr(found)
    ('https://s3.eu-west-1.amazonaws.com', False)
    """
    around = Surroundings.here() if around is None else around
    url = parse(where)
    kind = "" if url is None else _kind(url)
    if url is None or not kind:
        raise UnsupportedError(
            f"{without_secrets(where) if '://' in where else where!r} is no place in an object store",
            hint=f"Such places begin with {', '.join((*CLOUDS, 's3', 'gs3'))} or https.",
        )
    modes = heard_modes(url)
    place = None if kind == "s3" else cloud_place(url)
    if place is None and kind != "s3":
        return _http(where, url, understand_server(storage_options, around))
    wishes = understand_options(kind, storage_options)
    wishes.fill_up(understand_options(kind, _ambient(kind, around)))
    _verify(wishes)
    if place is None:
        return s3.settle_s3(url, modes, wishes, around)
    return (gcs.settle_gcs if kind == "gcs" else azure.settle_azure)(place, wishes, around)


def _ambient(kind: str, around: Surroundings) -> dict[str, Any]:
    """Return the options that the environment gives to all stores of a kind: those that mean something to it."""
    text = around.get(VARIABLE)
    if not text:
        return {}
    try:
        given = json.loads(text)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise UnsafeError(f"{VARIABLE} is not an object in JSON")
    known = names_of(kind)
    # What no kind knows is passed on as well, to be refused by name.
    of_others = {*IGNORED, *(name for other in KINDS for name in names_of(other))} - {*known}
    return {name: value for name, value in given.items() if name.lower() not in of_others}


def _verify(wishes: Wishes) -> None:
    """Turn `verify`, which is a flag or the path of certificates, into a setting."""
    verify = wishes.wishes.get("verify", True)
    if verify is False:
        wishes.config["allow_invalid_certificates"] = "true"
    elif verify is not True:
        raise UnsupportedError(
            "verify= cannot name a file of certificates here", hint="Set the variable SSL_CERT_FILE to its path."
        )


def understand_server(options: Mapping[str, Any] | None, around: Surroundings) -> Wishes:
    """Sort the options for a plain server, of which few mean something there.

    Raises:
        UnsupportedError: If one that is given does not. The environment's are for all stores, and may have more.
        UnsafeError: If a value is not what its name asks for.
    """
    wishes = understand_options("http", options)
    _verify(wishes)
    meant = ("headers", "anon", "verify", "allow_http", *SETTINGS)
    odd = [name for name in (*wishes.config, *wishes.wishes, *wishes.settings) if name not in meant]
    if odd:
        raise UnsupportedError(
            f"the option {odd[0]} is not for a plain server", hint=f"One takes headers, {', '.join(SETTINGS)}."
        )
    wishes.fill_up(understand_options("http", server_part(_ambient("http", around))))
    return wishes


def _http(where: str, url: Url, wishes: Wishes) -> Settled:
    text = where[where.rindex("]") + 1 :] if where.lstrip().startswith("[") and not url.host.startswith("[") else where
    address = text.strip().partition("#")[0]
    config = Config({"url": address})
    headers = checked_headers(wishes.wishes.get("headers") or {})
    if headers:
        config["headers"] = json.dumps(headers)
    if url.scheme == "http":
        config["allow_http"] = "true"
    return Settled(
        kind="http",
        config=config,
        prefix="",
        uri=without_secrets(address).rstrip("/"),
        settings=wishes.settings,
        credentials="headers" if headers else "none",
        notes=tuple(wishes.notes),
    )
