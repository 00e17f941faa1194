"""One small request to a service that gives credentials: no redirection, no proxy to the machine's own addresses.

It imports the standard library's client, which takes long, so only those who need it import it.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any, Final
from urllib.parse import urlsplit

from omnizarr.errors import StoreError
from omnizarr.store.cloud.secret import without_secrets

_SECONDS: Final = 10.0
_TRIES: Final = 3
_MOST: Final = 1 << 20
_OWN: Final = ("localhost", "127.0.0.1", "::1", "169.254.169.254", "169.254.170.2", "169.254.170.23", "fd00:ec2::23")


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirection, which would carry a token elsewhere."""

    def redirect_request(self, *_args: object, **_options: object) -> None:
        """Refuse."""


def call(  # noqa: PLR0917 - a request has these parts
    url: str,
    headers: Mapping[str, str],
    data: bytes | None = None,
    method: str | None = None,
    seconds: float = _SECONDS,
    tries: int = _TRIES,
) -> bytes:
    """Return the answer of a service.

    Raises:
        StoreError: If there is none. The text of the answer is not in it, for it may hold secrets; `errno` is None,
            and `status` the number that the service answered with, or 0.
    """
    request = urllib.request.Request(url, data, dict(headers), method=method)  # noqa: S310 - the callers check it
    handlers: list[Any] = [_Stay()]
    if urlsplit(url).hostname in _OWN:
        handlers.append(urllib.request.ProxyHandler({}))
    opener = urllib.request.build_opener(*handlers)
    left = tries
    while True:
        left -= 1
        try:
            with opener.open(request, timeout=seconds) as answer:
                return bytes(answer.read(_MOST))
        except urllib.error.HTTPError as error:
            status = error.code
            error.close()
            if left and (status >= 500 or status == 429):
                time.sleep(0.2)
                continue
            raise RefusedError(f"{without_secrets(url)} answers with {status}", status) from None
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            if not left:
                raise RefusedError(f"{without_secrets(url)} cannot be reached: {reason}", 0) from None
            time.sleep(0.2)


class RefusedError(StoreError):
    """A service gave no credentials; `status` is what it answered, 0 for nothing."""

    def __init__(self, message: str, status: int = 0, **where: str | None) -> None:
        super().__init__(message, **where)
        self.status = status


def document(text: bytes, whose: str) -> dict[str, Any]:
    """Return the object that an answer is in JSON.

    Raises:
        StoreError: If it is none.
    """
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise StoreError(f"the answer of {whose} is no JSON object")
    return value
