"""Google's storage as far as it differs from S3: generations in place of tags, and bearers in place of signatures."""

from __future__ import annotations

import json

from tests.cloud.servers.objects import Bucket
from tests.cloud.servers.s3 import S3
from tests.cloud.servers.sigv4 import RefusedError
from tests.cloud.servers.wire import Request, Response


class Google(S3):
    """The XML interface of Google Cloud Storage."""

    def __init__(self, bearer: str | None = None) -> None:
        super().__init__()
        self.bearer = bearer
        """What requests must show, if anything."""

    def name(self, request: Request) -> None:
        source = request.headers.get("x-goog-copy-source")
        if source is not None:
            request.headers["x-amz-copy-source"] = source
        super().name(request)

    def signed(self, request: Request, bucket: Bucket | None) -> bool:
        shown = request.headers.get("authorization", "").removeprefix("Bearer").strip()
        if self.bearer is not None and shown not in {"", self.bearer}:
            raise RefusedError(401, "AuthenticationRequired", "The bearer is not known.")
        return self.bearer is None or shown == self.bearer

    def conditions(self, request: Request, bucket: Bucket) -> None:
        said = request.headers.get("x-goog-if-generation-match")
        one = bucket.objects.get(request.key)
        if said is not None and int(said) != (one.generation if one else 0):
            raise RefusedError(412, "PreconditionFailed", "At least one of the pre-conditions did not hold.")

    def answer(self, request: Request) -> Response:
        response = super().answer(request)
        one = self.buckets.get(request.bucket, Bucket()).objects.get(request.key)
        if one is not None and response.status < 300:
            response.headers["x-goog-generation"] = str(one.generation)
            response.headers.setdefault("ETag", one.etag)
        return response


def account(url: str) -> str:
    """Give the document of a service account that leads to a server of ours, without keys."""
    known = {"gcs_base_url": url, "disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""}
    return json.dumps(known)
