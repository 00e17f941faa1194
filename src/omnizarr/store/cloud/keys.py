"""Access keys that may expire, and where they come from.

Every source is a value that can be pickled, so that a store can renew its keys wherever it is; none shows secrets.
"""

from __future__ import annotations

import time
from _thread import allocate_lock
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Protocol

from omnizarr.errors import StoreError
from omnizarr.store.cloud.secret import Config

_MARGIN: Final = 300.0
"""Seconds before they expire from which on keys are not handed out any more."""


@dataclass(frozen=True, slots=True)
class Keys:
    """An access key; the token is empty where there is none."""

    key_id: str = field(repr=False)
    secret: str = field(repr=False)
    token: str = field(default="", repr=False)
    expires: float | None = None
    """Unix time; None for never."""

    def config(self) -> Config:
        """Return it as settings of a store."""
        names = {"aws_access_key_id": self.key_id, "aws_secret_access_key": self.secret}
        return Config(names | ({"aws_session_token": self.token} if self.token else {}))


class Source(Protocol):
    """Where keys come from."""

    def keys(self) -> Keys:
        """Get them.

        Raises:
            StoreError: If there are none to be had.
        """
        ...


@dataclass(frozen=True, slots=True)
class Static:
    """Keys that are known."""

    known: Keys

    def keys(self) -> Keys:
        """Return them."""
        return self.known


@dataclass(frozen=True, slots=True)
class Renewal:
    """Gets keys anew: the settings that change, and when they expire."""

    source: Source

    def __call__(self) -> tuple[dict[str, str], float | None]:
        """Ask the source, unless keys that it gave before are good for some minutes."""
        found = keys_of(self.source)
        return found.config(), found.expires


_kept: dict[Source, Keys] = {}
_lock = allocate_lock()


def keys_of(source: Source) -> Keys:
    """Return keys of a source that are good for some minutes, which may be those that it gave before.

    Raises:
        StoreError: If there are none to be had.
    """
    if isinstance(source, Static):
        return source.known
    with _lock:
        found = _kept.get(source)
    if found is None or (found.expires is not None and found.expires < time.time() + _MARGIN):
        found = source.keys()
        with _lock:
            _kept[source] = found
    return found


def forget() -> None:
    """Forget all keys that were had."""
    with _lock:
        _kept.clear()


def unix_time(text: object, whose: str) -> float | None:
    """Return a time as services write it; None if there is none.

    Raises:
        StoreError: If it is something else.

    >>> unix_time("1970-01-02T00:00:00Z", "me"), unix_time(None, "me")
    (86400.0, None)
    """
    if text is None or text == "":
        return None
    try:
        moment = datetime.fromisoformat(str(text).replace("UTC", "+00:00"))
    except ValueError:
        raise StoreError(f"{whose} gives keys until {text!r}, which is no time") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
