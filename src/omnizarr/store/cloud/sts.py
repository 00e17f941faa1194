"""Keys of a role, which Amazon's token service gives for others: AssumeRole, signed by version 4.

https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
"""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from dataclasses import dataclass, field
from html import unescape
from typing import Final
from urllib.parse import urlencode, urlsplit

from omnizarr.errors import StoreError
from omnizarr.store.cloud import web
from omnizarr.store.cloud.keys import Keys, Source, keys_of, unix_time

_FORM: Final = "application/x-www-form-urlencoded; charset=utf-8"
_PARTS: Final = ("AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration")


@dataclass(frozen=True, slots=True)
class Role:
    """The keys of a role, had for the keys of another source."""

    arn: str
    source: Source
    region: str
    endpoint: str = ""
    """That of the token service; empty for the region's own."""
    session: str = "omnizarr"
    external_id: str = field(default="", repr=False)
    seconds: int = 0
    """How long they shall be good; 0 for as long as the role says."""

    def keys(self) -> Keys:
        """Ask the token service."""
        china = ".cn" if self.region.startswith("cn-") else ""
        url = self.endpoint or f"https://sts.{self.region}.amazonaws.com{china}"
        asked = {"Action": "AssumeRole", "Version": "2011-06-15", "RoleArn": self.arn, "RoleSessionName": self.session}
        asked |= {"ExternalId": self.external_id} if self.external_id else {}
        asked |= {"DurationSeconds": str(self.seconds)} if self.seconds else {}
        body = urlencode(asked).encode()
        headers = signed(url, body, self.region, keys_of(self.source), time.gmtime())
        try:
            answer = web.call(url, headers, body)
        except web.RefusedError as error:
            cure = "Look whether the role trusts those keys." if error.status in (400, 403) else None
            raise StoreError(f"the role {self.arn} is not to be had: {error.message}", hint=cure) from None
        text = answer.decode("utf-8", "replace")
        found = {name: re.search(f"<{name}>([^<]*)</{name}>", text) for name in _PARTS}
        key_id, secret, token, expires = (unescape(one[1]).strip() if one else "" for one in found.values())
        if not key_id or not secret:
            raise StoreError(f"the answer to asking for the role {self.arn} has no keys")
        return Keys(key_id, secret, token, unix_time(expires, "the token service"))


def signed(url: str, body: bytes, region: str, keys: Keys, moment: time.struct_time) -> dict[str, str]:
    """Return the headers of a signed POST to the token service.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
    """
    parts = urlsplit(url)
    date, day = time.strftime("%Y%m%dT%H%M%SZ", moment), time.strftime("%Y%m%d", moment)
    headers = {"content-type": _FORM, "host": parts.netloc, "x-amz-date": date}
    headers |= {"x-amz-security-token": keys.token} if keys.token else {}
    names = ";".join(headers)
    lines = "".join(f"{name}:{value}\n" for name, value in headers.items())
    request = f"POST\n{parts.path or '/'}\n\n{lines}\n{names}\n{hashlib.sha256(body).hexdigest()}"
    scope = f"{day}/{region}/sts/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{date}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
    key = f"AWS4{keys.secret}".encode()
    for word in (day, region, "sts", "aws4_request"):
        key = hmac.digest(key, word.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    said = f"AWS4-HMAC-SHA256 Credential={keys.key_id}/{scope}, SignedHeaders={names}, Signature={signature}"
    return {**headers, "Authorization": said}
