"""Answers of S3 in XML: listings, errors, uploads."""

from __future__ import annotations

import base64
from urllib.parse import quote
from xml.sax.saxutils import escape

from tests.cloud.servers.objects import Bucket
from tests.cloud.servers.wire import Request, Response

NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
_NOTHING = ("1994-11-06T08:49:37.000Z", '"d41d8cd98f00b204e9800998ecf8427e"', 0)


def document(root: str, inner: str, status: int = 200) -> Response:
    """Give a document of S3's."""
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="{NAMESPACE}">{inner}</{root}>'
    return Response(status, text.encode(), {"Content-Type": "application/xml"})


def error(status: int, code: str, message: str = "", headers: dict[str, str] | None = None) -> Response:
    """Give an error as S3 words it."""
    text = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code>'
        f"<Message>{escape(message or code)}</Message><RequestId>0A49CE4060975EAC</RequestId></Error>"
    )
    return Response(status, text.encode(), {"Content-Type": "application/xml", **(headers or {})})


def list_objects(request: Request, bucket: Bucket, page: int) -> Response:
    """Answer ListObjectsV2, and the first version as far as it is the same."""
    query = request.query
    prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
    most = min(int(query.get("max-keys", page)), page)
    token = query.get("continuation-token", "")
    after = base64.urlsafe_b64decode(token).decode() if token else query.get("start-after", query.get("marker", ""))
    show = quote if query.get("encoding-type") == "url" else escape
    contents: list[str] = []
    common: list[str] = []
    last, more = "", False
    for name, is_prefix in bucket.walk(prefix, delimiter, after):
        if len(contents) + len(common) == most:
            more = True
            break
        last = name
        if is_prefix:
            common.append(f"<CommonPrefixes><Prefix>{show(name)}</Prefix></CommonPrefixes>")
        else:
            contents.append(_entry(bucket, name, show(name)))
    inner = [
        f"<Name>{escape(request.bucket)}</Name><Prefix>{show(prefix)}</Prefix><MaxKeys>{most}</MaxKeys>",
        f"<KeyCount>{len(contents) + len(common)}</KeyCount><IsTruncated>{str(more).lower()}</IsTruncated>",
        f"<Delimiter>{show(delimiter)}</Delimiter>" if delimiter else "",
        "<EncodingType>url</EncodingType>" if show is quote else "",
        f"<NextContinuationToken>{base64.urlsafe_b64encode(last.encode()).decode()}</NextContinuationToken>" * more,
        *contents,
        *common,
    ]
    return document("ListBucketResult", "".join(inner))


def _entry(bucket: Bucket, key: str, shown: str) -> str:
    one = bucket.objects.get(key)
    when, tag, size = (one.modified.strftime("%Y-%m-%dT%H:%M:%S.000Z"), one.etag, len(one.data)) if one else _NOTHING
    return (
        f"<Contents><Key>{shown}</Key><LastModified>{when}</LastModified><ETag>{escape(tag)}</ETag>"
        f"<Size>{size}</Size><StorageClass>STANDARD</StorageClass></Contents>"
    )


def list_uploads(bucket: Bucket) -> Response:
    """Tell of uploads that were begun and not ended."""
    inner = "".join(
        f"<Upload><Key>{escape(one.key)}</Key><UploadId>{name}</UploadId></Upload>"
        for name, one in bucket.uploads.items()
    )
    return document("ListMultipartUploadsResult", f"<IsTruncated>false</IsTruncated>{inner}")
