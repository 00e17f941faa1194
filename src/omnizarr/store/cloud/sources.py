"""Keys from a command, from a container and from the machine."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, urlsplit

from omnizarr.errors import StoreError, UnsafeError
from omnizarr.store.cloud import web
from omnizarr.store.cloud.keys import Keys, unix_time
from omnizarr.store.url.settings import read_text

METADATA: Final = "http://169.254.169.254"
_CONTAINERS: Final = ("169.254.170.2", "169.254.170.23", "fd00:ec2::23", "localhost", "127.0.0.1", "::1")
_SECONDS: Final = 60.0
_QUICK: Final = 1.0


@dataclass(frozen=True, slots=True)
class Process:
    """Keys that a command prints, `credential_process` of a profile. It runs without a shell."""

    command: str = field(repr=False)
    profile: str

    def keys(self) -> Keys:
        """Run the command."""
        whose = f"credential_process of the profile {self.profile}"
        cure = "Run the command by hand to see what it says."
        try:
            words = shlex.split(self.command, posix=os.name != "nt")
            done = subprocess.run(words, capture_output=True, check=False, timeout=_SECONDS, stdin=subprocess.DEVNULL)  # noqa: S603 - the user's own settings name it
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "its quotes do not match"
            raise StoreError(f"{whose} cannot be run: {reason}", hint=cure) from None
        except subprocess.TimeoutExpired:
            raise StoreError(f"{whose} has not ended after {_SECONDS:.0f} seconds", hint=cure) from None
        if done.returncode:
            raise StoreError(f"{whose} ended with {done.returncode}", hint=cure)
        found = web.document(done.stdout, whose)
        if found.get("Version") != 1:
            raise StoreError(f"{whose} prints no keys of version 1", hint=cure)
        return keys_in(found, ("AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"), whose)


@dataclass(frozen=True, slots=True)
class Container:
    """Keys of the role of a container, from a service that is on the same machine, or reached by https."""

    url: str
    token: str = field(default="", repr=False)
    token_file: str = ""

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme != "https" and (parts.scheme != "http" or parts.hostname not in _CONTAINERS):
            raise UnsafeError(
                f"AWS_CONTAINER_CREDENTIALS_FULL_URI names the host {parts.hostname!r}",
                hint="It must be one of this machine, or begin with https:.",
            )

    def keys(self) -> Keys:
        """Ask the service."""
        token = self.token
        if self.token_file:
            try:
                token = (read_text(self.token_file) or "").strip()
            except OSError as error:
                raise StoreError(f"{self.token_file} cannot be read: {error.strerror}") from None
        answer = web.call(self.url, {"Authorization": token} if token else {})
        whose = "the container's service"
        return keys_in(web.document(answer, whose), _OF_SERVICES, whose)


@dataclass(frozen=True, slots=True)
class Machine:
    """Keys of the role of a machine of Amazon's."""

    endpoint: str = METADATA

    def role(self) -> str:
        """Return the name of the role; empty if the machine has none, or does not answer at once."""
        try:
            text = web.call(self._url(), self._headers(), seconds=_QUICK, tries=1)
        except web.RefusedError:
            return ""
        return text.decode("utf-8", "replace").strip().partition("\n")[0]

    def keys(self) -> Keys:
        """Ask the metadata service."""
        whose = "the machine's metadata service"
        if not (role := self.role()):
            raise StoreError(f"{whose} names no role", hint="Attach a role to the machine, or name another source.")
        found = web.document(web.call(f"{self._url()}{quote(role)}", self._headers()), whose)
        return keys_in(found, _OF_SERVICES, whose)

    def _url(self) -> str:
        return f"{self.endpoint.rstrip('/')}/latest/meta-data/iam/security-credentials/"

    def _headers(self) -> dict[str, str]:
        url = f"{self.endpoint.rstrip('/')}/latest/api/token"
        seconds = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}
        token = web.call(url, seconds, b"", "PUT", _QUICK, 1)
        return {"X-aws-ec2-metadata-token": token.decode("latin-1")}


_OF_SERVICES: Final = ("AccessKeyId", "SecretAccessKey", "Token", "Expiration")


def keys_in(found: dict[str, Any], names: tuple[str, str, str, str], whose: str) -> Keys:
    """Return the keys that an answer holds under the names of id, secret, token and end.

    Raises:
        StoreError: If it holds none.
    """
    key_id, secret, token, expires = (found.get(name) for name in names)
    if not isinstance(key_id, str) or not isinstance(secret, str) or not key_id or not secret:
        raise StoreError(f"the answer of {whose} has no keys")
    return Keys(key_id, secret, token if isinstance(token, str) else "", unix_time(expires, whose))


def read_json(path: str, whose: str) -> dict[str, Any]:
    """Return the object that a file of settings holds.

    Raises:
        StoreError: If there is no such file, or it holds something else.
    """
    try:
        text = read_text(path)
    except OSError as error:
        raise StoreError(f"{whose}, {path}, cannot be read: {error.strerror}") from None
    if text is None:
        raise StoreError(f"{whose}, {path}, is not there")
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise StoreError(f"{whose}, {path}, is no JSON object")
    return value
