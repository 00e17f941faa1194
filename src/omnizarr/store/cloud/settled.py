"""What has been decided about a place in an object store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from omnizarr.errors import UnsafeError
from omnizarr.store.cloud.secret import Config, without_secrets
from omnizarr.store.url.modes import Note


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A place in an object store, with all that is needed to open it. Secrets do not show.

    Attributes:
        kind: s3, gcs, azure or http.
        config: Settings by the names of the crate `object_store`; for http its `url`, and `headers` in JSON.
        prefix: The key of the root within the bucket, without slashes at its ends.
        uri: The place, equal for equal places, however they were written; without secrets.
        settings: How requests are made: attempts, pause, stall, patience, requests, forbidden_is_missing,
            cache, cache_bytes.
        credentials: Where the credentials come from, in words.
        expires: When they do, in Unix time; None for never, or where the kernel sees to it.
        renew: Gets new ones: the settings that change, and when those expire. None where nothing expires.
        notes: What was decided, with reasons.
    """

    kind: str
    config: Config
    prefix: str
    uri: str
    settings: dict[str, float | int | str] = field(default_factory=dict)
    credentials: str = ""
    expires: float | None = None
    renew: Callable[[], tuple[dict[str, str], float | None]] | None = None
    notes: tuple[Note, ...] = ()


def checked_endpoint(text: str) -> str:
    """Return the URL of a server in one form: host in lower case, no port that is usual, no slash at its end.

    Raises:
        UnsafeError: If it is none.

    >>> checked_endpoint("HTTP://Here:80/"), checked_endpoint("https://here:9000/x/")
    ('http://here', 'https://here:9000/x')
    """
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not host or parts.username is not None or parts.query or parts.fragment:
        raise UnsafeError(
            f"the endpoint {without_secrets(text)!r} is not the URL of a server",
            hint="An endpoint looks like https://host or http://host:port.",
        )
    usual = {"http": 80, "https": 443}[parts.scheme]
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + (f":{port}" if port not in (None, usual) else "") + parts.path.rstrip("/")
