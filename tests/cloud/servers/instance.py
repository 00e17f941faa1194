"""The metadata service of a machine in the cloud, which hands out keys that expire."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.cloud.servers.sigv4 import Account
from tests.cloud.servers.wire import Request, Response

ROLES = "/latest/meta-data/iam/security-credentials/"


def instance_answer(server: Any, request: Request) -> Response | None:
    """Answer for the metadata service: of instances under /latest/, of containers at /credentials."""
    if request.path == "/latest/api/token":
        return Response(200, b"session")
    if request.path == ROLES:
        return Response(200, b"role")
    if request.path in {ROLES + "role", "/credentials"}:
        return Response(200, json.dumps(new_keys(server)).encode(), {"Content-Type": "application/json"})
    return None


def new_keys(server: Any, *, lasting: float = 3600.0) -> dict[str, str]:
    """Make temporary keys that the server accepts, as the metadata service words them."""
    server.sent_off += 1
    who, token = f"temporary-{server.sent_off}", f"token-{server.sent_off}"
    expires = datetime.now(UTC) + timedelta(seconds=lasting)
    server.s3.accounts[who] = Account("of-an-hour", token, expires)
    return {
        "Code": "Success",
        "Type": "AWS-HMAC",
        "LastUpdated": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "AccessKeyId": who,
        "SecretAccessKey": "of-an-hour",
        "Token": token,
        "Expiration": expires.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
