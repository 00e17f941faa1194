"""Keys from single sign-on: the token that `aws sso login` has left is exchanged for those of a role.

https://docs.aws.amazon.com/singlesignon/latest/PortalAPIReference/API_GetRoleCredentials.html
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from omnizarr.errors import StoreError
from omnizarr.store.cloud import web
from omnizarr.store.cloud.keys import Keys, unix_time
from omnizarr.store.cloud.sources import keys_in
from omnizarr.store.url.settings import read_text

_NAMES: Final = ("accessKeyId", "secretAccessKey", "sessionToken", "")
_FOR_ANOTHER: Final = ("refreshToken", "clientId", "clientSecret", "registrationExpiresAt")
_MARGIN: Final = 60.0


@dataclass(frozen=True, slots=True)
class Sso:
    """Keys of a role that single sign-on gives."""

    profile: str
    token_file: str
    portal: str
    """Where roles are given; empty for the region's own."""
    region: str
    account: str
    role: str
    issuer: str = ""
    """Where tokens are given; empty for the region's own."""

    def keys(self) -> Keys:
        """Ask the portal."""
        token = self._token()
        server = self.portal or f"https://portal.sso.{self.region}.amazonaws.com"
        query = f"role_name={quote(self.role, safe='')}&account_id={quote(self.account, safe='')}"
        try:
            url = f"{server.rstrip('/')}/federation/credentials?{query}"
            answer = web.call(url, {"x-amz-sso_bearer_token": token})
        except web.RefusedError as error:
            if error.status in (401, 403):
                raise self._failed(
                    "the token is not taken" if error.status == 401 else f"the role {self.role} is not allowed"
                ) from None
            raise
        found = web.document(answer, self._whose()).get("roleCredentials")
        if not isinstance(found, dict):
            raise StoreError(f"the answer of {self._whose()} has no keys")
        milliseconds = found.get("expiration")
        keys = keys_in(found, _NAMES, self._whose())
        expires = milliseconds / 1000 if isinstance(milliseconds, (int, float)) else None
        return Keys(keys.key_id, keys.secret, keys.token, expires)

    def _whose(self) -> str:
        return f"single sign-on of the profile {self.profile}"

    def _failed(self, what: str) -> StoreError:
        return StoreError(f"{self._whose()}: {what}", hint=f"Run: aws sso login --profile {self.profile}")

    def _token(self) -> str:
        try:
            text = read_text(self.token_file)
        except OSError as error:
            raise self._failed(f"its token cannot be read: {error.strerror}") from None
        if text is None:
            raise self._failed("there is no token")
        whose = f"the token of {self._whose()}"
        known = web.document(text.encode("utf-8", "surrogateescape"), whose)
        until = unix_time(known.get("expiresAt"), whose)
        if known.get("accessToken") and until is not None and until > time.time() + _MARGIN:
            return str(known["accessToken"])
        return self._another(known)

    def _another(self, known: dict[str, Any]) -> str:
        """Get another token for one that has expired, and leave it to Amazon's tools, as they do."""
        registered = unix_time(known.get("registrationExpiresAt"), f"the token of {self._whose()}")
        if not all(known.get(name) for name in _FOR_ANOTHER) or registered is None or registered < time.time():
            raise self._failed("its token has expired")
        asked = {name: known[name] for name in _FOR_ANOTHER[:3]} | {"grantType": "refresh_token"}
        server = self.issuer or f"https://oidc.{self.region}.amazonaws.com"
        headers = {"Content-Type": "application/json"}
        try:
            answer = web.call(f"{server.rstrip('/')}/token", headers, json.dumps(asked).encode(), tries=1)
        except web.RefusedError as error:
            raise self._failed(f"its token has expired, and another is not given ({error.status})") from None
        found = web.document(answer, self._whose())
        if not isinstance(found.get("accessToken"), str) or not isinstance(found.get("expiresIn"), (int, float)):
            raise self._failed("its token has expired, and another did not come")
        moment = time.gmtime(time.time() + found["expiresIn"])
        changed = {"accessToken": found["accessToken"], "expiresAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", moment)}
        changed |= {"refreshToken": found["refreshToken"]} if found.get("refreshToken") else {}
        _leave(self.token_file, json.dumps({**known, **changed}))
        return str(found["accessToken"])


def _leave(path: str, text: str) -> None:
    """Replace a file that only its owner may read; where that fails, the token is not kept."""
    partial = f"{path}.{os.getpid()}.partial"
    try:
        number = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(partial, path)  # noqa: PTH105 - a path is a text here
    except OSError:
        return


def token_file(folder: str, name: str) -> str:
    """Return where Amazon's tools keep the token of a session, or of a start URL."""
    return f"{folder}/sso/cache/{hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()}.json"
