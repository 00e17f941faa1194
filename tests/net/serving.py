"""A server of files for tests, which can be told to misbehave, and counts what it is asked for."""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[["Handler", bytes, "tuple[int, int] | None"], None]


@dataclass
class Served:
    """What a server holds, and what it was asked for."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    odd: dict[str, Answer] = field(default_factory=dict)
    """Paths that are answered in a way of their own."""
    latency: float = 0.0
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    sent: int = 0

    @property
    def requests(self) -> int:
        return len(self.asked)

    def forget(self) -> None:
        self.asked.clear()
        self.sent = 0


@functools.lru_cache(maxsize=8)
def etag(data: bytes) -> str:
    return f'"{hashlib.sha1(data).hexdigest()[:12]}"'


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    served: Served

    def log_message(self, *args: object) -> None:
        del args

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.served.asked.append((path, self.headers.get("Range")))
        if self.served.latency:
            time.sleep(self.served.latency)
        data = self.served.files.get(path)
        odd = self.served.odd.get(path)
        if data is None and odd is None:
            self.reply(404, b"no such file")
        else:
            (odd or usual)(self, data or b"", self.asked_range())

    def asked_range(self) -> tuple[int, int] | None:
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        return (int(found[1]), int(found[2])) if found else None

    def reply(
        self, status: int, body: bytes, headers: dict[str, Any] | None = None, *, length: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, str(value))
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.served.sent += len(body)  # before whoever waits for it goes on
        self.wfile.write(body)


def usual(handler: Handler, data: bytes, asked: tuple[int, int] | None) -> None:
    """Answer as the standard says."""
    tag = etag(data)
    headers = {"ETag": tag, "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Accept-Ranges": "bytes"}
    wanted = handler.headers.get("If-Match")
    if wanted not in (None, "*", tag):
        handler.reply(412, b"", headers)
    elif asked is None:
        handler.reply(200, data, headers)
    elif asked[0] >= len(data):
        handler.reply(416, b"", headers | {"Content-Range": f"bytes */{len(data)}"})
    else:
        last = min(asked[1], len(data) - 1)
        said = {"Content-Range": f"bytes {asked[0]}-{last}/{len(data)}"}
        handler.reply(206, data[asked[0] : last + 1], headers | said)


class Server(ThreadingHTTPServer):
    """A server that says nothing about clients that went away."""

    daemon_threads = True

    def handle_error(self, *args: object) -> None:
        del args


@contextlib.contextmanager
def serving() -> Iterator[Served]:
    """Serve files on a port of this machine."""
    # h5py holds its lock while it reads from here: a collector on the server's thread that found an old file of
    # another test would wait for that lock, and h5py for the answer.
    gc.collect()
    served = Served()
    handler = type("OwnHandler", (Handler,), {"served": served})
    server = Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
