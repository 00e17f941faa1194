"""How a place that a user names is understood: one record, with a reason for every decision."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from omnizarr.errors import OmnizarrError, UnsafeError
from omnizarr.late import LateModule
from omnizarr.store.uri import path_to_uri
from omnizarr.store.url.chosen import chosen
from omnizarr.store.url.clouds import CloudPlace, cloud_place
from omnizarr.store.url.grammar import SHORTHANDS, Pair, Url, fragment, parse, shown_value
from omnizarr.store.url.local import local_of
from omnizarr.store.url.modes import Modes, Note, understand_modes
from omnizarr.store.url.rc import Rc, read_rc
from omnizarr.store.url.s3 import is_s3
from omnizarr.store.url.settings import Surroundings

settling: Any = LateModule("omnizarr.store.cloud.options")  # which stands on this

SEPARATOR_KEY: Final = "ZARR.DIMENSION_SEPARATOR"
CONSOLIDATED: Final = "NCZARR_CONSOLIDATED"
"""An environment variable of netcdf-c, which is on for positive numbers, "true" and "yes"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """What a place means. Nothing in it is secret.

    Attributes:
        url: What was given, without a password.
        scheme: That of the URL, in lower case; empty for a path.
        kind: file (a folder), zip, s3, gs3, gcs, azure, http or dap.
        path: The file or folder; the path on a server; `None` in an object store.
        bucket: In an object store; of Azure the container.
        key: In an object store: the path below the bucket, empty for all of it.
        region: In an object store.
        endpoint: The server, as a URL.
        profile: The profile of Amazon's tools whose access key counts; "no" for none.
        credentials: Where an access key would come from, in words.
        account: Of Azure; empty if nothing tells it.
        style: virtual, path, s3 or other: how the host names the bucket; empty outside of object stores.
        modes: Those that the URL gives.
        inferred: Those that follow from them.
        model: nczarr, zarr, bytes, dap2, dap4, netcdf-3, netcdf-4, or empty if nothing is said.
        pure: Whether metadata of NCZarr is neither read nor written.
        xarray: Whether names of dimensions are written to `_ARRAY_DIMENSIONS`.
        consolidated: Whether to use and to write `.zmetadata`.
        bytes: Whether the place is one file, to be read in ranges.
        separator: What a .rc file says about names of chunks, "." or "/"; `None` if nothing.
        parameters: All other keys of the fragment.
        canonical: The URL that says the same in full.
        notes: Every decision with its reason.
    """

    url: str
    scheme: str
    kind: str
    path: str | None
    bucket: str | None = None
    key: str | None = None
    region: str | None = None
    endpoint: str | None = None
    profile: str | None = None
    credentials: str | None = None
    account: str | None = None
    style: str = ""
    modes: tuple[str, ...] = ()
    inferred: tuple[str, ...] = ()
    model: str = ""
    pure: bool = False
    xarray: bool = True
    consolidated: bool = False
    bytes: bool = False
    separator: str | None = None
    parameters: Mapping[str, str]
    canonical: str = ""
    notes: tuple[Note, ...] = ()


def explain(where: str | os.PathLike[str], *, around: Surroundings | None = None) -> Understood:
    """Say how a place is understood, without opening it.

    Args:
        where: A path, or a URL as netcdf-c takes it.
        around: Environment and folders to look for settings in; those of this process if not given.

    Raises:
        UnsafeError: If the URL is not well formed, or contradicts itself.
        UnsupportedError: If its scheme is none of netCDF's.

    >>> import omnizarr as oz
    >>> found = oz.explain("https://data.s3.eu-west-1.amazonaws.com/ocean/t#mode=zarr,s3")
    >>> found.bucket, found.key, found.region, found.model
    ('data', 'ocean/t', 'eu-west-1', 'zarr')
    """
    around = Surroundings.here() if around is None else around
    text = os.fsdecode(where)
    if not text or "\0" in text:
        raise UnsafeError(f"{text!r} is not a path")
    url = parse(text) if isinstance(where, str) else None
    if url is None:
        path = os.path.abspath(text)  # noqa: PTH100 - pathlib takes longer to import than all stores together
        return Understood(
            url=text, scheme="", kind=_local_kind(path), path=path, canonical=path, parameters={},
            notes=(Note("path", "not a URL, so it is a path; what lies there decides how it is opened"),),
        )  # fmt: skip
    modes = understand_modes(url)
    rc = read_rc(around)
    if url.scheme in ("", "file"):
        return _local(url, modes, _start(url, modes, rc, around))
    if is_s3(url, modes.storage) and modes.model not in ("dap2", "dap4"):
        return _in_store(url, modes, rc, around)
    if (place := cloud_place(url)) is not None:
        return _in_cloud(url, place, _start(url, modes, rc, around), around)
    return _on_server(url, modes, _start(url, modes, rc, around))


