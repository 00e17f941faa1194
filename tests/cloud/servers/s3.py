"""The requests of S3 on objects in memory, each answered at once: of two conditional writes, one is first."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import ClassVar
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from tests.cloud.servers.listing import document, error, list_objects, list_uploads
from tests.cloud.servers.objects import Bucket, Object
from tests.cloud.servers.sigv4 import Account, RefusedError, check
from tests.cloud.servers.wire import Request, Response

KEEP = ("content-type", "cache-control", "content-encoding")
HOST = re.compile(
    r"(?:(?P<bucket>(?!s3[.-]).+?)\.)?(?:s3(?:[.-](?P<region>[a-z0-9-]+))?\.)?(?:localhost|amazonaws\.com)"
)


class S3:
    """A service of its own, without a network."""

    def __init__(self) -> None:
        self.buckets: dict[str, Bucket] = {}
        self.accounts: dict[str, Account] = {}
        self.page = 1000
        """Most keys in one page of a listing."""
        self.region: str | None = None
        """The only region that signatures may name."""
        self.clock: Callable[[], datetime] = lambda: datetime.now(UTC)
        self.conditional = True
        """Whether conditions of PUT are understood; some services answer 501."""
        self.signed_by: str = ""

    def name(self, request: Request) -> None:
        """Find out the bucket, the key and the kind of a request."""
        path = request.path[1:]
        host = HOST.fullmatch(request.headers.get("host", "").partition(":")[0])
        if host and host["bucket"]:
            request.bucket, request.key = host["bucket"], path
        else:
            request.bucket, _, request.key = path.partition("/")
        request.kind = self._kind(request)

    @staticmethod
    def _kind(request: Request) -> str:
        method, query = request.method, request.query
        if method == "POST":
            return "bulk" if "delete" in query else "create" if "uploads" in query else "complete"
        if "uploadId" in query:
            return {"PUT": "part", "DELETE": "abort", "GET": "parts"}.get(method, method)
        if not request.key:
            known = {"GET": "uploads" if "uploads" in query else "list", "PUT": "make", "HEAD": "bucket"}
            return known.get(method, method)
        if method == "PUT" and "x-amz-copy-source" in request.headers:
            return "copy"
        return method.lower()

    def answer(self, request: Request) -> Response:
        """Do what a request asks for."""
        try:
            return self._do(request)
        except RefusedError as refused:
            return error(refused.status, refused.code, refused.message)

    def signed(self, request: Request, bucket: Bucket | None) -> bool:
        """Tell whether a request is signed, and refuse one that is so wrongly."""
        self.signed_by = check(request, self.accounts, region=self.region, now=self.clock())
        return bool(self.signed_by)

    def _do(self, request: Request) -> Response:
        bucket = self.buckets.get(request.bucket)
        if not self.signed(request, bucket) and not (bucket and bucket.public and request.method in {"GET", "HEAD"}):
            raise RefusedError(403, "AccessDenied", "Access Denied")
        if request.kind == "make":
            self.buckets.setdefault(request.bucket, Bucket())
            return Response(200)
        if bucket is None:
            raise RefusedError(404, "NoSuchBucket", "The specified bucket does not exist")
        act = self._ACTS.get(request.kind)
        if act is None:
            raise RefusedError(501, "NotImplemented", f"{request.kind} is not implemented")
        return act(self, request, bucket)

    # --- reading ------------------------------------------------------------------------------------------------------

    def _get(self, request: Request, bucket: Bucket) -> Response:
        one = bucket.objects.get(request.key)
        if one is None:
            raise RefusedError(404, "NoSuchKey", "The specified key does not exist.")
        said, wanted = one.said(), request.headers
        if not _fits(wanted.get("if-match", "*"), one.etag):
            raise RefusedError(
                412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold"
            )
        if "if-none-match" in wanted and _fits(wanted["if-none-match"], one.etag):
            return Response(304, b"", said)
        size = len(one.data)
        found = re.fullmatch(r"bytes=(\d*)-(\d*)", wanted.get("range", ""))
        if found is None or not request.ranged:
            return Response(200, one.data, said)
        first, last = _between(found[1], found[2], size)
        if first >= size:
            refusal = error(416, "InvalidRange", "The requested range is not satisfiable")
            refusal.headers["Content-Range"] = f"bytes */{size}"
            return refusal
        return Response(206, one.data[first : last + 1], {**said, "Content-Range": f"bytes {first}-{last}/{size}"})

    def _head(self, request: Request, bucket: Bucket) -> Response:
        response = self._get(request, bucket)
        return Response(response.status, b"", response.headers, len(response.body))

    def _list(self, request: Request, bucket: Bucket) -> Response:
        return list_objects(request, bucket, self.page)

    def _bucket(self, request: Request, bucket: Bucket) -> Response:
        return Response(200, b"", {"x-amz-bucket-region": self.region or "us-east-1"})

    # --- writing ------------------------------------------------------------------------------------------------------

    def conditions(self, request: Request, bucket: Bucket) -> None:
        match, none = request.headers.get("if-match"), request.headers.get("if-none-match")
        if match is None and none is None:
            return
        if not self.conditional:
            raise RefusedError(
                501, "NotImplemented", "A header you provided implies functionality that is not implemented"
            )
        one = bucket.objects.get(request.key)
        if match is not None and one is None:
            raise RefusedError(404, "NoSuchKey", "The specified key does not exist.")
        if (one is not None and none == "*") or (one is not None and not _fits(match or "*", one.etag)):
            raise RefusedError(
                412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold"
            )

    def _put(self, request: Request, bucket: Bucket) -> Response:
        self.conditions(request, bucket)
        one = Object(request.body, headers=_kept(request))
        bucket.put(request.key, one)
        return Response(200, b"", {"ETag": one.etag})

    def _copy(self, request: Request, bucket: Bucket) -> Response:
        self.conditions(request, bucket)
        name, _, key = unquote(request.headers["x-amz-copy-source"]).lstrip("/").partition("/")
        source = self.buckets.get(name, Bucket()).objects.get(key)
        if source is None:
            raise RefusedError(404, "NoSuchKey", "The specified key does not exist.")
        one = Object(source.data, source.etag, headers=dict(source.headers))
        bucket.put(request.key, one)
        when = one.modified.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        return document("CopyObjectResult", f"<ETag>{one.etag}</ETag><LastModified>{when}</LastModified>")

    def _delete(self, request: Request, bucket: Bucket) -> Response:
        bucket.delete(request.key)
        return Response(204)

    def _bulk(self, request: Request, bucket: Bucket) -> Response:
        keys = [node.text or "" for node in ET.fromstring(request.body).iter() if node.tag.endswith("Key")]
        if len(keys) > 1000:
            raise RefusedError(400, "MalformedXML", "The XML you provided was not well-formed")
        for key in keys:
            bucket.delete(key)
        return document("DeleteResult", "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys))

    # --- in parts -----------------------------------------------------------------------------------------------------

    def _create(self, request: Request, bucket: Bucket) -> Response:
        name = bucket.begin(request.key, _kept(request))
        inner = f"<Bucket>{request.bucket}</Bucket><Key>{request.key}</Key><UploadId>{name}</UploadId>"
        return document("InitiateMultipartUploadResult", inner)

    def _upload(self, request: Request, bucket: Bucket):
        found = bucket.uploads.get(request.query.get("uploadId", ""))
        if found is None:
            raise RefusedError(404, "NoSuchUpload", "The specified upload does not exist.")
        return found

    def _part(self, request: Request, bucket: Bucket) -> Response:
        part = Object(request.body)
        self._upload(request, bucket).parts[int(request.query["partNumber"])] = part
        return Response(200, b"", {"ETag": part.etag})

    def _complete(self, request: Request, bucket: Bucket) -> Response:
        upload = self._upload(request, bucket)
        self.conditions(request, bucket)
        numbers = [
            int(node.text or "") for node in ET.fromstring(request.body).iter() if node.tag.endswith("PartNumber")
        ]
        if not numbers or any(number not in upload.parts for number in numbers) or numbers != sorted(numbers):
            raise RefusedError(400, "InvalidPart", "One or more of the specified parts could not be found.")
        one = Object(b"".join(upload.parts[number].data for number in numbers), headers=upload.headers)
        one.etag = f'{one.etag[:-1]}-{len(numbers)}"'
        bucket.put(request.key, one)
        del bucket.uploads[request.query["uploadId"]]
        inner = f"<Bucket>{request.bucket}</Bucket><Key>{request.key}</Key><ETag>{one.etag}</ETag>"
        return document("CompleteMultipartUploadResult", inner)

    def _abort(self, request: Request, bucket: Bucket) -> Response:
        self._upload(request, bucket)
        del bucket.uploads[request.query["uploadId"]]
        return Response(204)

    def _parts(self, request: Request, bucket: Bucket) -> Response:
        inner = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{part.etag}</ETag><Size>{len(part.data)}</Size></Part>"
            for number, part in sorted(self._upload(request, bucket).parts.items())
        )
        return document("ListPartsResult", f"<IsTruncated>false</IsTruncated>{inner}")

    def _uploads(self, request: Request, bucket: Bucket) -> Response:
        return list_uploads(bucket)

    _ACTS: ClassVar[dict[str, Callable[[S3, Request, Bucket], Response]]] = {
        "get": _get,
        "head": _head,
        "list": _list,
        "bucket": _bucket,
        "put": _put,
        "copy": _copy,
        "delete": _delete,
        "bulk": _bulk,
        "create": _create,
        "part": _part,
        "complete": _complete,
        "abort": _abort,
        "parts": _parts,
        "uploads": _uploads,
    }


def _fits(wanted: str, tag: str) -> bool:
    """Compare tags, of which quotes are no part: some clients leave them out."""
    return wanted == "*" or wanted.strip('"') == tag.strip('"')


def _between(start: str, stop: str, size: int) -> tuple[int, int]:
    if start:
        return int(start), min(int(stop) if stop else size - 1, size - 1)
    wanted = int(stop)
    return (max(size - wanted, 0) if wanted else size), size - 1


def _kept(request: Request) -> dict[str, str]:
    kept = {name: value for name, value in request.headers.items() if name in KEEP or name.startswith("x-amz-meta-")}
    encoding = kept.pop("content-encoding", "").replace("aws-chunked", "").strip(", ")
    return {**kept, "content-encoding": encoding} if encoding else kept
