"""HTTP/1.1 on a stream of asyncio, close enough to the bytes that an answer can be spoiled anywhere."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote

REASONS = {
    100: "Continue",
    200: "OK",
    204: "No Content",
    206: "Partial Content",
    304: "Not Modified",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    409: "Conflict",
    412: "Precondition Failed",
    416: "Range Not Satisfiable",
    429: "Too Many Requests",
    500: "Internal Server Error",
    501: "Not Implemented",
    503: "Service Unavailable",
}


@dataclass
class Request:
    """What a client asked for."""

    method: str
    target: str
    headers: dict[str, str]
    """By name in lower case."""
    body: bytes = b""
    kind: str = ""
    """What is asked for in terms of S3: get, put, list, part …"""
    bucket: str = ""
    key: str = ""
    ranged: bool = True
    """Whether a range that is asked for is looked at."""
    raw_path: str = field(init=False)
    path: str = field(init=False)
    raw_query: str = field(init=False)
    query: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.raw_path, _, self.raw_query = self.target.partition("?")
        self.path = unquote(self.raw_path)
        self.query = dict(parse_qsl(self.raw_query, keep_blank_values=True)) if self.raw_query else {}


@dataclass
class Response:
    """What is to be answered."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None
    """Of the body as it is said; for HEAD, where no body is sent."""

    def head(self, **more: str) -> bytes:
        """Give the bytes before the body; `more` replaces headers, with "_" for "-"."""
        length = len(self.body) if self.length is None else self.length
        headers = {**self.headers, "Content-Length": str(length)}
        for name, value in more.items():
            headers[name.replace("_", "-")] = value
        lines = [f"HTTP/1.1 {self.status} {REASONS.get(self.status, 'Odd')}"]
        lines += [f"{name}: {value}" for name, value in headers.items() if value]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


class Exchange:
    """One request and its answer, as a fault sees it."""

    def __init__(
        self,
        request: Request,
        handle: Callable[[Request], Response],
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        self.request = request
        self.reader, self.writer = streams
        self._handle = handle
        self.keep = True
        self.status = 0

    def answer(self) -> Response:
        """Do what is asked for, and give the right answer."""
        response = self._handle(self.request)
        self.status = response.status
        return response

    async def send(self, response: Response) -> None:
        """Send an answer as it is."""
        self.status = response.status
        await self.write(response.head() + (b"" if self.request.method == "HEAD" else response.body))

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def close(self) -> None:
        """Say nothing more on this connection."""
        self.keep = False

    def reset(self) -> None:
        """Break the connection off, so that the client gets an error and not an end."""
        self.keep = False
        raw = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def idle(self, seconds: float) -> bool:
        """Wait; give whether the client is still there."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self.reader.read(1), seconds)
            return False
        return True


async def read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request | None:
    """Read one request; None at the end of the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, target, _ = first.split(" ", 2)
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = await _read_chunks(reader)
    else:
        size = int(headers.get("content-length") or 0)
        body = await reader.readexactly(size) if size else b""
    if (
        "aws-chunked" in headers.get("content-encoding", "")
        or headers.get("x-amz-content-sha256", "")[:9] == "STREAMING"
    ):
        body = _signed_chunks(body)
    return Request(method, target, headers, body)


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    parts = []
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass
    return b"".join(parts)


def _signed_chunks(body: bytes) -> bytes:
    """Take the frames of `aws-chunked` away; their signatures are not looked at."""
    parts, at = [], 0
    while True:
        end = body.index(b"\r\n", at)
        size = int(body[at:end].split(b";")[0], 16)
        if not size:
            return b"".join(parts)
        parts.append(body[end + 2 : end + 2 + size])
        at = end + 4 + size
