"""Where a URL of an object store leads: which service, bucket and key, by all the styles that hosts are written in."""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from urllib.parse import unquote

from omnizarr.errors import UnsafeError
from omnizarr.store.url.grammar import Url
from omnizarr.store.url.modes import Note

AWS_HOST: Final = ".amazonaws.com"
GOOGLE_HOST: Final = "storage.googleapis.com"

_REGION: Final = r"[a-z]{2}(-[a-z]+)+-\d+\Z"
_MOST_KEY: Final = 1024


class S3Place(NamedTuple):
    """A place in an object store, before region and profile are chosen."""

    service: str
    """s3 or gs3."""
    style: str
    """virtual (the bucket is in the host), path (it begins the path), s3 (it is the host) or other (not Amazon's)."""
    bucket: str
    key: str
    region: str
    """As the host says it; empty if it does not."""
    host: str
    """With the port, without bucket; empty where service and region decide it."""
    secure: bool
    notes: tuple[Note, ...]


def is_s3(url: Url, storage: str) -> bool:
    """Whether a URL is one of an object store: by scheme, by mode, or by host."""
    host = url.host.lower()
    return (
        url.scheme in ("s3", "gs3")
        or storage in ("s3", "gs3")
        or (url.scheme in ("http", "https") and (host.endswith(AWS_HOST) or host == GOOGLE_HOST))
    )


def s3_place(url: Url, storage: str) -> S3Place:
    """Find bucket and key.

    Raises:
        UnsafeError: If the URL has no host or no bucket, or a host of Amazon's that is not one of S3.

    >>> from omnizarr.store.url.grammar import parse
    >>> s3_place(parse("https://data.s3.eu-west-1.amazonaws.com/a/b"), "")[:5]
    ('s3', 'virtual', 'data', 'a/b', 'eu-west-1')
    """
    if not url.host:
        raise UnsafeError(f"{url.shown!r} has no host, so no bucket", hint="Write s3://bucket/key.")
    notes: list[Note] = []
    service, style, bucket, region, host = _from_host(url, storage, notes)
    path = url.path if url.scheme in ("s3", "gs3") else unquote(url.path, errors="surrogateescape")
    parts = [part for part in path.split("/") if part]
    if not bucket:
        if not parts:
            raise UnsafeError(f"{url.shown!r} names no bucket", hint=f"Write {url.scheme}://{url.host}/bucket/key.")
        bucket = parts.pop(0)
    key = "/".join(parts)
    if len(key.encode("utf-8", "surrogateescape")) > _MOST_KEY:
        notes.append(Note("key", f"longer than the {_MOST_KEY} bytes that S3 allows"))
    secure = url.scheme != "http"
    if not secure:
        notes.append(Note("endpoint", "http: as the URL says; netcdf-c would go to https:"))
    if url.query:
        notes.append(Note("query", "queries are not used"))
    return S3Place(service, style, bucket, key, region, host, secure, tuple(notes))


def _from_host(url: Url, storage: str, notes: list[Note]) -> tuple[str, str, str, str, str]:
    """Return service, style, bucket, region and host; the last three empty where the host does not tell."""
    host = url.host.lower()
    labels = host.split(".")
    if url.scheme in ("s3", "gs3") and len(labels) == 1 and not url.port:
        notes.append(Note("bucket", "the host is one name, so it is the bucket"))
        return url.scheme, "s3", url.host, "", ""
    if host.endswith(AWS_HOST):
        style, bucket, region = _amazon(url, labels[:-2])
        return "s3", style, bucket, region, ""
    if host == GOOGLE_HOST:
        return "gs3", "path", "", "", ""
    service = "gs3" if "gs3" in (url.scheme, storage) else "s3"
    port = f":{url.port}" if url.port else ""
    if url.scheme in ("s3", "gs3"):
        notes.append(
            Note("bucket", "the host has dots or a port, so it is a server, and the path begins with the bucket")
        )
    if len(labels) > 3 and labels[1] == "s3":
        return service, "virtual", url.host.partition(".")[0], labels[2], ".".join(labels[1:]) + port
    region = labels[1] if labels[0] == "s3" and (len(labels) > 3 or _is_region(labels[1:2])) else ""
    return service, "other", "", region, host + port


def _amazon(url: Url, labels: list[str]) -> tuple[str, str, str]:
    """Return style, bucket and region of a host of Amazon's, of which the last two labels are cut off.

    A bucket may have dots in its name, which netcdf-c does not allow.
    """
    region = ""
    if len(labels) > 1 and labels[-1] != "s3" and "s3" in labels[:-1]:
        region = labels.pop()
        if labels[-1] == "dualstack":
            labels.pop()
    elif labels[-1].startswith("s3-"):  # as some old hosts: s3-eu-west-1
        region, labels[-1] = labels[-1][3:], "s3"
    if labels[-1] != "s3":
        raise UnsafeError(
            f"{url.shown!r}: {url.host} is not a host of S3",
            hint=f"Write https://s3.REGION{AWS_HOST}/bucket/key or https://bucket.s3.REGION{AWS_HOST}/key.",
        )
    if len(labels) == 1:
        return "path", "", region
    # Letters of the bucket as they were written: names of hosts do not tell upper from lower case, buckets do.
    return "virtual", ".".join(url.host.split(".")[: len(labels) - 1]), region


def _is_region(labels: list[str]) -> bool:
    return any(re.match(_REGION, label) is not None for label in labels)