def _start(url: Url, modes: Modes, rc: Rc, around: Surroundings) -> Understood:
    """Return what can be said of every kind of place."""
    others: dict[str, str] = {}
    for pair in url.pairs:
        if not _is_mode(pair):
            others.setdefault(pair.key, shown_value(pair.key, pair.value or ""))
    entry = rc.find(SEPARATOR_KEY, url.host + (f":{url.port}" if url.port else ""), url.path)
    separator = entry.value if entry is not None and entry.value in (".", "/") else None
    notes = [*modes.notes]
    if entry is not None:
        heard = "" if separator else ", which is neither . nor /, and is ignored"
        notes.append(Note("separator", f"{SEPARATOR_KEY} in {entry.where} says {entry.value!r}{heard}"))
    twice = [key for key in others if sum(pair.key == key for pair in url.pairs) > 1]
    notes += [Note(key, "given more than once; the first counts") for key in twice]
    consolidated = modes.consolidated
    if not consolidated and modes.model in ("nczarr", "zarr") and _is_on(around.get(CONSOLIDATED)):
        consolidated = True
        notes.append(Note("consolidated", f"{CONSOLIDATED} is set"))
    if url.user:
        notes.append(Note("user", "the URL names a user; a password beside it is not shown"))
    return Understood(
        url=url.shown,
        scheme=url.scheme,
        kind="",
        path=None,
        modes=modes.given,
        inferred=modes.inferred,
        model=modes.model,
        pure=modes.model == "zarr",
        xarray=modes.xarray,
        consolidated=consolidated,
        bytes=modes.model == "bytes",
        separator=separator,
        parameters=others,
        notes=(*notes, *rc.notes),
    )


def _local(url: Url, modes: Modes, start: Understood) -> Understood:
    place = local_of(url)
    kind = modes.storage or _local_kind(place.path)
    notes = [*place.notes]
    if not modes.storage and modes.model in ("nczarr", "zarr"):
        said = "what lies there decides; something new is a folder, or an archive if its name ends in .zip"
        notes.append(Note("storage", f"none is named: {said}"))
    storage = kind if modes.model in ("nczarr", "zarr") else ""
    canonical = _canonical(path_to_uri(place.path), url, start, storage)
    return replace(start, kind=kind, path=place.path, canonical=canonical, notes=(*notes, *start.notes))


def _local_kind(path: str) -> str:
    is_zip = path.lower().endswith(".zip") and not os.path.isdir(path)  # noqa: PTH112 - as above
    return "zip" if is_zip else "file"


def _in_store(url: Url, modes: Modes, rc: Rc, around: Surroundings) -> Understood:
    start = _start(url, modes, rc, around)
    place, choice, endpoint, profiles = chosen(url, modes.storage, rc, around)
    address = "/".join(one for one in (endpoint, place.bucket, place.key) if one)
    return replace(
        start,
        kind=place.service,
        bucket=place.bucket,
        key=place.key,
        region=choice.region,
        endpoint=endpoint,
        profile=choice.profile,
        credentials=choice.credentials,
        style=place.style,
        canonical=_canonical(address, url, start, place.service),
        notes=(*start.notes, *place.notes, *choice.notes, *profiles.notes),
    )


def _in_cloud(url: Url, place: CloudPlace, start: Understood, around: Surroundings) -> Understood:
    account = place.account or around.get("AZURE_STORAGE_ACCOUNT_NAME") or around.get("AZURE_STORAGE_ACCOUNT")
    server = f"https://{account}.blob.core.windows.net" if account else ""
    endpoint = place.endpoint or ("https://storage.googleapis.com" if place.kind == "gcs" else server)
    address = "/".join(one for one in (endpoint or f"{url.scheme}:/", place.bucket, place.key) if one)
    credentials = "none"
    said: tuple[Note, ...] = ()
    try:
        credentials = settling.settle(url.shown, None, around).credentials
    except OmnizarrError as error:
        said = (Note("credentials", error.message),)
    return replace(
        start,
        kind=place.kind,
        credentials=credentials,
        bucket=place.bucket,
        key=place.key,
        endpoint=endpoint or None,
        account=account if place.kind == "azure" else None,
        canonical=_canonical(f"gs://{place.bucket}/{place.key}" if place.kind == "gcs" else address, url, start, ""),
        notes=(*start.notes, *place.notes, *said),
    )


def _on_server(url: Url, modes: Modes, start: Understood) -> Understood:
    if not url.host:
        raise UnsafeError(f"{url.shown!r} has no host", hint=f"Write {url.scheme}://host/path.")
    scheme = "http" if url.scheme in ("dods", "dap4") else url.scheme
    endpoint = f"{scheme}://{url.host}" + (f":{url.port}" if url.port else "")
    address = f"{endpoint}{url.path}" + (f"?{url.query}" if url.query else "")
    is_dap = modes.model in ("dap2", "dap4", "")
    notes = () if modes.model else (Note("model", "without a mode netcdf-c takes the URL for one of DAP2"),)
    return replace(
        start,
        kind="dap" if is_dap else "http",
        notes=(*notes, *start.notes),
        path=url.path,
        endpoint=endpoint,
        canonical=_canonical(address, url, start, ""),
    )


def _canonical(address: str, url: Url, found: Understood, storage: str) -> str:
    modes = dict.fromkeys(filter(None, (*found.modes, *found.inferred, storage)))
    pairs = [Pair("mode", ",".join(modes))] if modes else []
    return address + fragment((*pairs, *(pair for pair in url.pairs if not _is_mode(pair))))


def _is_on(text: str) -> bool:
    return text.lower() in ("true", "yes") or (text.isascii() and text.isdigit() and text.strip("0") != "")


def _is_mode(pair: Pair) -> bool:
    return pair.key == "mode" or (pair.key in SHORTHANDS and not pair.value)
