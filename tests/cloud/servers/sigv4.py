"""Signatures of requests to S3, version 4, as a server checks them.

https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, quote

from tests.cloud.servers.wire import Request

SCOPE = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request,"
    r"\s*SignedHeaders=([^,]+),\s*Signature=(\w{64})"
)
SKEW = timedelta(minutes=15)


@dataclass
class Account:
    """Keys that the server knows."""

    secret: str
    token: str | None = None
    expires: datetime | None = None


class RefusedError(Exception):
    """The request is not to be answered: a status and a code of S3."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(code)
        self.status, self.code, self.message = status, code, message


def check(request: Request, accounts: dict[str, Account], *, region: str | None, now: datetime | None = None) -> str:
    """Refuse what is not signed rightly; give the id of the key that signed it, empty for anonymous requests."""
    said = request.headers.get("authorization")
    if said is None:
        return ""
    found = SCOPE.fullmatch(said)
    if found is None:
        raise RefusedError(400, "AuthorizationHeaderMalformed", "The authorization header is malformed.")
    who, day, where, signed, signature = found.groups()
    account = accounts.get(who)
    if account is None:
        raise RefusedError(
            403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records."
        )
    now = now or datetime.now(UTC)
    stamp = request.headers.get("x-amz-date", "")
    if abs(_moment(stamp) - now) > SKEW or stamp[:8] != day:
        raise RefusedError(
            403, "RequestTimeTooSkewed", "The difference between the request time and ours is too large."
        )
    if region is not None and where != region:
        raise RefusedError(400, "AuthorizationHeaderMalformed", f"The region {where!r} is wrong; expecting {region!r}")
    names = signed.split(";")
    _check_payload(request)
    text = canonical(request, names)
    scope = f"{day}/{where}/s3/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(text.encode()).hexdigest()}"
    right = hmac.new(signing_key(account.secret, day, where), to_sign.encode(), "sha256").hexdigest()
    if not hmac.compare_digest(right, signature) or "host" not in names or "x-amz-date" not in names:
        raise RefusedError(403, "SignatureDoesNotMatch", "The request signature we calculated does not match yours.")
    _check_token(request, account, now)
    return who


def _check_payload(request: Request) -> None:
    said = request.headers.get("x-amz-content-sha256", "")
    if re.fullmatch(r"[0-9a-f]{64}", said) and said != hashlib.sha256(request.body).hexdigest():
        raise RefusedError(400, "XAmzContentSHA256Mismatch", "The provided header does not match what was computed.")


def _check_token(request: Request, account: Account, now: datetime) -> None:
    if account.token is None:
        return
    if request.headers.get("x-amz-security-token") != account.token:
        raise RefusedError(400, "InvalidToken", "The provided token is malformed or otherwise invalid.")
    if account.expires is not None and now >= account.expires:
        raise RefusedError(400, "ExpiredToken", "The provided token has expired.")


def canonical(request: Request, names: list[str]) -> str:
    """Give the text of a request that is signed."""
    pairs = sorted(
        (quote(name, safe="-_.~"), quote(value, safe="-_.~"))
        for name, value in parse_qsl(request.raw_query, keep_blank_values=True)
    )
    headers = "".join(f"{name}:{' '.join(request.headers.get(name, '').split())}\n" for name in names)
    payload = request.headers.get("x-amz-content-sha256") or hashlib.sha256(request.body).hexdigest()
    query = "&".join(f"{name}={value}" for name, value in pairs)
    path = quote(request.path, safe="/-_.~")
    return "\n".join([request.method, path, query, headers, ";".join(names), payload])


@functools.lru_cache(maxsize=16)
def _moment(stamp: str) -> datetime:
    return datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)


@functools.lru_cache(maxsize=64)
def signing_key(secret: str, day: str, region: str) -> bytes:
    """Derive the key of a day."""
    key = f"AWS4{secret}".encode()
    for part in (day, region, "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), "sha256").digest()
    return key
